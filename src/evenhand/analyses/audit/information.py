"""What a score tells about all groups of an attribute at once: their mutual information, and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenhand.analyses.audit.gaps import Judged, verdict
from evenhand.analyses.audit.score_gaps import one_of_everybody
from evenhand.analyses.audit.systematic import smoothing
from evenhand.analyses.options import Options
from evenhand.errors import listed
from evenhand.inference import interval
from evenhand.inference.null import PERMUTED_SCORES, Null, recentred, score_nulls
from evenhand.inference.resample import bootstrap, smoothed
from evenhand.measures.curve import norm
from evenhand.measures.density import common_grid
from evenhand.measures.distribution import densities_of, information_by_group, mutual_information, sparse_grid
from evenhand.measures.measure import ScoreMeasure
from evenhand.report.format import interval as written, number
from evenhand.tables.arrays import Floats, Pair
from evenhand.tables.scores import CELLS, ScoreCounts, ScoreView

RESAMPLED = 1024
"""Scores of two groups together that are resampled; of more groups fewer each, but no fewer than `FEWEST`."""
FEWEST = 64
MOST_POINTS = 50_000_000
"""Groups times points at which their densities are known."""


@dataclass(frozen=True)
class Information(Judged):
    """How much a score tells about the group, of all groups of an attribute together."""

    id: str
    groups: int
    tolerance: float
    value: float = np.nan
    ci: Pair | None = None
    method: str | None = None
    undefined: str | None = None
    null: Null | None = None
    resolution: float = 0.0
    """How far the value may be from the exact one, because scores are known in ranges."""
    smoothing: float | None = None
    """What the bandwidths alone would show of groups that are alike."""
    bounds: Pair | None = None
    lacking: str | None = None

    @property
    def measure(self) -> ScoreMeasure:
        entry = super().measure
        assert isinstance(entry, ScoreMeasure)
        return replace(entry, groups=self.groups)

    @property
    def size(self) -> float:
        """The value: it has no direction."""
        return self.value

    @property
    def excess(self) -> float | None:
        """The value minus what chance alone shows on average."""
        return None if self.null is None else self.value - self.null.mean

    def interpretation(self, attribute: str, confidence: float) -> str:
        """The value in a sentence."""
        about = f"{self.measure.title} of the score and all {self.groups} groups of {attribute}"
        if self.undefined:
            return f"{about} is undefined {self.undefined}."
        ends = "" if self.ci is None else f" ({100 * confidence:g}% interval {written(self.ci)})"
        of_most = f"of {number(float(np.log(self.groups)))} nats at most"
        return f"{about}: {number(self.value)}{ends}, {of_most}; {verdict(self, f'{self.tolerance:.3g}')}."


def of_all_groups(
    m: ScoreMeasure, view: ScoreView, options: Options, rng: tuple[np.random.Generator, np.random.Generator]
) -> Information:
    """What a score tells about all groups of a grouping: the value exactly, all else on some hundred scores."""
    count = len(view.grouping.groups)
    m = replace(m, groups=count)
    alone = [view([g]) for g in range(count)]
    every = densities_of(alone, options.scores)
    without = [one.groups[0] for one, f in zip(alone, every, strict=True) if np.isnan(f.bandwidth)]
    coarse = view(range(count), int(np.clip(2 * RESAMPLED / count, FEWEST, RESAMPLED // 2)))
    found = Information(m.id, count, m.tolerance_for(coarse))
    if without:
        if len(without) == 1:
            reason = f"group {listed(without)} has no density: it is one person or has (nearly) one score"
        else:
            reason = f"groups {listed(without)} have no density: each is one person or has (nearly) one score"
        return replace(found, undefined=f"because {reason}")
    if len(common_grid(*every)) * count > MOST_POINTS:
        return replace(found, undefined=f"because {count:,} groups are too many to compare their densities at once")
    off = _off(m, view, alone, options)
    if np.isinf(off):
        return replace(found, undefined="because the scores are known in ranges too wide for it")
    value = mutual_information(every, np.array([one.of().sum() for one in alone]))
    own = smoothing(m, coarse, options.scores)
    resamples, permutations = (_fewer(draws, count) for draws in (options.bootstrap, options.permutations))
    found = replace(
        found, value=min(value, m.most), resolution=min(off, m.most), smoothing=float(m.outward(np.asarray(own)))
    )
    if resamples:
        moves = _moves(coarse, options, resamples, rng[0])
        low, high = interval.norm(m.inward(found.value), moves + own, options.confidence, m.highest)
        ci = interval.widened(m.outward_interval(low, high), off, 0.0, m.most)
        found = replace(found, ci=ci, method="bootstrap of the norm")
    return replace(found, null=_null(m, found, coarse, options, permutations, rng[1]))


def _fewer(draws: int, groups: int) -> int:
    """The more groups, the fewer draws, each of which takes longer."""
    return min(draws, max(200, 5 * draws // groups))


def _off(m: ScoreMeasure, view: ScoreView, alone: Sequence[ScoreCounts], options: Options) -> float:
    """How far the value may be off: 0 if every group has exact scores."""
    if all(one.wide is None or not one.wide.any() for one in alone):
        return 0.0
    return m.off(view(range(len(alone)), max(CELLS // len(alone), FEWEST)), options.scores)


def _moves(counts: ScoreCounts, options: Options, draws: int, rng: np.random.Generator) -> Floats:
    """How far the curve moves in resamples, the part of each group as much more as its resamples move too little."""
    everybody = replace(counts, array=smoothed(counts, one_of_everybody(counts), within=(-3, -1)))
    grid = sparse_grid(everybody, options.scores)
    centre = information_by_group(everybody, options.scores, grid)
    wider = [interval.student(float(n), options.confidence) for n in counts.people()]
    factor = np.repeat(wider, len(grid.at))
    moves = []
    for batch in bootstrap(counts, draws, rng, everybody.array, options.stratified):
        curve = information_by_group(batch, options.scores, grid)
        moves.append(norm((curve.gap - centre.gap) * factor, centre.weight, 2.0))
    return np.concatenate(moves)


def _null(
    m: ScoreMeasure, found: Information, counts: ScoreCounts, options: Options, draws: int, rng: np.random.Generator
) -> Null | None:
    if not draws:
        return None
    if not counts.exchangeable:
        moves = _moves(counts, replace(options, stratified=False), draws, rng)
        return recentred(m.inward(found.value), moves, options.confidence, m.highest, m.outward)
    few = counts.coarse(max(PERMUTED_SCORES * 2 // len(counts.groups), FEWEST))
    everyone = [tuple(range(len(counts.groups)))]
    return score_nulls([m], few, options.scores, options.null, draws, rng, options.confidence, everyone)[m.id]
