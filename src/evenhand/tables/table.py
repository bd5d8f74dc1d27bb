"""The table: how many people stand in each cell of score × group × label.

Everything Evenhand says about groups is computed from this object. It holds one entry per non-empty
cell, joint over all attributes, so it stays small when there are many groups; `decisions`, `binned` and
`scores.ScoreView` make the small dense arrays that measures work on.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from evenhand.errors import UsageError, shown, shown_name
from evenhand.tables.arrays import Bools, Floats, Ints
from evenhand.tables.cells import tidy
from evenhand.tables.decimals import NARROW
from evenhand.tables.dense import Counts, ScoreBin, Units
from evenhand.tables.groups import Grouped, Grouping, both, history_of, same, sum_by, sum_of
from evenhand.tables.invariants import check
from evenhand.tables.noise import Noise
from evenhand.tables.ranges import Spans, united

_ARRAYS = ("codes", "n", "score", "decision", "label", "weight", "weight2", "cluster")
SAME_RANGES = (
    "share tables in the same ranges (table make --like TABLE or --edges 0,0.1,…; suppressed(…, like=) in Python)"
)
ALL_THE_SAME = "or, if only decisions matter, add them all the same (--force; evenhand.merge(…, force=True))"
TOLD = 5
"""A score is told where at least so many people have it."""
FAR_OFF = 0.05
"""Noise of so much of all people is worth a remark."""

Within = Literal["all", "label", "level"]
"""Some of the people: everybody, those with one label, those at one level (of a decision, of a score bin)."""


@dataclass(frozen=True)
class Meaning:
    """What the columns were called and how to read them: two tables add up only if these agree."""

    score: str | None = None
    label: str | None = None
    prediction: str | None = None
    weight: str | None = None
    favorable: str | None = None
    risk: bool = False
    score_range: tuple[float, float] | None = None
    cluster: str | None = None
    favorable_prediction: str | None = None
    """The favourable value of the prediction, where that is not the label's."""

    @property
    def decided(self) -> str | None:
        """The favourable value of the prediction."""
        return self.favorable if self.favorable_prediction is None else self.favorable_prediction


