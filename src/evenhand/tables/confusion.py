"""The confusion table: how many people stand in each cell of group × true class × predicted class.

The second small table, for problems of more than two classes. Like `Table` it holds one entry per non-empty cell,
joint over all attributes; `counts` gives the cells of one grouping, and `ClassCounts.sums` the four sums per class and
group that every rate of one class against the rest is made of.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import UsageError, listed, nearest, shown
from evenhand.tables.arrays import Floats, Ints
from evenhand.tables.cells import Attribute, natural, tidy
from evenhand.tables.groups import Grouped, Grouping, history_of, same, sum_by, sum_of, united
from evenhand.tables.invariants import check_confusion
from evenhand.tables.table import Meaning, Table

_ARRAYS = ("codes", "true", "predicted", "n", "weight", "weight2")


@dataclass(frozen=True)
class Sums:
    """What every rate of one class against the rest is made of, axes (…, class, group). Leading axes are resamples."""

    hits: Floats
    """People of the class who are predicted to be of it."""
    true: Floats
    """People of the class."""
    predicted: Floats
    """People who are predicted to be of the class."""
    total: Floats
    """People of the group, axes (…, 1, group)."""

    def overall(self) -> Sums:
        """All groups as one."""
        return Sums(*(a.sum(-1, keepdims=True) for a in (self.hits, self.true, self.predicted, self.total)))


@dataclass(frozen=True)
class ClassCounts:
    """The cells of one grouping, in the order of group, true and predicted class."""

    groups: tuple[str, ...]
    classes: tuple[str, ...]
    group: Ints
    true: Ints
    predicted: Ints
    n: Ints
    mass: Floats
    squares: Floats | None = None
    """Sums of squared weights: present only for sampling weights."""

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.classes), len(self.groups)

    @property
    def people(self) -> ClassCounts:
        """The same cells, everybody counted once: sampling weights aside."""
        return replace(self, mass=self.n.astype(np.float64), squares=None)

    def sums(self, mass: Floats | None = None) -> Sums:
        """The sums of these masses of cells, by default of their own."""
        classes, groups = self.shape
        values = self.mass if mass is None else mass

        def by(key: Ints, chosen: Any = slice(None)) -> Floats:
            return np.asarray(sum_by(key[chosen], values[chosen], classes * groups).reshape(classes, groups))

        hit = self.true == self.predicted
        return Sums(
            by(self.true * groups + self.group, hit),
            by(self.true * groups + self.group),
            by(self.predicted * groups + self.group),
            np.asarray(sum_by(self.group, values, groups))[None, :],
        )


@dataclass(frozen=True, eq=False, repr=False)
class Confusion(Grouped):
    """Counts of people by group, true class and predicted class.

    Made by `evenhand.tabulate` from labels and predictions of more than two values, or by `evenhand.load`. Tables add
    up: `a + b` is the table of all rows of both, with the classes of both.

    >>> import evenhand
    >>> jobs = {"job": ["nurse", "nurse", "poet", "dj"], "guess": ["nurse", "dj", "poet", "dj"], "sex": list("fmfm")}
    >>> t = evenhand.tabulate(jobs, label="job", prediction="guess", group="sex")
    >>> t
    Confusion: 4 rows in 4 cells; 3 classes ('dj', 'nurse', 'poet'); label 'job'; prediction 'guess'; sex: f 2, m 2
    >>> (t + t).rows
    8
    >>> t.of_class("nurse")
    Table: 4 rows in 4 cells; prediction 'guess'; label 'job' (favourable nurse); sex: f 2, m 2
    """

    true: Ints
    """True class of each cell, as a place in `classes`."""
    predicted: Ints
    classes: tuple[str, ...]
    """All values of label and prediction, numbers in the order of numbers."""
    meaning: Meaning = field(default_factory=lambda: Meaning(label="label", prediction="prediction"))

    __hash__ = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        check_confusion(self)
        self._freeze(*_ARRAYS)

    @classmethod
    def of_cells(
        cls,
        *,
        attributes: tuple[Attribute, ...],
        codes: Ints,
        true: Ints,
        predicted: Ints,
        classes: tuple[str, ...],
        n: Ints,
        weight: Floats | None = None,
        weight2: Floats | None = None,
        **about: Any,
    ) -> Confusion:
        """A table from cells in any order, some of which may be the same."""
        # True and predicted class are divisions of people like any attribute: the same code sorts and adds up.
        outcome = (Attribute("true", classes), Attribute("predicted", classes))
        cells = tidy(
            attributes=(*attributes, *outcome),
            codes=np.concatenate([codes.reshape(len(attributes), -1), [true, predicted]]),
            n=n, weight=weight, weight2=weight2,
        )  # fmt: skip
        *groups, real, guessed = cells["attributes"]
        names = tuple(sorted({*real.groups, *guessed.groups}, key=natural))
        place = {name: k for k, name in enumerate(names)}
        *own, reals, guesses = cells["codes"]
        return cls(
            attributes=tuple(groups),
            codes=np.array(own, np.int32).reshape(len(groups), -1),
            n=cells["n"],
            true=np.array([place[c] for c in real.groups], np.int32)[reals],
            predicted=np.array([place[c] for c in guessed.groups], np.int32)[guesses],
            classes=names,
            weight=cells["weight"],
            weight2=cells["weight2"],
            **about,
        )

    @classmethod
    def of_table(cls, table: Table) -> Confusion:
        """A table of decisions as one of two classes: the favourable value and the other one."""
        for missing, what in ((table.decision, "a prediction"), (table.label, "a label")):
            if missing is None:
                raise UsageError(
                    f"classes are compared by what is true and what is predicted, but the table has no {what[2:]}: "
                    f"count the data again with {what[2:]}="
                )
        if table.cluster is not None:
            raise UsageError(NO_CLUSTERS)
        if table.noise is not None:
            raise UsageError("comparisons of classes take counts for true, and the table is private: audit it instead")
        assert table.decision is not None
        assert table.label is not None
        favourable = str(table.meaning.favorable)
        other = {"1": "0", "0": "1"}.get(favourable, f"not {favourable}")
        m = table.meaning
        return cls.of_cells(
            **table._same_people(),
            true=table.label.astype(np.int64),
            predicted=table.decision.astype(np.int64),
            classes=(other, favourable),
            meaning=Meaning(label=m.label, prediction=m.prediction, weight=m.weight, favorable=favourable),
        )

    def class_named(self, name: Any) -> int:
        """The place of a class."""
        wanted = str(name)
        if wanted not in self.classes:
            raise UsageError(
                f"{shown(name)} is not one of the classes ({listed(self.classes)}){nearest(wanted, self.classes)}"
            )
        return self.classes.index(wanted)

    def of_class(self, name: Any) -> Table:
        """One class against the rest, as a table of decisions: the favourable one is to be predicted to be of it."""
        place = self.class_named(name)
        return Table.of_cells(
            **self._same_people(),
            decision=self.predicted == place,
            label=self.true == place,
            meaning=replace(self.meaning, favorable=self.classes[place]),
        )

    def counts(self, grouping: Grouping) -> ClassCounts:
        """The cells of one grouping."""
        classes = len(self.classes)
        inside = grouping.inside
        key = ((grouping.codes.astype(np.int64) * classes + self.true) * classes + self.predicted)[inside]
        keys, place = np.unique(key, return_inverse=True)
        place = place.reshape(-1)

        def total(array: NDArray[Any]) -> NDArray[Any]:
            return sum_by(place, array[inside], len(keys))

        return ClassCounts(
            grouping.groups, self.classes, keys // classes**2, keys // classes % classes, keys % classes,
            total(self.n), np.asarray(total(self.mass), np.float64),
            None if self.weight2 is None else total(self.weight2),
        )  # fmt: skip

    def __add__(self, other: object) -> Confusion:
        if not isinstance(other, Confusion):
            return NotImplemented
        alike = sum_of(self, other, (_schema(self), _schema(other)))
        classes, shift = united(self.classes, other.classes)
        return Confusion.of_cells(
            **alike,
            true=np.concatenate([self.true, shift[other.true]]),
            predicted=np.concatenate([self.predicted, shift[other.predicted]]),
            classes=classes,
            meaning=self.meaning,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Confusion):
            return NotImplemented
        return describe_confusion(self) == describe_confusion(other) and all(
            same(getattr(self, name), getattr(other, name)) for name in _ARRAYS
        )

    def digest(self) -> str:
        """A fingerprint of the counts and their meaning: equal tables have equal digests."""
        h = hashlib.sha256(json.dumps(describe_confusion(self), sort_keys=True).encode())
        for name in _ARRAYS:
            array = getattr(self, name)
            if array is not None:
                h.update(name.encode())
                h.update(np.ascontiguousarray(array, "<f8" if array.dtype.kind == "f" else "<i8").data)
        return h.hexdigest()

    def __repr__(self) -> str:
        m = self.meaning
        parts = [
            f"{self.rows:,} rows in {self.cells:,} cells",
            f"{len(self.classes):,} classes ({listed(self.classes, 6)})",
            f"label {shown(m.label)}",
            f"prediction {shown(m.prediction)}",
        ]
        if self.weight is not None:
            parts.append(f"weight {shown(m.weight)}")
        parts += self._shown_groups()
        if self.left_out:
            parts.append("left out: " + ", ".join(f"{n:,} {reason}" for reason, n in self.left_out.items()))
        return "Confusion: " + "; ".join(parts)


NO_CLUSTERS = (
    "clusters are not known to comparisons of classes, which take every row for a person: leave cluster out, or "
    "compare one class with the rest (a label and a prediction of two values)"
)


def describe_confusion(t: Confusion) -> dict[str, Any]:
    """What a table means, beside its numbers: for its file and its digest."""
    m = t.meaning
    return {
        "attributes": [{"name": a.name, "groups": list(a.groups)} for a in t.attributes],
        "classes": list(t.classes),
        "meaning": {"label": m.label, "prediction": m.prediction, "weight": m.weight, "favorable": m.favorable},
        **history_of(t),
    }


def _schema(t: Confusion) -> dict[str, Any]:
    about = describe_confusion(t)["meaning"]
    return {
        "the list of attributes": [a.name for a in t.attributes],
        **{f"the {k}": v for k, v in about.items()},
        "the use of sampling weights": t.weight is not None,
    }


def classes_table(data: Table | Confusion) -> Confusion:
    """Either table as a confusion table."""
    return data if isinstance(data, Confusion) else Confusion.of_table(data)
