"""Table → Audit: run the registry over every grouping and attach uncertainty."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import TableFileError, UsageError, listed, nearest, shown
from evenhand.extremes import LargestGap, largest_gap, resampled_ranges
from evenhand.gaps import Gap, gaps, resampled_gaps, undefined_gap
from evenhand.inference.resample import generator
from evenhand.inference.significance import equal_shares
from evenhand.ingest import tabulate
from evenhand.ingest.columns import WeightKind
from evenhand.measures import BINS, MEASURES, Measure
from evenhand.measures.impossibility import CONFLICTS, ForcedError, forced_errors
from evenhand.measures.rates import share, trials
from evenhand.references import reference_group
from evenhand.summaries import GroupSummary, summarise
from evenhand.table import Counts, Grouping, Table, shown_name

if TYPE_CHECKING:
    from pathlib import Path

MANY_GROUPS = 500
"""Above so many groups only the largest gap between decisions is resampled; the rest keeps closed forms."""

MOST_PRODUCTS = 10_000

Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class Options:
    """How an audit was asked for."""

    threshold: float | None
    confidence: float
    bootstrap: int
    seed: int | None


@dataclass(frozen=True)
class Impossibility:
    """Which criteria exclude each other on these data, and by how much they must fail."""

    base_rates_differ: bool
    p_value: float
    conflicts: tuple[tuple[str, ...], ...]
    forced: tuple[ForcedError, ...]
    undefined: str | None


@dataclass(frozen=True)
class AttributeAudit:
    """Everything about one attribute, or about the product of several."""

    name: str
    reference: str
    groups: tuple[GroupSummary, ...]
    measures: tuple[Gap, ...]
    largest: tuple[LargestGap, ...]
    """The most different pair by each measure, when there are more than two groups."""
    impossibility: Impossibility


@dataclass(frozen=True, repr=False)
class Audit:
    """What an audit found. Print it, or take `to_dict`, `to_json`, `to_frame`."""

    table: Table
    options: Options
    attributes: tuple[AttributeAudit, ...]
    notes: tuple[str, ...]
    library: str | None = None
    """The dataframe library of the data, for `to_frame`."""

    def to_dict(self) -> dict[str, Any]:
        """The audit as plain values, in the form that docs/json.md describes."""
        from evenhand.report.document import document

        return document(self)

    def to_json(self, path: str | Path | None = None) -> str:
        """The audit as JSON text, also written to a file if a path is given."""
        from evenhand.report.document import as_json

        text = as_json(self.to_dict())
        if path is not None:
            from evenhand.files import write_text

            write_text(path, text)
        return text

    def to_frame(self, library: str | None = None) -> Any:
        """All comparisons as a dataframe, one row each, in the library of the data (or the one named)."""
        from evenhand.report.frame import frame

        return frame(self, library)

    def measure(self, id: str, group: str | None = None, attribute: str | None = None) -> Gap:
        """One comparison.

        >>> import evenhand
        >>> round(evenhand.audit(evenhand.compas()).measure("demographic_parity").value, 3)
        0.24
        """
        found = [
            gap
            for a in self.attributes
            if attribute in (None, a.name)
            for gap in a.measures
            if gap.id == id and group in (None, gap.group)
        ]
        if not found:
            raise UsageError(
                f"this audit has no measure {shown(id)}"
                + (f" for group {shown(group)}" if group else "")
                + nearest(str(id), MEASURES)
            )
        return found[0]

    def __rich__(self) -> Any:
        from evenhand.report.terminal import render

        return render(self.to_dict())

    def __repr__(self) -> str:
        from evenhand.report.terminal import as_text

        return as_text(self.to_dict())

    def _repr_html_(self) -> str:
        from evenhand.report.terminal import as_html

        return as_html(self.to_dict())


def audit(
    data: Any = None,
    *,
    score: Any = None,
    label: Any = None,
    group: Any = None,
    prediction: Any = None,
    weight: Any = None,
    favorable: Any = 1,
    risk: bool = False,
    score_range: tuple[float, float] | None = None,
    missing: str = "refuse",
    weight_kind: WeightKind = "auto",
    threshold: float | None = None,
    reference: str | Mapping[str, str] | None = None,
    confidence: float = 0.95,
    bootstrap: int = 1000,
    rng: int | np.random.Generator | None = None,
    measures: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Compare how groups fare: every measure, with intervals and a verdict.

    `data` is a `Table`, a path to a saved one, or whatever `evenhand.tabulate` takes, with the same words.

    Parameters
    ----------
    threshold
        The decision is favourable at scores ≥ threshold (for a risk score, at scores < threshold). In the
        units of the data. By default 0.5 for scores in [0, 1], else the middle of the score range.
    reference
        The group all others are compared with (for several attributes, a dict by attribute); by default
        the largest.
    confidence, bootstrap, rng
        Level of the intervals, number of resamples (0 for none), and a seed or generator.
    measures
        The ids of the measures to compute; by default all.

    Examples
    --------
    >>> import evenhand
    >>> a = evenhand.audit(evenhand.compas(), threshold=5, reference="Caucasian")
    >>> gap = a.measure("equal_opportunity")
    >>> round(gap.signed, 3), [round(bound, 3) for bound in gap.ci], gap.passes
    (-0.214, [-0.245, -0.182], False)
    """
    words = {
        "score": score, "label": label, "group": group, "prediction": prediction, "weight": weight,
        "favorable": favorable, "risk": risk, "score_range": score_range, "missing": missing,
        "weight_kind": weight_kind,
    }  # fmt: skip
    defaults = {"favorable": 1, "risk": False, "missing": "refuse", "weight_kind": "auto"}
    words = {k: v for k, v in words.items() if v is not defaults.get(k)}
    options = checked(threshold, confidence, bootstrap, rng)
    chosen = _chosen(measures)
    table = as_table(data, words)
    options, notes = _with_threshold(options, table)
    random = generator(rng)
    attributes = []
    groupings, remarks = _comparable(table)
    notes += remarks
    for i, grouping in enumerate(groupings):
        if progress:
            progress(i / len(groupings), f"comparing the groups of {shown_name(grouping.name)}")
        ref, remarks = reference_group(table, grouping, reference)
        notes += remarks
        attributes.append(_audit_grouping(table, grouping, ref, chosen, options, random))
    notes += _remarks(table, options, attributes)
    return Audit(table, options, tuple(attributes), (*table.notes, *notes), _library(data))


