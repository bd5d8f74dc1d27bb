"""The pieces that charts share: data, axes, colours, lines, and the sheet they are put on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap
from typing import Any

import numpy as np

from evenhand.errors import shown_name
from evenhand.report.charts import theme
from evenhand.report.charts.chart import Chart
from evenhand.report.charts.render import SCHEMA
from evenhand.report.format import interval

Spec = dict[str, Any]
DIGITS = 5
TITLE_LINE, SUBTITLE_LINE = 72, 100
ROWS = 21
"""So many points of a curve are listed in the table beside it."""


# ---- data ---------------------------------------------------------------------------------------------------


def rows(**columns: Any) -> list[dict[str, Any]]:
    """Columns as rows, numbers as exact as a drawing can show; a single value is repeated.

    >>> rows(group="a", score=np.array([0.1234567, np.nan]))
    [{'group': 'a', 'score': 0.12346}, {'group': 'a', 'score': None}]
    """
    long = {k: v for k, v in columns.items() if isinstance(v, np.ndarray | list | tuple)}
    size = len(next(iter(long.values()))) if long else 1
    plain = {k: _plain(v) if k in long else [_one(v)] * size for k, v in columns.items()}
    return [dict(zip(plain, values, strict=True)) for values in zip(*plain.values(), strict=True)]


def _one(value: Any) -> Any:
    return _plain([value])[0]


def _plain(values: Any) -> list[Any]:
    """Plain values; numbers rounded to a hundred-thousandth of what they span."""
    plain = [v.item() if isinstance(v, np.generic) else v for v in values]
    numbers = [v for v in plain if isinstance(v, float) and math.isfinite(v)]
    if not numbers:
        return [None if isinstance(v, float) else v for v in plain]
    span = max(numbers) - min(numbers) or max(map(abs, numbers)) or 1.0
    digits = DIGITS - 1 - math.floor(math.log10(span)) if math.isfinite(span) and span > 0 else DIGITS
    return [_rounded(v, digits) if isinstance(v, float) else v for v in plain]


def _rounded(value: float, digits: int) -> float | int | None:
    if not math.isfinite(value):
        return None
    short = round(value, digits) + 0.0  # no −0
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def inline(values: list[dict[str, Any]]) -> Spec:
    return {"values": values}


# ---- encodings ----------------------------------------------------------------------------------------------


def quantitative(field: str, title: str | None, domain: Sequence[float] | None = None, **axis: Any) -> Spec:
    """A number along an axis, over a domain of its own if there is one."""
    spec: Spec = {"field": field, "type": "quantitative", "title": title}
    if domain is not None:
        spec["scale"] = {"domain": _plain([float(d) for d in domain]), "nice": False}
    if axis:
        spec["axis"] = axis
    return spec


def ordered(field: str, names: Sequence[str], **more: Any) -> Spec:
    """Names along an axis, in that order. They are values only: `sort` would write them into expressions.

    >>> ordered("group", ["b", "a"], title=None)
    {'field': 'group', 'type': 'nominal', 'sort': None, 'scale': {'domain': ['b', 'a']}, 'title': None}
    """
    return {"field": field, "type": "nominal", "sort": None, "scale": {"domain": list(names)}, **more}


def coloured(names: Sequence[str], colours: Sequence[str], legend: bool = True, field: str = "group") -> Spec:
    """A colour for each name, listed above the chart in that order."""
    longest = max(map(len, names), default=1)
    columns = max(1, min(len(names), int(theme.WIDTH / (7 * longest + 36))))
    return {
        "field": field,
        "type": "nominal",
        "scale": {"domain": list(names), "range": list(colours)},
        "legend": {"title": None, "columns": columns, "symbolType": "stroke" if field == "group" else "square"}
        if legend
        else None,
    }


def layer(values: list[dict[str, Any]], mark: str, encoding: Spec, **how: Any) -> Spec:
    """Marks of one kind that show values.

    >>> layer([{"x": 1}], "rule", {"x": {"field": "x"}}, color="red")["mark"]
    {'type': 'rule', 'color': 'red'}
    """
    return {"data": inline(values), "mark": {"type": mark, **how}, "encoding": encoding}


def zero(axis: str, encoding: Spec, at: float = 0) -> Spec:
    """A line at 0 of an axis, so that nothing looks larger than it is."""
    return layer([{encoding["field"]: at}], "rule", {axis: encoding}, color=theme.AXIS)


def guide(values: list[dict[str, Any]], encoding: Spec) -> Spec:
    """A thin dashed line to compare with, such as that of equal scores."""
    return layer(values, "line", encoding, color=theme.AXIS, strokeDash=[4, 4], strokeWidth=1)


# ---- the sheet ----------------------------------------------------------------------------------------------


def sheet(title: str, subtitle: str, body: Spec) -> Spec:
    """A complete specification."""
    heading: Spec = {"text": wrap(title, TITLE_LINE) or [""]}
    if subtitle:
        heading["subtitle"] = wrap(subtitle, SUBTITLE_LINE)
    return {
        "$schema": SCHEMA,
        "background": theme.PAPER,
        "padding": 8,
        "title": heading,
        **body,
        "config": theme.CONFIG,
    }


def chart(
    name: str,
    title: str,
    subtitle: str,
    description: str,
    body: Spec,
    columns: Mapping[str, Any],
    notes: Iterable[str | None] = (),
    marker: dict[str, Any] | None = None,
) -> Chart:
    note = "; ".join(n for n in notes if n) or None
    table = {name: _plain(list(values)) for name, values in columns.items()}
    return Chart(name, title, description, sheet(title, subtitle, plain_names(body)), table, note, marker)


TAKEN = {
    "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "__proto__", "constructor",
    "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf",
}  # fmt: skip
"""What every object of JavaScript has."""


def plain_names(value: Any) -> Any:
    """The same specification; Vega looks for lines by the names of groups, where some are there before any line is.

    >>> plain_names({"values": [{"group": "constructor"}]})
    {'values': [{'group': 'constructor '}]}
    """
    if isinstance(value, dict):
        return {key: plain_names(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain_names(one) for one in value]
    return f"{value} " if isinstance(value, str) and value in TAKEN else value


# ---- texts --------------------------------------------------------------------------------------------------


def bracketed(ci: Sequence[float | None] | None, sign: bool = False) -> str:
    """An interval behind a number, if there is one.

    >>> bracketed((0.1, 0.25)), bracketed(None)
    (' [0.100, 0.250]', '')
    """
    return "" if ci is None else f" [{interval(ci, sign=sign, join=', ')}]"


def beside(first: str, values: Any, others: Mapping[str, Any]) -> dict[str, Any]:
    """A table whose first column is called so, or nearly so if another one, named by the user, is called like it.

    >>> beside("score", [1], {"score": [2]})
    {'score *': [1], 'score': [2]}
    """
    while first in others:
        first += " *"
    return {first: values, **others}


def chosen_rows(size: int, most: int = ROWS) -> list[int]:
    """The places of at most so many rows, evenly spread, the ends among them."""
    return sorted({round(i) for i in np.linspace(0, size - 1, min(size, most)).tolist()}) if size else []


LABEL = 32


def labels(names: Iterable[str], limit: int = LABEL) -> dict[str, str]:
    """A short name for the eye for each name, no two of them alike.

    >>> labels(["ab", "a" * 9, "a" * 8], limit=5)
    {'ab': 'ab', 'aaaaaaaaa': 'aaa…a', 'aaaaaaaa': 'aa… 2'}
    """
    shortened: dict[str, str] = {}
    used: set[str] = set()
    for name in names:
        text, count = shown_name(name, limit), 1
        while text in used:
            count += 1
            mark = f"… {count}"
            text = shown_name(name, 10**6)[: limit - len(mark)] + mark
        used.add(text)
        shortened[name] = text
    return shortened
