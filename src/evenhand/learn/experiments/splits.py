"""The people of an experiment: features, label and group of each, and who trains, who selects, who is the test."""

from __future__ import annotations

import hashlib
import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from evenhand.datasets import Dataset
from evenhand.datasets.features import Column, Features, Matrix, in_order
from evenhand.errors import DataError, UsageError, is_whole, listed, nearest, shown
from evenhand.files.paths import shown_path
from evenhand.ingest.values import encode, name_of
from evenhand.tables.arrays import Ints

Fractions = tuple[float, float, float]
ARRAYS = ("numbers", "codes", "label", "group", "own")
MOST_CELLS = 1_000_000_000
"""People × features that are still made: four gigabytes."""


class Parts(NamedTuple):
    """Places of the people who train, who select among models, and on whom these are reported."""

    train: Ints
    dev: Ints
    test: Ints


@dataclass(frozen=True, eq=False)
class People:
    """A data set as models take it, by one attribute."""

    attribute: str
    groups: tuple[str, ...]
    features: Features
    """Not yet scaled: who trains is another matter for every split."""
    label: Ints
    group: Ints
    """Places among `groups`."""
    own: Ints
    """The split of the data set itself: 0 train, 1 test; empty if it has none."""
    notes: tuple[str, ...] = ()
    """What the data set itself has to say, such as who was left out."""

    @classmethod
    def of(cls, data: Dataset, attribute: str, exclude: tuple[str, ...] = ()) -> People:
        if attribute not in data.groups:
            raise UsageError(
                f"{data.name} has no group {shown(attribute)} (it has: {listed(data.groups)})"
                f"{nearest(attribute, data.groups)}"
            )
        codes, distinct = encode(data.groups[attribute])
        if len(distinct) < 2 or len(np.unique(data.label)) < 2:
            raise DataError(f"{data.name} needs at least two groups by {shown(attribute)}, and people with both labels")
        unknown = np.array([_is_missing(v) for v in distinct])[codes]
        if unknown.any():
            raise DataError(
                f"{int(unknown.sum()):,} people of {data.name} have no group by {shown(attribute)}: leave them out, or "
                "give them one"
            )
        groups, group = in_order(codes, distinct)
        own = np.zeros(0, np.int64) if data.split is None else (data.split == "test").astype(np.int64)
        features = _checked(data.features(exclude), data.name)
        return cls(attribute, groups, features, np.asarray(data.label, np.int64), group, own, data.notes)

    @property
    def fingerprint(self) -> str:
        """Tells these people from any others."""
        shape = [(None if c.values is None else len(c.values), c.gaps) for c in self.features.columns]
        digest = hashlib.sha256(json.dumps([self.attribute, self.groups, shape, len(self.label)]).encode())
        for values in self._arrays().values():
            digest.update(np.ascontiguousarray(values).tobytes())
        return digest.hexdigest()[:16]

    def _arrays(self) -> dict[str, NDArray[Any]]:
        arrays = (self.features.numbers, self.features.codes, self.label, self.group, self.own)
        return dict(zip(ARRAYS, arrays, strict=True))

    def save(self, folder: Path) -> None:
        """Write them where workers find them; `opened` reads the features as they are needed."""
        about = {"attribute": self.attribute, "groups": self.groups, "columns": self.features.columns}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name, values in self._arrays().items():
                with (folder / f"{name}.npy").open("wb") as stream:
                    # given the file itself, numpy writes past Python, and a full disk goes unnoticed
                    np.save(cast(Any, SimpleNamespace(write=stream.write)), values)
            (folder / "about.json").write_text(json.dumps(about), encoding="utf-8")
        except OSError as error:
            raise UsageError(
                f"cannot keep the people of an experiment in {shown_path(folder)}: {error.strerror or error}; make "
                "room, or name another folder"
            ) from error

    @classmethod
    def opened(cls, folder: str | os.PathLike[str]) -> People:
        place = Path(folder)
        about = json.loads((place / "about.json").read_text(encoding="utf-8"))
        numbers, codes = (np.load(place / f"{name}.npy", mmap_mode="r") for name in ARRAYS[:2])
        others = (np.load(place / f"{name}.npy") for name in ARRAYS[2:])
        columns = (
            Column(name, None if values is None else tuple(values), gaps) for name, values, gaps in about["columns"]
        )
        return cls(about["attribute"], tuple(about["groups"]), Features(tuple(columns), numbers, codes), *others)

    def parts(self, split: int, fractions: Fractions, own_split: bool) -> Parts:
        """Everybody in one of three parts, at random but alike in group and label; the same for every method and seed.

        The test people of the data set itself stay those of the test, and the others are shared out in proportion.
        Where a share of a few people is no whole number, it is rounded at random: even the rarest get tested.
        """
        train, dev, test = fractions
        n = len(self.label)
        given = own_split and len(self.own) == n and 0 < self.own.sum() < n
        free = np.flatnonzero(self.own == 0) if given else np.arange(n)
        rng = np.random.default_rng([split, 20])
        shuffled = free[rng.permutation(len(free))]
        stratum = self.group[shuffled] * 2 + self.label[shuffled]
        order = np.argsort(stratum, kind="stable")
        sizes = np.bincount(stratum)
        for_test = np.zeros_like(sizes) if given else _rounded(sizes, test / (train + dev + test), rng)
        for_dev = _rounded(sizes - for_test, dev / (train + dev), rng)
        which = stratum[order]
        rank = np.arange(len(order)) - (np.cumsum(sizes) - sizes)[which]
        part = np.where(rank < for_test[which], 2, np.where(rank < (for_test + for_dev)[which], 1, 0))
        chosen = [np.sort(shuffled[order][part == i]) for i in range(3)]
        if given:
            chosen[2] = np.flatnonzero(self.own == 1)
        for name, rows in zip(Parts._fields, chosen, strict=True):
            if not len(rows):
                raise DataError(f"{n:,} people are too few for three parts: {name} has none")
        return Parts(*chosen)

    def scaled(self, parts: Parts) -> tuple[Matrix, Matrix, Matrix]:
        """The features of each part, scaled by the training people."""
        train, dev, test = self.features.scaled(*parts)
        return train, dev, test


