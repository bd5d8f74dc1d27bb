"""The projection test of one group and its reference."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from evenhand.analyses.projection.criteria import How
from evenhand.analyses.projection.inputs import check_people, labels_of, logits_of, scores_of
from evenhand.analyses.projection.logistic import Linear
from evenhand.analyses.projection.results import LabelProjection, ProjectionTest
from evenhand.analyses.projection.sample import Sample, exceeding, in_ranges, law, mistaken_risk, within, within_ranges
from evenhand.analyses.projection.shifts import LABELS, Shifts, sigma
from evenhand.analyses.projection.steps import Step, stepped
from evenhand.errors import DataError, shown
from evenhand.inference.chi2_mixture import critical
from evenhand.inference.wasserstein_projection import TOO_NEAR, Projection
from evenhand.report.document import fields
from evenhand.report.format import p_words
from evenhand.tables.arrays import Bools, Floats, Ints
from evenhand.tables.groups import Grouping
from evenhand.tables.table import Table

Plans = dict[int | None, Projection]
"""The projection among people with each of these labels."""


@dataclass(frozen=True)
class Scored:
    """People with logits, and the length of the coefficients that these come from, if it is known."""

    table: Table
    logits: bool
    """Whether the scores of the table are logits."""
    norm: float | None
    notes: tuple[str, ...] = ()
    model: Linear | None = None
    """The rows, where they were scored by a logistic regression."""


def pair_test(scored: Scored, grouping: Grouping, group: int, ref: int, how: How) -> ProjectionTest:
    """The test of one group and its reference."""
    table, logits, norm = scored.table, scored.logits, scored.norm
    labels = labels_of(table, None not in how.labels)
    z = logits_of(table, scores_of(table), logits)
    pair = np.flatnonzero((grouping.codes == group) | (grouping.codes == ref))
    names = (grouping.groups[group], grouping.groups[ref])
    label = None if labels is None else labels[pair]
    sample = Sample.of(table, pair, z[pair], label, grouping.codes[pair] == group)
    people, beta_norm = int(table.n[pair].sum()), 1.0 if norm is None else norm
    plans = _projected(table, sample, names, how, beta_norm)
    parts = [_part(y, plan, sample, table.n[pair], how, table.meaning.risk) for y, plan in plans.items()]
    p_limit = exceeding(list(plans.values()), how.margin)
    permuted = None if how.margin else sample.permuted(how.labels)
    few = any(min(sample.effective(y)) < sample.few(y) for y in how.labels)
    by_permutation = permuted is not None and (few or (permuted <= how.level) != (p_limit <= how.level))
    p_value = permuted if by_permutation and permuted is not None else p_limit
    ranges = within_ranges(table, pair, sample, logits, how.labels, beta_norm, how.margin)
    return ProjectionTest(
        criterion=how.criterion,
        margin=how.margin,
        statistic=sum(p.statistic for p in parts),
        critical_value=critical(how.level, *law(list(plans.values()), how.margin)),
        p_value=p_value,
        p_method="permutation" if by_permutation else "limit law",
        p_limit=p_limit,
        p_permuted=permuted,
        p_within=within(list(plans.values()), how.margin),
        rejects=p_value <= how.level,
        level=how.level,
        attribute=grouping.name,
        group=names[0],
        reference=names[1],
        n=people,
        accuracy=sample.accuracy(),
        beta_norm=beta_norm,
        space="score" if norm is None else "features",
        labels=tuple(parts),
        data={
            "score": table.meaning.score,
            "logits": logits,
            **fields(table.meaning, "risk label favorable"),
            "left_out": dict(table.left_out),
        },
        notes=(
            *table.notes,
            *scored.notes,
            *mistaken_risk(sample, table.meaning.risk),
            *in_ranges(ranges, how.level),
            *_remarks(plans, names, sample, p_limit, how, by_permutation),
        ),
        ranges=ranges,
        _model=scored.model,
        _plan=_shifts(sample, plans, names, scores_of(table)[pair], logits, table),
    )


def _projected(table: Table, sample: Sample, names: tuple[str, str], how: How, beta_norm: float) -> Plans:
    """The projection among people with each label that the criterion is about; their cells counted among all."""
    plans = {}
    for y in how.labels:
        cells = sample.own(y)
        check_people(table, names, sample.in_group[cells], how.criterion, y)
        found = sample.projected(y, beta_norm, how.margin)
        if not math.isfinite(found.theta) or not math.isfinite(found.statistic):
            raise DataError(TOO_NEAR)
        plans[y] = replace(found, cell=cells[found.cell])
    return plans


def _shifts(sample: Sample, plans: Plans, names: tuple[str, str], score: Floats, logits: bool, table: Table) -> Shifts:
    """Who goes where, in the units of the score as it was given; people the criterion is not about stay."""
    sign = -1.0 if table.meaning.risk else 1.0
    logit = sign * sample.z
    moved = [(p.cell, p.n, p.shifted, p.k) for p in plans.values()]
    rest = np.setdiff1d(np.arange(len(logit)), np.concatenate([cell for cell, *_ in moved]))
    moved.append((rest, sample.n[rest], sample.z[rest], np.zeros(len(rest))))
    cell, n, shifted, k = (np.concatenate(columns) for columns in zip(*moved, strict=True))
    return Shifts(
        groups=names,
        score=sigma(logit) if logits else score,
        logit=logit,
        which=(~sample.in_group).astype(np.int64),
        label=sample.label,
        cell=cell,
        n=n,
        shifted=sign * shifted,
        k=k,
        spans=table.spans,
    )


def _part(y: int | None, found: Projection, sample: Sample, rows: Ints, how: How, risk: bool) -> LabelProjection:
    own = sample.own(y)
    sides = [_side(found, sample, side, rows, risk) for side in (sample.in_group, ~sample.in_group)]
    after, moves, largest, steps = zip(*sides, strict=True)
    sizes = [int(rows[own[side[own]]].sum()) for side in (sample.in_group, ~sample.in_group)]
    return LabelProjection(
        LABELS[y], (sizes[0], sizes[1]), found.means, after, moves, found.statistic, found.theta, found.gamma, largest,
        how.margin / found.error if found.error > 0 else 0.0, steps, risk,
    )  # fmt: skip


def _side(
    found: Projection, sample: Sample, side: Bools, rows: Ints, risk: bool
) -> tuple[float, float, float, tuple[Step, ...]]:
    """Of the people of one group: their mean score after, mean move, largest move, and where they are."""
    which = side[found.cell]
    n, z, x = found.n[which], sample.z[found.cell[which]], found.shifted[which]
    moved = x != z  # not where both are infinite
    before, after, total = sigma(z), sigma(x), float(n.sum())
    people = rows[found.cell[which]] * n / sample.n[found.cell[which]]  # whatever they weigh
    steps = stepped(1 - before, 1 - after, people) if risk else stepped(before, after, people)
    return (
        float((n * after).sum() / total),
        float((n[moved] * (x[moved] - z[moved])).sum() / total),
        float(np.abs(after - before).max()),
        steps,
    )


def _remarks(
    plans: Plans,
    names: tuple[str, str],
    sample: Sample,
    p_limit: float,
    how: How,
    permuted: bool,
) -> list[str]:
    notes = []
    far = float(sample.n[np.isinf(sample.z)].sum())
    if far:
        notes.append(
            f"{far:,.0f} people have a score of exactly 0 or 1: at this limit a score no longer responds to its "
            "features, so that they count in the means, but stay where they are"
        )
    for y, found in plans.items():
        whom = "people" if y is None else f"people with the {LABELS[y]} label"
        sizes, enough = zip(names, sample.effective(y), strict=True), sample.normal(y) if how.margin else sample.few(y)
        few = [f"{shown(g)} ({n:,.0f})" for g, n in sizes if n < enough]
        if few:
            notes.append(f"few {whom} in {' and '.join(few)}: {_of_few(how, permuted, p_limit)}")
        if found.theta == 0:
            notes.append(f"the score is constant among {whom}")
    if permuted and not notes:
        notes.append(
            f"the limit law for large samples gives {p_words(p_limit)}; permuting group labels decides otherwise, and "
            "is what is reported"
        )
    wald = sum(p.wald for p in plans.values())
    plain = math.exp(-wald / 2) if len(plans) == 2 else math.erfc(math.sqrt(wald / 2))
    if p_limit >= how.level > 10 * plain and not how.margin and not notes:
        notes.append(
            f"the means themselves differ by more than chance explains (p = {plain:.2g} by their standard errors): "
            "the projection test has little power where scores are near 0 or 1 or gaps are large"
        )
    return notes


def _of_few(how: How, permuted: bool, p_limit: float) -> str:
    """What is done where the limit law is not relied on."""
    if how.margin:
        return (
            "too few to show how much a mean of such scores varies; taken is the most that means of scores between 0 "
            "and 1 can vary at the margin, so that it takes more people to tell"
        )
    if permuted:
        return (
            "the p-value comes from permuting group labels; the limit law for large samples would give "
            f"{p_words(p_limit)}"
        )
    return (
        "the p-value is for large samples; with so few people the test mostly rejects too rarely, but somewhat too "
        "often if scores are very skewed and one group is much smaller"
    )