def _comparable(table: Table) -> tuple[list[Grouping], list[str]]:
    """What is compared: everything, but not a product of so many columns that nearly everybody is a group."""
    *single, last = table.groupings
    if not single or len(last.groups) <= MOST_PRODUCTS:
        return [*single, last], []
    remark = f"{shown(last.name)} has {len(last.groups):,} groups, too many to compare: name fewer group columns"
    return single, [remark]


def as_table(data: Any, words: Mapping[str, Any]) -> Table:
    """The table given, saved, or counted from data with these words."""
    from evenhand.files import as_path, is_file
    from evenhand.storage import is_table_file, load

    if isinstance(data, Table):
        table = data
    elif isinstance(data, str | os.PathLike) and is_table_file(data):
        table = load(data)
    elif words.get("group") is not None:
        return tabulate(data, **words)
    elif isinstance(data, str | os.PathLike) and not words and is_file(as_path(data)):
        try:
            table = load(data)  # it fails, and says why
        except TableFileError as error:
            raise TableFileError(f"{error}; if it holds rows, name at least one group column (--group)") from error
    else:
        raise UsageError("name at least one group column (--group)")
    if words:
        raise UsageError(
            f"a table knows its columns already: leave out {listed(words)}, or audit the data it was made from"
        )
    return table


