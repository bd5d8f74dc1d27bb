"""Who is near to whom: exactly, or found by an index of the points and compared with the exact answer."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.analyses.individual.distance import Points, Space
from evenhand.errors import MissingLibrary, UsageError
from evenhand.tables.arrays import Bools, Floats, Ints

EXACT = 20_000
"""People up to whom everybody is compared with everybody."""
MOST_PAIRS = 25_000_000
"""Pairs that are kept; a radius that holds more says little of being near."""
SPARE = 8
"""Candidates beyond those needed, as ranks of squared distances can be off in their last digits."""
SAMPLE, WANTED_RECALL, MOST_COMPARED = 200, 0.99, 10**11
"""People for whom the index is compared with the truth, what it must find, and how many codes it may look at for it."""
_CELLS = 4_000_000
"""Distances that are held at a time."""

Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class Near:
    """The near people of each person: those of person i are `other[starts[i]:starts[i + 1]]`, nearest first."""

    starts: Ints
    other: Ints
    distance: Floats
    spare: Ints | None
    """Of k nearest people: who would be next if one of them were not there. None if nobody would."""
    spare_distance: Floats | None = None
    recall: float | None = None
    """The share of the true neighbours found, in a sample; None where they are exact."""

    @property
    def n(self) -> int:
        return len(self.starts) - 1

    @property
    def sizes(self) -> Ints:
        return np.diff(self.starts)

    @property
    def one(self) -> Ints:
        """Whose neighbour each is."""
        return np.repeat(np.arange(self.n), self.sizes)


def nearest_people(
    space: Space, k: int, rng: np.random.Generator, approximate: bool, progress: Progress | None = None
) -> Near:
    """The k nearest people of everybody. Among equally near ones the order of rows decides: let it be a random one."""
    if k >= space.n:
        raise UsageError(
            f"k={k} nearest people need more than {k} people, but there are {space.n:,}: choose a smaller k"
        )
    many = min(k + 1, space.n - 1)
    recall = None
    if approximate:
        other, distance, recall = _indexed(space, many, rng, progress)
    else:
        other, distance = _compared(space, np.arange(space.n), many, progress)
    starts = np.arange(space.n + 1) * k
    spare, further = (other[:, k], distance[:, k]) if many > k else (None, None)
    return Near(starts, other[:, :k].ravel(), distance[:, :k].ravel(), spare, further, recall)


def people_within(space: Space, radius: float, progress: Progress | None = None) -> Near:
    """Everybody within a distance of everybody."""
    others, distances, sizes, total = [], [], [], 0
    for rows, block in _blocks(space, np.arange(space.n), progress):
        rank = radius if not isinstance(space, Points) or space.exponent == 1 else radius * radius
        near = block <= rank * (1 + 1e-9) + 1e-12
        near[np.arange(len(rows)), rows] = False
        one, other = np.nonzero(near)
        distance = space.between(rows[one], other)
        keep = distance <= radius
        one, other, distance = one[keep], other[keep], distance[keep]
        total += len(one)
        if total > MOST_PAIRS:
            raise UsageError(
                f"within radius={radius:g} there are more than {MOST_PAIRS:,} pairs of people, too many to be called "
                "near: choose a smaller radius, or k nearest people instead"
            )
        order = np.lexsort((distance, one))
        others.append(other[order].astype(np.int32))
        distances.append(distance[order])
        sizes.append(np.bincount(one, minlength=len(rows)))
    starts = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
    return Near(starts, np.concatenate(others), np.concatenate(distances), None)


def _blocks(space: Space, rows: Ints, progress: Progress | None) -> Iterator[tuple[Ints, Floats]]:
    """Some people at a time, with a row of ranks over everybody; computed on all cores, given in order."""
    size = max(1, _CELLS // space.n)
    parts = [rows[i : i + size] for i in range(0, len(rows), size)]
    workers = os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as pool:
        for start in range(0, len(parts), workers):
            some = parts[start : start + workers]
            if progress is not None:
                progress(start / len(parts), "comparing people")
            yield from zip(some, pool.map(space.block, some), strict=True)


def _compared(space: Space, rows: Ints, k: int, progress: Progress | None = None) -> tuple[Ints, Floats]:
    """The k nearest of some people, from comparing them with everybody."""
    many = min(k + SPARE, space.n - 1)
    others, distances = [], []
    for part, block in _blocks(space, rows, progress):
        block[np.arange(len(part)), part] = np.inf
        candidates = np.argpartition(block, many - 1, axis=1)[:, :many]
        other, distance = _best(space, part, candidates, k)
        others.append(other)
        distances.append(distance)
    return np.concatenate(others), np.concatenate(distances)


def _best(space: Space, rows: Ints, candidates: Ints, k: int, none: Bools | None = None) -> tuple[Ints, Floats]:
    """The k nearest of some candidates each, by exact distances; `none` are places where there is no candidate."""
    distance = space.between(np.broadcast_to(rows[:, None], candidates.shape), candidates)
    if none is not None:
        distance[none] = np.inf
    order = np.argsort(distance, axis=1, kind="stable")[:, :k]
    return (
        np.take_along_axis(candidates, order, axis=1).astype(np.int32),
        np.take_along_axis(distance, order, axis=1),
    )


def _indexed(space: Space, k: int, rng: np.random.Generator, progress: Progress | None) -> tuple[Ints, Floats, float]:
    """The k nearest of everybody from an inverted index, searched as widely as the wanted recall asks for."""
    if not isinstance(space, Points):
        raise UsageError("approximate neighbours are for the named metrics: leave neighbours= out")
    faiss = _faiss()
    vectors = _embedded(space, rng)
    index = _index(faiss, vectors)
    many = 4 * (k + SPARE)  # codes of the index are rough
    some = np.sort(rng.choice(space.n, min(SAMPLE, space.n), replace=False))
    _, truth = _compared(space, some, k)
    probes, recall, before = 16, 0.0, -1.0
    most = 2 * min(index.nlist, MOST_COMPARED * index.nlist // space.n**2)
    while True:
        index.nprobe = probes
        distance = _searched(space, index, vectors, some, k, many)[1]
        recall = float((distance <= truth[:, -1:] * (1 + 1e-9)).mean())  # ties are as good as the truth
        if recall >= WANTED_RECALL or 2 * probes > most:
            break
        before, probes, many = recall, 2 * probes, many if recall > before + 0.05 else 2 * many
    size = 20_000
    others, distances = [], []
    for start in range(0, space.n, size):
        if progress is not None:
            progress(start / space.n, "finding near people")
        other, distance = _searched(space, index, vectors, np.arange(start, min(start + size, space.n)), k, many)
        others.append(other)
        distances.append(distance)
    return np.concatenate(others), np.concatenate(distances), recall


def _searched(space: Points, index: Any, vectors: Any, rows: Ints, k: int, many: int) -> tuple[Ints, Floats]:
    _, other = index.search(vectors[rows], min(many + 1, space.n))
    return _best(space, rows, other, k, (other == rows[:, None]) | (other < 0))  # −1: the probed lists hold fewer


def _index(faiss: Any, vectors: Any) -> Any:
    """Lists of points around centres, near points in near lists, each point a code of four bits a feature or two."""
    n, width = vectors.shape
    lists = int(np.sqrt(n))
    codes = width if width <= 40 else width // 2
    index = faiss.index_factory(width, f"IVF{lists},PQ{codes}x4fs")
    index.train(vectors[: 64 * lists])  # people come in a random order
    index.add(vectors)
    return index


def _embedded(space: Points, rng: np.random.Generator) -> Any:
    """Points whose squared distances are (or, of very many categories, are about) those of the people."""
    parts = [space.numbers.astype(np.float32)]
    levels = [int(codes.max()) + 1 for codes in space.codes]
    for codes, number in zip(space.codes, levels, strict=True):
        if sum(levels) <= 64:
            vectors = np.eye(number)
        else:
            width = max(4, 64 // len(levels))
            vectors = rng.standard_normal((number, width)) / np.sqrt(width)
        parts.append((vectors[codes] * np.sqrt(space.mismatch / 2)).T.astype(np.float32))
    width = sum(map(len, parts))
    if width > 40 and width % 2:  # codes of two features each
        parts.append(np.zeros((1, space.n), np.float32))
    return np.ascontiguousarray(np.vstack(parts).T)


def _faiss() -> Any:
    try:
        import faiss
    except ImportError:
        raise MissingLibrary(
            f"more than {EXACT:,} people are compared through an index: pip install 'evenhand[neighbours]', or ask for "
            "neighbours='exact' (--neighbours exact), which takes time in proportion to the square of their number"
        ) from None
    return faiss
