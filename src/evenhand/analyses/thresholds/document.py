"""All thresholds of a score: their document, and a dataframe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import shown_name
from evenhand.report.document import fields, header, number
from evenhand.report.frame import plain_frame

if TYPE_CHECKING:
    from evenhand.analyses.thresholds.by_group import ByGroup, Separate
    from evenhand.analyses.thresholds.selection import Check, Cutoff, Policy
    from evenhand.analyses.thresholds.thresholds import Thresholds
    from evenhand.tables.arrays import Bools, Ints

POINTS = 1000
FRONT = 500
RANGES = 100
ANALYSIS = "an analysis of what separate thresholds would achieve, not advice to use them"
_TYPES = {
    "threshold": "float", "selection_rate": "float", "performance": "float", "value": "float", "group": "str",
    "fairness": "float", "dto": "float", "on_front": "bool", "trivial": "bool", "meets": "bool",
}  # fmt: skip


def document(found: Thresholds) -> dict[str, Any]:
    """The whole result as plain values."""
    s, trivial = found.sweep, found.sweep.trivial
    kept = _kept(found)
    return {
        **header("thresholds"),
        "data": _data(found),
        "options": _options(found),
        "attribute": found.grouping.name,
        "reference": found.reference,
        "groups": list(found.grouping.groups),
        "thresholds": {
            "count": len(s.thresholds),
            "lowest": found.table.extremes[0],
            "highest": found.table.extremes[1],
            "undefined": int((np.isnan(found.swept.size) & ~trivial).sum()),
            "front": int(found.on_front.sum()),
        },
        "performance_undefined": found.goal.undefined,
        "best": _optional(found.best),
        "nearest": _optional(found.nearest),
        "current": _optional(found.current),
        "policy": None if found.policy is None else _policy(found.policy),
        "by_group": None if found.by_group is None else _by_group(found.by_group),
        "trivial": [_cutoff(found.at(int(i))) for i in np.flatnonzero(trivial)[[0, -1]]] if trivial.any() else [],
        "curve": [_cutoff(found.at(int(i))) for i in kept],
        "interpretation": _sentence(found),
        "notes": list(found.notes),
    }


def _data(found: Thresholds) -> dict[str, Any]:
    table, m = found.table, found.table.meaning
    return {
        "rows": table.rows,
        "left_out": dict(table.left_out),
        "score": m.score,
        "score_range": list(table.score_range),
        **fields(m, "risk label favorable weight cluster"),
        "table": table.digest(),
    }


def _options(found: Thresholds) -> dict[str, Any]:
    return {
        "performance": found.goal.id,
        **fields(found, "cost"),
        "fairness": found.fairness.id,
        "require": [str(r) for r in found.requirements],
        "threshold": found.options.threshold,
        "allow_trivial": found.allow_trivial,
        **fields(found.options, "confidence bootstrap seed"),
    }


def _optional(cutoff: Cutoff | None) -> dict[str, Any] | None:
    return None if cutoff is None else _cutoff(cutoff)


def _cutoff(c: Cutoff) -> dict[str, Any]:
    rates = c.selection_rates
    return {
        **fields(c, "threshold selection_rate"),
        "selection_rates": None if rates is None else {g: number(r) for g, r in rates.items()},
        **fields(c, "performance value group fairness dto on_front trivial meets"),
        "values": {id_: number(v) for id_, v in c.values.items()},
    }


def _policy(p: Policy) -> dict[str, Any]:
    widest = sorted(sorted(p.ranges, key=lambda r: -r.thresholds)[:RANGES], key=lambda r: r.start)
    return {
        "feasible": p.feasible,
        "ranges": [{"from": r.start, "to": r.end, "thresholds": r.thresholds} for r in widest],
        "ranges_left_out": len(p.ranges) - len(widest),
        "trivial": list(p.trivial),
        "chosen": _optional(p.chosen),
        **fields(p, "undefined lost lost_to_current"),
        "checks": [_check(c) for c in p.checks],
        "settled": p.settled,
        "nearest": _optional(p.nearest),
        "missed_by": None if p.missed_by is None else {text: number(by) for text, by in p.missed_by.items()},
    }


def _check(c: Check) -> dict[str, Any]:
    return {
        "requirement": str(c.requirement),
        **fields(c.gap, "group value ci"),
        "settled": c.settled,
    }


def _by_group(b: ByGroup) -> dict[str, Any]:
    return {
        "what": ANALYSIS,
        "measure": b.measure,
        "curve": [_separate(s) for s in b.curve],
        "at_limit": None if b.at_limit is None else _separate(b.at_limit),
        **fields(b, "exact undefined"),
    }


def _separate(s: Separate) -> dict[str, Any]:
    return {
        **fields(s, "limit performance value trivial"),
        "thresholds": {g: fields(level, "threshold rate") for g, level in s.levels.items()},
    }


def _kept(found: Thresholds) -> Ints:
    """Which thresholds the curve of the document shows: what matters, and of the others evenly many."""
    s = found.sweep
    shown = {0, len(s.thresholds) - 1}
    missed = None if found.policy is None else found.policy.nearest
    for cutoff in (found.best, found.nearest, found.current, found.chosen, missed):
        if cutoff is not None:
            shown.add(s.index(cutoff.threshold))
    must = np.unique(np.concatenate([sorted(shown), spread(found.on_front, FRONT)]).astype(np.int64))
    others = np.ones(len(s.thresholds), np.bool_)
    others[must] = False
    return np.sort(np.concatenate([must, spread(others, POINTS - len(must))]))


def spread(among: Bools, most: int) -> Ints:
    """At most so many of the places that are true, evenly, with both ends.

    >>> spread(np.array([True, False, True, True, True, True]), 3).tolist()
    [0, 3, 5]
    """
    places = np.flatnonzero(among)
    if len(places) <= most:
        return places
    return np.asarray(places[np.unique(np.linspace(0, len(places) - 1, most).round().astype(np.int64))])


def frame(found: Thresholds, library: str | None) -> Any:
    """One row for each threshold; selection rates by group in columns of their own, where they were kept."""
    s, swept = found.sweep, found.swept
    names = np.array([*found.grouping.groups, None], object)
    columns: dict[str, list[Any]] = {
        "threshold": s.thresholds.tolist(),
        "selection_rate": s.selection_rate.tolist(),
        "performance": s.performance.tolist(),
        "value": swept.size.tolist(),
        "group": names[swept.group].tolist(),
        "fairness": swept.fairness.tolist(),
        "dto": found.dto.tolist(),
        "on_front": found.on_front.tolist(),
        "trivial": s.trivial.tolist(),
        "meets": found.meets.tolist() if found.requirements else [None] * len(s.thresholds),
    }
    types = dict(_TYPES)
    if s.selection_rates is not None:
        for g, name in enumerate(found.grouping.groups):
            columns[f"selection_rate: {name}"] = s.selection_rates[:, g].tolist()
            types[f"selection_rate: {name}"] = "float"
    return plain_frame(columns, types, library or found.library)


# ---- words ------------------------------------------------------------------------------------------------------


def _sentence(found: Thresholds) -> str:
    """The verdict, for people who read nothing else."""
    if found.policy is not None:
        return _verdict(found, found.policy)
    best, nearest_ = found.best, found.nearest
    if best is None or nearest_ is None:
        return f"No threshold can be recommended {found.goal.undefined or _why_none(found)}."
    return (
        f"{_rule(found, best)} has the best {found.goal.title}, {best.performance:.3f}, with {_valued(found, best)}; "
        f"{_rule(found, nearest_)} is the nearest to the optimum: {nearest_.performance:.3f} with "
        f"{_valued(found, nearest_)}."
    )


def _why_none(found: Thresholds) -> str:
    if found.sweep.trivial.all():
        return "because every threshold selects everybody or nobody"
    return f"because {found.fairness.title} is undefined at every threshold"


def _verdict(found: Thresholds, p: Policy) -> str:
    asked = " and ".join(str(r) for r in p.requirements)
    if p.chosen is not None:
        lost = "which costs nothing" if p.lost == 0 else f"{p.lost:.3f} less than the best without the policy"
        sure = {
            True: "The intervals leave no doubt that it is met.",
            False: "But an interval reaches beyond the limit: these people do not settle that it is met.",
            None: "There is no interval to tell how sure that is.",
        }[p.settled]
        return (
            f"{_rule(found, p.chosen)} meets the policy ({asked}) with the best {found.goal.title}: "
            f"{p.chosen.performance:.3f}, {lost}. {sure}"
        )
    if p.nearest is not None and p.missed_by is not None:
        missed = " and ".join(f"{text} by {by:.2g}" for text, by in p.missed_by.items() if by > 0) or asked
        only = " except by selecting everybody or nobody" if p.trivial else ""
        return (
            f"No threshold meets the policy ({asked}){only}. {_rule(found, p.nearest)} comes nearest: "
            f"it misses {missed}."
        )
    if p.feasible:
        return f"{p.feasible:,} thresholds meet the policy ({asked}); which is best is undefined {p.undefined}."
    return f"Whether a threshold meets the policy ({asked}) is undefined {p.undefined}."


def _rule(found: Thresholds, c: Cutoff) -> str:
    return f"{shown_name(found.table.meaning.score)} {'<' if found.table.meaning.risk else '≥'} {exact(c.threshold)}"


def exact(threshold: float) -> str:
    """As short as possible, but the same number: a rounded threshold would be another rule."""
    short = f"{threshold:.6g}"
    return short if float(short) == threshold else repr(threshold)


def _valued(found: Thresholds, c: Cutoff) -> str:
    return f"{found.fairness.title} {c.value:.3f}" if c.value == c.value else f"{found.fairness.title} undefined"
