"""The threshold explorer: the counts that a browser needs to decide anew at every score."""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from evenhand.analyses.audit.brief import NOT_COMPARED
from evenhand.analyses.audit.steps import MOST_STOPS, Steps, every_step, safe_steps
from evenhand.errors import shown_name
from evenhand.measures.rates import RATES, share
from evenhand.report.format import number
from evenhand.report.page.figures import Room
from evenhand.report.page.markup import Markup, cell, grid, join, name, tag
from evenhand.tables.groups import Grouping, sum_by
from evenhand.tables.table import Table

MOST_CHARACTERS = 350_000
MOST_GROUPS = 30
"""Groups of one attribute that are shown: the largest."""
_RATES = {rate: RATES[rate].short for rate in ("selection_rate", "tpr", "fpr", "ppv")}
_COMPARED = ("gap", "ratio")
_COUNTS = {"tp": "TP", "fp": "FP", "fn": "FN", "tn": "TN"}


def shown_groups(table: Table, grouping: Grouping, reference: str, most: int) -> list[int]:
    """The largest groups in their order, the reference among them."""
    sizes = table.sizes(grouping).astype(np.float64)
    sizes[grouping.groups.index(reference)] = np.inf
    return sorted(np.argsort(-sizes, kind="stable")[:most].tolist())


def steps_of(
    table: Table, references: dict[str, str], threshold: float | None, room: Room, embed: str
) -> tuple[Steps, dict[str, Any]]:
    """The thresholds that a page can tell, and what its explorer holds of them: so many that it stays small."""
    most = MOST_STOPS
    while True:
        steps = _steps(table, references, threshold, most, embed)
        counts = _counted(table, references, threshold, steps, room.most(MOST_GROUPS))
        if len(json.dumps(counts, separators=(",", ":"))) <= room.most(MOST_CHARACTERS) or most <= 64:
            return steps, counts
        most = min(most, counts["places"]) // 2


def compared(table: Table, references: dict[str, str]) -> list[Grouping]:
    """The groupings of the audit whose groups lack nobody."""
    lacking = {name for name, _ in table.provenance.incomplete}
    return [g for g in table.groupings if g.name in references and g.name not in lacking and g.whole]


def _policy(table: Table, threshold: float | None) -> float | None:
    """The audited threshold, if there is one, as scores are compared with it."""
    return table.compared(threshold) if table.decision is None and threshold is not None else None


def _steps(table: Table, references: dict[str, str], threshold: float | None, most: int, embed: str) -> Steps:
    groupings, policy = compared(table, references), _policy(table, threshold)
    if embed == "exact" or table.noise is not None or not groupings:  # noise protects everybody already
        return every_step(table, groupings, most, policy)
    return safe_steps(table, groupings, references, most, policy)


def _counted(
    table: Table, references: dict[str, str], threshold: float | None, steps: Steps, groups: int
) -> dict[str, Any]:
    """What the page holds: at each stop, how many more people of each group and label than at the next."""
    policy, stops = _policy(table, threshold), steps.stops
    groupings, gap = [], 0.0
    for grouping in compared(table, references):
        if grouping.name in steps.known:
            entry, widest = _grouping(table, grouping, steps, references[grouping.name], groups)
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
        "threshold": threshold if table.decision is None else None,
        "policy": None if policy is None else int(np.searchsorted(stops.scores, policy)),
        "groupings": groupings,
    }


def _grouping(
    table: Table, grouping: Grouping, steps: Steps, reference: str, most: int
) -> tuple[dict[str, Any], float]:
    chosen = shown_groups(table, grouping, reference, most)
    stops, place = len(steps.stops.scores), np.full(len(grouping.groups), -1)
    place[chosen] = np.arange(len(chosen))
    labels = 1 if table.label is None else 2
    group = place[grouping.codes]
    label = 0 if table.label is None else table.label.astype(np.int64)
    shown = group >= 0
    key = ((steps.start(grouping) * len(chosen) + group) * labels + label)[shown]
    dense = sum_by(key, _people(table)[shown], stops * len(chosen) * labels)
    if table.weight is not None and steps.least > 1:  # sums of weights in full can tell who is in a cell
        above = dense.reshape(stops, -1)[::-1].cumsum(0).round(2)
        dense = np.diff(above, axis=0, prepend=0.0)[::-1].round(2).reshape(-1)
    at = np.flatnonzero(dense)
    n = dense[at]
    by_stop = dense.reshape(stops, len(chosen), labels).sum(-1)
    known = steps.known[grouping.name][chosen]
    widest = float((by_stop.max(0) / by_stop.sum(0))[known.all(1)].max(initial=0.0))
    written = n.tolist() if n.dtype.kind == "i" else [float(f"{x:.12g}") for x in n]
    entry = {
        "groups": len(chosen),
        "reference": chosen.index(grouping.groups.index(reference)),
        "known": [None if own.all() else np.flatnonzero(own).tolist() for own in known],
        "at": np.diff(at, prepend=0).tolist(),
        "n": written,
    }
    return entry, widest


