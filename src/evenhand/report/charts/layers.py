"""The pieces that charts share: data, axes, colours, lines, and the sheet they are put on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.measures.registry import find
from evenhand.report.charts import theme
from evenhand.report.charts.chart import Chart
from evenhand.report.charts.render import SCHEMA

if TYPE_CHECKING:
    from evenhand.analyses.audit.charts.subject import Subject
    from evenhand.analyses.audit.gaps import Gap

Spec = dict[str, Any]
DIGITS = 5
TITLE_LINE, SUBTITLE_LINE = 72, 100
MOST_TICKS = 20
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
    found = round(value, digits) + 0.0  # no −0
    return int(found) if found.is_integer() and abs(found) < 1e15 else found


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


def group_lines(s: Subject, values: list[dict[str, Any]], encoding: Spec, **mark: Any) -> list[Spec]:
    """A line for each group; among many groups the two that are compared stand out."""
    if not s.crowded:
        return [{"data": inline(values), "mark": {"type": "line", **mark}, "encoding": encoding}]
    return [
        {
            "data": inline([row for row in values if (row["group"] in s.pair) == own]),
            "mark": {"type": "line", **mark, "strokeWidth": width},
            "encoding": encoding,
        }
        for own, width in ((False, 1.2), (True, 3))
    ]


def group_colour(s: Subject, groups: Iterable[str], legend: bool = True) -> Spec:
    chosen = list(groups)
    return coloured([s.label[g] for g in chosen], [s.colour[g] for g in chosen], legend)


def score_axis(s: Subject, field: str = "score", shown: bool = True) -> Spec:
    """The score from end to end of its range."""
    if not shown:
        return quantitative(field, None, s.range, labels=False, ticks=False, **_ticks(s))
    words = [s.score]
    if s.table.meaning.risk:
        words.append("a risk: lower is better")
    if s.threshold is not None:
        words.append("dashed: the threshold")
    return quantitative(field, f"{words[0]} ({'; '.join(words[1:])})" if words[1:] else words[0], s.range, **_ticks(s))


def _ticks(s: Subject) -> Spec:
    """Numbers in full unless they are very long; whole scores at whole numbers."""
    lo, hi = s.range
    plain = max(abs(lo), abs(hi)) < 1e7 and hi - lo > 1e-5
    found: Spec = {"format": ",~r" if plain else "~g"}
    if s.scores <= MOST_TICKS and s.table.score is not None and bool((np.mod(s.table.score, 1) == 0).all()):
        found["values"] = sorted(set(s.table.score.tolist()))
    return found


def threshold(s: Subject, x: Spec) -> list[Spec]:
    """The line at the threshold, which a page may move: it is of class threshold."""
    if s.threshold is None:
        return []
    mark = {"type": "rule", "strokeDash": [5, 4], "color": theme.INK, "opacity": 0.7}
    return [{"name": "threshold", "data": inline([{"score": s.threshold}]), "mark": mark, "encoding": {"x": x}}]


def marker(s: Subject, width: int = theme.WIDTH) -> dict[str, Any] | None:
    """What a page has to know to move the line."""
    if s.threshold is None:
        return None
    return {"lo": s.range[0], "hi": s.range[1], "width": width, "at": s.threshold}


def zero(axis: str, encoding: Spec, at: float = 0) -> Spec:
    """A line at 0 of an axis, so that nothing looks larger than it is."""
    return {
        "data": inline([{encoding["field"]: at}]),
        "mark": {"type": "rule", "color": theme.AXIS},
        "encoding": {axis: encoding},
    }


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
    return Chart(name, title, description, sheet(title, subtitle, body), table, note, marker)


# ---- words --------------------------------------------------------------------------------------------------


def interval(ci: tuple[float, float] | None) -> str:
    return "" if ci is None else f" [{ci[0]:.3f}, {ci[1]:.3f}]"


def measured(gap: Gap | None) -> str:
    """A measure with its interval and what chance alone shows."""
    if gap is None:
        return ""
    m = find(gap.id)
    value = gap.value if gap.signed is None or m is None or not m.signed else gap.signed
    text = f"{'' if m is None else m.title} {value:.3f}{interval(gap.ci)}"
    if gap.null is not None and np.isfinite(gap.null.high):
        text += f"; chance alone stays {'above' if gap.scale == 'ratio' else 'below'} {gap.null.high:.3f}"
    return text


def sentence(text: str) -> str:
    """
    >>> sentence("calibration 0.1"), sentence("")
    ('Calibration 0.1.', '')
    """
    return f"{text[0].upper()}{text[1:]}." if text else ""


def percent(share: float) -> str:
    """
    >>> percent(0.5), percent(0.004), percent(0.9999)
    ('50%', '0.4%', '99.99%')
    """
    if 0 < share < 0.0001 or 0.9999 < share < 1:
        return "<0.01%" if share < 0.5 else ">99.99%"
    for digits in (0, 1, 2):
        text = f"{100 * share:.{digits}f}"
        if share in (0.0, 1.0) or 0.5 <= float(text) <= 99.5:
            break
    return f"{float(text):g}%"


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
