"""The people of an experiment: features, label and group of each, and who trains, who selects, who is the test."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.cells import Ints
from evenhand.datasets import Dataset
from evenhand.errors import DataError, UsageError, listed, nearest, shown
from evenhand.ingest.values import encode

Matrix = NDArray[np.float32]
Fractions = tuple[float, float, float]
ARRAYS = ("features", "label", "group", "own")


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
    features: Matrix
    label: Ints
    group: Ints
    """Places among `groups`."""
    own: Ints
    """The split of the data set itself: 0 train, 1 test; empty if it has none."""
    gaps: tuple[tuple[int, int], ...] = ()
    """Features with gaps: their place, and that of the feature which says where the gaps are."""

    @classmethod
    def of(cls, data: Dataset, attribute: str, exclude: tuple[str, ...] = ()) -> People:
        if attribute not in data.groups:
            raise UsageError(
                f"{data.name} has no group {shown(attribute)} (it has: {listed(data.groups)})"
                f"{nearest(str(attribute), data.groups)}"
            )
        codes, distinct = encode(data.groups[attribute])
        if len(distinct) < 2 or len(np.unique(data.label)) < 2:
            raise DataError(f"{data.name} needs at least two groups by {shown(attribute)}, and people with both labels")
        unknown = np.array([v is None or str(v).strip() == "" for v in distinct])[codes]
        if unknown.any():
            raise DataError(
                f"{int(unknown.sum()):,} people of {data.name} have no group by {shown(attribute)}: leave them out"
            )
        features, names = data.matrix(exclude)
        if not names:
            raise UsageError(f"{data.name} has no features left: exclude fewer columns")
        order = sorted(range(len(distinct)), key=lambda i: str(distinct[i]))
        place = np.empty(len(distinct), np.int64)
        place[order] = np.arange(len(distinct))
        own = np.zeros(0, np.int64) if data.split is None else (data.split == "test").astype(np.int64)
        where = {name: i for i, name in enumerate(names)}
        gaps = tuple((i, where[f"{name}=missing"]) for name, i in where.items() if f"{name}=missing" in where)
        groups = tuple(str(distinct[i]) for i in order)
        return cls(attribute, groups, features, np.asarray(data.label, np.int64), place[codes], own, gaps)

    @property
    def fingerprint(self) -> str:
        """Tells these people from any others."""
        found = hashlib.sha256(json.dumps([self.attribute, self.groups, self.gaps, self.features.shape]).encode())
        for name in ARRAYS:
            found.update(np.ascontiguousarray(getattr(self, name)).tobytes())
        return found.hexdigest()[:16]

    def save(self, folder: Path) -> None:
        """Write them where workers find them; `opened` reads the features as they are needed."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in ARRAYS:
            np.save(folder / f"{name}.npy", getattr(self, name))
        about = {"attribute": self.attribute, "groups": self.groups, "gaps": self.gaps}
        (folder / "about.json").write_text(json.dumps(about), encoding="utf-8")

    @classmethod
    def opened(cls, folder: str | os.PathLike[str]) -> People:
        place = Path(folder)
        about = json.loads((place / "about.json").read_text(encoding="utf-8"))
        arrays: dict[str, Any] = {name: np.load(place / f"{name}.npy") for name in ARRAYS if name != "features"}
        arrays["features"] = np.load(place / "features.npy", mmap_mode="r")
        gaps = tuple((int(i), int(j)) for i, j in about["gaps"])
        return cls(about["attribute"], tuple(about["groups"]), gaps=gaps, **arrays)

    def parts(self, split: int, fractions: Fractions, own_split: bool) -> Parts:
        """Everybody in one of three parts, at random but alike in group and label; the same for every method and seed.

        The test people of the data set itself stay those of the test, and the others are shared out in proportion.
        """
        train, dev, test = fractions
        n = len(self.label)
        given = own_split and len(self.own) == n and 0 < self.own.sum() < n
        free = np.flatnonzero(self.own == 0) if given else np.arange(n)
        whole = train + dev + (0.0 if given else test)
        shuffled = free[np.random.default_rng([split, 20]).permutation(len(free))]
        stratum = self.group[shuffled] * 2 + self.label[shuffled]
        order = np.argsort(stratum, kind="stable")
        sizes = np.bincount(stratum)
        first = np.cumsum(sizes) - sizes
        rank = (np.arange(len(order)) - first[stratum[order]] + 0.5) / sizes[stratum[order]]
        part = np.searchsorted(np.array([train, train + dev]) / whole, rank, side="right")
        chosen = [np.sort(shuffled[order][part == i]) for i in range(3)]
        if given:
            chosen[2] = np.flatnonzero(self.own == 1)
        for name, rows in zip(Parts._fields, chosen, strict=True):
            if not len(rows):
                raise DataError(f"{n:,} people are too few for three parts: {name} has none")
        return Parts(*chosen)

    def scaled(self, parts: Parts) -> tuple[Matrix, Matrix, Matrix]:
        """The features of each part, numbers standardised by what the training people show, features of 0 and 1 as they
        are; a gap becomes the mean of the training people."""
        train, dev, test = (np.array(self.features[rows]) for rows in parts)
        numbers = np.flatnonzero(((train != 0) & (train != 1)).any(0))
        holes = dict(self.gaps)
        for j in numbers.tolist():
            known = train[:, holes[j]] == 0 if j in holes else slice(None)
            values = train[known, j].astype(np.float64)
            mean, spread = (values.mean(), values.std()) if len(values) else (0.0, 1.0)
            for some in (train, dev, test):
                some[:, j] = (some[:, j] - mean) / (spread or 1.0)
                if j in holes:
                    some[some[:, holes[j]] == 1, j] = 0.0
        return train, dev, test