def _rounded(sizes: Ints, share: float, rng: np.random.Generator) -> Ints:
    """So many of each stratum: a whole number next to its share. Sums are rounded, so this holds for groups too."""
    ends: Ints = np.floor(np.cumsum(sizes) * share + rng.random()).astype(np.int64)
    return np.diff(ends, prepend=0)


def _is_missing(group: Any) -> bool:
    """Whether nobody knows the group; a file writes NaN as text."""
    return name_of(group) is None or str(group).strip().lower() == "nan"


def _checked(features: Features, name: str) -> Features:
    """Features that a model can take."""
    width = len(features.names)
    if not width:
        raise UsageError(f"{name} has no features left: exclude fewer columns")
    if len(features) * width > MOST_CELLS:
        most = max(features.columns, key=lambda column: len(column.names))
        raise DataError(
            f"people × features may be at most {MOST_CELLS:,}, but {name} has {len(features):,} people and {width:,} "
            f"features: exclude columns of many values, such as {shown(most.name)} with {len(most.names):,}"
        )
    numbers = [column.name for column in features.columns if column.values is None]
    for column, values in zip(numbers, features.numbers.T, strict=True):
        if np.isinf(values).any():
            raise DataError(f"column {shown(column)} of {name} holds an infinite number: repair it, or exclude it")
    return features


def checked_splits(splits: Any) -> int:
    if not is_whole(splits) or not 1 <= splits <= 1000:
        raise UsageError(f"splits is how often people are split at random, from 1 to 1000, not {shown(splits)}")
    return int(splits)


def checked_fractions(fractions: Any) -> Fractions:
    try:
        train, dev, test = (float(share) for share in fractions)
    except (TypeError, ValueError):
        train = dev = test = math.nan
    if not (min(train, dev, test) > 0 and abs(train + dev + test - 1) < 1e-9):
        raise UsageError(
            "fractions are the shares that train, that select and that test, all above 0 and together 1, such as "
            f"(0.6, 0.2, 0.2), not {shown(fractions)}"
        )
    return train, dev, test
