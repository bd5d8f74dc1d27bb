"""Between what every measure lies when it is not known to which group some people belong.

The worst assignment makes two groups of people who are told by what is in the table (the group, and the unknown who
were selected), so intervals of its measures are those of any two groups. Over both ends they are made for the number
between them as Imbens and Manski (2004) do: the upper end is never below the lower, so they also hold where the two
meet (Stoye 2009).
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from evenhand.analyses.audit.attribute import AttributeAudit, is_spanning, ordinary_of
from evenhand.analyses.audit.gaps import Gap, RateGap
from evenhand.analyses.audit.groups import GroupSummary
from evenhand.analyses.audit.rate_gaps import gaps, of_selection
from evenhand.analyses.audit.unknown import Bounds, Decided, GapBounds, Unknown, crosses
from evenhand.analyses.options import Options
from evenhand.analyses.reference import HIGHEST
from evenhand.errors import shown
from evenhand.inference import interval
from evenhand.measures.rates import RATES, share, trials
from evenhand.measures.registry import RateMeasure
from evenhand.measures.unknown_groups import largest_mean_gap
from evenhand.tables.arrays import Bools, Floats, Ints, Pair
from evenhand.tables.dense import Counts
from evenhand.tables.groups import Grouping
from evenhand.tables.scores import position
from evenhand.tables.table import Table

MOST_PEOPLE = 5_000_000
"""So many unknown people are put in the order of their scores."""
_HALVINGS = 60
_RATIOS = {"fnr/fpr": ("fnr", "fpr")}
"""Which component is a rate over another."""


def with_unknown(
    audited: AttributeAudit,
    table: Table,
    grouping: Grouping,
    options: Options,
    rng: np.random.Generator,
    aside: bool = False,
) -> AttributeAudit:
    """The audit of an attribute with what its unknown people could change, if the table has kept them.

    `aside` says that there are other groups, which are not compared: the unknown may belong to these too.
    """
    if not table.provenance.unknown:
        return audited
    people = _People(table, grouping, options, deepcopy(rng), len(grouping.groups) > 2 or aside)
    because = _hidden(table, grouping)
    found = Unknown(*_counted(table, grouping, options.threshold), {}, (), because)
    if because is None:
        place = grouping.groups.index
        reference = place(audited.reference)
        chosen_of = len(grouping.groups) if audited.rule == HIGHEST else 2
        measured = tuple(_bounds_of(people, gap, place(gap.group), reference, chosen_of) for gap in audited.measures)
        rates = {g.name: people.rates_of(i, g) for i, g in enumerate(audited.groups)}
        found = replace(found, rates=rates, measures=measured)
    return replace(audited, unknown=found)


def _hidden(table: Table, grouping: Grouping) -> str | None:
    """Why the unknown people of a table are not all there, or not known."""
    if table.provenance.below is not None:
        return "because people were withheld or put together when the table was suppressed"
    gone = [(why, n) for why, n in table.left_out.items() if why.startswith("without a group")]
    named = [n for why, n in gone if any(shown(a) in why for a in grouping.attributes)]
    if named:
        return f"because {sum(named):,} rows without a group were left out of a table that was added to this one"
    return None


def _counted(
    table: Table, grouping: Grouping, threshold: float | None
) -> tuple[Decided, float, tuple[Decided, Decided] | None]:
    """The unknown people: how many are selected, their share, and both by outcome."""
    gone, selected = grouping.codes < 0, table.selected(threshold)

    def of(cells: Bools) -> Decided:
        yes, everybody = int(table.n[cells & selected].sum()), int(table.n[cells].sum())
        return Decided(everybody, yes, everybody - yes)

    by_label = None if table.label is None else (of(gone & ~table.label), of(gone & table.label))
    return of(gone), float(table.mass[gone].sum() / table.mass.sum()), by_label


@dataclass(frozen=True)
class _People:
    """The people of an attribute, with those who are in none of its groups."""

    table: Table
    grouping: Grouping
    options: Options
    rng: np.random.Generator
    several: bool
    """Whether there are more groups than the two of a comparison."""

    @cached_property
    def _whole(self) -> tuple[Counts, Bools]:
        """Counts with a further group for everything that is known of the unknown, and where these may belong."""
        grouping, may = self.table.unknown(self.grouping)
        return self.table.decisions(grouping, self.options.threshold), may

    def extreme(self, raises: Ints, group: int, reference: int) -> Counts:
        """The group and its reference where a measure is highest.

        `raises` (decision, label) is 1 where people raise it by being in the group and −1 where they lower it. Whoever
        would harm is in the reference, or in another group, if what is known of them allows that.
        """
        counts, may = self._whole
        levels, labels = counts.array.shape[0], counts.array.shape[-1]
        to = np.full((levels, len(counts.groups), labels), -1)
        to[:, group], to[:, reference] = 0, 1
        for kind, own in enumerate(may, start=len(self.grouping.groups)):
            elsewhere = own.copy()
            elsewhere[[group, reference]] = False
            to[:, kind] = np.where(
                raises > 0,
                _first((own[group], 0), (elsewhere.any(), -1), (own[reference], 1)),
                _first((own[reference], 1), (elsewhere.any(), -1), (own[group], 0)),
            )
        return counts.regrouped(to, (self.grouping.groups[group], self.grouping.groups[reference]))

    def gap(self, m: RateMeasure, counts: Counts, confidence: float) -> RateGap:
        """The gap of two such groups, as any two groups have it."""
        options = replace(self.options, confidence=confidence)
        spans = is_spanning(counts) and options.bootstrap
        plain = ordinary_of([m], {counts.groups[0]: counts}, True, options, deepcopy(self.rng))[m.id] if spans else None
        return gaps(m, counts, 1, confidence, None, plain)[0]

    def bounds(self, m: RateMeasure, group: int, reference: int, confidence: float) -> tuple[Pair, Pair]:
        """The least and the most of a measure that is one number with a sign, and an interval of what is between."""
        raises = _raises(m, self._whole[0])
        ends = [self.extreme(sign * raises, group, reference) for sign in (-1, 1)]

        def at(level: float) -> tuple[Pair, Pair]:
            low, high = (self.gap(m, counts, level) for counts in ends)
            assert low.ci is not None
            assert high.ci is not None
            least, most = (gap.value if gap.signed is None else gap.signed for gap in (low, high))
            return (least, most), (low.ci[0], high.ci[1])

        return at_both_ends(at, confidence, m.scale == "ratio")

    def rates_of(self, group: int, summary: GroupSummary) -> dict[str, Bounds]:
        """Bounds of the rates of a group."""
        counts, found = self._whole[0], {}
        for rate, known in summary.rates.items():
            if known.undefined or rate not in RATES:
                continue
            raises = _cells(rate, counts)

            def at(level: float, rate: str = rate, raises: Ints = raises) -> tuple[Pair, Pair]:
                ends = []
                for sign in (-1, 1):
                    alone = self.extreme(sign * raises, group, _other(group))
                    p, n = share(alone, rate)[0], trials(alone, rate)[0]
                    ends.append((float(p), interval.wilson(p, n, level)))
                (low, (least, _)), (high, (_, most)) = ends
                return (low, high), (float(least), float(most))

            bounds, ci = at_both_ends(at, self.options.confidence)
            found[rate] = Bounds(known.value, bounds, ci)
        return found


def _first(*choices: tuple[bool, int]) -> int:
    """The first place where somebody may be; nowhere if there is none."""
    return next((place for may, place in choices if may), -1)


def _other(group: int) -> int:
    """Any other group: what it gets does not matter to the rates of this one."""
    return 0 if group else 1


def at_both_ends(at: Callable[[float], tuple[Pair, Pair]], confidence: float, ratio: bool = False) -> tuple[Pair, Pair]:
    """Both bounds, and an interval that holds the number between them with this confidence (Imbens & Manski 2004).

    `at` gives the bounds and, at some level, the lower limit of the one and the upper limit of the other. The further
    the bounds are apart, the less both limits can fail at once, and the nearer each may come to a one-sided one.
    """
    bounds, ci = at(confidence)
    width, error = _in_errors(bounds, ci, confidence, ratio)
    if not width > 0:
        return bounds, ci
    z = _critical(width / error if error > 0 else np.inf, confidence)
    return bounds, at(_level(z))[1]


def _in_errors(bounds: Pair, ci: Pair, confidence: float, ratio: bool) -> Pair:
    """How far the bounds are apart, and the larger standard error of the two; of ratios in logarithms."""
    z = float(interval.z_value(confidence))
    if ratio:
        if not (bounds[0] > 0 and ci[0] > 0):
            return 0.0, 0.0
        bounds, ci = ((float(np.log(a)), float(np.log(b))) for a, b in (bounds, ci))
    return bounds[1] - bounds[0], max(bounds[0] - ci[0], ci[1] - bounds[1]) / z


def _critical(width: float, confidence: float) -> float:
    """c with Φ(c + width) − Φ(−c) = confidence: from the two-sided quantile down to the one-sided one.

    >>> round(_critical(0.0, 0.95), 3), round(_critical(9.0, 0.95), 3)
    (1.96, 1.645)
    """
    from scipy.special import ndtr

    low, high = 0.0, float(interval.z_value(confidence))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        enough = float(ndtr(middle + width) - ndtr(-middle)) >= confidence
        low, high = (low, middle) if enough else (middle, high)
    return high


def _level(z: float) -> float:
    from scipy.special import ndtr

    return float(2 * ndtr(z) - 1)


def _cells(rate: str, counts: Counts) -> Ints:
    """1 for people who raise a rate by being counted, −1 for those who lower it: axes (decision, label)."""
    raises = np.zeros((2, 2), np.int64)
    for decision, label in RATES[rate].whole:
        raises[decision, label] = 1 if (decision, label) in RATES[rate].part else -1
    return raises if counts.has_label else raises[:, :1]


def _raises(m: RateMeasure, counts: Counts) -> Ints:
    """The same of a measure of one component."""
    (component,) = m.components
    if component in _RATIOS:
        above, below = _RATIOS[component]
        return _cells(above, counts) - _cells(below, counts)
    return _cells(component, counts)


def _bounds_of(people: _People, gap: Gap, group: int, reference: int, chosen_of: int) -> GapBounds:
    """What the unknown could make of a gap.

    If the reference was chosen as the highest of so many groups, intervals of selection rates hold for all of them.
    """
    of = partial(GapBounds, id=gap.id, group=gap.group, reference=gap.reference)
    if gap.undefined:
        return of(np.nan, undefined=gap.undefined)
    m, bounds, ci = gap.measure, None, None
    if isinstance(m, RateMeasure) and _one_number(m):
        level = people.options.confidence
        if of_selection(m):
            level = interval.together(level, chosen_of - 1)
        bounds, ci = people.bounds(m, group, reference, level)
    elif isinstance(m, RateMeasure) and m.other is None and m.components:
        bounds, ci = _largest(people, m, group, reference)
    elif gap.id == "delta_dp_c":
        found = _of_means(people, group, reference)
        if isinstance(found, str):
            return of(gap.estimate, undefined=found)
        bounds, ci = found
    else:
        return of(gap.estimate, undefined="because sharp bounds are known of rates and of mean scores only")
    return of(gap.estimate, bounds, ci, crosses=crosses(m, bounds, gap.tolerance))


def _one_number(m: RateMeasure) -> bool:
    return len(m.components) == 1 and (m.other is None or m.components[0] in _RATIOS)


def _largest(people: _People, m: RateMeasure, group: int, reference: int) -> tuple[Pair, Pair]:
    """Bounds of the largest of several gaps, each about other people, so that all are extreme at once.

    Where an assignment in between makes a gap vanish, its least size is 0, to within one person.
    """
    level = 1 - (1 - people.options.confidence) / len(m.components)
    parts = [
        people.bounds(replace(m, components=(c,)), group, reference, level) for c in m.components
    ]  # each with its share of the error
    bounds, ci = (np.max([_sizes(part[i]) for part in parts], axis=0).tolist() for i in (0, 1))
    return (bounds[0], bounds[1]), (ci[0], ci[1])


def _sizes(ends: Pair) -> Pair:
    """Between what the size of a number lies that is between these."""
    low, high = sorted(map(abs, ends))
    return (0.0 if ends[0] <= 0 <= ends[1] else low), high


def _of_means(people: _People, group: int, reference: int) -> tuple[Pair, Pair | None] | str:
    """Bounds of a difference of mean scores, or why there are none."""
    table, codes = people.table, people.grouping.codes
    if table.score is None or table.spans is not None:
        return "because the scores are known in ranges"
    if table.weight is not None:
        return "because people have weights, and bounds of means are known of people who count alike"
    if len(people.grouping.attributes) > 1:
        return "because part of the group of some people is known, and bounds of means are of people of whom none is"
    if int(table.n[codes < 0].sum()) > MOST_PEOPLE:
        return f"because more than {MOST_PEOPLE:,} people have no group"
    unit = position(table.score, table.score_range, table.meaning.risk)

    def values(cells: Bools) -> Floats:
        return np.repeat(unit[cells], table.n[cells])

    mine, theirs, unknown = values(codes == group), values(codes == reference), values(codes < 0)
    up = _with(mine, theirs, *largest_mean_gap(mine, theirs, unknown, people.several))
    down = _with(theirs, mine, *largest_mean_gap(theirs, mine, unknown, people.several))
    bounds = -float(down[0].mean() - down[1].mean()), float(up[0].mean() - up[1].mean())
    if table.clustered:
        return bounds, None
    z = float(interval.z_value(people.options.confidence))
    ci = bounds[0] - z * _error(*down), bounds[1] + z * _error(*up)
    return bounds, (max(ci[0], -1.0), min(ci[1], 1.0))


def _with(group: Floats, reference: Floats, mine: Floats, theirs: Floats) -> tuple[Floats, Floats]:
    return np.r_[group, mine], np.r_[reference, theirs]


def _error(*groups: Floats) -> float:
    """The standard error of a difference of means."""
    return float(np.sqrt(sum(np.var(g, ddof=1) / len(g) if len(g) > 1 else np.inf for g in groups)))
