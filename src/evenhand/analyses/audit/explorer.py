"""The threshold explorer: the counts that a browser needs to decide anew at every score."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.errors import shown_name
from evenhand.measures.rates import RATES, share
from evenhand.report.format import number
from evenhand.report.page.figures import Room
from evenhand.report.page.markup import Markup, cell, grid, join, name, tag
from evenhand.tables.arrays import Floats, Ints
from evenhand.tables.groups import Grouping, sum_by
from evenhand.tables.table import Table

MOST_STOPS = 20_000
MOST_CHARACTERS = 350_000
MOST_GROUPS = 30
"""Groups of one attribute that are shown: the largest."""
_RATES = {rate: RATES[rate].short for rate in ("selection_rate", "tpr", "fpr", "ppv")}
_COUNTS = {"tp": "TP", "fp": "FP", "fn": "FN", "tn": "TN"}


@dataclass(frozen=True)
class Stops:
    """The thresholds that can be chosen: every score, or so many of them that the page stays small."""

    scores: Floats
    of_cell: Ints
    """The last stop at or below the score of each cell."""
    exact: bool


def stops_of(table: Table, most: int, policy: float | None) -> Stops:
    """Every score if there are few; else scores with equally many people between them, and that of the policy."""
    assert table.score is not None
    cutoff = table.cutoff_of_cells  # cells are sorted by score
    new = np.r_[True, cutoff[1:] != cutoff[:-1]]
    scores, of_cell = cutoff[new], np.cumsum(new) - 1
    if len(scores) <= most:
        return Stops(scores, of_cell, True)
    people = np.cumsum(sum_by(of_cell, np.asarray(table.mass, np.float64), len(scores)))
    keep = np.searchsorted(people, np.linspace(0, people[-1], most), side="left")
    extra = [0] if policy is None else [0, min(int(np.searchsorted(scores, policy)), len(scores) - 1)]
    keep = np.unique(np.r_[np.minimum(keep, len(scores) - 1), extra])
    return Stops(scores[keep], np.searchsorted(keep, of_cell, side="right") - 1, False)


def shown_groups(table: Table, grouping: Grouping, reference: str, most: int) -> list[int]:
    """The largest groups in their order, the reference among them."""
    sizes = table.sizes(grouping).astype(np.float64)
    sizes[grouping.groups.index(reference)] = np.inf
    return sorted(np.argsort(-sizes, kind="stable")[:most].tolist())


def counted(table: Table, references: dict[str, str], threshold: float | None, room: Room) -> dict[str, Any]:
    """What the page holds: at each stop, how many more people of each group and label than at the next."""
    most = MOST_STOPS
    while True:
        counts = _counted(table, references, threshold, most, room.most(MOST_GROUPS))
        if len(json.dumps(counts, separators=(",", ":"))) <= room.most(MOST_CHARACTERS) or most <= 64:
            return counts
        most = min(most, counts["places"]) // 2


def _counted(
    table: Table, references: dict[str, str], threshold: float | None, most: int, groups: int
) -> dict[str, Any]:
    decides = table.decision is None
    policy = table.compared(threshold) if decides and threshold is not None else None
    stops = stops_of(table, most, policy)
    groupings, gap = [], 0.0
    lacking = {name for name, _ in table.provenance.incomplete}
    for grouping in table.groupings:
        if grouping.name in references and grouping.name not in lacking:
            entry, widest = _grouping(table, grouping, stops, references[grouping.name], groups)
            groupings.append(entry)
            gap = max(gap, widest)
    return {
        "score": shown_name(table.meaning.score),
        "stops": base64.b64encode(stops.scores.astype("<f8").tobytes()).decode(),  # half as long as in decimals
        "places": len(stops.scores),
        "exact": stops.exact,
        "error": 0.0 if stops.exact else gap,
        "risk": table.meaning.risk,
        "labels": 1 if table.label is None else 2,
        "threshold": threshold if decides else None,
        "policy": None if policy is None else int(np.searchsorted(stops.scores, policy)),
        "groupings": groupings,
    }


def _grouping(
    table: Table, grouping: Grouping, stops: Stops, reference: str, most: int
) -> tuple[dict[str, Any], float]:
    chosen = shown_groups(table, grouping, reference, most)
    place = np.full(len(grouping.groups), -1)
    place[chosen] = np.arange(len(chosen))
    labels = 1 if table.label is None else 2
    group = place[grouping.codes]
    label = 0 if table.label is None else table.label.astype(np.int64)
    shown = group >= 0
    key = ((stops.of_cell * len(chosen) + group) * labels + label)[shown]
    dense = sum_by(key, _people(table)[shown], len(stops.scores) * len(chosen) * labels)
    at = np.flatnonzero(dense)
    n = dense[at]
    by_stop = dense.reshape(len(stops.scores), len(chosen), labels).sum(-1)
    widest = float((by_stop.max(0) / by_stop.sum(0)).max())
    written = n.tolist() if n.dtype.kind == "i" else [float(f"{x:.12g}") for x in n]
    entry = {
        "groups": len(chosen),
        "reference": chosen.index(grouping.groups.index(reference)),
        "at": np.diff(at, prepend=0).tolist(),
        "n": written,
    }
    return entry, widest


# ---- the part of the page -----------------------------------------------------------------------------------------


def _people(table: Table) -> Any:
    """Of each cell: people, or their weights as if the mean weight were 1."""
    return table.n if table.weight is None else table.weight * (table.rows / table.weight.sum())


def section(table: Table, references: dict[str, str], data: dict[str, Any], rule: str, room: Room) -> Markup:
    """Slider, rule and tables; the numbers of the audited decision stand in it before any script runs."""
    last, policy = data["places"], data["policy"]
    controls = tag(
        "div",
        tag("label", "Decision threshold", for_="threshold"),
        tag("input", type="range", id="threshold", min=0, max=last, step=1, value=policy or 0),
        None if policy is None else _marker(policy / last),
        tag(
            "div",
            tag("label", "Type a threshold ", tag("input", type="number", step="any")),
            tag("button", "Back to the audited decision", type="button", class_="plain"),
            class_="controls",
        ),
        class_="needs-script",
        hidden=True,
    )
    lacking = {name for name, _ in table.provenance.incomplete}
    groupings = [g for g in table.groupings if g.name in references and g.name not in lacking]
    groups = room.most(MOST_GROUPS)
    tables = [_table(table, g, references[g.name], i, data["threshold"], groups) for i, g in enumerate(groupings)]
    explained = tag("p", _explained(table), None if policy is not None else _ELSEWHERE)
    explorer = tag(
        "div",
        tag("p", tag("output", f"Favourable decision: {rule}", for_="threshold"), class_="rule"),
        controls,
        *tables,
        tag("p", _exactness(data), class_="note"),
        class_="explorer",
    )
    return join(explained, explorer)


_ELSEWHERE = (
    " The audited decision is a column of the data, not a threshold: its numbers stand here until you move the slider."
)


def _explained(table: Table) -> str:
    text = (
        "Move the threshold and see whom the decision would select. The gap (ΔDP) is the selection rate minus that of "
        "the reference, the ratio is one over the other: below 0.8 it fails the four-fifths rule."
    )
    if table.label is not None:
        text += " TP and FN are people with the favourable outcome, selected and refused; FP and TN are the others."
    if table.weight is not None:
        text += " Numbers of people are weighted, as if the mean weight were 1."
    return text


def _marker(place: float) -> Markup:
    x = 1000 * place
    shape = tag("path", d=f"M{x - 6:.1f},14 L{x:.1f},0 L{x + 6:.1f},14 Z")
    return tag("svg", shape, class_="policy", viewBox="0 0 1000 14", preserveAspectRatio="none", aria_hidden="true")


def _exactness(data: dict[str, Any]) -> str:
    if data["exact"]:
        return f"Exact at each of the {data['places']:,} scores, computed here from the counts in this page."
    return (
        f"Computed here from the counts in this page, exact at {data['places']:,} of the scores, where the slider "
        f"stops; between two of them are at most {100 * data['error']:.2g}% of any group."
    )


def _table(table: Table, grouping: Grouping, reference: str, index: int, threshold: float | None, most: int) -> Markup:
    chosen = shown_groups(table, grouping, reference, most)
    labels = table.label is not None
    keys = [*(_RATES if labels else ["selection_rate"]), "gap", "ratio", *(_COUNTS if labels else ["selected"])]
    by_group = outcomes(table, grouping, threshold)
    base = by_group[grouping.groups.index(reference)]["selection_rate"]
    rows = []
    for place, g in enumerate(chosen):
        rate = by_group[g]["selection_rate"]
        row = {**by_group[g], "gap": rate - base, "ratio": rate / base if base > 0 else np.nan}
        mark = " (reference)" if grouping.groups[g] == reference else ""
        rows.append([join(name(grouping.groups[g]), mark), *(_cell(place, key, row[key]) for key in keys)])
    heads = {**_RATES, "gap": "gap (ΔDP)", "ratio": "ratio", "selected": "people selected", **_COUNTS}
    more = len(grouping.groups) - len(chosen)
    caption = join("By ", name(grouping.name), f"; {more:,} smaller groups are not shown" if more else None)
    return grid(caption, ["group", *(heads[key] for key in keys)], rows, data_grouping=index)


def _cell(group: int, key: str, value: float) -> Markup:
    """A number in its place; a rate also has a bar."""
    bar = None
    if key == "selection_rate":
        width = 0 if np.isnan(value) else round(100 * value, 2)
        rects = tag("rect", class_="back", width=100, height=8), tag("rect", width=width, height=8)
        bar = tag("svg", *rects, class_="bar", viewBox="0 0 100 8", preserveAspectRatio="none", aria_hidden="true")
    return cell(_written(key, value), bar, data_group=group, data_key=key)


def outcomes(table: Table, grouping: Grouping, threshold: float | None) -> list[dict[str, float]]:
    """Of every group: whom the decision selects, rightly and wrongly."""
    counts = table.decisions(grouping, threshold)
    refused, selected = counts.array * (_people(table).sum() / table.mass.sum())  # axes (group, label)
    columns = {"selected": selected.sum(-1), "selection_rate": share(counts, "selection_rate")}
    if counts.has_label:
        columns |= {rate: share(counts, rate) for rate in _RATES}
        columns |= {"tp": selected[:, 1], "fp": selected[:, 0], "fn": refused[:, 1], "tn": refused[:, 0]}
    return [{key: float(column[g]) for key, column in columns.items()} for g in range(len(counts.groups))]


def _written(key: str, value: float) -> str:
    if np.isnan(value):
        return "–"
    if key in _COUNTS or key == "selected":
        return f"{value:,.1f}".removesuffix(".0")
    return number(value, sign=key == "gap" and value > 0)
