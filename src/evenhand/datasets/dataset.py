"""What a data set is: people with their columns, an outcome, and the groups they belong to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.datasets.features import Features, Matrix
from evenhand.errors import DataError, UsageError, listed, nearest, shown
from evenhand.ingest.values import encode
from evenhand.tables.arrays import Ints

Texts = NDArray[np.object_]
Columns = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, repr=False)
class Dataset:
    """People of a published data set.

    >>> people = Dataset(
    ...     "toy", columns={"age": np.array([30, 50]), "job": np.array(["cook", "smith"], object)},
    ...     label=np.array([0, 1]), label_name="hired", favorable="was hired",
    ...     groups={"sex": np.array(["f", "m"], object)},
    ... )
    >>> people
    toy: 2 people, 2 columns, label hired (1: was hired, 50.0%); groups sex
    >>> matrix, names = people.matrix()
    >>> names, matrix.tolist()
    (('age', 'job=cook', 'job=smith'), [[-1.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
    """

    name: str
    columns: Columns
    """What is known about each person: numbers as numbers, everything else as text. The label is not among them."""
    label: Ints
    """1 = the favourable outcome, else 0."""
    label_name: str
    favorable: str
    """What label 1 means, as a phrase."""
    groups: Mapping[str, Texts]
    """Protected attributes by name; some are columns too, others coarser versions of them."""
    split: Texts | None = None
    """'train' or 'test' where the source has made the split."""
    notes: tuple[str, ...] = ()
    """What was left out and why, and what a reader has to know."""
    aside: tuple[str, ...] = ()
    """Columns that are no features, such as sampling weights and the score of a model: `matrix` leaves them out."""
    unfit: Mapping[str, str] = field(default_factory=dict)
    """Columns that cannot be features, and why: they have to be excluded."""

    def __post_init__(self) -> None:
        n = len(self.label)
        parts = {**self.columns, **{f"group {name}": values for name, values in self.groups.items()}}
        if self.split is not None:
            parts["split"] = self.split
        for name, values in parts.items():
            if len(values) != n:
                raise DataError(f"every column needs one value per label, {n:,}, but {name!r} has {len(values):,}")
        if not np.isin(self.label, (0, 1)).all():
            raise DataError(f"a label is 0 or 1, but there are {listed(np.unique(self.label).tolist())}")

    def __len__(self) -> int:
        return len(self.label)

    def __repr__(self) -> str:
        share = f", {self.label.mean():.1%}" if len(self) else ""
        return (
            f"{self.name}: {len(self):,} people, {len(self.columns)} columns, label {self.label_name} "
            f"(1: {self.favorable}{share}); groups {', '.join(self.groups)}"
        )

    def take(self, rows: Any) -> Dataset:
        """Some of the people: places or a mask."""
        chosen = np.asarray(rows)
        if not chosen.size:
            chosen = chosen.astype(np.int64)
        if chosen.ndim != 1 or chosen.dtype.kind not in "iub":
            raise UsageError(f"rows must be one-dimensional places or a mask, not {shown(rows)}")
        try:
            label = self.label[chosen]
        except IndexError:
            raise UsageError(
                f"rows must be places from 0 to {len(self) - 1:,} or a mask of {len(self):,}, not {shown(rows)}"
            ) from None
        return replace(
            self,
            columns={name: values[chosen] for name, values in self.columns.items()},
            label=label,
            groups={name: values[chosen] for name, values in self.groups.items()},
            split=None if self.split is None else self.split[chosen],
        )

    def frame(self, library: str | None = None) -> Any:
        """A dataframe of the library named, else of the first installed: columns, groups, label, and split."""
        from evenhand.report.frame import plain_frame

        parts = {**self.groups, **self.columns, self.label_name: self.label}
        order = [*self.columns, *(g for g in self.groups if g not in self.columns), self.label_name]
        if self.split is not None:
            parts["split"], order = self.split, [*order, "split"]
        kinds = {"i": "int", "u": "int", "f": "float"}
        types = {name: kinds.get(parts[name].dtype.kind, "str") for name in order}
        return plain_frame({name: parts[name].tolist() for name in order}, types, library)

    def features(self, exclude: Sequence[str] = ()) -> Features:
        """What models see of people, not yet scaled: all columns but those excluded and those set aside."""
        exclude = (exclude,) if isinstance(exclude, str) else tuple(exclude)
        for name in exclude:
            if name not in self.columns:
                raise UsageError(
                    f"there is no column {shown(name)} to exclude in {self.name} (it has: {listed(self.columns, 50)})"
                    f"{nearest(name, self.columns)}"
                )
        used = [name for name in self.columns if name not in (*exclude, *self.aside)]
        for name in used:
            if name in self.unfit:
                raise DataError(self.unfit[name])
        return Features.of({name: self.columns[name] for name in used}, len(self))

    def matrix(self, exclude: Sequence[str] = ()) -> tuple[Matrix, tuple[str, ...]]:
        """Features for a model, people × features, and their names.

        Columns keep their order. Numbers are standardised over all people, a missing one becomes their mean and gets
        a feature of its own; of text every value is a feature `column=value` of 0 and 1, in alphabetical order.
        """
        features = self.features(exclude)
        return features.scaled(slice(None))[0], features.names


def check_truths(**options: Any) -> None:
    """Refuse what is neither true nor false: any text would be true, "no" as well."""
    for option, value in options.items():
        if not isinstance(value, bool | np.bool_):
            raise UsageError(f"{option} is true or false, not {shown(value)}")


def either(chosen: NDArray[np.bool_], yes: str, no: str) -> Texts:
    """A group of two: those chosen, and all others."""
    return np.array([no, yes], object)[chosen.astype(np.int64)]


def by_sex_and_race(sex: Texts, race: Texts) -> dict[str, Texts]:
    """These two, and the coarser race on which published work rests."""
    return {"sex": sex, "race": race, "race_white": either(race == "White", "White", "Non-white")}


def labels(values: Texts, favorable: Iterable[str], others: Iterable[str], what: str) -> Ints:
    """1 for favourable values and 0 for the others; nothing else may occur."""
    codes, distinct = encode(values)
    favorable, others = tuple(favorable), tuple(others)
    unknown = [v for v in distinct if v not in favorable and v not in others]
    if unknown:
        raise DataError(
            f"{what} must be one of {listed((*favorable, *others))}, but there is also {listed(unknown)}: "
            "repair those rows, or name the original file"
        )
    return np.array([v in favorable for v in distinct] or [False], np.int64)[codes]
