"""What a plot needs: the curves behind the measures, as plain frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.analyses.options import checked_scores
from evenhand.analyses.reference import group_named, grouping_named, reference_group
from evenhand.errors import UsageError, is_whole, shown, unknown
from evenhand.inference import interval
from evenhand.ingest.roles import renamed
from evenhand.measures import calibration, distribution, roc, score_bias
from evenhand.measures.density import estimate
from evenhand.measures.registry import ScoreOptions
from evenhand.report.frame import plain_frame
from evenhand.tables.arrays import Floats, Ints
from evenhand.tables.groups import Grouping
from evenhand.tables.scores import ScoreCounts, ScoreView
from evenhand.tables.table import Table, bin_edges

GIVEN = {"everyone": None, "favourable": 1, "unfavourable": 0}
DENSITY_POINTS = 512
Columns = dict[str, Any]

_TEXTS = {"group", "given", "concept", "curve", "weighting"}
_COLUMNS = {
    "cdf": "group given score share",
    "pdf": "group score density",
    "pdf_by_outcome": "group given score density",
    "c_bias": "group concept score rank group_rate reference_rate gap",
    "roc": "group fpr tpr",
    "cross_roc": "group curve fpr tpr",
    "calibration": "group score_low score_high mean_score rate ci_low ci_high people",
    "calibration_bias": "group weighting score_low score_high group_rate reference_rate gap weight",
    "bias_density": "group score_low score_high reference_low reference_high coupling density",
}
_TYPES = {name: {c: "str" if c in _TEXTS else "float" for c in all_.split()} for name, all_ in _COLUMNS.items()}


@dataclass(frozen=True)
class Curves:
    """Curves of one attribute by name; `curves["cdf"]` is a dataframe, `curves.columns("cdf")` plain arrays."""

    attribute: str
    reference: str
    tables: Mapping[str, Columns]
    max_error: Mapping[str, float]
    """How far a thinned curve is from the exact one at most, at the scores of the data; 0 where all are kept."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.tables)

    def columns(self, name: str) -> Columns:
        """One curve as a dict of columns."""
        if not isinstance(name, str) or name not in self.tables:
            whose = "these people have no" if isinstance(name, str) and name in _TYPES else "there is no"
            raise unknown(f"{whose} curve", name, self.tables)
        return {column: values.copy() for column, values in self.tables[name].items()}

    def to_frame(self, name: str, library: str | None = None) -> Any:
        """One curve as a dataframe of the library named, by default the first of those installed."""
        return plain_frame({k: list(v) for k, v in self.columns(name).items()}, _TYPES[name], library)

    def __getitem__(self, name: str) -> Any:
        return self.to_frame(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    def __contains__(self, name: object) -> bool:
        return name in list(self.tables)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name} ({len(t['group'])} points)" for name, t in self.tables.items())
        return f"Curves of {shown(self.attribute)} against {shown(self.reference)}: {sizes}"


