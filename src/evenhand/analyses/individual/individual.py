"""Are similar people treated alike? Fairness between individuals, from people with their features and scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from evenhand.analyses.individual.distance import METRICS, Space
from evenhand.analyses.individual.inputs import Compared, compared
from evenhand.analyses.individual.neighbours import EXACT, Near, Progress, nearest_people, people_within
from evenhand.analyses.individual.treatment import SLACK, GroupTreatment, Limits, Scored, Treatment, by_group, treatment
from evenhand.analyses.individual.twins import Twins, kinds, twins
from evenhand.analyses.individual.worst_pairs import WorstPair, sketch, worst_pairs
from evenhand.analyses.options import Watched, watching
from evenhand.errors import DataError, UsageError, listed, nearest, shown
from evenhand.inference.resample import generator
from evenhand.ingest.roles import Roles, check_known, picked
from evenhand.report.result import Result, write
from evenhand.tables.arrays import Floats, Ints
from evenhand.tables.ranges import possible_range, rounded_range

if TYPE_CHECKING:
    from pathlib import Path

HOW = ("auto", "exact", "approximate")
NEAREST = 10
TWIN = 1e-9
"""Distances below this share of the largest are rounding: the two are alike in everything."""
MOST_DRAWN = 20_000
"""People who are put beside others at random, to tell what nearness does not explain."""
LARGEST = 1e150
FEW = 30
"""With fewer people intervals are rough."""


@dataclass(frozen=True, repr=False)
class IndividualFairness(Result):
    """How people who are near to each other are scored. Print it, or take `to_dict`, `to_html`, `plot`.

    Its document and its page hold rows of people.
    """

    drawn_by = "evenhand.analyses.individual.charts"

    n: int
    data: Mapping[str, Any]
    options: Mapping[str, Any]
    overall: Treatment
    chance: Mapping[str, float]
    """Share alike and consistency if near people were no more alike in score than any two."""
    groups: tuple[GroupTreatment, ...]
    """The reference first; empty if no group was named."""
    twins: Twins
    worst: tuple[WorstPair, ...]
    """Violations of lipschitz × distance, by how much they exceed it; without `lipschitz`, the largest slopes."""
    sketch: Mapping[str, Any]
    """Numbers of near pairs by distance and difference of scores, for the chart."""
    notes: tuple[str, ...]

    def to_frame(self, library: str | None = None) -> Any:
        """The worst pairs as a dataframe, two rows a pair, of the library named or the first installed."""
        from evenhand.analyses.individual.document import frame

        return frame(self, library)

    def to_html(self, path: str | Path | None = None) -> str:
        """The result as one self-contained page, also written to a file if a path is given."""
        from evenhand.analyses.individual.page import individual_page

        return write(individual_page(self.to_dict()), path)


class IndividualArgs(TypedDict, total=False):
    """What makes up the distance, roles of columns and intervals, for signatures."""

    columns: Sequence[str] | None
    exclude: Sequence[str]
    categories: Sequence[str]
    group: Any
    risk: bool
    score_range: tuple[float, float] | None
    missing: str
    confidence: float
    rng: int | np.random.Generator | None


def individual_fairness(
    X: Any,
    score: Any,
    *,
    metric: str | Callable[[dict[str, Any], dict[str, Any]], float] = "gower",
    k: int | None = None,
    radius: float | None = None,
    epsilon: float | None = None,
    lipschitz: float | None = None,
    reference: Any = None,
    neighbours: str = "auto",
    worst: int = 20,
    progress: Watched = None,
    **options: Unpack[IndividualArgs],
) -> IndividualFairness:
    """Compare people who are near to each other: are they scored alike, and whom does it hit if not?

    Parameters
    ----------
    X
        People with their features: a dataframe of any library, a dict of columns, a matrix, the path of a file; with
        metric="precomputed" the matrix of distances.
    score
        The score of each person: a column of X, or one number per person.
    metric
        "gower" (mean over columns of the difference in units of the range, 1 for another category), "euclidean"
        (numbers in standard deviations, another category counts 1), "mahalanobis" (correlations taken out),
        "precomputed", or a function of two people given as dicts.
    k, radius
        Near are the k nearest people (default 10), or everybody within a distance.
    epsilon
        Scores that differ by at most this much are alike; by default 0.05 of the score range.
    lipschitz
        Scores may differ by at most lipschitz × distance; pairs that differ more are violations.
    group, reference
        Column (or values) that divide people into groups, and whom to compare with (default: the largest).
    columns, exclude
        Columns that make up the distance (default: all but score and group), and those left out of it.
    categories
        Columns of numbers that are only names.
    risk
        A high score is bad for the person.
    score_range
        Lowest and highest possible score; default [0, 1] if all lie in it, else what was observed.
    neighbours
        "exact", "approximate" (an index, `pip install 'evenhand[neighbours]'`), or "auto": exact up to 20,000 people.
    worst
        How many pairs of people to show side by side.
    confidence, missing, rng, progress
        Level of intervals; "refuse" or "drop" incomplete people; a seed; called with a share and what is being done.

    Examples
    --------
    >>> people = {"age": [30, 31, 50, 51, 30, 52], "sex": list("fmfmfm"), "p": [0.3, 0.5, 0.6, 0.8, 0.3, 0.8]}
    >>> found = individual_fairness(people, "p", group="sex", k=2, epsilon=0.1, reference="m")
    >>> round(found.overall.alike.value, 3), found.twins.pairs  # both aged 30, both women, scored the same
    (0.333, 1)
    >>> round(found.groups[1].across.value, 2)  # women near to men score 0.2 less
    -0.2
    """
    check_known(options, IndividualArgs.__optional_keys__, individual_fairness)
    rng = options.get("rng")
    draw = generator(rng)
    how = _checked(metric, k, radius, neighbours, worst, options.get("confidence", 0.95))
    roles = picked(Roles, options)
    distance = (options.get("columns"), options.get("exclude", ()), options.get("categories", ()))
    who = compared(X, score, roles.group, metric, *distance, roles.missing, draw)
    values = who.scores
    limits, span = _limits(values, epsilon, lipschitz, roles.score_range, how["confidence"], roles.risk)
    codes, names, base = (None, (), 0) if who.group is None else who.groups(reference)
    with watching(progress) as told:
        near = _near(who.space(metric, X), how, draw, told)
    scored = Scored.of(near, values)
    overall = treatment(scored, np.ones(who.people.n, np.bool_), limits)
    return IndividualFairness(
        n=who.people.n,
        data={
            "rows": who.people.rows,
            "score": who.score,
            "score_range": span,
            "risk": roles.risk,
            "group": who.group,
            "reference": names[base] if names else None,
            "columns": who.features,
            "constant": who.constant,
            "beside": who.beside,
            "left_out": who.people.left_out,
        },
        options={
            **how,
            "exact": near.recall is None,
            "recall": near.recall,
            "epsilon": limits.epsilon,
            "lipschitz": limits.lipschitz,
            "seed": 0 if rng is None else rng if isinstance(rng, int) else None,
        },
        overall=overall,
        chance=_chance(values, near, limits, draw),
        groups=() if codes is None else by_group(scored, codes, names, base, limits),
        twins=twins(
            kinds(who.people.only(who.features)) if who.features else _same(near), values, limits.epsilon + SLACK
        ),
        worst=worst_pairs(scored, limits.lipschitz, who, how["worst"]),
        sketch=sketch(scored),
        notes=(*who.people.notes, *_remarks(who, near, overall)),
    )


def _checked(metric: Any, k: Any, radius: Any, neighbours: Any, worst: Any, confidence: Any) -> dict[str, Any]:
    """What was asked for, as it will be reported."""
    if not callable(metric) and metric not in METRICS:
        raise UsageError(
            f"metric must be one of {listed(METRICS)} or a function of two people, not {shown(metric)}"
            f"{nearest(metric, METRICS)}"
        )
    if k is not None and radius is not None:
        raise UsageError("near are k people or those within a radius: say one of k= and radius=")
    if radius is not None:
        radius = _number("radius", radius)
        if radius <= 0:
            raise UsageError(f"radius must be above 0, not {radius:g}")
    else:
        k = _whole("k", NEAREST if k is None else k, 1)
    if neighbours not in HOW:
        raise UsageError(f"neighbours must be one of {listed(HOW)}, not {shown(neighbours)}")
    confidence = _number("confidence", confidence)
    if not 0.5 <= confidence < 1:
        raise UsageError(f"confidence must be at least 0.5 and below 1, not {confidence:g}")
    named = metric if isinstance(metric, str) else getattr(metric, "__name__", "a function")
    return {
        "metric": named, "k": k, "radius": radius, "neighbours": neighbours, "worst": _whole("worst", worst, 0),
        "confidence": confidence,
    }  # fmt: skip


def _number(option: str, value: Any) -> float:
    if isinstance(value, bool | str | bytes) or value is None:
        raise UsageError(f"{option} must be a number, not {shown(value)}")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise UsageError(f"{option} must be a number, not {shown(value)}") from None
    if not np.isfinite(number):
        raise UsageError(f"{option} must be a finite number, not {shown(value)}")
    return number


def _whole(option: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise UsageError(f"{option} must be a whole number from {least}, not {shown(value)}")
    return int(value)


def _limits(
    score: Floats, epsilon: Any, lipschitz: Any, score_range: Any, confidence: float, risk: bool
) -> tuple[Limits, tuple[float, float]]:
    low, high = float(score.min()), float(score.max())
    if max(-low, high) > LARGEST:
        raise DataError(f"scores from {low:g} to {high:g} are too large to be added up: divide them by their largest")
    start, end = possible_range(low, high, score_range)
    if (low < start or high > end) and rounded_range(low, high, score_range)[0] is None:
        raise UsageError(
            f"score_range must hold all scores, {low:g} to {high:g}, but is {start:g} to {end:g}: widen it"
        )
    low, high = start, end
    span = high - low or 1.0
    epsilon = 0.05 * span if epsilon is None else _number("epsilon", epsilon)
    if epsilon < 0:
        raise UsageError(f"epsilon must not be negative, but is {epsilon:g}")
    if lipschitz is not None and (lipschitz := _number("lipschitz", lipschitz)) < 0:
        raise UsageError(f"lipschitz must not be negative, but is {lipschitz:g}")
    return Limits(epsilon, lipschitz, span, confidence, -1 if risk else 1), (low, high)


def _near(space: Space, how: Mapping[str, Any], rng: np.random.Generator, progress: Progress | None) -> Near:
    approximate = how["neighbours"] == "approximate" or (how["neighbours"] == "auto" and space.n > EXACT)
    if how["radius"] is not None:
        if approximate:
            raise UsageError(
                f"within a radius everybody is compared with everybody, which takes long for {space.n:,} people: ask "
                "for k nearest people instead, or for neighbours='exact' (--neighbours exact) if you have the time"
            )
        near = people_within(space, how["radius"], progress)
    else:
        near = nearest_people(space, how["k"], rng, approximate, progress)
    least = TWIN * near.distance.max(initial=0.0)
    return replace(near, distance=np.where(near.distance > least, near.distance, 0.0))


def _same(near: Near) -> Ints:
    """Who are at distance 0 where only distances are known: a number for each person, the same for twins."""
    kind = np.arange(near.n)
    one, other = near.one[near.distance == 0], near.other[near.distance == 0]
    while True:
        least = kind.copy()
        np.minimum.at(least, one, kind[other])
        np.minimum.at(least, other, kind[one])
        if (least == kind).all():
            return kind
        kind = least


def _chance(score: Floats, near: Near, limits: Limits, rng: np.random.Generator) -> dict[str, float]:
    """Share alike of any two people, and consistency beside as many people at random."""
    ordered, n = np.sort(score), len(score)
    alike = np.searchsorted(ordered, ordered + limits.epsilon + SLACK, side="right") - np.arange(1, n + 1)
    number = max(1, round(len(near.other) / n))
    some = rng.integers(0, n, min(n, MOST_DRAWN))
    beside = np.mean([score[rng.integers(0, n, len(some))] for _ in range(min(number, 200))], axis=0)
    return {
        "alike": float(alike.sum() / (n * (n - 1) / 2)) if n > 1 else np.nan,
        "consistency": float(1 - np.abs(score[some] - beside).mean() / limits.span),
    }


def _remarks(who: Compared, near: Near, overall: Treatment) -> list[str]:
    said = []
    if who.constant:
        said.append(f"the same for everybody, and so not compared: {listed(who.constant)}")
    if who.people[who.score].constant:
        said.append("all scores are the same: people are treated alike whatever they are like")
    if who.people.n < FEW:
        said.append(f"there are only {who.people.n} people: intervals are rough")
    lonely = int((near.sizes == 0).sum())
    if lonely:
        said.append(f"{lonely:,} of {near.n:,} people have nobody near to them, and are not compared")
    if near.recall is not None:
        said.append(
            f"near people come from an index, which found {100 * near.recall:.1f}% of the true ones in a sample"
        )
    if overall.constant.undefined is None and overall.constant.ci is not None and np.isinf(overall.constant.ci[1]):
        said.append(
            "the steepest pairs show no end of how steep there might be: the Lipschitz constant has no upper limit"
        )
    return said
