"""Groups compared within strata (`within=`): rates and people per stratum, and what is pooled over all of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenhand.analyses.audit.evidence import with_choice
from evenhand.analyses.audit.gaps import Gap, RateGap
from evenhand.analyses.audit.score_pairs import MANY_SCORED
from evenhand.analyses.audit.strata.rates import PooledRate, counted, pooled_rate, rates_of
from evenhand.analyses.audit.strata.scores import PooledScore, TwoGroups, pooled_scores
from evenhand.analyses.options import Options
from evenhand.errors import DataError, UsageError, shown
from evenhand.measures.registry import Measure, ScoreMeasure
from evenhand.tables.arrays import Floats, Ints
from evenhand.tables.groups import Grouping
from evenhand.tables.marginal import by_attributes
from evenhand.tables.table import Table

MOST_STRATA = 10_000


@dataclass(frozen=True)
class Stratum:
    """One stratum: its people and their rates, by group."""

    name: str
    members: tuple[str, ...]
    people: tuple[int, ...]
    rates: Mapping[str, tuple[float, ...]]
    """By rate, of each group; NaN where nobody is whom the rate is about."""


@dataclass(frozen=True)
class Within:
    """One attribute's groups within strata."""

    columns: tuple[str, ...]
    groups: tuple[str, ...]
    strata: tuple[Stratum, ...]
    lacking: Mapping[str, tuple[str, ...]]
    """The groups that a stratum lacks."""
    without: int
    """People of the groups who are in no stratum."""
    rates: tuple[PooledRate, ...]
    scores: tuple[PooledScore, ...]

    @property
    def name(self) -> str:
        """What the strata are called."""
        return " × ".join(self.columns)


def refuse_unfit(table: Table) -> None:
    """What strata are not compared for: people who count more or less than one."""
    if table.noise is not None:
        raise UsageError(
            "within (--within) is not for private tables, whose noise is added anew in every stratum: compare the "
            "groups of all columns together, or the table before noise was added"
        )
    if table.weight is not None or table.clustered:
        what = "sampling weights" if table.weight is not None else "clusters"
        raise UsageError(
            f"within (--within) is not for {what}: its intervals and tests take every row of a stratum for one person; "
            "leave within out, or the weight or cluster column"
        )


def compared_within(
    whole: Table,
    crude: Table,
    grouping: Grouping,
    reference: str,
    measures: Sequence[Measure],
    gaps: Sequence[Gap],
    options: Options,
    rng: np.random.Generator,
    excluded: Collection[str] = (),
    chosen: bool = False,
) -> Within:
    """The groups of one attribute within strata; `crude` is the table without strata, `gaps` what it shows.

    Groups that are `excluded` are shown and not compared. `chosen` says that the reference is what it is by its rate.
    """
    names = [a.name for a in whole.attributes if a.name in (*grouping.attributes, *options.within)]
    table, without = _known(by_attributes(whole, names), crude, grouping)
    own, strata = (table._divided([names.index(n) for n in chosen]) for chosen in (grouping.attributes, options.within))
    if len(strata.groups) > MOST_STRATA:
        raise UsageError(
            f"within {shown(strata.name)} are {len(strata.groups):,} strata, more than {MOST_STRATA:,}: name fewer "
            "columns, or put numbers into bands (--bands)"
        )
    place = np.array([grouping.members.index(m) for m in own.members])
    groups = replace(own, groups=grouping.groups, members=grouping.members, codes=place[own.codes])
    decisions = _decisions(table, groups, strata, options.threshold)
    rates = [rate for rate in rates_of(measures) if table.label is not None or rate == "selection_rate"]
    r = grouping.groups.index(reference)
    pairs = [(g, r) for g, name in enumerate(grouping.groups) if g != r and name not in excluded]
    chosen_of = len(pairs) + 1 if chosen else 2
    crudes = {(g.id, g.group): g for g in gaps}
    pooled = tuple(
        pooled_rate(
            decisions, rate, pair, (grouping.groups[pair[0]], reference), strata.groups,
            _crude(gaps, rate, grouping.groups[pair[0]]), options.confidence, chosen_of,
        )
        for pair in pairs for rate in rates
    )  # fmt: skip
    scored = [m for m in measures if isinstance(m, ScoreMeasure) and not (m.needs_label and table.label is None)]
    scores: list[PooledScore] = []
    if table.score is not None and scored:
        if len(grouping.groups) > MANY_SCORED:
            options = replace(options, bootstrap=0, permutations=0)
        everybody = _by_label(table, strata)
        for (g, _), random in zip(pairs, rng.spawn(len(pairs)), strict=True):
            two = _two(table, groups, strata, (g, r), everybody)

            def crude_of(id_: str, group: str = grouping.groups[g]) -> float | None:
                gap = crudes.get((id_, group))
                return None if gap is None or gap.undefined else gap.value if gap.signed is None else gap.signed

            found = [] if two is None else pooled_scores(scored, two, crude_of, options, random)
            scores += [replace(one, gap=with_choice(one.gap, chosen_of)) for one in found]
    return Within(
        tuple(options.within), grouping.groups, _strata(decisions, strata, rates),
        _lacking(decisions, groups, strata, excluded),
        without, pooled, tuple(scores),
    )  # fmt: skip


