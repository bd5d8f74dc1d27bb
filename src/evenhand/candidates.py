"""Several models of the same people → which to choose: every measure of each, paired differences, the trade-off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.auditing import Audit, audit_table
from evenhand.errors import UsageError, listed, nearest, shown
from evenhand.gaps import Gap, Pair
from evenhand.inference import interval
from evenhand.inference.resample import generator
from evenhand.inference.significance import holm
from evenhand.joint import JointTable
from evenhand.measures import Measure, ScoreMeasure
from evenhand.measures.performance import PERFORMANCES, why_not
from evenhand.options import Axes, Options, Progress, checked
from evenhand.paired import About, Paired, Question, distance, gap_errors, paired, plain_errors, resample
from evenhand.scores import ScoreView
from evenhand.table import shown_name
from evenhand.tradeoff import dto, pareto

MANY_GROUPS = 100
"""Above so many groups models are compared without resampling."""


@dataclass(frozen=True)
class Estimated:
    """The performance of a model, with its interval, or the reason why there is none."""

    value: float
    ci: Pair | None = None
    undefined: str | None = None


@dataclass(frozen=True)
class Candidate:
    """One model: how well it does, and how alike it treats groups."""

    name: str
    audit: Audit
    performance: Mapping[str, Estimated]


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
    p_signed_adjusted: float | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    undefined: str | None = None
    better: bool | None = None
    """Whether the model is better by this measure; None if the interval holds both."""


@dataclass(frozen=True)
class Place:
    """Where a model stands in the plane of performance and fairness."""

    model: str
    performance: float
    fairness: float
    group: str | None
    """The group that fares worst."""
    dto: float
    on_front: bool
    dominated_by: tuple[str, ...]
    best_share: float | None
    """In how many resamples it was the nearest to the optimum."""
    undefined: str | None = None


@dataclass(frozen=True)
class Tradeoff:
    """Performance against fairness, for the groups of one attribute."""

    attribute: str
    performance: str
    fairness: str
    places: tuple[Place, ...]
    recommended: str | None
    because: str


@dataclass(frozen=True, repr=False)
class CandidateAudit:
    """What an audit of several models found. Print it, or take `to_dict`, `to_json`, `to_frame`."""

    candidates: tuple[Candidate, ...]
    differences: tuple[Difference, ...]
    tradeoffs: tuple[Tradeoff, ...]
    notes: tuple[str, ...]

    def __getitem__(self, model: str) -> Audit:
        """The audit of one model: the same as if it had been audited alone."""
        names = [c.name for c in self.candidates]
        if model not in names:
            close = nearest(str(model), names)
            raise UsageError(f"there is no model {shown(model)} (there are: {listed(names)}){close}")
        return self.candidates[names.index(model)].audit

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain values, in the form that docs/json.md describes."""
        from evenhand.report.candidates import document

        return document(self)

    def to_json(self, path: str | Path | None = None) -> str:
        """The comparison as JSON text, also written to a file if a path is given."""
        from evenhand.files import write_text
        from evenhand.report.document import as_json

        text = as_json(self.to_dict())
        if path is not None:
            write_text(path, text)
        return text

    def to_frame(self, library: str | None = None) -> Any:
        """The places of all models in the plane of performance and fairness, one row per attribute and model."""
        from evenhand.report.candidates import frame

        return frame(self, library)

    def __rich__(self) -> Any:
        from evenhand.report.candidates import render

        return render(self.to_dict())

    def __repr__(self) -> str:
        from evenhand.report.rendered import as_text

        return as_text(self.__rich__())

    def _repr_html_(self) -> str:
        from evenhand.report.rendered import as_html

        return as_html(self.__rich__())


def _thresholds(stated: Any, count: int) -> list[float | None]:
    """One threshold for each model."""
    several = list(stated) if isinstance(stated, list | tuple | np.ndarray) else [stated] * count
    if len(several) != count:
        raise UsageError(f"there are {count} scores but {len(several)} thresholds: give one, or one for each score")
    return [checked(one, 0.95, 0, 0).threshold for one in several]


def audit_candidates(
    joint: JointTable,
    options: Options,
    threshold: Any,
    axes: Axes,
    chosen: Sequence[Measure],
    reference: Any,
    rng: int | np.random.Generator | None,
    progress: Progress | None,
    library: str | None,
) -> CandidateAudit:
    """Audit every model on its own, then all of them on the same resamples."""
    count = len(joint.names)
    thresholds = _thresholds(threshold, count)
    if axes.fairness.id not in {m.id for m in chosen}:
        chosen = [*chosen, axes.fairness]
    streams = [generator(rng) for _ in range(count + 1)]  # each audit as if it were alone
    audits = []
    for k, own in enumerate(thresholds):

        def tell(done: float, what: str, k: int = k) -> None:
            if progress:
                progress((k + done) / (count + 1), f"{shown_name(joint.names[k])}: {what}")

        audits.append(
            audit_table(
                joint.of(k), replace(options, threshold=own), list(chosen), reference, streams[k], tell, library
            )
        )
    questions, notes = _questions(audits[0], chosen)
    draws = audits[0].options.bootstrap
    resamples: dict[About, Any] = {}
    if draws and questions:
        resamples = resample(
            joint, [a.table for a in audits], [_threshold(a) for a in audits], questions, audits[0].options.scores,
            draws, streams[-1].spawn(1)[0],
            lambda done: progress((count + done) / (count + 1), "comparing the models") if progress else None,
        )  # fmt: skip
    people = float(audits[0].table.rows)
    candidates = tuple(
        Candidate(name, a, _performances(a, resamples, k))
        for k, (name, a) in enumerate(zip(joint.names, audits, strict=True))
    )
    differences = _adjusted(
        [d for k in range(1, count) for d in _against_first(candidates, k, chosen, resamples, people)]
    )
    tradeoffs = tuple(_tradeoff(candidates, i, axes, resamples) for i in range(len(audits[0].attributes)))
    return CandidateAudit(candidates, tuple(differences), tradeoffs, (*notes, *_shared_notes(audits)))