@dataclass(frozen=True, eq=False, repr=False)
class Table(Grouped):
    """Counts of people by score, decision, label and group.

    Made by `evenhand.tabulate` or `evenhand.load`. Tables of the same meaning add up: `a + b` is the table
    of all rows of both. (Clusters of two tables are taken for different ones: keep the rows of a person together.)

    >>> import evenhand
    >>> t = evenhand.tabulate({"s": [0.2, 0.7, 0.7], "y": [0, 1, 1], "g": ["f", "m", "m"]},
    ...                       score="s", label="y", group="g")
    >>> t
    Table: 3 rows in 2 cells; score 's' (2 values, 0.2 to 0.7); label 'y' (favourable 1); g: m 2, f 1
    >>> (t + t).rows
    6
    """

    score: Floats | None = None
    decision: Bools | None = None
    label: Bools | None = None
    cluster: Ints | None = None
    """Which rows belong together: the cluster of each cell, if not every row is a person."""
    spans: Spans | None = None
    """Which scores stand for a range of scores; None if all are exact."""
    noise: Noise | None = None
    """What was added to the counts of a private table; None if they are true."""
    meaning: Meaning = Meaning()

    __hash__ = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        check(self)
        self._freeze(*_ARRAYS)

    @classmethod
    def of_cells(cls, *, spans: Spans | None = None, **about: Any) -> Table:
        """A table from cells in any order, some of which may be the same; scores inside spans move to their middle."""
        cells = {name: about.pop(name) for name in ("attributes", *_ARRAYS) if name in about}
        if spans is not None:
            cells["score"] = spans.moved(cells["score"])
            spans = spans.of(np.unique(cells["score"]))
        return cls(**tidy(**cells), spans=spans, **about)

    # ---- what it knows ------------------------------------------------------------------------

    @cached_property
    def clustered(self) -> bool:
        """Whether some rows belong together: clusters of one row each are none."""
        return self.cluster is not None and int(self.cluster.max()) + 1 < self.rows

    @property
    def exchangeable(self) -> bool:
        """Whether every row is one person like any other."""
        return self.weight2 is None and not self.clustered

    @cached_property
    def scores(self) -> Floats:
        """The distinct scores, increasing, as they were given."""
        return np.unique(self._scores_of_cells())

    @property
    def extremes(self) -> tuple[float, float]:
        """The lowest and the highest score that anybody has."""
        if self.spans is not None:
            return self.spans.lowest, self.spans.highest
        score = self._scores_of_cells()  # cells are sorted by score
        return float(score[0]), float(score[-1])

    @property
    def cutoff_of_cells(self) -> Floats:
        """The threshold that just selects the people of each cell: their score, or the lower end of their span."""
        score = self._scores_of_cells()
        return score if self.spans is None else self.spans.ends(score)[0]

    @cached_property
    def cutoffs(self) -> Floats:
        """Every threshold that tells people apart."""
        return np.unique(self.cutoff_of_cells)

    @property
    def score_range(self) -> tuple[float, float]:
        """The stated range; else [0, 1] when all scores lie in it; else the observed one."""
        if self.meaning.score_range is not None:
            return self.meaning.score_range
        lo, hi = self.extremes
        return (0.0, 1.0) if lo >= 0 and hi <= 1 else (lo, hi)

    @property
    def people(self) -> int:
        """All people: clusters, where several rows may belong to one person, else rows."""
        return self.rows if self.cluster is None else int(self.cluster.max()) + 1

    def people_in(self, grouping: Grouping) -> Ints:
        """People in each group: its clusters, where several rows may belong to one person, else its rows."""
        if self.cluster is None:
            return self.sizes(grouping)
        clusters = int(self.cluster.max()) + 1
        inside = grouping.inside
        one_each = np.unique(grouping.codes[inside] * clusters + self.cluster[inside])
        return np.bincount(one_each // clusters, minlength=len(grouping.groups))

    def among(self, grouping: Grouping) -> tuple[Table, Grouping]:
        """The people who are in a group, and their grouping: everybody, unless some lack a value."""
        if grouping.whole:
            return self, grouping
        some = self._of_cells(grouping.inside, self.meaning)
        return some, some._divided([[a.name for a in some.attributes].index(name) for name in grouping.attributes])

    def of_some(self, cells: Bools) -> Table:
        """The people of some cells; their scores keep the range that those of all have."""
        return self._of_cells(
            cells, self.meaning if self.score is None else replace(self.meaning, score_range=self.score_range)
        )

    def _of_cells(self, cells: Any, meaning: Meaning) -> Table:
        arrays = {name: None if (a := getattr(self, name)) is None else a[..., cells] for name in _ARRAYS}
        if arrays["cluster"] is not None:
            arrays["cluster"] = np.unique(arrays["cluster"], return_inverse=True)[1].reshape(-1)
        about = {**self._same_people(), "spans": self.spans, "noise": self.noise, "meaning": meaning}
        return Table.of_cells(**about | arrays)

    def complete(self) -> Table:
        """The people who have a value of every attribute; the others are left out."""
        if self.finest.whole:
            return self
        some, _ = self.among(self.finest)
        left_out, left_out_groups = self.left_out_of_all()
        return replace(some, left_out=left_out, left_out_groups=left_out_groups)

    # ---- dense arrays for measures ---------------------------------------------------------------

    def decisions(self, grouping: Grouping, threshold: float | None) -> Counts:
        """Counts by decision (rejected, selected), group and label."""
        return self.dense(self.selected(threshold).astype(np.int64), 2, grouping)

    def binned(self, grouping: Grouping, bins: int) -> Counts:
        """Counts by score bin, group and label."""
        level = self.bin_of_cells(bins)
        there = score_bins(self.score_range, bins, self.meaning.risk)
        named = (replace(b, score=s) for b, s in zip(there, self._single_scores(level, bins), strict=True))
        return replace(self.dense(level, bins, grouping), bins=tuple(named))

    def _single_scores(self, level: Ints, levels: int) -> list[float | None]:
        """Of each level the score of everybody in it, if all have the same one and are enough to tell it."""
        score, ends = self._scores_of_cells(), np.array([[np.inf], [-np.inf]]) * np.ones(levels)
        np.minimum.at(ends[0], level, score)
        np.maximum.at(ends[1], level, score)
        people = np.bincount(level, self.n, levels)
        exact = np.ones(levels, bool) if self.spans is None else ~self.spans.holding(ends[0])
        told = exact & (ends[0] == ends[1]) & (people >= TOLD)
        return [s if t else None for s, t in zip(ends[0].tolist(), told.tolist(), strict=True)]

    def selected(self, threshold: float | None) -> Bools:
        """Whether the people of each cell receive the favourable decision.

        The prediction column decides if there is one. Otherwise a score at or above the threshold is
        favourable; for a risk score, at or above the threshold is *un*favourable. The threshold is in
        the units of the data either way.
        """
        if self.decision is not None:
            return self.decision
        score = self._scores_of_cells()
        if threshold is None:
            raise UsageError("a decision needs a threshold, or a prediction column")
        threshold = self.compared(threshold)
        if self.spans is not None:
            _refuse_inside(self.spans, threshold)
        return (score < threshold) if self.meaning.risk else (score >= threshold)

    def compared(self, threshold: float) -> float:
        """What a threshold is compared as: scores of 32 bits with its value in 32 bits, as numpy does."""
        narrow = NARROW.get(self.provenance.precision or "")
        return threshold if narrow is None else narrow.compared(threshold)

    def above(self, score: float) -> float:
        """A threshold above this score."""
        narrow = NARROW.get(self.provenance.precision or "")
        return float(np.nextafter(score, np.inf)) if narrow is None else narrow.above(score)

    def bin_of_cells(self, bins: int) -> Ints:
        """Equal-width bins over the score range, closed on the right, the first on both sides."""
        return equal_bins(self._scores_of_cells(), self.score_range, bins, self.meaning.risk)

    def oriented(self) -> Floats:
        """Score of each cell with higher = more favourable: a risk score is reflected over its range."""
        score = self._scores_of_cells()
        lo, hi = self.score_range
        return np.clip(lo + (hi - score), lo, hi) if self.meaning.risk else score

    def dense(self, level: Ints, levels: int, grouping: Grouping) -> Counts:
        """Counts by the level of each cell, group and label."""
        labels, inside = 1 if self.label is None else 2, grouping.inside
        shape = (levels, len(grouping.groups), labels)
        key = (level[inside] * shape[1] + grouping.codes[inside]) * labels
        if self.label is not None:
            key += self.label[inside]
        size = levels * shape[1] * labels
        squares = None if self.weight2 is None else sum_by(key, self.weight2[inside], size).reshape(shape)
        array = sum_by(key, self.mass[inside], size).reshape(shape)
        return Counts(array, grouping.groups, squares, self.units(key, inside), self.noise is not None)

    def units(self, place: Ints, cells: Any = slice(None)) -> Units | None:
        """Which rows belong together, in dense counts where cells stand in these places."""
        if self.cluster is None or not self.clustered:
            return None
        found, cluster = np.unique(self.cluster[cells], return_inverse=True)
        mass, rows = (array[cells].astype(np.float64) for array in (self.mass, self.n))
        return Units(cluster.reshape(-1), place, mass, rows, len(found))

    def _scores_of_cells(self) -> Floats:
        if self.score is None:
            raise UsageError("this needs scores, but the table has none: pass score= when you tabulate the data")
        return self.score

    # ---- adding, comparing, showing, keeping -------------------------------------------------------

    def __add__(self, other: object) -> Table:
        if not isinstance(other, Table):
            return NotImplemented
        whole = self.added(other)
        if lost := self.lost_in(whole, other):
            raise UsageError(f"{lost}; {SAME_RANGES}, {ALL_THE_SAME}")
        return whole

    def lost_in(self, whole: Table, other: Table) -> str | None:
        """What is said of the sum with another table if it has one range of scores where there were more."""
        if whole.spans is None or not len(whole.scores) == 1 < max(before := [len(self.scores), len(other.scores)]):
            return None
        return (
            f"the ranges of scores of two tables overlap so that one is left of {before[0]:,} and {before[1]:,}: "
            "nothing could be said about scores"
        )

    def added(self, other: Table) -> Table:
        """The table of all rows of both, even if one range of scores is all that is left."""
        alike = sum_of(self, other, (_schema(self), _schema(other)))
        noise = None
        if self.noise is not None and other.noise is not None:
            noise = self.noise + other.noise
            told = (note for note in alike["notes"] if note not in (self.noise.note, other.noise.note))
            alike["notes"] = (*told, noise.note)
        return Table.of_cells(
            **alike,
            score=both(self.score, other.score),
            decision=both(self.decision, other.decision),
            label=both(self.label, other.label),
            cluster=None
            if self.cluster is None or other.cluster is None
            else np.concatenate([self.cluster, self.cluster.max() + 1 + other.cluster]),
            spans=self._united_spans(other),
            noise=noise,
            meaning=self.meaning,
        )

    def _united_spans(self, other: Table) -> Spans | None:
        if self.spans is None and other.spans is None:
            return None
        (a, b), (c, d) = self.extremes, other.extremes
        return united(self.spans, other.spans, (min(a, c), max(b, d)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return (
            (self.attributes, self.meaning, self.spans, self.noise, self.provenance.untallied)
            == (other.attributes, other.meaning, other.spans, other.noise, other.provenance.untallied)
            and (dict(self.left_out), self._dropped()) == (dict(other.left_out), other._dropped())
            and all(same(getattr(self, name), getattr(other, name)) for name in _ARRAYS)
        )

    def digest(self) -> str:
        """A fingerprint of the counts and their meaning: equal tables have equal digests."""
        h = hashlib.sha256()
        h.update(json.dumps(describe(self), sort_keys=True).encode())
        for name in _ARRAYS:
            array = getattr(self, name)
            if array is not None:
                h.update(name.encode())
                h.update(np.ascontiguousarray(array).data)
        if self.spans is not None:
            for ends in (self.spans.low, self.spans.high, np.array(self.extremes)):
                h.update(np.ascontiguousarray(ends).data)
        return h.hexdigest()

    def __repr__(self) -> str:
        parts = [f"{self.rows:,} rows in {self.cells:,} cells"]
        if self.score is not None:
            kind = "risk score" if self.meaning.risk else "score"
            values = self.scores
            low, high = self.extremes
            parts.append(f"{kind} {shown(self.meaning.score)} ({len(values):,} values, {low:g} to {high:g})")
        if self.spans is not None and len(self.spans.low):
            parts.append(f"{len(self.spans.low):,} of them ranges of scores")
        if self.decision is not None:
            parts.append(f"prediction {shown(self.meaning.prediction)}")
        if self.label is not None:
            parts.append(f"label {shown(self.meaning.label)} (favourable {shown_name(self.meaning.favorable)})")
        if self.weight is not None:
            parts.append(f"weight {shown(self.meaning.weight)}")
        if self.cluster is not None:
            parts.append(f"{self.cluster.max() + 1:,} clusters {shown(self.meaning.cluster)}")
        parts += self._shown_groups()
        if self.noise is not None:
            names = "" if self.noise.stated else " (the names of groups that occur are public)"
            parts.append(f"private, ε = {self.noise.epsilon:g}{names}")
        if self.left_out:
            reasons = ", ".join(f"{n:,} {reason}" for reason, n in self.left_out.items())
            parts.append(f"left out: {reasons}")
        return "Table: " + "; ".join(parts)


def observed_range(t: Table) -> str | None:
    """A remark if nobody stated the range of scores and they leave [0, 1]: then it is the observed one."""
    if t.score is None or t.meaning.score_range is not None or t.score_range == (0.0, 1.0):
        return None
    lo, hi = t.score_range
    return (
        f"scores leave [0, 1] and no range was stated, so the observed one is used, {lo:.12g} to {hi:.12g}: uniform "
        "measures are relative to it; state the range that is possible (score_range=, --score-range)"
    )


def far_off(t: Table) -> str | None:
    """A remark if the noise of a private table is large beside everybody in it."""
    if t.noise is None or t.weight2 is None:
        return None
    noise = float(np.sqrt(np.maximum(t.weight2 - t.n, 0.0).sum()))
    if noise < FAR_OFF * t.rows:
        return None
    return (
        f"the noise is large beside the data: even the number of all people, {t.rows:,}, may be off by "
        f"{2 * noise:,.0f} or more; take a larger ε or fewer cells"
    )


def _refuse_inside(spans: Spans, threshold: float) -> None:
    """A threshold inside a span would decide about people whose score is not known that well."""
    place = int(spans.place(np.array([threshold]))[0])
    if place >= 0:
        low, high = float(spans.low[place]), float(spans.high[place])
        raise UsageError(
            f"the table does not tell scores between {low!r} and {high!r} apart, so it cannot be cut at {threshold!r}: "
            "take one of these two, or count the data again with this threshold"
        )


@lru_cache
def bin_edges(score_range: tuple[float, float], bins: int) -> Floats:
    """Borders of bins of equal width, rounded once: those between 0.1 and 0.7 are 0.16, 0.22, … to the last digit."""
    lo, hi = (Fraction(repr(float(end))) for end in score_range)
    edges = np.array([float(lo + (hi - lo) * k / bins) for k in range(bins + 1)])
    edges.flags.writeable = False
    return edges


def equal_bins(scores: Floats, score_range: tuple[float, float], bins: int, risk: bool) -> Ints:
    """Bins of equal width over the score range, closed on the right, the first on both sides.

    Scores are compared with borders, never computed with: 0.7 * 10 is 7.000000000000001 and 1 - 0.7 is
    0.30000000000000004, and both would leave their bin. So a risk score is not reflected; its bins are.
    """
    inner = bin_edges(score_range, bins)[1:-1]
    if risk:
        return bins - 1 - np.searchsorted(inner, scores, side="right")
    return np.searchsorted(inner, scores, side="left")


@lru_cache
def score_bins(score_range: tuple[float, float], bins: int, risk: bool) -> tuple[ScoreBin, ...]:
    """The `equal_bins`, from the least to the most favourable, with their borders in the units of the data.

    Reflected bins of a risk score are closed on the left: the favourable end, as everywhere.

    >>> [b.name for b in score_bins((0.0, 1.0), 4, False)]
    ['[0, 0.25]', '(0.25, 0.5]', '(0.5, 0.75]', '(0.75, 1]']
    >>> [b.name for b in score_bins((1.0, 10.0), 3, True)]
    ['[7, 10]', '[4, 7)', '[1, 4)']
    """
    edges = bin_edges(score_range, bins).tolist()
    digits = next((d for d in range(6, 17) if len({f"{e:.{d}g}" for e in edges}) > bins), 17)
    borders = [f"{e:.{digits}g}" for e in edges]
    pairs = list(pairwise(borders))
    if not risk:
        names = [f"{'(' if k else '['}{lo}, {hi}]" for k, (lo, hi) in enumerate(pairs)]
        return tuple(ScoreBin(name, *ends) for name, ends in zip(names, pairwise(edges), strict=True))
    names = [f"[{lo}, {hi}{')' if k else ']'}" for k, (lo, hi) in enumerate(reversed(pairs))]
    return tuple(ScoreBin(name, *ends) for name, ends in zip(names, reversed(list(pairwise(edges))), strict=True))


def describe(t: Table) -> dict[str, Any]:
    """What a table means, beside its numbers: for its file and its digest."""
    return {
        "attributes": [{"name": a.name, "groups": list(a.groups)} for a in t.attributes],
        "meaning": {
            **{k: v for k, v in vars(t.meaning).items() if k not in ("score_range", "cluster", "favorable_prediction")},
            **({} if (own := t.meaning.favorable_prediction) is None else {"favorable_prediction": own}),
            **({"cluster": t.meaning.cluster} if t.cluster is not None else {}),
            "score_range": list(t.meaning.score_range) if t.meaning.score_range else None,
        },
        **({"noise": t.noise.to_dict()} if t.noise is not None else {}),
        **history_of(t),
    }


def _schema(t: Table) -> dict[str, Any]:
    return {
        "the list of attributes": [a.name for a in t.attributes],
        **{f"the {k.replace('_', ' ')}": v for k, v in vars(t.meaning).items()},
        "the use of sampling weights": t.weight is not None,
        "the privacy of the counts": "none" if t.noise is None else "noise",
    }
