"""Models against the first of them: performance and every measure of fairness, on the same people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenhand.analyses.audit.audit import Audit
from evenhand.analyses.audit.gaps import Gap
from evenhand.analyses.audit.groups import Estimate
from evenhand.analyses.models.paired import About, Paired, distance, gap_errors, paired, plain_errors
from evenhand.inference import interval
from evenhand.inference.significance import holm_of_bounds
from evenhand.measures.performance import PERFORMANCES, Performance, why_not
from evenhand.measures.rates import trials
from evenhand.measures.registry import RATES, Measure, RateMeasure, ScoreMeasure, find, hypothesis
from evenhand.tables.arrays import Floats, Pair
from evenhand.tables.scores import ScoreCounts, ScoreView


@dataclass(frozen=True)
class Candidate:
    """One model: how well it does, and how alike it treats groups."""

    name: str
    audit: Audit
    performance: Mapping[str, Estimate]


@dataclass(frozen=True)
class Difference:
    """A model against the first one, by one measure of fairness or of performance."""

    model: str
    against: str
    id: str
    attribute: str | None
    """None for a performance."""
    group: str | None
    reference: str | None
    value: float = np.nan
    other: float = np.nan
    """The measure of the model, and of the one it is compared with."""
    difference: float = np.nan
    """Of distances from parity: below 0 the model is fairer. Of performances: value − other."""
    ci: Pair | None = None
    ci_bootstrap: Pair | None = None
    """The plain percentile interval of the same resamples, for comparison."""
    signed_difference: float | None = None
    """Of signed gaps: how far the model moves the gap, in whichever direction."""
    ci_signed: Pair | None = None
    p_signed: float | None = None
    p_signed_at_most: bool | None = None
    p_signed_adjusted: float | None = None
    p_signed_adjusted_at_most: bool | None = None
    p_value: float | None = None
    p_value_at_most: bool | None = None
    """Whether more resamples could make it smaller."""
    p_adjusted: float | None = None
    p_adjusted_at_most: bool | None = None
    undefined: str | None = None
    better: bool | None = None
    """Whether the model is better by this measure; None if the interval holds both."""


# ---- performance --------------------------------------------------------------------------------------------


def performances(a: Audit, resamples: Mapping[About, Any], model: int) -> dict[str, Estimate]:
    table = a.table
    grouping = table.groupings[0]
    scores = ScoreView(table, grouping)(range(len(grouping.groups)))
    decisions = table.decisions(grouping, a.options.threshold)
    estimates = {}
    for p in PERFORMANCES.values():
        of: Any = p.of
        value = float(of(decisions if p.rests_on == "decision" else scores)) if scores.has_label else np.nan
        because = why_not(p, scores, value)
        if because:
            estimates[p.id] = Estimate(np.nan, undefined=because)
            continue
        draws = resamples.get((None, p.id, None))
        ci = None if draws is None else _bounded(p, value, draws[model, 0], scores, a.options.confidence)
        estimates[p.id] = Estimate(value, ci)
    return estimates


def _bounded(p: Performance, value: float, draws: Floats, scores: ScoreCounts, confidence: float) -> Pair | None:
    """Wilson's interval for as many people as would make a share vary as resamples do; of a loss on a log scale.

    Where resamples do not vary, for as many as there are (of the rarer label, unless the performance is about
    everybody): a perfect model of thirty people is not perfect for certain.
    """
    if not interval.enough(draws, confidence):
        return None
    variance = float(np.nanvar(draws))
    if p.id == "log_loss":
        reach = float(interval.z_value(confidence)) * np.sqrt(variance) / value if value > 0 else 0.0
        return value * float(np.exp(-reach)), value * float(np.exp(reach))
    people = scores.people(by_label=True).sum(0)
    most = float(people.sum() if p.id in ("accuracy", "brier") else people.min())
    n = value * (1 - value) / variance if variance > 0 and 0 < value < 1 else most
    lo, hi = interval.wilson(value, n, confidence)
    return float(lo), float(hi)


# ---- differences --------------------------------------------------------------------------------------------


def against_first(
    candidates: Sequence[Candidate],
    model: int,
    chosen: Sequence[Measure],
    resamples: Mapping[About, Any],
    people: float,
) -> list[Difference]:
    this, first = candidates[model], candidates[0]
    confidence = first.audit.options.confidence
    differences = []
    for p in PERFORMANCES.values():
        a, b = this.performance[p.id], first.performance[p.id]
        of = Difference(this.name, first.name, p.id, None, None, None, a.value, b.value)
        because = a.undefined or b.undefined
        if because:
            differences.append(replace(of, undefined=because))
            continue
        draws = resamples.get((None, p.id, None))
        one = Paired(a.value - b.value)
        if draws is not None:
            one = paired(one.difference, plain_errors(draws, 0, model, 0), confidence, people)
        differences.append(_settled(replace(of, difference=one.difference, **_tested(one)), p.lower_is_better))
    for i, attribute in enumerate(first.audit.attributes):
        of_model = {(g.id, g.group): g for g in this.audit.attributes[i].measures}
        for gap in attribute.measures:
            m = next(m for m in chosen if m.id == gap.id)
            smallest = min(people_of(a, i, m, gap) for a in (this.audit, first.audit))
            draws = resamples.get((attribute.name, m.id, gap.group))
            both = of_model[gap.id, gap.group], gap
            of = _difference(m, attribute.name, both, draws, model, confidence, smallest)
            differences.append(_settled(replace(of, model=this.name, against=first.name), lower_is_better=True))
    return differences


def people_of(a: Audit, i: int, m: Measure, gap: Gap) -> float:
    """How many people the smaller of the rates or curves that a gap compares rests on."""
    grouping = a.table.groupings[[g.name for g in a.table.groupings].index(a.attributes[i].name)]
    pair = a.table.decisions(grouping, a.options.threshold).only(
        [grouping.groups.index(g) for g in (gap.group, gap.reference)]
    )
    if isinstance(m, RateMeasure) and m.levels == "decision":
        rates = [rate for rate in m.rests_on or m.components if pair.has_label or not RATES[rate].needs_label]
        return float(min((trials(pair, rate).min() for rate in rates), default=0.0))
    if isinstance(m, ScoreMeasure) and m.labels and pair.has_label:
        return float(pair.people(by_label=True)[:, list(m.labels)].min())
    return float(pair.people().min())


def _difference(
    m: Measure, attribute: str, gaps: tuple[Gap, Gap], draws: Any, model: int, confidence: float, people: float
) -> Difference:
    this, first = gaps
    base = Difference("", "", m.id, attribute, this.group, this.reference, this.value, first.value)
    if this.undefined or first.undefined:
        return replace(base, undefined=this.undefined or first.undefined)
    apart = float(distance(m, this.value) - distance(m, first.value))
    base = replace(base, difference=apart)
    if m.signed and this.signed is not None and first.signed is not None:
        base = replace(base, signed_difference=this.signed - first.signed)
    if isinstance(m, ScoreMeasure) and m.view is not None:
        # bins of few people overstate a gap, and resamples of them do so again: only both intervals together are safe
        if this.ci is None or first.ci is None:
            return base
        return replace(base, ci=(this.ci[0] - first.ci[1], this.ci[1] - first.ci[0]))
    if draws is None:
        return base
    off = this.resolution + first.resolution
    one = paired(apart, gap_errors(apart, draws, model, 0), confidence, people, m.highest, off)
    base = replace(base, **_tested(one))
    values = draws[model, 1] - draws[0, 1]
    if interval.enough(values, confidence):
        low, high = interval.percentile(values, confidence)
        base = replace(base, ci_bootstrap=(float(low), float(high)))
    if base.signed_difference is not None:
        errors = plain_errors(draws, 0, model, 0)
        signed = paired(base.signed_difference, errors, confidence, people, 2 * m.highest, off)
        base = replace(base, ci_signed=signed.ci, p_signed=signed.p_value, p_signed_at_most=signed.at_most)
    return base


def _tested(one: Paired) -> dict[str, Any]:
    return {"ci": one.ci, "p_value": one.p_value, "p_value_at_most": one.at_most}


def _settled(d: Difference, lower_is_better: bool) -> Difference:
    """With a verdict, where the interval allows one."""
    if d.ci is None or d.ci[0] <= 0 <= d.ci[1]:
        return d
    return replace(d, better=(d.ci[1] < 0) == lower_is_better)


def _about(d: Difference) -> tuple[str | None, ...]:
    """What it is a difference of: measures that are one number have the same."""
    m = find(d.id)
    return d.model, d.attribute, d.group, *((d.id,) if m is None else (hypothesis(m), m.scale))


def adjusted(differences: list[Difference]) -> list[Difference]:
    """Holm's p-values, over all differences that were tested, and over all signed ones."""
    for p, name in (("p_value", "p_adjusted"), ("p_signed", "p_signed_adjusted")):
        tested = [d for d in differences if getattr(d, p) is not None]
        values, bounds = ([getattr(d, key) for d in tested] for key in (p, f"{p}_at_most"))
        found = iter(holm_of_bounds(values, bounds, [_about(d) for d in tested]))
        differences = [
            d if getattr(d, p) is None else replace(d, **dict(zip((name, f"{name}_at_most"), next(found), strict=True)))
            for d in differences
        ]
    return differences