# ---- the part of the page -----------------------------------------------------------------------------------------


def _people(table: Table) -> Any:
    """Of each cell: people, or their weights as if the mean weight were 1."""
    return table.n if table.weight is None else table.weight * (table.rows / table.weight.sum())


def section(
    table: Table,
    references: dict[str, str],
    steps: Steps,
    data: dict[str, Any],
    rule: str,
    room: Room,
    excluded: Mapping[str, Collection[str]],
) -> Markup:
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
    everything = compared(table, references)
    groupings = [g for g in everything if g.name in steps.known]
    groups = room.most(MOST_GROUPS)
    tables = [
        _table(table, g, references[g.name], i, data["threshold"], groups, excluded[g.name])
        for i, g in enumerate(groupings)
    ]
    explained = tag("p", _explained(table), None if policy is not None else _ELSEWHERE)
    explorer = tag(
        "div",
        tag("p", tag("output", "Favourable decision: ", name(rule, 120), for_="threshold"), class_="rule"),
        controls,
        *tables,
        tag("p", _exactness(data, steps.least), class_="note"),
        tag("p", _UNKNOWN, class_="note") if any(own for g in data["groupings"] for own in g["known"]) else None,
        [tag("p", _ELSE, name(g.name), _OTHERS, class_="note") for g in everything if g not in groupings],
        class_="explorer",
    )
    return join(explained, explorer)


_ELSEWHERE = (
    " The audited decision is a column of the data, not a threshold: its numbers stand here until you move the slider."
)


def _explained(table: Table) -> str:
    text = (
        "Move the threshold and see whom the decision would select. The gap is the selection rate minus that of the "
        "reference in percentage points, the ratio is one over the other: below 0.8 it fails the four-fifths rule."
    )
    if table.label is not None:
        text += (
            " TP and FN are people with the favourable outcome, selected and refused; FP and TN are the others. TPR "
            "and FPR are how many of both are selected, PPV is how many of the selected have the favourable outcome."
        )
    if table.weight is not None:
        text += " Numbers of people are weighted, as if the mean weight were 1."
    return text


def _marker(place: float) -> Markup:
    x = 1000 * place
    shape = tag("path", d=f"M{x - 6:.1f},14 L{x:.1f},0 L{x + 6:.1f},14 Z")
    return tag("svg", shape, class_="policy", viewBox="0 0 1000 14", preserveAspectRatio="none", aria_hidden="true")


_UNKNOWN = (
    "A dash stands where a group has too few people on one side of the threshold, or between it and the next, to tell."
)
_ELSE, _OTHERS = (
    "Too few people to tell at other thresholds: groups of ",
    ". Their numbers at the audited one are below.",
)


def _exactness(data: dict[str, Any], least: int) -> str:
    held = f" Between two thresholds there is nobody, or at least {least} people, of each group and outcome."
    if data["exact"]:
        told = f"Exact at each of the {data['places']:,} scores, computed here from the counts in this page."
    else:
        told = (
            f"Computed here from the counts in this page, exact at {data['places']:,} thresholds, where the slider "
            f"stops; between two of them are at most {100 * data['error']:.2g}% of any group."
        )
    return told + (held if least > 1 else "")


def _table(
    table: Table,
    grouping: Grouping,
    reference: str,
    index: int,
    threshold: float | None,
    most: int,
    excluded: Collection[str],
) -> Markup:
    chosen = shown_groups(table, grouping, reference, most)
    labels = table.label is not None
    keys = [*(_RATES if labels else ["selection_rate"]), *_COMPARED, *(_COUNTS if labels else ["selected"])]
    by_group = outcomes(table, grouping, threshold)
    base = by_group[grouping.groups.index(reference)]["selection_rate"]
    rows = []
    for place, g in enumerate(chosen):
        rate = by_group[g]["selection_rate"]
        row = {**by_group[g], "gap": rate - base, "ratio": rate / base if base > 0 else np.nan}
        aside = grouping.groups[g] in excluded
        mark = " (reference)" if grouping.groups[g] == reference else f" ({NOT_COMPARED})" if aside else ""
        cells = (cell("–") if aside and key in _COMPARED else _cell(place, key, row[key]) for key in keys)
        rows.append([join(name(grouping.groups[g]), mark), *cells])
    heads = {**_RATES, "gap": "gap, points", "ratio": "ratio", "selected": "people selected", **_COUNTS}
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
    if key == "ratio":
        return number(value, digits=2)
    return f"{100 * value:{'+' if value > 0 else ''}.1f}" if key == "gap" else f"{100 * value:.1f}%"
