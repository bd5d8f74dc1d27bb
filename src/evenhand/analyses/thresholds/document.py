"""All thresholds of a score: their document, and a dataframe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.analyses.thresholds.selection import spread
from evenhand.errors import shown_name
from evenhand.report.document import fields, header, number
from evenhand.report.frame import plain_frame

if TYPE_CHECKING:
    from evenhand.analyses.thresholds.by_group import ByGroup, Separate
    from evenhand.analyses.thresholds.selection import Check, Cutoff, Policy
    from evenhand.analyses.thresholds.thresholds import Thresholds
    from evenhand.tables.arrays import Ints

POINTS = 1000
FRONT = 500
RANGES = 100
ANALYSIS = "an analysis of what separate thresholds would achieve, not advice to use them"
_TYPES = {"group": "str", "on_front": "bool", "trivial": "bool", "meets": "bool"}
"""Of the columns of a dataframe that are no numbers."""


def document(result: Thresholds) -> dict[str, Any]:
    """The whole result as plain values."""
    s, trivial = result.sweep, result.sweep.trivial
    kept = _kept(result)
    return {
        **header("thresholds"),
        "data": _data(result),
        "options": _options(result),
        "attribute": result.grouping.name,
        "reference": result.reference,
        "groups": list(result.grouping.groups),
        "thresholds": {
            "count": len(s.thresholds),
            "lowest": result.table.extremes[0],
            "highest": result.table.extremes[1],
            "undefined": int((np.isnan(result.swept.size) & ~trivial).sum()),
            "front": int(result.on_front.sum()),
        },
        "performance_undefined": result.goal.undefined,
        "best": _optional(result.best),
        "nearest": _optional(result.nearest),
        "current": _optional(result.current),
        "policy": None if result.policy is None else _policy(result.policy),
        "by_group": None if result.by_group is None else _by_group(result.by_group),
        "trivial": [_cutoff(result.at(int(i))) for i in np.flatnonzero(trivial)[[0, -1]]] if trivial.any() else [],
        "curve": [_cutoff(result.at(int(i))) for i in kept],
        "interpretation": _sentence(result),
        "notes": list(result.notes),
    }


def _data(result: Thresholds) -> dict[str, Any]:
    table, m = result.table, result.table.meaning
    return {
        "rows": table.rows,
        "left_out": dict(table.left_out),
        "score": m.score,
        "score_range": list(table.score_range),
        **fields(m, "risk label favorable weight cluster"),
        "table": table.digest(),
    }


def _options(result: Thresholds) -> dict[str, Any]:
    return {
        "performance": result.goal.id,
        **fields(result, "cost"),
        "fairness": result.fairness.id,
        "require": [str(r) for r in result.requirements],
        "threshold": result.options.threshold,
        "allow_trivial": result.allow_trivial,
        "choose": result.choose,
        **fields(result.options, "confidence bootstrap seed"),
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
        **fields(p, "level chance"),
    }


def _check(c: Check) -> dict[str, Any]:
    return {"requirement": str(c.requirement), **fields(c.gap, "group value signed ci"), "settled": c.settled}


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


def _kept(result: Thresholds) -> Ints:
    """Which thresholds the curve of the document shows: what matters, and of the others evenly many."""
    s = result.sweep
    shown = {0, len(s.thresholds) - 1}
    missed = None if result.policy is None else result.policy.nearest
    for cutoff in (result.best, result.nearest, result.current, result.chosen, missed):
        if cutoff is not None:
            shown.add(s.index(cutoff.threshold))
    must = np.unique(np.concatenate([sorted(shown), spread(result.on_front, FRONT)]).astype(np.int64))
    others = np.ones(len(s.thresholds), np.bool_)
    others[must] = False
    return np.sort(np.concatenate([must, spread(others, POINTS - len(must))]))


def frame(result: Thresholds, library: str | None) -> Any:
    """One row for each threshold; selection rates by group in columns of their own, where they were kept."""
    s, swept = result.sweep, result.swept
    names = np.array([*result.grouping.groups, None], object)
    columns: dict[str, list[Any]] = {
        "threshold": s.thresholds.tolist(),
        "selection_rate": s.selection_rate.tolist(),
        "performance": s.performance.tolist(),
        "value": swept.size.tolist(),
        "group": names[swept.group].tolist(),
        "fairness": swept.fairness.tolist(),
        "dto": result.dto.tolist(),
        "on_front": result.on_front.tolist(),
        "trivial": s.trivial.tolist(),
        "meets": result.meets.tolist() if result.requirements else [None] * len(s.thresholds),
    }
    if s.selection_rates is not None:
        rates = zip(result.grouping.groups, s.selection_rates.T.tolist(), strict=True)
        columns |= {f"selection_rate: {name}": own for name, own in rates}
    return plain_frame(
        columns, {**dict.fromkeys(columns, "float"), **_TYPES}, result.library if library is None else library
    )


def _sentence(result: Thresholds) -> str:
    """The verdict, for people who read nothing else."""
    if result.policy is not None:
        return _verdict(result, result.policy)
    best, nearest_ = result.best, result.nearest
    if best is None or nearest_ is None:
        return f"No threshold can be recommended {result.goal.undefined or _why_none(result)}."
    return (
        f"{_rule(result, best)} has the best {result.goal.title}, {best.performance:.3f}, with "
        f"{_valued(result, best)}; {_rule(result, nearest_)} is the nearest to the optimum: "
        f"{nearest_.performance:.3f} with {_valued(result, nearest_)}."
    )


def _why_none(result: Thresholds) -> str:
    if result.sweep.trivial.all():
        return "because every threshold selects everybody or nobody"
    return f"because {result.fairness.title} is undefined at every threshold"


def _verdict(result: Thresholds, p: Policy) -> str:
    asked = " and ".join(str(r) for r in p.requirements)
    if p.chosen is not None:
        lost = "which costs nothing" if p.lost == 0 else f"{p.lost:.3f} less than the best without the policy"
        sure = {
            True: "The intervals leave no doubt that it is met.",
            False: "But an interval reaches beyond the limit: these people do not settle that it is met.",
            None: "There is no interval to tell how sure that is.",
        }[p.settled]
        among = " of those whose intervals do" if result.choose == "interval" else ""
        return (
            f"{_rule(result, p.chosen)} meets the policy ({asked}) with the best {result.goal.title}{among}: "
            f"{p.chosen.performance:.3f}, {lost}. {sure}{_likely(p)}"
        )
    if p.nearest is not None and p.feasible:
        meet = "threshold meets" if p.feasible == 1 else "thresholds meet"
        missed = " and ".join(f"{text} by {by:.2g}" for text, by in (p.missed_by or {}).items() if by > 0)
        return (
            f"No threshold is shown to meet the policy ({asked}): {p.feasible:,} {meet} it among these people, but the "
            f"interval of a gap reaches beyond the limit. {_rule(result, p.nearest)} comes nearest: its interval "
            f"misses {missed or asked}."
        )
    if p.nearest is not None and p.missed_by is not None:
        missed = " and ".join(f"{text} by {by:.2g}" for text, by in p.missed_by.items() if by > 0) or asked
        only = " except by selecting everybody or nobody" if p.trivial else ""
        return (
            f"No threshold meets the policy ({asked}){only}. {_rule(result, p.nearest)} comes nearest: "
            f"it misses {missed}."
        )
    if p.feasible:
        return f"{p.feasible:,} thresholds meet the policy ({asked}); which is best is undefined {p.undefined}."
    return f"Whether a threshold meets the policy ({asked}) is undefined {p.undefined}."


def _likely(p: Policy) -> str:
    """How often such a choice keeps to its policy, in words."""
    if p.chance is None:
        return ""
    times = round(100 * p.chance)
    often = "more than 99 times of 100" if times == 100 else f"about {times} times of 100"
    return f" A threshold chosen like this keeps to the policy on new people {often}, by resamples."


def _rule(result: Thresholds, c: Cutoff) -> str:
    return f"{shown_name(result.table.meaning.score)} {'<' if result.table.meaning.risk else '≥'} {exact(c.threshold)}"


def exact(threshold: float) -> str:
    """As short as possible, but the same number: a rounded threshold would be another rule."""
    short = f"{threshold:.6g}"
    return short if float(short) == threshold else repr(threshold)


def _valued(result: Thresholds, c: Cutoff) -> str:
    return f"{result.fairness.title} {c.value:.3f}" if c.value == c.value else f"{result.fairness.title} undefined"
