"""The audit of probable groups: rates and gaps by weighting, corrected, and over what would make them differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.analyses.options import Options, Progress
from evenhand.analyses.unknown_groups.correction import corrected, doubt, resampled
from evenhand.analyses.unknown_groups.inputs import Probable, probable_people
from evenhand.analyses.unknown_groups.sensitivity import Sensitivity, sensitivity, shifted
from evenhand.analyses.unknown_groups.weighting import Weighted, around, around_ratio, weighted
from evenhand.errors import UsageError, shown, unknown
from evenhand.inference import interval
from evenhand.ingest.roles import Roles
from evenhand.measures.measure import SLACK
from evenhand.measures.registry import MEASURES, Measure
from evenhand.report.result import Result
from evenhand.tables.arrays import Bools, Floats, Pair

RATE_OF = {
    "demographic_parity": "selection_rate", "disparate_impact": "selection_rate", "equal_opportunity": "tpr",
    "predictive_equality": "fpr",
}  # fmt: skip
"""The measures, and the rate that each compares."""
MOST_DOUBT = 0.5
FEW = 0.5
"""Below such a mean probability of those counted in a group, most of them probably belong to another."""


@dataclass(frozen=True)
class Estimate:
    """A number, or why there is none."""

    value: float = np.nan
    ci: Pair | None = None
    undefined: str | None = None
    passes: bool | None = None
    """Of a gap, whether it is within the tolerance."""


@dataclass(frozen=True)
class ProbableGroup:
    """A group, as far as it is known."""

    name: str
    expected: float
    """How many people probably belong to it."""
    membership: float
    """How probably somebody who is counted in it belongs to it: Σ p² / Σ p."""
    rates: Mapping[str, tuple[Estimate, Estimate]]
    """By weighting, and corrected."""


@dataclass(frozen=True)
class ProbableGap:
    """How a group differs from the reference by one measure."""

    measure: Measure
    group: str
    reference: str
    tolerance: float
    weighted: Estimate
    corrected: Estimate
    sensitivity: Sensitivity | None


@dataclass(frozen=True, repr=False)
class ProbableAudit(Result):
    """What is known of groups that people belong to with some probability. Print it, or take `to_dict`, `to_json`."""

    drawn_by = "evenhand.analyses.unknown_groups.charts"

    people: Probable
    roles: Roles
    cell: str | None
    options: Mapping[str, Any]
    reference: str
    groups: tuple[ProbableGroup, ...]
    measures: tuple[ProbableGap, ...]
    notes: tuple[str, ...]
    stated: Mapping[str, Any]
    """What was said beyond the columns, for the command that repeats it."""

    def measure(self, id: str, group: str | None = None) -> ProbableGap:
        """One comparison.

        >>> import evenhand
        >>> people = {"d": [1, 0, 1, 1], "a": [0.9, 0.8, 0.1, 0.3], "b": [0.1, 0.2, 0.9, 0.7]}
        >>> found = evenhand.audit(people, prediction="d", group_probability=["a", "b"], reference="b", bootstrap=0)
        >>> round(found.measure("demographic_parity").weighted.value, 3)
        -0.276
        """
        for gap in self.measures:
            if gap.measure.id == id and group in (None, gap.group):
                return gap
        if id not in {gap.measure.id for gap in self.measures}:
            raise unknown("this audit has no measure", id, dict.fromkeys(gap.measure.id for gap in self.measures))
        raise unknown("this audit has no group", group, [g.name for g in self.groups])


def audit_probable(
    data: Any,
    roles: Roles,
    columns: Any,
    proxy_cell: str | None,
    options: Options,
    chosen: Sequence[Measure],
    reference: Any,
    rng: np.random.Generator,
    told: Progress,
    stated: Mapping[str, Any],
) -> ProbableAudit:
    """Compare groups whose members are known with some probability only."""
    people = probable_people(data, roles, columns, proxy_cell, options.threshold)
    ref = _reference(people, reference)
    ids = [id_ for id_ in RATE_OF if id_ in {m.id for m in chosen} and _has(people, RATE_OF[id_])]
    if not ids:
        raise UsageError(
            "of these measures none is known of probable groups: name demographic_parity, disparate_impact, or with a "
            "label equal_opportunity or predictive_equality"
        )
    rates = [r for r in ("selection_rate", "tpr", "fpr") if _has(people, r)]
    plain = {r: weighted(people.p, people.decision.astype(float), _among(people, r)) for r in rates}
    better = _Corrected(people, rates, options, rng, told)
    groups = tuple(_group(people, g, plain, better, options.confidence) for g in range(len(people.groups)))
    gaps = tuple(
        _gap(MEASURES[id_], people, g, ref, plain[RATE_OF[id_]], better, options)
        for id_ in ids
        for g in range(len(people.groups))
        if g != ref
    )
    about = {"confidence": options.confidence, "bootstrap": options.bootstrap, "seed": options.seed}
    return ProbableAudit(
        people, roles, proxy_cell, about, people.groups[ref], groups, gaps,
        (*people.notes, *_remarks(people, groups)), stated,
    )  # fmt: skip


def _has(people: Probable, rate: str) -> bool:
    return rate == "selection_rate" or people.label is not None


def _among(people: Probable, rate: str) -> Floats | None:
    """Whom a rate is about; None for everybody."""
    return None if rate == "selection_rate" else _outcome(people, rate).astype(np.float64)


def _outcome(people: Probable, rate: str) -> Bools:
    assert people.label is not None
    return people.label if rate == "tpr" else ~people.label


def _reference(people: Probable, stated: Any) -> int:
    """The group all others are compared with; by default the one of most people."""
    if stated is None:
        return int(people.p.sum(0).argmax())
    if not isinstance(stated, str) or stated not in people.groups:
        raise unknown("the reference is one of the columns of probabilities, not", stated, people.groups)
    return people.groups.index(stated)


class _Corrected:
    """Rates of the correction, with resamples of people; nothing where the probabilities do not tell enough."""

    def __init__(self, people: Probable, rates: list[str], options: Options, rng: np.random.Generator, told: Progress):
        self.undefined: dict[str, str] = {}
        self.rates: dict[str, Floats] = {}
        self.draws: dict[str, Floats] = {}
        hits = {r: _hits(people, r) for r in rates}
        for rate in rates:
            if max(doubt(people.p, hit.astype(float)) for hit in hits[rate]) > MOST_DOUBT:
                self.undefined[rate] = (
                    "because the probabilities differ too little between people to tell the groups' rates apart"
                )
        known = [r for r in rates if r not in self.undefined]
        ones = np.ones(len(people.p))
        starts: dict[tuple[str, int], Any] = {}
        for rate in known:
            found = [corrected(people.p, h.astype(float), people.cell, people.cells, ones) for h in hits[rate]]
            starts |= {(rate, i): start for i, (_, start) in enumerate(found)}
            self.rates[rate] = _share([theta for theta, _ in found])
        drawn: dict[str, list[Floats]] = {r: [] for r in known}
        for i, weight in enumerate(resampled(len(people.p), options.bootstrap if known else 0, rng)):
            for rate in known:
                parts = [
                    corrected(people.p, h.astype(float), people.cell, people.cells, weight, starts[rate, k])[0]
                    for k, h in enumerate(hits[rate])
                ]
                drawn[rate].append(_share(parts))
            told((i + 1) / options.bootstrap, "resampling people")
        self.draws = {r: np.array(one) for r, one in drawn.items() if one}


def _hits(people: Probable, rate: str) -> list[Bools]:
    """Of whom a rate is the share: the hits, and those that are none but could be."""
    if rate == "selection_rate":
        return [people.decision]
    among = _outcome(people, rate)
    return [people.decision & among, ~people.decision & among]


def _share(parts: list[Floats]) -> Floats:
    return parts[0] if len(parts) == 1 else parts[0] / (parts[0] + parts[1])


def _group(
    people: Probable, g: int, plain: Mapping[str, Weighted], better: _Corrected, confidence: float
) -> ProbableGroup:
    p = people.p[:, g]
    rates = {}
    for rate, found in plain.items():
        value = float(found.rates[g])
        one = Estimate(value, around(value, found.moves[:, g], confidence, 0.0)) if value == value else _NOBODY
        rates[rate] = (one, _of_draws(better, rate, lambda r: r[..., g], confidence))
    return ProbableGroup(people.groups[g], float(p.sum()), float((p**2).sum() / p.sum()), rates)


_NOBODY = Estimate(undefined="because nobody with this outcome has a chance to belong to the group")


def _of_draws(better: _Corrected, rate: str, of: Any, confidence: float) -> Estimate:
    """A function of the corrected rates with a percentile interval."""
    if rate in better.undefined:
        return Estimate(undefined=better.undefined[rate])
    ci = None
    if rate in better.draws and interval.enough(draws := of(better.draws[rate]), confidence):
        low, high = interval.percentile(draws, confidence)
        ci = float(low), float(high)
    return Estimate(float(of(better.rates[rate])), ci)


def _gap(
    m: Measure, people: Probable, g: int, ref: int, found: Weighted, better: _Corrected, options: Options
) -> ProbableGap:
    ratio, tolerance = m.scale == "ratio", options.tolerance.get(m.id, m.tolerance)

    def of(rates: Floats) -> Floats:
        a, b = rates[..., g], rates[..., ref]
        return np.asarray(a / b if ratio else a - b)

    a, b = float(found.rates[g]), float(found.rates[ref])
    moves = found.moves[:, g], found.moves[:, ref]
    curve = None
    if not (a == a and b == b):
        plain = _NOBODY
    elif ratio and b == 0:
        plain = Estimate(undefined="because the selection rate of the reference is 0")
    else:
        ci = (
            around_ratio(a, b, moves, options.confidence)
            if ratio
            else around(a - b, moves[0] - moves[1], options.confidence)
        )
        plain = Estimate(a / b if ratio else a - b, ci)
        shifts = shifted(people.p, found, g, ref, _among(people, RATE_OF[m.id]))
        curve = sensitivity(shifts, tolerance, ratio, options.confidence)
    better_gap = _of_draws(better, RATE_OF[m.id], of, options.confidence)
    return ProbableGap(
        m, people.groups[g], people.groups[ref], tolerance, _judged(plain, ratio, tolerance),
        _judged(better_gap, ratio, tolerance), curve,
    )  # fmt: skip


def _judged(e: Estimate, ratio: bool, tolerance: float) -> Estimate:
    if e.undefined:
        return e
    low, high = (tolerance, 1 / tolerance) if ratio else (-tolerance, tolerance)
    return Estimate(e.value, e.ci, None, bool(low - SLACK <= e.value <= high + SLACK))


def _remarks(people: Probable, groups: Sequence[ProbableGroup]) -> Iterator[str]:
    """What these numbers can tell, and what not."""
    yield (
        "weighting is right if, among people with the same probabilities, the decision has nothing to do with the "
        "group; a difference there is missed, and gaps mostly look smaller than they are"
    )
    within = "" if people.cells == 1 else " in the same cell"
    yield (
        f"the correction is right if, within a group{within}, the decision has nothing to do with what the "
        "probabilities were made from, such as name or place; where it has, it may be further off than weighting"
    )
    yield "both take the probabilities for true ones of these very people: neither tells who belongs to a group"
    if people.label is not None:
        yield "rates by outcome take it for unrelated to the probabilities in the same way"
    unsure = [g.name for g in groups if g.membership < FEW]
    if unsure:
        yield (
            f"most people counted in {', '.join(map(shown, unsure))} probably belong to another group: weighted rates "
            "of these are largely those of others"
        )
