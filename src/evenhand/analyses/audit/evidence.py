"""A gap → the gap with its evidence: tests, adjusted p-values, and what the sample could have found."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from evenhand.analyses.audit.gaps import AnyGap, Gap, RateGap
from evenhand.analyses.audit.information import Information
from evenhand.analyses.audit.largest_gap import LargestGap
from evenhand.analyses.audit.verdict import is_there
from evenhand.inference.highest import times
from evenhand.inference.power import detectable
from evenhand.inference.significance import (
    TestResult,
    benjamini_hochberg,
    cohens_h,
    counted_once,
    fisher,
    holm_of_bounds,
    two_proportion_z,
)
from evenhand.measures.registry import Profile, RateMeasure, hypothesis


def with_rate_tests(m: RateMeasure, gap: RateGap, profile: Profile, whole: bool, confidence: float) -> RateGap:
    """The gap between two shares with the classical tests, and what these people could have shown.

    The profile is that of the group and its reference; `whole` says that it counts people, not weights.
    """
    if gap.undefined or profile.trials is None or len(m.components) != 1:
        return gap
    (p, q), (n, n_ref) = profile.values[0].tolist(), profile.trials[0].tolist()
    tests: tuple[TestResult, ...] = (two_proportion_z(p * n, n, q * n_ref, n_ref),)
    if whole:
        tests += (fisher(round(p * n), round(n), round(q * n_ref), round(n_ref)),)
    reach = detectable(q, n, n_ref, 1 - confidence)
    size = float(reach.ratio(q) if m.scale == "ratio" else reach.gap(q))
    return replace(gap, tests=tests, cohens_h=float(cohens_h(p, q)), detectable=size)


def with_choice(gap: AnyGap, groups: int) -> AnyGap:
    """The gap to a reference that was chosen by its rate: whichever group it had been, p-values hold."""
    return gap if gap.null is None else replace(gap, null=gap.null.times(times(groups)))


def too_small(gaps: Sequence[Gap], confidence: float) -> tuple[str, ...]:
    """Groups too small to conclude anything: their decisions may hide a gap of three times the tolerance.

    Selection rates rest on everybody, so other rates hide even more. Where they were not asked for, all measures must
    say so. A group of which a test showed a gap all the same is not among them.
    """
    told: dict[str, dict[str, bool]] = {}
    for g in gaps:
        if g.underpowered is not None:
            told.setdefault(g.group, {})[g.id] = g.underpowered
    shown = {g.group for g in gaps if not (g.exploratory or g.undefined) and is_there(tested(g), confidence)}
    few = (group for group, by_id in told.items() if by_id.get("demographic_parity", all(by_id.values())))
    return tuple(group for group in few if group not in shown)


def tested(gap: Gap | LargestGap | Information) -> dict[str, Any]:
    """What tells whether a gap is there, under the names that it has in the document.

    A search for the most different pair is tested as such, not among the comparisons with a reference.
    """
    p, method = (None, None) if gap.null is None else (gap.null.p_value, gap.null.method)
    adjusted = gap.p_adjusted if isinstance(gap, Gap) else p
    return {"id": gap.id, "ci": gap.ci, "p_value": p, "null_method": method, "p_adjusted": adjusted}


def adjusted(gaps: Sequence[Sequence[Gap]], key: Sequence[Collection[str]]) -> list[tuple[Gap, ...]]:
    """All gaps of an audit, attribute by attribute, with p-values adjusted for there being so many.

    Those of key measures are adjusted among themselves, the others, which are exploratory, among all.
    """
    marked = [[replace(g, exploratory=g.id not in ids) for g in m] for m, ids in zip(gaps, key, strict=True)]
    confirmatory = _adjusted([[g if not g.exploratory else replace(g, null=None) for g in m] for m in marked])
    both = zip(_adjusted(marked), confirmatory, strict=True)
    return [tuple(a if a.exploratory else b for a, b in zip(*pair, strict=True)) for pair in both]


def _adjusted(gaps: Sequence[Sequence[Gap]]) -> list[tuple[Gap, ...]]:
    """What is one number counts once."""
    tested = [(i, g, g.null) for i, members in enumerate(gaps) for g in members if g.null is not None]
    about = [(i, g.group, hypothesis(g.measure)) for i, g, _ in tested]
    p = [null.p_value for _, _, null in tested]
    strict = holm_of_bounds(p, [null.at_most for _, _, null in tested], about)
    found = zip(strict, counted_once(benjamini_hochberg, p, about), strict=True)

    def one(gap: Gap) -> Gap:
        if gap.null is None:
            return gap
        (a, bound), b = next(found)
        return replace(gap, p_adjusted=a, p_adjusted_at_most=bound, p_adjusted_bh=b)

    return [tuple(one(g) for g in members) for members in gaps]
