"""Several models of the same people → which to choose: every measure of each, paired differences, the trade-off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.analyses.audit.audit import Audit, audit_table
from evenhand.analyses.models.differences import Candidate, Difference, adjusted, against_first, performances
from evenhand.analyses.models.paired import About, Question, distance, resample
from evenhand.analyses.options import Axes, Options, Progress, checked
from evenhand.errors import UsageError, listed, shown, shown_name, unknown
from evenhand.inference.resample import generator
from evenhand.measures.pareto import dto, pareto
from evenhand.measures.registry import Measure, PracticeMeasure
from evenhand.report.result import Result, write
from evenhand.tables.joint import JointTable

if TYPE_CHECKING:
    from pathlib import Path

    from evenhand.report.charts.chart import Chart

MANY_GROUPS = 100
"""Above so many groups models are compared without resampling."""


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
    left_out: tuple[str, ...]
    """Groups for which the measure of fairness does not exist."""
    recommended: str | None
    because: str


@dataclass(frozen=True, repr=False)
class CandidateAudit(Result):
    """What an audit of several models found. Print it, or take `to_dict`, `to_json`, `to_frame`."""

    drawn_by = "evenhand.analyses.models.charts"

    candidates: tuple[Candidate, ...]
    differences: tuple[Difference, ...]
    tradeoffs: tuple[Tradeoff, ...]
    notes: tuple[str, ...]

    def __getitem__(self, model: str) -> Audit:
        """The audit of one model: the same as if it had been audited alone."""
        names = [c.name for c in self.candidates]
        if model not in names:
            raise unknown("there is no model", model, names)
        return self.candidates[names.index(model)].audit

    def __iter__(self) -> Iterator[str]:
        """The names of the models."""
        return iter([c.name for c in self.candidates])

    def to_html(self, path: str | Path | None = None) -> str:
        """The comparison as one self-contained page, also written to a file if a path is given."""
        from evenhand.analyses.audit.page import drawings
        from evenhand.analyses.models.page import candidates_page

        drawn = {c.name: drawings(c.audit) for c in self.candidates}
        tables = {c.name: c.audit.table for c in self.candidates}
        return write(candidates_page(self.to_dict(), self.charts, drawn, tables), path)

    def _repr_html_(self) -> str:
        from evenhand.report.page.shell import framed

        return framed(self.to_html())

    def to_frame(self, library: str | None = None) -> Any:
        """The places of all models in the plane of performance and fairness, one row per attribute and model."""
        from evenhand.analyses.models.document import frame

        return frame(self, library)

    def plot(self, name: str | None = None, *, attribute: str | None = None, group: str | None = None) -> Chart:
        """A chart of all models for one attribute, by default the first; `plots()` tells which there are.

        "tradeoff" places the models between performance and fairness; "pdf" and "cdf" show the scores of every group
        side by side, one panel a model, and of `group` (by default the furthest by the first model) what it differs by
        from the reference. Charts of one model are those of its audit: `audit["model"].plot("cdf")`.

        >>> import evenhand
        >>> people = {"a": [0.2, 0.4, 0.6, 0.9], "b": [0.3, 0.6, 0.4, 0.8], "sex": ["f", "f", "m", "m"]}
        >>> found = evenhand.audit(people, score=["a", "b"], group="sex", bootstrap=0, permutations=0)
        >>> found.plots()
        ('pdf', 'cdf')
        >>> len(found.plot("cdf").spec["concat"])  # panels
        2
        """
        return self.charts(attribute=attribute, group=group).draw(name)


def thresholds_of(stated: Any, names: Sequence[str]) -> list[Options]:
    """Options with the threshold of each model."""
    count = len(names)
    if isinstance(stated, Mapping):
        if set(stated) != set(names):
            raise UsageError(f"threshold must name every model ({listed(names)}), not {listed(stated)}")
        stated = [stated[name] for name in names]
    several = list(stated) if isinstance(stated, list | tuple | np.ndarray) else [stated] * count
    if len(several) != count:
        raise UsageError(f"there are {count} scores but {len(several)} thresholds: give one, or one for each score")
    return [checked(one, 0.95, 0, 0) for one in several]


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
    thresholds = thresholds_of(threshold, joint.names)
    if axes.fairness.id not in {m.id for m in chosen}:
        chosen = [*chosen, axes.fairness]
    streams = [generator(rng) for _ in range(count + 1)]  # each audit as if it were alone
    audits = []
    for k, own in enumerate(thresholds):

        def tell(done: float, what: str, k: int = k) -> None:
            if progress:
                progress((k + done) / (count + 1), f"{shown_name(joint.names[k])}: {what}")

        audits.append(
            audit_table(joint.of(k), _deciding(options, own), list(chosen), reference, streams[k], tell, library)
        )
    _check_references(joint.names, audits)
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
        Candidate(name, a, performances(a, resamples, k))
        for k, (name, a) in enumerate(zip(joint.names, audits, strict=True))
    )
    differences = adjusted(
        [d for k in range(1, count) for d in against_first(candidates, k, chosen, resamples, people)]
    )
    tradeoffs = tuple(_tradeoff(candidates, i, axes, resamples) for i in range(len(audits[0].attributes)))
    if draws and (options.stratified or options.interval != "auto"):
        notes.append("differences between models rest on plain resamples, whatever was asked for each audit")
    return CandidateAudit(candidates, tuple(differences), tradeoffs, (*notes, *_notes(joint.names, audits)))


def _deciding(options: Options, own: Options) -> Options:
    """The options with the threshold of one model, or with what decides about it."""
    return replace(options, threshold=own.threshold, cutoff=own.cutoff or options.cutoff)


def _check_references(names: Sequence[str], audits: Sequence[Audit]) -> None:
    """Differences between models are of the same comparisons."""
    for own in zip(*(a.attributes for a in audits), strict=True):
        references = [a.reference for a in own]
        if len(set(references)) > 1:
            which = ", ".join(f"{shown(ref)} by {shown(name)}" for name, ref in zip(names, references, strict=True))
            raise UsageError(
                f"the models select different groups of {shown(own[0].name)} most often ({which}): name the reference"
            )


def _threshold(a: Audit) -> float:
    assert a.options.threshold is not None  # candidates have scores, not predictions
    return a.options.threshold


def _questions(first: Audit, chosen: Sequence[Measure]) -> tuple[list[Question], list[str]]:
    """What is asked of resamples: every attribute with not too many groups."""
    questions, notes = [], []
    has_label = first.table.label is not None
    possible = [m for m in chosen if (has_label or not m.needs_label) and not isinstance(m, PracticeMeasure)]
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


def _notes(names: Sequence[str], audits: Sequence[Audit]) -> list[str]:
    """Remarks of the audits, once each, and of which models they are unless of all."""
    notes = []
    for note in dict.fromkeys(note for a in audits for note in a.notes):
        of = [name for name, a in zip(names, audits, strict=True) if note in a.notes]
        notes.append(note if len(of) == len(names) else f"{', '.join(map(shown_name, of))}: {note}")
    return notes


# ---- the trade-off ------------------------------------------------------------------------------------------


def _tradeoff(candidates: Sequence[Candidate], i: int, axes: Axes, resamples: Mapping[About, Any]) -> Tradeoff:
    attribute = candidates[0].audit.attributes[i]
    groups, left_out = _comparable([c.audit for c in candidates], i, axes.fairness)
    worst = [_worst(c.audit, i, axes.fairness, groups) for c in candidates]
    fairness = np.array([1 - size for size, _, _ in worst])
    values = [c.performance[axes.performance.id] for c in candidates]
    good = np.array([float(axes.performance.goodness(np.asarray(v.value))) for v in values])
    reasons = [v.undefined or because for v, (_, _, because) in zip(values, worst, strict=True)]
    known = np.array([r is None for r in reasons])
    good, fairness = np.where(known, good, np.nan), np.where(known, fairness, np.nan)
    on_front = pareto(good, fairness) & known
    away = dto(good, fairness)
    shares = _best_shares(attribute.name, groups, axes, resamples, known)
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
    if left_out and groups:
        because += f" {axes.fairness.title} is undefined for {listed(left_out)}, who are left out."
    name = None if best is None else candidates[best].name
    return Tradeoff(attribute.name, axes.performance.id, axes.fairness.id, places, left_out, name, because)


def _comparable(audits: Sequence[Audit], i: int, m: Measure) -> tuple[set[str], tuple[str, ...]]:
    """Groups for which the measure exists by every model, and the others."""
    gaps = [g for a in audits for g in a.attributes[i].measures if g.id == m.id]
    left_out = dict.fromkeys(g.group for g in gaps if g.undefined)
    return {g.group for g in gaps} - set(left_out), tuple(left_out)


def _worst(a: Audit, i: int, m: Measure, groups: set[str]) -> tuple[float, str | None, str | None]:
    """The largest distance from parity of any group to the reference, whose it is, or why it is not known."""
    gaps = [g for g in a.attributes[i].measures if g.id == m.id]
    if not groups:
        undefined = next((g.undefined for g in gaps if g.undefined), "because another model has no such measure")
        return np.nan, None, undefined
    size, group = max((float(distance(m, g.value)), g.group) for g in gaps if g.group in groups)
    return size, group, None


def _dominates(good: Any, fairness: Any, k: int) -> Any:
    at_least = (good >= good[k]) & (fairness >= fairness[k])
    return at_least & ((good > good[k]) | (fairness > fairness[k]))


def _best_shares(attribute: str, groups: set[str], axes: Axes, resamples: Mapping[About, Any], known: Any) -> Any:
    """In how many resamples each model is the nearest to the optimum; None without resamples."""
    draws = resamples.get((None, axes.performance.id, None))
    about = (attribute, axes.fairness.id)
    gaps = [v[:, 1] for (*asked, group), v in resamples.items() if tuple(asked) == about and group in groups]
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
