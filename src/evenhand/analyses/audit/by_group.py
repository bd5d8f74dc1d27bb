"""Each group by itself: what a measure compares, before it is compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenhand.analyses.audit.groups import Estimate
from evenhand.analyses.audit.rate_gaps import bounds
from evenhand.errors import shown_name
from evenhand.measures import roc
from evenhand.measures.rates import RATES
from evenhand.measures.registry import MEASURES, Measure, PracticeMeasure, RateMeasure, ScoreMeasure
from evenhand.tables.groups import Grouping
from evenhand.tables.scores import ScoreView
from evenhand.tables.table import Table

if TYPE_CHECKING:
    from evenhand.analyses.audit.audit import Audit

_OF = {1: "_of_actual_positives", 0: "_of_actual_negatives"}


@dataclass(frozen=True)
class GroupValues:
    """One group by itself: how many people, and what of them a measure compares."""

    n: int
    values: Mapping[str, Estimate]
    """By name: rates with their intervals; of a score-level measure means of scores, in the units of the data."""


def by_group(audit: Audit, measure: Measure) -> dict[str, GroupValues]:
    """Every group of the first attribute by itself."""
    found = audit.attributes[0]
    grouping = audit.table.grouping(found.name)
    if isinstance(measure, RateMeasure):
        values = _of_rates(measure, audit, grouping)
    elif isinstance(measure, PracticeMeasure) and not measure.scored:
        values = [{"selection_rate": g.rates["selection_rate"]} for g in found.groups]
    else:
        if isinstance(measure, PracticeMeasure):
            measure = MEASURES["delta_dp_c"]
        assert isinstance(measure, ScoreMeasure)
        values = [dict(_of_scores(measure, audit.table, grouping, g)) for g in range(len(grouping.groups))]
        if measure.family == "sufficiency":
            values = [{**of, "base_rate": g.rates["base_rate"]} for of, g in zip(values, found.groups, strict=True)]
    return {g.name: GroupValues(g.n, of) for g, of in zip(found.groups, values, strict=True)}


def _of_rates(m: RateMeasure, audit: Audit, grouping: Grouping) -> list[dict[str, Estimate]]:
    """Rates that the audit has too are its own; others are known as well as their gap is."""
    options, (found, *_) = audit.options, audit.attributes
    if m.levels == "bins":
        counts = audit.table.binned(grouping, options.scores.gap_bins)
    else:
        counts = audit.table.decisions(grouping, options.threshold)
    profile = m.profile(counts)
    names = m.components or tuple(b.name for b in counts.bins)
    ends = bounds(profile, options.confidence)
    told = []
    for g, summary in enumerate(found.groups):
        own = {rate: summary.rates[rate] for rate in m.rests_on if rate in summary.rates}
        why = "nobody of {} has such a score" if m.levels == "bins" else "{} lacks the people it rests on"
        for name, value, low, high in zip(names, *(a[:, g].tolist() for a in (profile.values, *ends)), strict=True):
            because = f"because {why.format(shown_name(summary.name))}"
            plain = Estimate(value, (low, high)) if value == value else Estimate(np.nan, undefined=because)
            own[name] = summary.rates.get(name, plain)
        told.append(own)
    return told


def _of_scores(m: ScoreMeasure, table: Table, grouping: Grouping, group: int) -> Iterator[tuple[str, Estimate]]:
    """Mean scores of the people compared, and how well they are ranked, where that is asked.

    Only what a group has by itself: mean ranks, and ranks across groups, depend on the other group.
    """
    assert table.score is not None
    for label in m.labels or (None,):
        own = grouping.codes == group
        if label is not None:
            assert table.label is not None
            own = own & (table.label == label)
        empty = RATES["base_rate" if label is None else "tpr" if label else "fpr"].empty
        yield f"mean_score{'' if label is None else _OF[label]}", _mean(table.score[own], table.mass[own], empty)
    if m.page == "roc-bias":
        area = float(roc.auroc(ScoreView(table, grouping)([group]), 0, 0))
        yield "auroc", Estimate(area) if area == area else Estimate(area, undefined="because the group lacks a label")


def _mean(values: NDArray[Any], mass: NDArray[Any], empty: str) -> Estimate:
    if not mass.sum() > 0:
        return Estimate(np.nan, undefined=f"because the group {empty}")
    return Estimate(float(np.average(values, weights=mass)))
