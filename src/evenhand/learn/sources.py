"""Where the data sets of an experiment come from: a function of `evenhand.datasets`, a CSV file, or the caller."""

from __future__ import annotations

import csv
import gzip
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand import datasets
from evenhand.datasets import Dataset
from evenhand.datasets.reading import Layout, as_numbers, read, whole
from evenhand.errors import DataError, UsageError, listed, nearest, shown
from evenhand.files import as_path, is_file, shown_path

READERS = ("acs", "adult", "compas", "german", "kdd_census")
"""Functions of `evenhand.datasets` that give a `Dataset`."""


@dataclass(frozen=True)
class Source:
    """A data set by name: one of `evenhand.datasets`, or with `label` any CSV file.

    >>> Source("adult", "data", group="sex", exclude=("sex",)).reader
    'adult'
    """

    name: str
    """How it is called in results; also which data set it is, unless `reader` says so."""
    path: str | None = None
    group: str | None = None
    exclude: tuple[str, ...] = ()
    """Columns that models do not see."""
    label: str | None = None
    """Of a CSV file, the column of outcomes."""
    favorable: Any = 1
    options: Mapping[str, Any] = field(default_factory=dict)
    reader: str = ""
    said_at: str = field(default="", compare=False)
    """Which line of which file names it, for messages."""

    def __post_init__(self) -> None:
        if not self.reader:
            object.__setattr__(self, "reader", "csv" if self.label is not None else self.name)
        if self.reader == "csv":
            if self.path is None or self.label is None or self.group is None:
                raise UsageError(f"data set {shown(self.name)} from a CSV file needs its path, label and group")
        elif self.reader not in READERS:
            raise UsageError(
                f"there is no data set {shown(self.reader)} (there are: {listed(READERS)}; any CSV file is one if you "
                f"name its label){nearest(self.reader, READERS)}"
            )
        else:
            known = [p for p in inspect.signature(getattr(datasets, self.reader)).parameters if p != "path"]
            for option in self.options:
                if option not in known:
                    raise UsageError(
                        f"data set {shown(self.reader)} has no option {shown(option)} (it has: {listed(known)})"
                        f"{nearest(option, known)}"
                    )

    def load(self) -> Dataset:
        if self.reader == "csv":
            return from_csv(self.name, self.path, str(self.label), [str(self.group)], self.favorable)
        where = {} if self.path is None else {"folder" if self.reader == "acs" else "path": self.path}
        found: Dataset = getattr(datasets, self.reader)(**where, **self.options)
        return found


def from_csv(name: str, path: Any, label: str, groups: list[str], favorable: Any = 1) -> Dataset:
    """A data set of any CSV file: columns in which all values are numbers are numbers, all others text."""
    file = as_path(path)
    if not is_file(file):
        raise DataError(f"there is no file {shown_path(path)}: name the CSV file of data set {shown(name)}")
    header = _header(file)
    for column in (label, *groups):
        if column not in header:
            raise DataError(
                f"{shown_path(path)} has no column {shown(column)} (it has: {listed(header)}){nearest(column, header)}"
            )
    columns = read(file, Layout("its source", header, frozenset(), header=True))
    outcome = columns[label].tolist()
    spelled = {str(favorable), *([str(favorable).lower()] if isinstance(favorable, bool) else [])}
    chosen = np.array([value in spelled for value in outcome])
    if chosen.all() or not chosen.any() or len(set(outcome)) != 2:
        raise DataError(
            f"label {shown(label)} of {shown_path(path)} must hold {shown(favorable)}, the favourable outcome, and one "
            f"other value (it holds: {listed(dict.fromkeys(outcome))}); repair it, or say which is favorable"
        )
    return Dataset(
        name,
        columns={c: _numbers_if(values, c) for c, values in columns.items() if c != label},
        label=chosen.astype(np.int64),
        label_name=label,
        favorable=f"{label} is {favorable}",
        groups={g: columns[g] for g in groups},
    )


def _header(file: Path) -> tuple[str, ...]:
    opener: Any = gzip.open if file.suffix == ".gz" else open
    try:
        with opener(file, "rt", encoding="utf-8-sig", newline="") as stream:
            found = tuple(name.strip() for name in next(csv.reader(stream), ()))
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"cannot read {shown_path(file)}: {error}") from error
    twice = [name for i, name in enumerate(found) if name in found[:i]]
    if twice:
        raise DataError(f"{shown_path(file)} has several columns {shown(twice[0])}: give each its own name")
    return found


def _numbers_if(values: NDArray[Any], name: str) -> NDArray[Any]:
    try:
        return whole(as_numbers(values.tolist(), name, "the file"))
    except DataError:
        return values
