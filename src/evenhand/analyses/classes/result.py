"""What an aggregate over classes and groups found: the rate of every class and group, and the number made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.analyses.classes.matrix import Matrix
from evenhand.analyses.classes.uncertainty import Chance, Uncertainty
from evenhand.analyses.options import Options, least_resamples
from evenhand.errors import listed, shown_name
from evenhand.inference.interval import wilson
from evenhand.measures.aggregation import ClassRate, Recipe
from evenhand.report.result import Result
from evenhand.tables.arrays import Bools, Floats, Ints, Pair
from evenhand.tables.confusion import Confusion
from evenhand.tables.groups import Grouping

if TYPE_CHECKING:
    from evenhand.report.contents import Contents

TYPES = {
    "class": "str", "group": "str", "n": "float", "share": "float", "value": "float", "ci_low": "float",
    "ci_high": "float", "overall": "float", "difference": "float", "gap": "float", "ratio": "float", "undefined": "str",
}  # fmt: skip


@dataclass(frozen=True)
class Choices:
    """How an aggregate was asked for."""

    rate: ClassRate
    recipe: Recipe
    baseline: str
    empty: float | None
    why: Mapping[str, str]
    stated: frozenset[str] = frozenset()
    """Items of the checklist that the user chose: metric, unit, groups, classes."""


@dataclass(frozen=True)
class Against:
    """A second model, aggregated alike over the same classes and groups."""

    own: str
    """What the first model is called."""
    name: str
    aggregate: Aggregate


@dataclass(frozen=True, repr=False)
class Aggregate(Result):
    """A rate of every class and group, and what two steps make of it. Print it, or take `to_dict`, `to_frame`, `plot`.

    Charts: the gap of every class and group ("matrix"), its rate ("scores") and its ratio ("ratios") to that of the
    class, "difference" between two models, and the "confusion" matrix of every group.
    """

    drawn_by = "evenhand.analyses.classes.charts"

    table: Confusion
    grouping: Grouping
    choices: Choices
    matrix: Floats
    """The rate, axes (class, group); NaN where undefined."""
    overall: Floats
    """What groups are compared with, by class."""
    people: Floats
    """How many people each rate rests on."""
    joint: Ints
    """People by true class and group."""
    result: Uncertainty
    options: Options
    notes: tuple[str, ...] = ()
    library: str | None = None
    against: Against | None = None

    @property
    def value(self) -> float:
        """δ, the number that is left in the end; NaN if undefined."""
        return self.result.value if np.isfinite(self.result.value) else np.nan

    @property
    def beta(self) -> Floats:
        """What the first step makes of each class."""
        return self.result.beta

    @property
    def corrected(self) -> float | None:
        """δ without what noise adds to it: many small cells make any number of gaps larger than it is."""
        return self.result.corrected

    @property
    def ci(self) -> Pair | None:
        """Where δ of the population lies. That of the sample may be larger than all of it."""
        return self.result.ci

    @property
    def chance(self) -> Chance | None:
        """What the number is when groups are alike, with the p-value."""
        return self.result.chance

    @property
    def p_value(self) -> float | None:
        return None if self.chance is None else self.chance.p_value

    @property
    def excess(self) -> float | None:
        """The value minus what chance alone shows on average."""
        return None if self.chance is None else self.value - self.chance.mean

    @property
    def groups(self) -> tuple[str, ...]:
        return self.grouping.groups

    @property
    def classes(self) -> tuple[str, ...]:
        return self.table.classes

    @property
    def vacant(self) -> Bools:
        """Cells without rows."""
        return np.asarray(self.people <= 0)

    @property
    def undefined(self) -> str | None:
        """Why there is no value."""
        return None if np.isfinite(self.result.value) else _no_value(self)

    def undefined_cells(self) -> list[tuple[str, str, str]]:
        """Class, group and reason of every rate that does not exist."""
        return [(self.classes[c], self.groups[g], _lacks(self, self.groups[g], c)) for c, g in np.argwhere(self.vacant)]

    def undefined_class(self, c: int) -> str | None:
        """Why a class has no value after the first step."""
        if np.isfinite(self.beta[c]):
            return None
        if np.isnan(self.overall[c]) and self.choices.recipe.unit != "score":
            return f"because there is {self.choices.rate.empty.format(shown_name(self.classes[c]))}"
        if np.isposinf(self.beta[c]):
            return "because its lowest rate is 0 and its highest is not: the ratio is infinite"
        known = np.flatnonzero(~np.isnan(self.matrix[c])).tolist()
        if len(known) == 1 and self.choices.recipe.compares:
            whom = self.choices.rate.present.format(shown_name(self.classes[c]))
            return f"because only group {shown_name(self.groups[known[0]])} has {whom}"
        return "because its rate is 0 overall" if known else "because no group has a rate"

    def rate_ci(self) -> tuple[Floats, Floats]:
        """Wilson's interval of every rate that is a share of people."""
        measured = np.where(self.vacant, np.nan, self.matrix)
        share = measured / (2 - measured) if self.choices.rate.trials is not None else measured
        lo, hi = wilson(share, self.people, self.options.confidence)
        return (2 * lo / (1 + lo), 2 * hi / (1 + hi)) if self.choices.rate.trials is not None else (lo, hi)

    def columns(self) -> dict[str, list[Any]]:
        """One entry per class and group."""
        lo, hi = self.rate_ci()
        base = self.overall[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(base > 0, self.matrix / np.where(base > 0, base, 1.0), np.nan)
        shape = self.matrix.shape
        why = {(c, g): reason for c, g, reason in self.undefined_cells()}
        numbers = {
            "n": self.joint, "share": self.joint / self.joint.sum(), "value": self.matrix, "ci_low": lo, "ci_high": hi,
            "overall": np.broadcast_to(base, shape), "difference": self.matrix - base,
            "gap": np.abs(self.matrix - base), "ratio": ratio,
        }  # fmt: skip
        names = [(c, g) for c in self.classes for g in self.groups]
        return {
            "class": [c for c, _ in names],
            "group": [g for _, g in names],
            **{k: [None if np.isnan(x) else float(x) for x in np.ravel(v)] for k, v in numbers.items()},
            "undefined": [why.get(name) for name in names],
        }

    def to_frame(self, library: str | None = None) -> Any:
        """Every rate in one row, with its gap and ratio, to draw: in the library of the data, or the one named."""
        from evenhand.report.frame import plain_frame

        return plain_frame(self.columns(), TYPES, self.library if library is None else library)

    @property
    def interpretation(self) -> str:
        """The finding in a sentence."""
        from evenhand.analyses.classes.aggregate_document import sentence

        return sentence(self)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, in the form that docs/reference/json.md describes."""
        from evenhand.analyses.classes.aggregate_document import document

        return document(self)

    def __float__(self) -> float:
        return self.value

    def _drawn(self) -> Any:
        from evenhand.analyses.classes.text import render_aggregate

        return render_aggregate(self.to_dict())

    def _contents(self, document: dict[str, Any]) -> Contents:
        from evenhand.analyses.classes.contents import aggregate_contents

        return aggregate_contents(document)


def assembled(
    table: Confusion, grouping: Grouping, choices: Choices, m: Matrix, result: Uncertainty, options: Options,
    notes: tuple[str, ...] = (),
) -> Aggregate:  # fmt: skip
    """The result of one matrix and its uncertainty."""
    joint = table.counts(grouping).people.sums().true
    people = np.where(m.vacant, 0.0, m.people)
    least = least_resamples(options.confidence)
    few = result.method is not None and "bootstrap" in result.method and 0 < options.bootstrap < least
    if few:
        notes = (*notes, f"{options.bootstrap} resamples are too few to know an interval at "
                         f"{100 * options.confidence:g}%: take at least {least}")  # fmt: skip
    vacant = int(m.vacant.sum())
    if vacant and choices.empty is not None:
        notes = (*notes, f"the {choices.rate.title} of {vacant:,} {'cell' if vacant == 1 else 'cells'} without rows "
                         f"counts as {choices.empty:g}, as asked (empty)")  # fmt: skip
    return Aggregate(
        table,
        grouping,
        choices,
        m.values,
        m.base[:, 0],
        people,
        np.rint(joint).astype(np.int64),
        result,
        options,
        notes,
    )


def _lacks(a: Aggregate, group: str, c: int) -> str:
    return f"because {shown_name(group)} has {a.choices.rate.empty.format(shown_name(a.classes[c]))}"


def _no_value(a: Aggregate) -> str:
    infinite = np.flatnonzero(np.isposinf(a.beta))
    if len(infinite) and a.choices.recipe.classes.kind != "binary":
        names = listed([a.classes[c] for c in infinite.tolist()], 4)
        return f"because the lowest rate of some classes is 0, so that their ratio is infinite: {names}"
    if a.choices.recipe.classes.kind == "binary":
        return a.undefined_class(a.choices.recipe.positive) or "because the class has no value"
    return "because no class has a value"