def curves(
    table: Table,
    attribute: str | None = None,
    *,
    groups: str | Sequence[str] | None = None,
    reference: str | Mapping[str, str] | None = None,
    points: int | None = None,
    ranks: str = "published",
    calibration_bins: int = 50,
    bandwidth: str | float = "scott",
    density_bins: int = 50,
    group: str | Sequence[str] | None = None,
) -> Curves:
    """The curves behind the measures: for every group, and of every group against the reference.

    `cdf`: share of people at or below each score, of everyone and by label. `pdf`: the densities that ABPC compares,
    `pdf_by_outcome`: those of people with one label. `c_bias`: the share that receives the favourable decision at each
    threshold, and its gap, for everyone (|gap| is ΔDP), for the favourable and for the unfavourable label. `roc`,
    `cross_roc`. `calibration`: favourable rate by score bin, with intervals. `calibration_bias`: what calibration bias
    adds up. `bias_density`: who has to move how far (its density adds up to ABCC).

    Scores are in the units of the data. Every curve holds every score, unless `points` asks for fewer: `max_error`
    then tells how far the straight lines between the points are from the exact curve at most, at the scores of the
    data. Densities have 512 points unless `points` says otherwise.

    Parameters
    ----------
    attribute
        Which attribute, if the table has several; a list of all their names means their intersection.
    groups, reference
        One group to compare, or a list of them, by default all; and with whom, by default the largest.

    Examples
    --------
    >>> import evenhand
    >>> c = evenhand.curves(evenhand.compas(), reference="Caucasian")
    >>> c.names
    ('cdf', 'pdf', 'pdf_by_outcome', 'c_bias', 'roc', 'cross_roc', 'calibration', 'calibration_bias', 'bias_density')
    >>> found = c.columns("c_bias")
    >>> [round(float(gap), 3) for gap, score in zip(found["gap"], found["score"]) if score == 5]
    [-0.24, -0.214, -0.197]
    """
    groups = renamed({"group": group}, "group", "groups", groups)
    options = checked_scores(ranks, calibration_bins, bandwidth)
    if not isinstance(table, Table):
        raise UsageError(f"curves takes a table: evenhand.tabulate(…) makes one, not {shown(type(table).__name__)}")
    if points is not None and (not is_whole(points) or points < 2):
        raise UsageError(f"points must be a whole number from 2, not {shown(points)}")
    if not is_whole(density_bins) or not 1 <= density_bins <= 1000:
        raise UsageError(f"density_bins must be a whole number from 1 to 1000, not {shown(density_bins)}")
    grouping = grouping_named(table, attribute)
    ref = reference_group(table, grouping, reference).place
    others = [g for g in range(len(grouping.groups)) if g != ref]
    if groups is not None:
        several = list(groups) if isinstance(groups, list | tuple) else [groups]
        others = list(dict.fromkeys(group_named(grouping, one) for one in several))
        if ref in others:
            raise UsageError(
                f"{shown(grouping.groups[ref])} is the reference: name another group, or another reference"
            )
        if not others:
            raise UsageError("name at least one group, or leave groups out for all")
    draw = _Drawing(table, grouping, options, points, density_bins)
    draw.all_of([*others, ref])
    for g in others:
        draw.pair(g, ref)
    return Curves(grouping.name, grouping.groups[ref], draw.tables(), dict(draw.errors))


def _column(pieces: list[Columns], column: str, kind: str) -> Any:
    """Pieces of a column as one array; names as objects, which share their text."""
    values = [np.array(p[column], object if kind == "str" else np.float64) for p in pieces]
    return np.concatenate([np.broadcast_to(v, p["_"]) for v, p in zip(values, pieces, strict=True)])