def _threshold(a: Audit) -> float:
    assert a.options.threshold is not None  # candidates have scores, not predictions
    return a.options.threshold


def _questions(first: Audit, chosen: Sequence[Measure]) -> tuple[list[Question], list[str]]:
    """What is asked of resamples: every attribute with not too many groups."""
    questions, notes = [], []
    has_label = first.table.label is not None
    possible = [m for m in chosen if has_label or not m.needs_label]
    for a in first.attributes:
        names = tuple(g.name for g in a.groups)
        if len(names) > MANY_GROUPS:
            notes.append(
                f"{shown(a.name)} has {len(names):,} groups: differences between models have no intervals there"
            )
            continue
        place = [g.name for g in first.table.groupings].index(a.name)
        questions.append(Question(place, a.name, names, names.index(a.reference), possible))
    return questions, notes


def _shared_notes(audits: Sequence[Audit]) -> list[str]:
    """Remarks of the audits, once each."""
    return list(dict.fromkeys(note for a in audits for note in a.notes))


# ---- performance --------------------------------------------------------------------------------------------


def _performances(a: Audit, resamples: Mapping[About, Any], model: int) -> dict[str, Estimated]:
    table = a.table
    grouping = table.groupings[0]
    scores = ScoreView(table, grouping)(range(len(grouping.groups)))
    decisions = table.decisions(grouping, a.options.threshold)
    found = {}
    for p in PERFORMANCES.values():
        of: Any = p.of
        value = float(of(decisions if p.rests_on == "decision" else scores)) if scores.has_label else np.nan
        because = why_not(p, scores, value)
        if because:
            found[p.id] = Estimated(np.nan, undefined=because)
            continue
        draws = resamples.get((None, p.id, None))
        ci = None
        if draws is not None:
            errors = draws[model, 0] - np.nanmean(draws[model, 0])
            low, high = paired(value, errors[None], a.options.confidence, float(table.rows)).ci or (np.nan, np.nan)
            ci = None if np.isnan(low) else (low, high)
        found[p.id] = Estimated(value, ci)
    return found


# ---- differences --------------------------------------------------------------------------------------------


def _against_first(
    candidates: Sequence[Candidate],
    model: int,
    chosen: Sequence[Measure],
    resamples: Mapping[About, Any],
    people: float,
) -> list[Difference]:
    this, first = candidates[model], candidates[0]
    confidence = first.audit.options.confidence
    found = []
    for p in PERFORMANCES.values():
        a, b = this.performance[p.id], first.performance[p.id]
        of = Difference(this.name, first.name, p.id, None, None, None, a.value, b.value)
        because = a.undefined or b.undefined
        if because:
            found.append(replace(of, undefined=because))
            continue
        draws = resamples.get((None, p.id, None))
        one = Paired(a.value - b.value)
        if draws is not None:
            one = paired(one.difference, plain_errors(draws, 0, model, 0), confidence, people)
        found.append(
            _settled(replace(of, difference=one.difference, ci=one.ci, p_value=one.p_value), p.lower_is_better)
        )
    for i, attribute in enumerate(first.audit.attributes):
        sizes = {g.name: g.n for g in attribute.groups}
        of_model = {(g.id, g.group): g for g in this.audit.attributes[i].measures}
        for gap in attribute.measures:
            m = next(m for m in chosen if m.id == gap.id)
            smallest = float(min(sizes[gap.group], sizes[gap.reference]))
            draws = resamples.get((attribute.name, m.id, gap.group))
            both = of_model[gap.id, gap.group], gap
            of = _difference(m, attribute.name, both, draws, model, confidence, smallest)
            found.append(_settled(replace(of, model=this.name, against=first.name), lower_is_better=True))
    return found


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
    one = paired(apart, gap_errors(apart, draws, model, 0), confidence, people)
    base = replace(base, ci=one.ci, p_value=one.p_value)
    values = draws[model, 1] - draws[0, 1]
    if interval.enough(values, confidence):
        low, high = interval.percentile(values, confidence)
        base = replace(base, ci_bootstrap=(float(low), float(high)))
    if base.signed_difference is not None:
        signed = paired(base.signed_difference, plain_errors(draws, 0, model, 0), confidence, people)
        base = replace(base, ci_signed=signed.ci, p_signed=signed.p_value)
    return base


