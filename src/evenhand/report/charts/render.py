"""A Vega-Lite specification → a drawing. The only user of vl-convert; it runs on this machine and asks no other."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

from evenhand.errors import MissingLibrary, printable

VEGA_LITE = "5.20"
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.20.1.json"
NEEDED = "drawing a chart needs vl-convert: pip install 'evenhand[charts]'"
PNG_SCALE = 2.0
OPAQUE = ("opacity", "1")

_DROPPED = {"script", "style", "foreignObject", "image", "a", "use", "metadata"}
_KEPT = {
    "clip-path", "cx", "cy", "d", "dominant-baseline", "dx", "dy", "fill", "fill-opacity", "font-family", "font-size",
    "font-style", "font-weight", "height", "id", "offset", "opacity", "r", "rx", "ry", "stop-color", "stroke",
    "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "stroke-miterlimit", "stroke-opacity", "stroke-width",
    "text-anchor", "transform", "viewBox", "width", "x", "x1", "x2", "y", "y1", "y2",
}  # fmt: skip


def converter() -> Any:
    """The library that draws, or the sentence that says how to get it."""
    try:
        import vl_convert
    except ImportError:
        raise MissingLibrary(NEEDED) from None
    return vl_convert


def svg(spec: dict[str, Any], title: str, prefix: str = "") -> str:
    """The drawing as SVG: nothing in it runs, refers elsewhere, or styles anything, and its ids begin with a prefix."""
    drawing: str = _drawn(converter().vegalite_to_svg, spec)
    return _tidied(ElementTree.fromstring(drawing), drawable(title), prefix)


def png(spec: dict[str, Any], ppi: float = 72 * PNG_SCALE) -> bytes:
    drawing: bytes = _drawn(converter().vegalite_to_png, spec, ppi=ppi)
    return drawing


def pdf(spec: dict[str, Any]) -> bytes:
    drawing: bytes = _drawn(converter().vegalite_to_pdf, spec)
    return drawing


def _drawn(convert: Callable[..., Any], spec: dict[str, Any], **how: Any) -> Any:
    """Vega shortens a long label in the middle of an emoji, which then is none: without emoji it can be drawn."""
    how |= {"vl_version": VEGA_LITE, "allowed_base_urls": []}
    try:
        return convert(drawable(spec), **how)
    except ValueError:
        return convert(drawable(spec, emoji=False), **how)


def drawable(value: Any, emoji: bool = True) -> Any:
    """The same values without characters that XML does not have: they would end the whole process, not only the chart.

    >>> drawable({"title": ["a\\x00", 1, None]})
    {'title': ['a∖x00', 1, None]}
    """
    if isinstance(value, str):
        # Vega-Lite writes titles into expressions and does not mask them there
        text = printable(value).replace("\\", "∖")
        return text if emoji else "".join(c if ord(c) < 0x10000 else "□" for c in text)
    if isinstance(value, dict):
        return {k: drawable(v, emoji) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [drawable(v, emoji) for v in value]
    return value


def _tidied(root: ElementTree.Element, title: str, prefix: str) -> str:
    """The drawing with what is seen, ids that are the same at every call, and a name for those who cannot see it."""
    names: dict[str, str] = {}
    for element in root.iter():
        if "id" in element.attrib:
            names[element.attrib["id"]] = f"{prefix}clip{len(names) + 1}"
    _tidy(root, names)
    root.attrib = {
        "xmlns": "http://www.w3.org/2000/svg", **root.attrib, "role": "img", "aria-label": title,
    }  # fmt: skip
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=True)


def _tidy(element: ElementTree.Element, names: dict[str, str]) -> None:
    element.tag = _local(element.tag)
    marker = "threshold" in element.attrib.get("class", "")
    element.attrib = {k: _value(k, v, names) for k, v in element.attrib.items() if k in _KEPT and (k, v) != OPAQUE}
    if marker:
        element.attrib["class"] = "threshold"
    for child in list(element):
        if _local(child.tag) in _DROPPED or _unseen(child):
            element.remove(child)
        else:
            _tidy(child, names)


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _unseen(element: ElementTree.Element) -> bool:
    """Frames that Vega puts around and before everything, though nothing is drawn."""
    if _local(element.tag) != "path" or element.attrib.get("class") not in ("background", "foreground"):
        return False
    return not {"fill", "stroke"} & set(element.attrib)


def _value(key: str, value: str, names: dict[str, str]) -> str:
    if key == "id":
        return names[value]
    if key in ("clip-path", "fill"):  # a fill may be a gradient
        return re.sub(r"url\(#([^)]*)\)", lambda match: f"url(#{names[match[1]]})", value)
    if key in ("d", "transform"):
        return re.sub(r"-?\d+\.\d{3,}(e-?\d+)?", lambda match: f"{round(float(match[0]), 2):g}", value)
    return value
