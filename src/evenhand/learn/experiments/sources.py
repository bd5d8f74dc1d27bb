"""Where the data sets of an experiment come from: a function of `evenhand.datasets`, a CSV file, or the caller."""

from __future__ import annotations

import csv
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand import datasets
from evenhand.datasets import Dataset
from evenhand.datasets.reading import MISSING, Layout, as_numbers, is_number, line_of, opened, read, whole
from evenhand.errors import DataError, UsageError, listed, nearest, shown
from evenhand.files.finding import below
from evenhand.files.paths import as_path, is_file, shown_path

NEARLY_ALL = 0.9
"""A column of which more are numbers is meant to hold numbers."""
MOST_VALUES = 100
"""A text with more values than that, and than half of the people, tells them apart rather than describes them."""
READERS = ("acs", "adult", "compas", "german", "kdd_census")
"""Functions of `evenhand.datasets` that give a `Dataset`."""


_PUBLISHED = (".csv", ".data", ".test", ".gz")


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
    favorable: Any = None
    """Of a CSV file, the good outcome: 1 unless you say so."""
    options: Mapping[str, Any] = field(default_factory=dict)
    reader: str = ""
    said_at: str = field(default="", compare=False)
    """Which line of which file names it, for messages."""

    def __post_init__(self) -> None:
        if not self.reader:
            other = self.label is not None and self.name not in READERS
            object.__setattr__(self, "reader", "csv" if other else self.name)
        if self.reader == "csv":
            if self.path is None or self.label is None or self.group is None:
                raise UsageError(f"data set {shown(self.name)} from a CSV file needs its path, label and group")
            if self.options:
                raise UsageError(f"a CSV file has no options, but there is {listed(self.options)}: leave options out")
        elif self.reader not in READERS:
            raise UsageError(
                f"there is no data set {shown(self.reader)} (there are: {listed(READERS)}; any CSV file is one if you "
                f"name its label){nearest(self.reader, READERS)}"
            )
        else:
            self._check_options()

    def _check_options(self) -> None:
        """Refuse what would change nothing."""
        for name, value in (("label", self.label), ("favorable", self.favorable)):
            if value is not None:
                raise UsageError(
                    f"data set {shown(self.reader)} has its own label, so {name} means nothing: leave it out, or say "
                    'reader = "csv" for a CSV file that is called like it'
                )
        known = inspect.signature(getattr(datasets, self.reader)).parameters
        options = [name for name in known if name != self._place]
        for option in self.options:
            if option not in options:
                hint = "; say path" if option == self._place else nearest(option, options)
                raise UsageError(
                    f"data set {shown(self.reader)} has no option {shown(option)} (it has: {listed(options)}){hint}"
                )
        if self.path is None and known[self._place].default is inspect.Parameter.empty:
            raise UsageError(f"data set {shown(self.reader)} needs its path: the file or folder that holds it")

    @property
    def _place(self) -> str:
        """What its function calls the path."""
        return "folder" if self.reader == "acs" else "path"

    def files(self) -> list[Path]:
        """The files that may be read: one, or those of data in a folder."""
        if self.path is None:
            return []
        place = as_path(self.path)
        names = below(place) if place.is_dir() else ()
        return [place, *(place.joinpath(*parts) for parts in names if parts[-1].endswith(_PUBLISHED))]

    def load(self) -> Dataset:
        if self.reader == "csv":
            good = 1 if self.favorable is None else self.favorable
            return from_csv(self.name, self.path, str(self.label), [str(self.group)], good)
        where = {} if self.path is None else {self._place: self.path}
        data: Dataset = getattr(datasets, self.reader)(**where, **self.options)
        return data


def from_csv(name: str, path: Any, label: str, groups: list[str], favorable: Any = 1) -> Dataset:
    """A data set of any CSV file: columns in which all values are numbers are numbers, all others text.

    A column that is almost all numbers, or that tells people apart as an id does, cannot be a feature.
    """
    file = as_path(path)
    if not is_file(file):
        raise DataError(f"there is no file {shown_path(path)}: name the CSV file of data set {shown(name)}")
    header = _header(file)
    for column in (label, *groups):
        if column not in header:
            raise DataError(
                f"{shown_path(path)} has no column {shown(column)} (it has: {listed(header)}){nearest(column, header)}"
            )
    layout = Layout("its source", header, frozenset(), header=True)
    columns = read(file, layout)
    outcome = columns[label].tolist()
    spelled = {str(favorable), *([str(favorable).lower()] if isinstance(favorable, bool) else [])}
    chosen = np.array([value in spelled for value in outcome])
    if chosen.all() or not chosen.any() or len(set(outcome)) != 2:
        raise DataError(
            f"label {shown(label)} of {shown_path(path)} must hold {shown(favorable)}, the favourable outcome, and one "
            f"other value (it holds: {listed(dict.fromkeys(outcome))}); repair it, or say which is favorable"
        )
    numbers = {c: _numbers_if(values) for c, values in columns.items() if c != label}
    return Dataset(
        name,
        columns=numbers,
        label=chosen.astype(np.int64),
        label_name=label,
        favorable=f"{label} is {favorable}",
        groups={g: columns[g] for g in groups},
        unfit={
            c: why
            for c, values in numbers.items()
            if values.dtype == object and (why := _why_unfit(c, values.tolist(), file, layout))
        },
    )


def _header(file: Path) -> tuple[str, ...]:
    with opened(file, "its source") as stream:
        names = tuple(name.strip() for name in next(csv.reader(stream), ()))
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise DataError(f"{shown_path(file)} has several columns {shown(twice[0])}: give each its own name")
    return names


# ---- what a column is -------------------------------------------------------------------------------------------


def _numbers_if(values: NDArray[Any]) -> NDArray[Any]:
    """As numbers, if all are; infinite ones stay text."""
    try:
        return whole(as_numbers(values.tolist(), "", ""))
    except DataError:
        return values


def _why_unfit(name: str, texts: list[str], file: Path, layout: Layout) -> str | None:
    """Why a text column can be no feature: it is numbers but for a few, or tells people apart as an id does."""
    where, distinct = f"column {shown(name)} of {shown_path(file)}", set(texts)
    numbers = {text for text in distinct if is_number(text)}
    filled = [text for text in texts if text not in MISSING]
    if sum(text in numbers for text in filled) > NEARLY_ALL * len(filled):
        bad = next(text for text in filled if text not in numbers or np.isinf(float(text)))
        line = line_of(file, layout, texts.index(bad))
        return (
            f"{where} holds finite numbers, but {shown(bad)} in line {line:,}: repair it, leave it empty if it is not "
            "known, or exclude the column"
        )
    if len(distinct) > max(MOST_VALUES, len(texts) / 2):
        return (
            f"{where} has {len(distinct):,} different texts for {len(texts):,} people, as names and ids have: exclude "
            "it, or make it coarser"
        )
    return None
