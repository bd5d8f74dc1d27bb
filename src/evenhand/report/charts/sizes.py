"""A specification in another size, or under another title: for a column of a paper, or a slide."""

from __future__ import annotations

from typing import Any

from evenhand.errors import UsageError, shown, whole_number

LEAST, MOST = 40, 4000
_INSIDE = ("hconcat", "vconcat", "concat")


def changed(spec: dict[str, Any], width: Any = None, height: Any = None, title: Any = None) -> dict[str, Any]:
    """The specification with every panel so wide and high, in pixels without axes, and with this title.

    >>> changed({"title": {"text": "a"}, "hconcat": [{"width": 90}, {"width": 90}]}, width=200, title="b")
    {'title': {'text': 'b'}, 'hconcat': [{'width': 200}, {'width': 200}]}
    """
    for name, pixels in (("width", width), ("height", height)):
        if pixels is not None:
            spec = _panels(spec, name, whole_number(name, pixels, LEAST, MOST))
    return spec if title is None else _titled(spec, title)


def _panels(spec: dict[str, Any], name: str, pixels: int) -> dict[str, Any]:
    made = dict(spec)
    if isinstance(made.get(name), dict):
        rows = "columns" if name == "width" else "rows"
        raise UsageError(f"the {name} of this chart follows from its {rows}: leave {name} out")
    if name in made:
        made[name] = pixels
    for inside in _INSIDE:
        if inside in made:
            made[inside] = [_panels(part, name, pixels) for part in made[inside]]
    if "spec" in made:
        made["spec"] = _panels(made["spec"], name, pixels)
    return made


def _titled(spec: dict[str, Any], title: Any) -> dict[str, Any]:
    """An empty title takes that of the chart away, and what stands below it."""
    if not isinstance(title, str):
        raise UsageError(f"the title of a chart is a text, not {shown(title)}")
    rest = {k: v for k, v in spec.items() if k != "title"}
    return {"title": {**spec.get("title", {}), "text": title}, **rest} if title else rest