class _Drawing:
    """Collects the points of all curves."""

    def __init__(
        self, table: Table, grouping: Grouping, options: ScoreOptions, points: int | None, density_bins: int
    ) -> None:
        self.view, self.grouping = ScoreView(table, grouping, options.calibration_bins), grouping
        self.options, self.points, self.density_bins = options, points, density_bins
        self.labels = table.label is not None
        self.pieces: dict[str, list[Columns]] = {}
        self.errors: dict[str, float] = {}

    def tables(self) -> dict[str, Columns]:
        """The curves, in a fixed order."""
        curves = {}
        for name in _TYPES:
            pieces = self.pieces.get(name, [])
            if pieces:
                curves[name] = {column: _column(pieces, column, kind) for column, kind in _TYPES[name].items()}
        return curves

    def _add(self, name: str, size: int, columns: Columns, error: float = 0.0) -> None:
        if size:
            self.pieces.setdefault(name, []).append({**columns, "_": size})
        self.errors[name] = max(self.errors.get(name, 0.0), error)

    # ---- every group ------------------------------------------------------------------------------------

    def all_of(self, groups: list[int]) -> None:
        for g in groups:
            counts, name = self.view([g]), self.grouping.groups[g]
            for given, label in GIVEN.items():
                if label is None or self.labels:
                    self._cdf(counts, name, given, label)
            self._pdf("pdf", {"group": name}, counts, None)
            if self.labels:
                for given in ("favourable", "unfavourable"):
                    self._pdf("pdf_by_outcome", {"group": name, "given": given}, counts, GIVEN[given])
                self._roc("roc", {"group": name}, counts, 0, 0)
                self._calibration(counts, name)

    def _cdf(self, counts: ScoreCounts, name: str, given: str, label: int | None) -> None:
        people = counts.of(label)[0]
        order = _rising(counts)
        score, people = counts.scores[order], people[order]
        if not people.any():
            return
        share = np.cumsum(people) / people.sum()
        keep, error = thinned(score, share[:, None], self.points)
        columns = {"group": name, "given": given, "score": score[keep], "share": share[keep]}
        self._add("cdf", len(keep), columns, error)

    def _pdf(self, kind: str, columns: Columns, counts: ScoreCounts, label: int | None) -> None:
        people = counts.of(label)[0]
        if not people.any():
            return
        known = counts.people() if label is None else counts.people(by_label=True)[:, label]
        effective = None if counts.exchangeable else float(known[0])
        density = estimate(counts.unit, people, self.options.bandwidth, effective)
        lo, hi = counts.score_range
        if np.isnan(density.bandwidth) or not hi - lo > 1e-300:
            return
        inside = density.x[(density.x > 0) & (density.x < 1)]
        x = np.unique(np.concatenate([[0.0], inside, [1.0]]))
        y = density(x)
        points = self.points or DENSITY_POINTS  # which both outcomes share
        keep, error = thinned(x, y[:, None], points if label is None else max(points * 2 // 5, 2))
        at = lo + (1 - x[keep] if counts.risk else x[keep]) * (hi - lo)
        order = np.argsort(at)
        columns = {**columns, "score": at[order], "density": y[keep][order] / (hi - lo)}
        self._add(kind, len(keep), columns, error / (hi - lo))

    def _roc(self, kind: str, columns: Columns, counts: ScoreCounts, favourable: int, unfavourable: int) -> None:
        fpr, tpr = roc.rates(counts, favourable, unfavourable)
        if np.isnan(fpr[-1] + tpr[-1]):
            return
        keep, error = thinned_path(fpr, tpr, self.points)
        self._add(kind, len(keep), {**columns, "fpr": fpr[keep], "tpr": tpr[keep]}, error)

    def _calibration(self, counts: ScoreCounts, name: str) -> None:
        bin_of = calibration.bins_of(counts, False, self.options)
        bins = calibration.binned(counts, False, self.options)
        low, high = self._edges(counts, bin_of, len(bins.array))
        rate, n = calibration.observed(bins)
        ci_low, ci_high = interval.wilson(rate, n)
        people = bins.array.sum((-2, -1))
        scores = np.bincount(bin_of, weights=counts.of()[0] * counts.scores, minlength=len(people))
        some = np.flatnonzero(people)
        some = some[np.argsort(low[some])]
        columns = {
            "group": name, "score_low": low[some], "score_high": high[some], "mean_score": scores[some] / people[some],
            "rate": rate[some, 0], "ci_low": ci_low[some, 0], "ci_high": ci_high[some, 0], "people": people[some],
        }  # fmt: skip
        self._add("calibration", len(some), columns)

    # ---- a group against the reference --------------------------------------------------------------------

    def pair(self, group: int, reference: int) -> None:
        counts, name = self.view([group, reference]), self.grouping.groups[group]
        for concept, label in score_bias.LABELS.items():
            if label is None or self.labels:
                self._c_bias(counts, name, concept, label)
        if self.labels:
            self._roc("cross_roc", {"group": name, "curve": "group over reference"}, counts, *roc.ACROSS[0])
            self._roc("cross_roc", {"group": name, "curve": "reference over group"}, counts, *roc.ACROSS[1])
            for standardized in (False, True):
                self._calibration_bias(counts, name, standardized)
        self._bias_density(counts, name)

    def _c_bias(self, counts: ScoreCounts, name: str, concept: str, label: int | None) -> None:
        upto, total = counts.up_to(label).T, counts.sizes(label)
        if not total.all():
            return
        # Favourable at scores ≥ t, for a risk score at scores < t: the rule of the decision measures.
        rate = (total - upto if counts.risk else total - (upto - counts.of(label).T)) / total
        gap, rank = rate[:, 0] - rate[:, 1], counts.ranks(self.options.ranks)
        order = _rising(counts)
        score, gap, rank, rate = counts.scores[order], gap[order], rank[order], rate[order]
        keep, error = thinned(score, np.column_stack([gap, rate]), self.points)
        columns = {
            "group": name, "concept": concept, "score": score[keep], "rank": rank[keep],
            "group_rate": rate[keep, 0], "reference_rate": rate[keep, 1], "gap": gap[keep],
        }  # fmt: skip
        self._add("c_bias", len(keep), columns, error)

    def _calibration_bias(self, counts: ScoreCounts, name: str, standardized: bool) -> None:
        bin_of = calibration.bins_of(counts, standardized, self.options)
        bins = calibration.binned(counts, standardized, self.options)
        curve = calibration.bias(bins, standardized)
        rate = calibration.observed(bins)[0]
        low, high = self._edges(counts, bin_of, len(bins.array), observed=standardized)
        some = np.flatnonzero(curve.weight > 0)
        some = some[np.argsort(low[some])]
        columns = {
            "group": name, "weighting": "standardized" if standardized else "uniform", "score_low": low[some],
            "score_high": high[some], "group_rate": rate[some, 0], "reference_rate": rate[some, 1],
            "gap": curve.gap[some], "weight": curve.weight[some],
        }  # fmt: skip
        self._add("calibration_bias", len(some), columns)

    def _bias_density(self, counts: ScoreCounts, name: str) -> None:
        if not counts.has_length:
            return
        bias = distribution.bias_density(counts, self.density_bins)
        low, high = np.minimum(bias.edges[:-1], bias.edges[1:]), np.maximum(bias.edges[:-1], bias.edges[1:])
        x, y = np.nonzero(bias.coupling)
        columns = {
            "group": name, "score_low": low[x], "score_high": high[x], "reference_low": low[y],
            "reference_high": high[y], "coupling": bias.coupling[x, y], "density": bias.density[x, y],
        }  # fmt: skip
        self._add("bias_density", len(x), columns)

    def _edges(self, counts: ScoreCounts, bin_of: Ints, bins: int, observed: bool = False) -> tuple[Floats, Floats]:
        """Lowest and highest score of each bin: of equal bins their borders, else what was observed."""
        if not observed and len(counts.scores) > self.options.calibration_bins:
            edges = bin_edges(counts.score_range, bins)
            low, high = edges[:-1], edges[1:]
            return (low[::-1], high[::-1]) if counts.risk else (low, high)
        low, high = np.full(bins, np.inf), np.full(bins, -np.inf)
        np.minimum.at(low, bin_of, counts.scores)
        np.maximum.at(high, bin_of, counts.scores)
        return low, high


def _rising(counts: ScoreCounts) -> slice:
    """The order in which scores rise: they are in that of favour, so a risk falls."""
    return slice(None, None, -1) if counts.risk else slice(None)


def thinned(x: Floats, y: Floats, points: int | None) -> tuple[Ints, float]:
    """At most so many points of curves y (point, curve) over rising x, and the largest vertical error that makes.

    Points are kept where the curves are long: equal steps of width and height together.

    >>> import numpy as np
    >>> thinned(np.array([0.0, 1.0, 2.0]), np.array([[0.0], [3.0], [4.0]]), 2)
    (array([0, 2]), 1.0)
    """
    if points is None or len(x) <= points:
        return np.arange(len(x)), 0.0
    x = _length(x)
    keep = _spread(x + sum(_length(column) for column in y.T), points)
    error = max(float(np.abs(np.interp(x, x[keep], column[keep]) - column).max()) for column in y.T)
    return keep, error


def thinned_path(x: Floats, y: Floats, points: int | None) -> tuple[Ints, float]:
    """The same for a path that may go straight up: the error is the largest distance of a point to its chord."""
    if points is None or len(x) <= points:
        return np.arange(len(x)), 0.0
    keep = _spread(_length(x) + _length(y), points)
    chord = np.clip(np.searchsorted(keep, np.arange(len(x)), side="right") - 1, 0, len(keep) - 2)
    a, b = keep[chord], keep[chord + 1]
    dx, dy = x[b] - x[a], y[b] - y[a]
    length = np.hypot(dx, dy)
    off = np.abs(dx * (y - y[a]) - dy * (x - x[a])) / np.where(length > 0, length, 1.0)
    return keep, float(off.max())


def _length(values: Floats) -> Floats:
    """How far a column has gone at each point, as a share of its whole path."""
    path = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(values / 2)))])
    return np.asarray(path / path[-1] if path[-1] > 0 else path)


def _spread(path: Floats, points: int) -> Ints:
    """Evenly spread places on a path, its ends among them."""
    inner = np.searchsorted(path, np.linspace(0, path[-1], points)[1:-1])
    return np.unique(np.concatenate([[0], inner, [len(path) - 1]]))