def checked(threshold: Any, confidence: Any, bootstrap: Any, rng: Any) -> Options:
    """The options, if they make sense; better known before ten minutes of counting."""

    def number(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            return float("nan")
        try:
            return float(value)
        except (OverflowError, TypeError):
            return float("nan")

    if threshold is not None and not np.isfinite(number(threshold)):
        raise UsageError(f"threshold must be a finite number, not {shown(threshold)}")
    if not 0.5 <= number(confidence) <= 1 - 1e-9:
        raise UsageError(f"confidence must be a number from 0.5 to below 1, such as 0.95, not {shown(confidence)}")
    if isinstance(bootstrap, bool) or not isinstance(bootstrap, int | np.integer) or not 0 <= bootstrap <= 1_000_000:
        raise UsageError(f"bootstrap must be a whole number from 0 (none) to a million, not {shown(bootstrap)}")
    generator(rng)  # refuse a bad seed before the work
    seed = None if isinstance(rng, np.random.Generator) else int(rng or 0)
    return Options(None if threshold is None else float(threshold), float(confidence), int(bootstrap), seed)


def _chosen(ids: Sequence[str] | None) -> list[Measure]:
    if ids is not None and (isinstance(ids, str) or not isinstance(ids, Sequence)):
        raise UsageError(f"measures is a list of ids, not {shown(ids)}")
    for id_ in ids or ():
        if not isinstance(id_, str) or id_ not in MEASURES:
            raise UsageError(
                f"there is no measure {shown(id_)} (there are: {listed(MEASURES, 20)}){nearest(str(id_), MEASURES)}"
            )
    return [m for m in MEASURES.values() if ids is None or m.id in ids]


def _with_threshold(options: Options, table: Table) -> tuple[Options, list[str]]:
    """Settle the threshold, and say so when it was chosen here."""
    if table.decision is not None:
        if options.threshold is not None:
            raise UsageError("the prediction column decides already: leave the threshold out, or the prediction")
        return options, []
    if options.threshold is not None:
        return options, []
    lo, hi = table.score_range
    middle = lo + (hi - lo) / 2
    if (lo, hi) == (0.0, 1.0):
        return replace(options, threshold=0.5), []
    note = f"no threshold was given, so the middle of the score range [{lo:g}, {hi:g}] is used: {middle:g}"
    return replace(options, threshold=middle), [note]


def _audit_grouping(
    table: Table,
    grouping: Grouping,
    reference: int,
    chosen: list[Measure],
    options: Options,
    rng: np.random.Generator,
) -> AttributeAudit:
    decisions = table.decisions(grouping, options.threshold)
    bins = table.binned(grouping, BINS) if table.score is not None and table.label is not None else None
    found: dict[str, list[Gap]] = {}
    largest: dict[str, LargestGap] = {}
    many = len(grouping.groups) > MANY_GROUPS
    for counts, levels in ((decisions, "decision"), (bins, "bins")):
        measures = [m for m in chosen if m.levels == levels and (table.label is not None or not m.needs_label)]
        if counts is None or not measures:
            continue
        draw_gaps, draw_ranges = rng.spawn(2)
        resampled: dict[str, Any] = {}
        ranges: dict[str, Any] = {}
        if options.bootstrap and not many:
            resampled = resampled_gaps(measures, counts, reference, options.bootstrap, draw_gaps)
        if options.bootstrap and len(grouping.groups) > 2 and (levels == "decision" or not many):
            ranges = resampled_ranges(measures, counts, options.bootstrap, draw_ranges)
        for m in measures:
            found[m.id] = gaps(m, counts, reference, options.confidence, resampled.get(m.id))
            if len(grouping.groups) > 2:
                largest[m.id] = largest_gap(m, counts, options.confidence, ranges.get(m.id))
    everything = [g for m in chosen for g in found.get(m.id) or _without(m, table, grouping, reference)]
    groups = summarise(
        table, grouping, decisions, bins, options.confidence, 0 if many else options.bootstrap, rng.spawn(1)[0]
    )
    return AttributeAudit(
        grouping.name,
        grouping.groups[reference],
        groups,
        tuple(everything),
        tuple(largest[m.id] for m in chosen if m.id in largest),
        _impossibility(decisions, reference, options.confidence),
    )


def _without(m: Measure, table: Table, grouping: Grouping, reference: int) -> list[Gap]:
    """A measure that these data cannot give."""
    because = "because there are no labels" if table.label is None else "because there is no score"
    ref = grouping.groups[reference]
    return [undefined_gap(m, g, ref, because) for g in grouping.groups if g != ref]


def _impossibility(decisions: Counts, reference: int, confidence: float) -> Impossibility:
    if not decisions.has_label:
        return Impossibility(False, np.nan, (), (), "because there are no labels")
    p = equal_shares(share(decisions, "base_rate"), trials(decisions, "base_rate"))
    differ = bool(p < 1 - confidence)
    return Impossibility(differ, p, CONFLICTS if differ else (), tuple(forced_errors(decisions, reference)), None)


def _remarks(table: Table, options: Options, attributes: list[AttributeAudit]) -> list[str]:
    """What a careful colleague would point out."""
    notes = []
    if table.score is not None and table.score[0] == table.score[-1]:  # cells are sorted by score
        notes.append(f"the score is constant ({table.score[0]:g}): it cannot tell anyone apart")
    selected = table.selected(options.threshold)
    if selected.all() or not selected.any():
        notes.append(
            f"{'everyone' if selected.all() else 'nobody'} receives the favourable decision"
            + ("" if options.threshold is None else f" at the threshold {options.threshold:g}")
            + ": gaps between rates of a constant decision say nothing"
        )
    elif table.label is not None:
        overall = np.array([[table.mass[(selected == d) & (table.label == y)].sum() for y in (0, 1)] for d in (0, 1)])
        pooled = Counts(overall[:, None, :], ("everyone",))
        tpr, fpr = float(share(pooled, "tpr")[0]), float(share(pooled, "fpr")[0])
        if tpr < fpr:
            notes.append(
                f"people with the unfavourable label receive the favourable decision more often ({fpr:.3f}) than those "
                f"with the favourable one ({tpr:.3f}): check which value is favourable, and if this is a risk score"
            )
    for a in attributes:
        if len(a.groups) > MANY_GROUPS:
            notes.append(f"{shown(a.name)} has {len(a.groups):,} groups: most bootstrap intervals were left out")
    gone = {
        f"{g} of {a}" for a, tally in table.left_out_groups.items() for g in tally
        if g not in next((x.groups for x in table.attributes if x.name == a), g) and g
    }  # fmt: skip
    if gone:
        notes.append(f"every row of these groups was left out: {listed(sorted(gone))}")
    return notes


def _library(data: Any) -> str | None:
    """The dataframe library an object belongs to."""
    root = type(data).__module__.split(".")[0]
    return {
        "pandas": "pandas",
        "polars": "polars",
        "pyarrow": "pyarrow",
        "dask": "pandas",
        "modin": "pandas",
        "duckdb": "duckdb",
        "_duckdb": "duckdb",
    }.get(root)