def refuse_empty(found: Sequence[Within]) -> None:
    """An error if no stratum of any attribute has people of a group and of its reference."""
    pooled = [one for w in found for one in w.rates] + [one.gap for w in found for one in w.scores]
    if pooled and all(one.undefined for one in pooled):
        name = shown(found[0].name)
        raise DataError(
            f"no stratum of {name} has people of two groups that are compared, so within {name} nothing can be: name "
            "fewer or coarser columns (within=, --within; numbers in bands: --bands), or leave within out"
        )


# ---- counting --------------------------------------------------------------------------------------------------------


def _known(table: Table, crude: Table, grouping: Grouping) -> tuple[Table, int]:
    """The people who have a group and a stratum, as the audit reads their scores; and how many lack a stratum."""
    everybody = int(crude.n[grouping.inside].sum())
    complete = table.complete()
    lost = [g for a, g in complete.provenance.incomplete if a == complete.finest.name]
    if lost:
        finest = complete.finest
        gone = np.isin(finest.codes, [finest.groups.index(g) for g in lost])
        if gone.all():
            raise DataError(
                f"of no group of {shown(finest.name)} are all people known, since some were withheld when the table "
                "was suppressed: suppress less, or count fewer columns"
            )
        complete, _ = complete.among(replace(finest, codes=np.where(gone, -1, finest.codes)))
    if crude.score is not None:
        complete = replace(complete, meaning=replace(complete.meaning, score_range=crude.score_range))
    return complete, everybody - complete.rows


def _decisions(table: Table, groups: Grouping, strata: Grouping, threshold: float | None) -> Floats:
    """People by stratum, decision, group and label."""
    labels = 1 if table.label is None else 2
    label = 0 if table.label is None else table.label
    key = ((strata.codes * 2 + table.selected(threshold)) * len(groups.groups) + groups.codes) * labels + label
    shape = (len(strata.groups), 2, len(groups.groups), labels)
    return np.bincount(key, table.n, int(np.prod(shape))).reshape(shape).astype(np.float64)


def _by_label(table: Table, strata: Grouping) -> Floats:
    labels = 1 if table.label is None else 2
    key = strata.codes * labels + (0 if table.label is None else table.label)
    return np.bincount(key, table.n, len(strata.groups) * labels).reshape(-1, labels).astype(np.float64)


def _two(
    table: Table, groups: Grouping, strata: Grouping, pair: tuple[int, int], everybody: Floats
) -> TwoGroups | None:
    """The people of two groups; None if one of them has nobody in any stratum."""
    names = [groups.groups[g] for g in pair]
    codes: Ints = np.where(groups.codes == pair[0], 0, np.where(groups.codes == pair[1], 1, -1))
    if not all((codes == g).any() for g in (0, 1)):
        return None
    members = tuple(groups.members[g] for g in pair)
    some, _ = table.among(replace(groups, groups=tuple(names), members=members, codes=codes))
    columns = [a.name for a in some.attributes]
    own, layers = (
        some._divided([columns.index(name) for name in chosen]) for chosen in (groups.attributes, strata.attributes)
    )
    places = {m: i for i, m in enumerate(strata.members)}
    found = np.array([places[m] for m in layers.members])[layers.codes]
    own = replace(own, groups=tuple(names[members.index(m)] for m in own.members))
    return TwoGroups(some, own, (own.members.index(members[0]), own.members.index(members[1])), found, everybody)


# ---- what is told of each stratum ------------------------------------------------------------------------------------


def _strata(decisions: Floats, strata: Grouping, rates: Sequence[str]) -> tuple[Stratum, ...]:
    people = decisions.sum((1, 3))
    with np.errstate(divide="ignore", invalid="ignore"):
        values = {rate: part / whole for rate in rates for part, whole in [counted(decisions, rate)]}
    return tuple(
        Stratum(
            name, members, tuple(int(n) for n in people[k].tolist()),
            {rate: tuple(found[k].tolist()) for rate, found in values.items()},
        )
        for k, (name, members) in enumerate(zip(strata.groups, strata.members, strict=True))
    )  # fmt: skip


def _lacking(
    decisions: Floats, groups: Grouping, strata: Grouping, excluded: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """Strata without some group that is compared, and which."""
    nobody = (decisions.sum((1, 3)) == 0) & ~np.isin(groups.groups, [*excluded])
    return {
        strata.groups[k]: tuple(groups.groups[g] for g in np.flatnonzero(nobody[k]).tolist())
        for k in np.flatnonzero(nobody.any(1)).tolist()
    }


def _crude(gaps: Sequence[Gap], rate: str, group: str) -> float | None:
    """The difference of a rate that an ordinary comparison found."""
    for gap in gaps:
        same = isinstance(gap, RateGap) and getattr(gap.measure, "components", ()) == (rate,)
        if same and gap.group == group and gap.signed is not None:
            return gap.signed
    return None