def _settled(d: Difference, lower_is_better: bool) -> Difference:
    """With a verdict, where the interval allows one."""
    if d.ci is None or d.ci[0] <= 0 <= d.ci[1]:
        return d
    return replace(d, better=(d.ci[1] < 0) == lower_is_better)


def _adjusted(differences: list[Difference]) -> list[Difference]:
    """Holm's p-values, over all differences that were tested, and over all signed ones."""
    plain = iter(holm([d.p_value for d in differences if d.p_value is not None]))
    signed = iter(holm([d.p_signed for d in differences if d.p_signed is not None]))
    return [
        replace(
            d,
            p_adjusted=None if d.p_value is None else next(plain),
            p_signed_adjusted=None if d.p_signed is None else next(signed),
        )
        for d in differences
    ]


# ---- the trade-off ------------------------------------------------------------------------------------------


def _tradeoff(candidates: Sequence[Candidate], i: int, axes: Axes, resamples: Mapping[About, Any]) -> Tradeoff:
    attribute = candidates[0].audit.attributes[i]
    worst = [_worst(c.audit, i, axes.fairness) for c in candidates]
    fairness = np.array([1 - size for size, _, _ in worst])
    values = [c.performance[axes.performance.id] for c in candidates]
    good = np.array([float(axes.performance.goodness(np.asarray(v.value))) for v in values])
    reasons = [v.undefined or because for v, (_, _, because) in zip(values, worst, strict=True)]
    known = np.array([r is None for r in reasons])
    good, fairness = np.where(known, good, np.nan), np.where(known, fairness, np.nan)
    on_front = pareto(good, fairness) & known
    away = dto(good, fairness)
    shares = _best_shares(candidates, attribute.name, axes, resamples, known)
    places = tuple(
        Place(
            c.name, float(good[k]), float(fairness[k]), worst[k][1], float(away[k]), bool(on_front[k]),
            tuple(c.name for c, over in zip(candidates, _dominates(good, fairness, k), strict=True) if over),
            None if shares is None else float(shares[k]), reasons[k],
        )
        for k, c in enumerate(candidates)
    )  # fmt: skip
    best = int(np.nanargmin(away)) if known.any() else None
    because = _because(places, best, axes, len(candidates))
    name = None if best is None else candidates[best].name
    return Tradeoff(attribute.name, axes.performance.id, axes.fairness.id, places, name, because)


def _worst(a: Audit, i: int, m: Measure) -> tuple[float, str | None, str | None]:
    """The largest distance from parity of any group to the reference, whose it is, or why it is not known."""
    gaps = [g for g in a.attributes[i].measures if g.id == m.id]
    undefined = [g for g in gaps if g.undefined]
    if undefined:
        return np.nan, None, f"{undefined[0].undefined} (group {shown_name(undefined[0].group)})"
    size, group = max((float(distance(m, g.value)), g.group) for g in gaps)
    return size, group, None


def _dominates(good: Any, fairness: Any, k: int) -> Any:
    at_least = (good >= good[k]) & (fairness >= fairness[k])
    return at_least & ((good > good[k]) | (fairness > fairness[k]))


def _best_shares(
    candidates: Sequence[Candidate], attribute: str, axes: Axes, resamples: Mapping[About, Any], known: Any
) -> Any:
    """In how many resamples each model is the nearest to the optimum; None without resamples."""
    draws = resamples.get((None, axes.performance.id, None))
    gaps = [v[:, 1] for (a, id_, _), v in resamples.items() if (a, id_) == (attribute, axes.fairness.id)]
    if draws is None or not gaps or not known.any():
        return None
    away = dto(axes.performance.goodness(draws[:, 0]), 1 - np.max(gaps, axis=0))
    away = np.where(known[:, None] & np.isfinite(away), away, np.inf)
    told = np.isfinite(away).any(0)
    nearest_ = away == away.min(0)
    return (nearest_ / nearest_.sum(0))[:, told].mean(1) if told.any() else None


def _because(places: Sequence[Place], best: int | None, axes: Axes, count: int) -> str:
    if best is None:
        return f"No model can be placed: {places[0].undefined}."
    p = places[best]
    text = (
        f"{shown_name(p.model)} is the nearest to the optimum (distance {p.dto:.3f}): {axes.performance.title} "
        f"{p.performance:.3f}, fairness {p.fairness:.3f} by {axes.fairness.title}."
    )
    others = [q for q in places if q.on_front and q.model != p.model]
    if others:
        text += (
            " Also on the front: "
            + ", ".join(f"{shown_name(q.model)} ({q.performance:.3f}, {q.fairness:.3f})" for q in others)
            + "."
        )
    if p.best_share is not None and count > 1:
        text += f" It was the nearest in {100 * p.best_share:.0f}% of resamples of these people"
        text += "." if p.best_share >= 0.95 else ": the data do not settle the choice."
    if any(q.undefined for q in places):
        left = ", ".join(f"{shown_name(q.model)} ({q.undefined})" for q in places if q.undefined)
        text += f" Not placed: {left}."
    return text
