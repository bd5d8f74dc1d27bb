"""Several models of the same people: their document as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from evenhand.analyses.audit.full_text import TITLE
from evenhand.analyses.audit.wording import measure_of, size
from evenhand.errors import shown_name
from evenhand.measures.performance import PERFORMANCES
from evenhand.report.console import headed, indented, left_out, points
from evenhand.report.format import interval, number, p_values, percent

MOST_MODELS = 4
"""Side by side in a table."""
MOST_GROUPS = 3
"""Up to so many groups besides the reference, all of their differences are shown."""
_NAME = 14


def render(document: dict[str, Any]) -> RenderableType:
    """The comparison as rich renderables."""
    first = document["candidates"][0]
    confidence = first["audit"]["options"]["confidence"]
    parts: list[RenderableType] = [*_header(document), Text(), *_performance(document, confidence)]
    for attribute, tradeoff in zip(first["audit"]["attributes"], document["tradeoffs"], strict=True):
        parts += [*headed(attribute["name"]), *_fairness(document, attribute, confidence), Text(), *_front(tradeoff)]
    return Group(*parts, *points("Notes", document["notes"]))


def _header(document: dict[str, Any]) -> Iterator[RenderableType]:
    first = document["candidates"][0]["audit"]["data"]
    yield Text("Evenhand audit of several models", style="bold")
    label = "" if first["label"] is None else f" · label {shown_name(first['label'])}"
    favourable = "" if first["label"] is None else f", favourable {shown_name(first['favorable'])}"
    yield Text(f"{first['rows']:,} people, the same for every model{label}{favourable}")
    for c in document["candidates"]:
        mark = " (others are compared with it)" if c["name"] == document["against"] else ""
        yield _dim(f"{shown_name(c['name'], 30)}: favourable at {rule(c)}{mark}")
    yield from left_out(first)


def rule(candidate: dict[str, Any]) -> str:
    """Whom a model favours."""
    data = candidate["audit"]["data"]
    return f"scores {'<' if data['risk'] else '≥'} {data['threshold']:.15g}"


def _performance(document: dict[str, Any], confidence: float) -> Iterator[RenderableType]:
    yield Text("Performance", style="bold")
    grid = _grid(
        "", *(shown_name(c["name"], _NAME) for c in document["candidates"][:MOST_MODELS]), *_against(confidence)
    )
    reasons: dict[str, list[str]] = {}
    for id_, p in PERFORMANCES.items():
        values = [c["performance"][id_] for c in document["candidates"]]
        for c, v in zip(document["candidates"], values, strict=True):
            if v["undefined"]:
                everyone = all(other["undefined"] == v["undefined"] for other in values)
                title = p.title if everyone else f"{p.title} of {shown_name(c['name'], _NAME)}"
                titles = reasons.setdefault(v["undefined"], [])
                titles += [] if title in titles else [title]
        arrow = " ↓" if p.lower_is_better else ""
        cells = [number(v["value"]) for v in values[:MOST_MODELS]]
        rows = [d for d in document["differences"] if d["attribute"] is None and d["id"] == id_]
        _rows(grid, p.title + arrow, cells, rows)
    yield grid
    for reason, titles in reasons.items():
        yield _dim(f"Undefined: {', '.join(titles)}: {shown_name(reason, 200)}")
    yield from _more_models(document)


def _more_models(document: dict[str, Any]) -> Iterator[RenderableType]:
    if len(document["candidates"]) > MOST_MODELS:
        left = len(document["candidates"]) - MOST_MODELS
        yield _dim(f"{left} more models are in --json and in the table of the trade-off")


def _fairness(document: dict[str, Any], attribute: dict[str, Any], confidence: float) -> Iterator[RenderableType]:
    name = attribute["name"]
    reference = attribute["reference"]
    groups = [g["name"] for g in attribute["groups"] if g["name"] not in (reference, *attribute["excluded"])]
    shown = groups[:MOST_GROUPS]
    for group in shown:
        yield Text()
        yield Text(f"{shown_name(group)} against {shown_name(reference)}", style="bold")
        models = [shown_name(c["name"], _NAME) for c in document["candidates"][:MOST_MODELS]]
        grid = _grid("distance from parity", *models, *_against(confidence))
        of_models = [_gaps(c, name, group) for c in document["candidates"][:MOST_MODELS]]
        for id_ in of_models[0]:
            if all(gaps[id_]["undefined"] for gaps in of_models):
                continue
            rows = [d for d in document["differences"] if (d["attribute"], d["group"], d["id"]) == (name, group, id_)]
            _rows(grid, _title(id_), [_gap(gaps[id_]) for gaps in of_models], rows)
        yield grid
        yield from _undefined(document, of_models)
        yield from _moved(document, name, group, of_models, confidence)
    if len(groups) > len(shown):
        yield _dim(f"{len(groups) - len(shown)} more groups are in --json")
    yield _dim(
        "differs by: of distances, below 0 is fairer; adjusted: p for all differences, intervals are not. Without "
        "either: no resamples, fewer than ten people, bins of few, or resamples that never vary"
    )


def _undefined(document: dict[str, Any], of_models: list[dict[str, Any]]) -> Iterator[RenderableType]:
    """Why there are measures without a number."""
    reasons: dict[str, list[str]] = {}
    for id_ in of_models[0]:
        why = [gaps[id_]["undefined"] for gaps in of_models]
        title = measure_of({"id": id_}).title
        for c, reason in zip(document["candidates"], why, strict=False):
            if reason:
                whose = "" if len(set(why)) == 1 else f" of {shown_name(c['name'], _NAME)}"
                titles = reasons.setdefault(reason, [])
                titles += [] if title + whose in titles else [title + whose]
    for reason, titles in reasons.items():
        yield _dim(f"Undefined: {', '.join(titles)}: {shown_name(reason, 200)}")


def _moved(
    document: dict[str, Any], attribute: str, group: str, of_models: list[dict[str, Any]], confidence: float
) -> Iterator[RenderableType]:
    """Signed gaps: how far they move is known better than whether they get smaller."""
    moved = [d for d in document["differences"] if (d["attribute"], d["group"]) == (attribute, group)]
    ids = dict.fromkeys(d["id"] for d in moved if d["signed_difference"] is not None)
    if not ids:
        return
    models = [shown_name(c["name"], _NAME) for c in document["candidates"][:MOST_MODELS]]
    grid = _grid("signed gap", *models, *_against(confidence))
    for id_ in ids:
        rows = [
            {**d, "difference": d["signed_difference"], "ci": d["ci_signed"], "better": None,
             "p_value": d["p_signed"], "p_value_at_most": d["p_signed_at_most"],
             "p_adjusted": d["p_signed_adjusted"], "p_adjusted_at_most": d["p_signed_adjusted_at_most"]}
            for d in moved if d["id"] == id_
        ]  # fmt: skip
        _rows(grid, _title(id_), [number(gaps[id_]["signed"], sign=True) for gaps in of_models], rows)
    yield grid


def _gaps(candidate: dict[str, Any], attribute: str, group: str) -> dict[str, Any]:
    own = next(a for a in candidate["audit"]["attributes"] if a["name"] == attribute)
    return {m["id"]: m for m in own["measures"] if m["group"] == group}


def _front(t: dict[str, Any]) -> Iterator[RenderableType]:
    title, fairness = PERFORMANCES[t["performance"]].title, measure_of({"id": t["fairness"]}).title
    yield Text(f"Trade-off: {title} against {fairness} (the group that fares worst)", style="bold")
    grid = _grid("model", "performance", "fairness", "distance", "best in", "front")
    for p in sorted(t["places"], key=lambda p: (p["dto"] is None, p["dto"])):
        share = percent(p["best_share"], digits=0)
        over = ", ".join(shown_name(m, _NAME) for m in p["dominated_by"][:2])
        over += f" and {len(p['dominated_by']) - 2} more" if len(p["dominated_by"]) > 2 else ""
        front = "undefined" if p["undefined"] else "yes" if p["on_front"] else f"no, behind {over}"
        mark = " *" if p["model"] == t["recommended"] else ""
        style = "bold" if mark else ""
        grid.add_row(
            Text(shown_name(p["model"], 24) + mark, style=style), number(p["performance"]), number(p["fairness"]),
            number(p["dto"]), share, Text(front),
        )  # fmt: skip
    yield grid
    yield _dim("distance to the optimum (1, 1); best in: share of resamples of these people with the smallest")
    yield Text("→ " + t["because"])


def _grid(first: str, *rest: str) -> Grid:
    grid = Grid(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    grid.add_column(Text(first), overflow="fold", min_width=12)
    for name in rest:
        grid.add_column(Text(name), justify="left" if name == "front" else "right", overflow="fold")
    return grid


def _against(confidence: float) -> tuple[str, ...]:
    return "differs by", f"{100 * confidence:g}% interval", "p", "adjusted"


def _rows(grid: Grid, title: str, cells: list[str], differences: list[dict[str, Any]]) -> None:
    """One line for each model that is compared with the first."""
    for i, d in enumerate(differences[: MOST_MODELS - 1] or [{}]):
        name = Text(title if i == 0 else f"  {shown_name(d['model'], _NAME)}")
        blank = cells if i == 0 else [""] * len(cells)
        if not d or d["undefined"]:
            grid.add_row(name, *blank, *["–"] * 4)
            continue
        style = {None: "", True: "green", False: "bold red"}[d["better"]]
        difference = Text(number(d["difference"], sign=True), style=style)
        grid.add_row(name, *blank, difference, interval(d["ci"], sign=True, join=", "), *p_values(d))


def _gap(m: dict[str, Any]) -> str:
    return size(measure_of(m), None if m["undefined"] else m["value"])


def _title(id_: str) -> str:
    return measure_of({"id": id_}).titled(TITLE)


def _dim(text: str) -> RenderableType:
    return indented(text, style="dim")
