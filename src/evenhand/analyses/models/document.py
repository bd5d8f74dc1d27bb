"""Several models of the same people: their document, and its tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table as Grid
from rich.text import Text

from evenhand.analyses.audit.document import document as audit_document
from evenhand.analyses.audit.text import shorter
from evenhand.errors import shown_name
from evenhand.measures.performance import PERFORMANCES
from evenhand.measures.registry import find
from evenhand.report.document import header, number, pair
from evenhand.report.frame import plain_frame

if TYPE_CHECKING:
    from evenhand.analyses.models.differences import Difference
    from evenhand.analyses.models.models import CandidateAudit, Tradeoff

MOST_MODELS = 4
"""Side by side in a table."""
MOST_GROUPS = 3
"""Up to so many groups besides the reference, all of their differences are shown."""
_NAME = 14
_PLACES = {
    "attribute": "str", "model": "str", "performance": "float", "fairness": "float", "dto": "float", "group": "str",
    "on_front": "bool", "recommended": "bool", "best_share": "float", "undefined": "str",
}  # fmt: skip


def document(found: CandidateAudit) -> dict[str, Any]:
    """The whole comparison as plain values."""
    first = found.candidates[0]
    return {
        **header("candidates"),
        "against": first.name,
        "candidates": [
            {
                "name": c.name,
                "performance": {
                    id_: {"value": number(e.value), "ci": pair(e.ci), "undefined": e.undefined}
                    for id_, e in c.performance.items()
                },
                "audit": audit_document(c.audit),
            }
            for c in found.candidates
        ],
        "differences": [_difference(d) for d in found.differences],
        "tradeoffs": [_tradeoff(t) for t in found.tradeoffs],
        "notes": list(found.notes),
    }


def _difference(d: Difference) -> dict[str, Any]:
    return {
        "id": d.id,
        "model": d.model,
        "against": d.against,
        "attribute": d.attribute,
        "group": d.group,
        "reference": d.reference,
        "value": number(d.value),
        "other": number(d.other),
        "difference": number(d.difference),
        "ci": pair(d.ci),
        "ci_bootstrap": pair(d.ci_bootstrap),
        "signed_difference": number(d.signed_difference),
        "ci_signed": pair(d.ci_signed),
        "p_signed": number(d.p_signed),
        "p_signed_adjusted": number(d.p_signed_adjusted),
        "p_value": number(d.p_value),
        "p_adjusted": number(d.p_adjusted),
        "better": d.better,
        "undefined": d.undefined,
    }


def _tradeoff(t: Tradeoff) -> dict[str, Any]:
    return {
        "attribute": t.attribute,
        "performance": t.performance,
        "fairness": t.fairness,
        "utopia": [1.0, 1.0],
        "places": [
            {
                "model": p.model,
                "performance": number(p.performance),
                "fairness": number(p.fairness),
                "group": p.group,
                "dto": number(p.dto),
                "on_front": p.on_front,
                "dominated_by": list(p.dominated_by),
                "best_share": number(p.best_share),
                "undefined": p.undefined,
            }
            for p in t.places
        ],
        "left_out": list(t.left_out),
        "recommended": t.recommended,
        "because": t.because,
    }


def frame(found: CandidateAudit, library: str | None) -> Any:
    """One row per attribute and model: what a plot of performance against fairness needs."""
    columns: dict[str, list[Any]] = {name: [] for name in _PLACES}
    for t in found.to_dict()["tradeoffs"]:
        for place in t["places"]:
            row = {**place, "attribute": t["attribute"], "recommended": place["model"] == t["recommended"]}
            for name, column in columns.items():
                column.append(row[name])
    return plain_frame(columns, _PLACES, library or found.candidates[0].audit.library)


# ---- terminal -----------------------------------------------------------------------------------------------


def render(found: dict[str, Any]) -> RenderableType:
    """The comparison as rich renderables."""
    first = found["candidates"][0]
    confidence = first["audit"]["options"]["confidence"]
    parts: list[RenderableType] = [*_header(found), Text(), *_performance(found, confidence)]
    for attribute, tradeoff in zip(first["audit"]["attributes"], found["tradeoffs"], strict=True):
        parts += [Text(), Rule(Text(shown_name(attribute["name"]), style="bold"), align="left", style="dim")]
        parts += [*_fairness(found, attribute, confidence), Text(), *_front(tradeoff)]
    if found["notes"]:
        parts += [Text(), Text("Notes", style="bold")]
        parts += [_indented(f"• {shown_name(note, 600)}") for note in found["notes"]]
    return Group(*parts)


def _header(found: dict[str, Any]) -> Iterator[RenderableType]:
    first = found["candidates"][0]["audit"]["data"]
    yield Text("Evenhand audit of several models", style="bold")
    label = "" if first["label"] is None else f" · label {shown_name(first['label'])}"
    favourable = "" if first["label"] is None else f", favourable {shown_name(first['favorable'])}"
    yield Text(f"{first['rows']:,} people, the same for every model{label}{favourable}")
    for c in found["candidates"]:
        mark = " (others are compared with it)" if c["name"] == found["against"] else ""
        yield _indented(f"{shown_name(c['name'], 30)}: favourable at {_rule(c)}{mark}")
    for reason, count in first["left_out"].items():
        yield Text(f"Left out: {count:,} rows {shown_name(reason, 100)}", style="yellow")


def _rule(candidate: dict[str, Any]) -> str:
    data = candidate["audit"]["data"]
    return f"scores {'<' if data['risk'] else '≥'} {data['threshold']:.15g}"


def _performance(found: dict[str, Any], confidence: float) -> Iterator[RenderableType]:
    yield Text("Performance", style="bold")
    grid = _grid("", *(shown_name(c["name"], _NAME) for c in found["candidates"][:MOST_MODELS]), *_against(confidence))
    reasons: dict[str, list[str]] = {}
    for id_, p in PERFORMANCES.items():
        values = [c["performance"][id_] for c in found["candidates"]]
        for c, v in zip(found["candidates"], values, strict=True):
            if v["undefined"]:
                everyone = all(other["undefined"] == v["undefined"] for other in values)
                title = p.title if everyone else f"{p.title} of {shown_name(c['name'], _NAME)}"
                titles = reasons.setdefault(v["undefined"], [])
                titles += [] if title in titles else [title]
        arrow = " ↓" if p.lower_is_better else ""
        cells = [_number(v["value"]) for v in values[:MOST_MODELS]]
        rows = [d for d in found["differences"] if d["attribute"] is None and d["id"] == id_]
        _rows(grid, p.title + arrow, cells, rows)
    yield grid
    for reason, titles in reasons.items():
        yield _indented(f"Undefined: {', '.join(titles)}: {shown_name(reason, 200)}")
    yield from _more_models(found)


def _more_models(found: dict[str, Any]) -> Iterator[RenderableType]:
    if len(found["candidates"]) > MOST_MODELS:
        left = len(found["candidates"]) - MOST_MODELS
        yield _indented(f"{left} more models are in --json and in the table of the trade-off")


def _fairness(found: dict[str, Any], attribute: dict[str, Any], confidence: float) -> Iterator[RenderableType]:
    name = attribute["name"]
    reference = attribute["reference"]
    groups = [g["name"] for g in attribute["groups"] if g["name"] != reference]
    shown = groups[:MOST_GROUPS]
    for group in shown:
        yield Text()
        yield Text(f"{shown_name(group)} against {shown_name(reference)}", style="bold")
        models = [shown_name(c["name"], _NAME) for c in found["candidates"][:MOST_MODELS]]
        grid = _grid("distance from parity", *models, *_against(confidence))
        of_models = [_gaps(c, name, group) for c in found["candidates"][:MOST_MODELS]]
        for id_ in of_models[0]:
            if all(gaps[id_]["undefined"] for gaps in of_models):
                continue
            measure = find(id_)
            assert measure is not None
            rows = [d for d in found["differences"] if (d["attribute"], d["group"], d["id"]) == (name, group, id_)]
            _rows(grid, shorter(measure.title), [_gap(gaps[id_]) for gaps in of_models], rows)
        yield grid
        yield from _undefined(found, of_models)
        yield from _moved(found, name, group, of_models, confidence)
    if len(groups) > len(shown):
        yield _indented(f"{len(groups) - len(shown)} more groups are in --json")
    yield _indented(
        "differs by: of distances, below 0 is fairer; p is adjusted for all differences, intervals are not. Without "
        "either: fewer than ten people, bins of few, or resamples that never vary"
    )


def _undefined(found: dict[str, Any], of_models: list[dict[str, Any]]) -> Iterator[RenderableType]:
    """Why there are measures without a number."""
    reasons: dict[str, list[str]] = {}
    for id_ in of_models[0]:
        why = [gaps[id_]["undefined"] for gaps in of_models]
        measure = find(id_)
        assert measure is not None
        for c, reason in zip(found["candidates"], why, strict=False):
            if reason:
                whose = "" if len(set(why)) == 1 else f" of {shown_name(c['name'], _NAME)}"
                titles = reasons.setdefault(reason, [])
                titles += [] if measure.title + whose in titles else [measure.title + whose]
    for reason, titles in reasons.items():
        yield _indented(f"Undefined: {', '.join(titles)}: {shown_name(reason, 200)}")


def _moved(
    found: dict[str, Any], attribute: str, group: str, of_models: list[dict[str, Any]], confidence: float
) -> Iterator[RenderableType]:
    """Signed gaps: how far they move is known better than whether they get smaller."""
    moved = [d for d in found["differences"] if (d["attribute"], d["group"]) == (attribute, group)]
    ids = dict.fromkeys(d["id"] for d in moved if d["signed_difference"] is not None)
    if not ids:
        return
    models = [shown_name(c["name"], _NAME) for c in found["candidates"][:MOST_MODELS]]
    grid = _grid("signed gap", *models, *_against(confidence))
    for id_ in ids:
        measure = find(id_)
        assert measure is not None
        rows = [
            {**d, "difference": d["signed_difference"], "ci": d["ci_signed"], "p_adjusted": d["p_signed_adjusted"],
             "better": None}
            for d in moved if d["id"] == id_
        ]  # fmt: skip
        cells = [_number(gaps[id_]["signed"], "+") for gaps in of_models]
        _rows(grid, shorter(measure.title), cells, rows)
    yield grid


def _gaps(candidate: dict[str, Any], attribute: str, group: str) -> dict[str, Any]:
    found = next(a for a in candidate["audit"]["attributes"] if a["name"] == attribute)
    return {m["id"]: m for m in found["measures"] if m["group"] == group}


def _front(t: dict[str, Any]) -> Iterator[RenderableType]:
    measure = find(t["fairness"])
    assert measure is not None
    title = PERFORMANCES[t["performance"]].title
    yield Text(f"Trade-off: {title} against {measure.title} (the group that fares worst)", style="bold")
    grid = _grid("model", "performance", "fairness", "distance", "best in", "front")
    for p in sorted(t["places"], key=lambda p: (p["dto"] is None, p["dto"])):
        share = "–" if p["best_share"] is None else f"{100 * p['best_share']:.0f}%"
        over = ", ".join(shown_name(m, _NAME) for m in p["dominated_by"][:2])
        over += f" and {len(p['dominated_by']) - 2} more" if len(p["dominated_by"]) > 2 else ""
        front = "undefined" if p["undefined"] else "yes" if p["on_front"] else f"no, behind {over}"
        mark = " *" if p["model"] == t["recommended"] else ""
        style = "bold" if mark else ""
        grid.add_row(
            Text(shown_name(p["model"], 24) + mark, style=style), _number(p["performance"]), _number(p["fairness"]),
            _number(p["dto"]), share, Text(front),
        )  # fmt: skip
    yield grid
    yield _indented("distance to the optimum (1, 1); best in: share of resamples of these people with the smallest")
    yield Text("→ " + t["because"])


def _grid(first: str, *rest: str) -> Grid:
    grid = Grid(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    grid.add_column(Text(first), overflow="fold", min_width=12)
    for name in rest:
        grid.add_column(Text(name), justify="left" if name == "front" else "right", overflow="fold")
    return grid


def _against(confidence: float) -> tuple[str, str, str]:
    return "differs by", f"{100 * confidence:g}% interval", "p"


def _rows(grid: Grid, title: str, cells: list[str], differences: list[dict[str, Any]]) -> None:
    """One line for each model that is compared with the first."""
    for i, d in enumerate(differences[: MOST_MODELS - 1] or [{}]):
        name = Text(title if i == 0 else f"  {shown_name(d['model'], _NAME)}")
        blank = cells if i == 0 else [""] * len(cells)
        if not d or d["undefined"]:
            grid.add_row(name, *blank, "–", "–", "–")
            continue
        ci = "–" if d["ci"] is None else ", ".join(f"{bound:+.3f}" for bound in d["ci"])
        style = {None: "", True: "green", False: "bold red"}[d["better"]]
        grid.add_row(name, *blank, Text(f"{d['difference']:+.3f}", style=style), ci, _p(d["p_adjusted"]))


def _gap(m: dict[str, Any]) -> str:
    if m["undefined"] or m["value"] is None:
        return "–"
    measure = find(m["id"])
    assert measure is not None
    return f"×{m['value']:.3f}" if measure.scale == "ratio" else f"{m['value']:.3f}"


def _number(value: float | None, sign: str = "") -> str:
    return "–" if value is None else f"{value:{sign}.3f}"


def _p(value: float | None) -> str:
    if value is None:
        return "–"
    return "<.001" if value < 0.0005 else f"{value:.3f}".removeprefix("0")


def _indented(text: str) -> Padding:
    return Padding(Text(text, style="dim"), (0, 0, 0, 2))
