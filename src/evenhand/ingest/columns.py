"""Columns → table. A column entry is one row, or a cell of many rows that an engine has counted already."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from evenhand.errors import DataError, listed, shown, shown_name
from evenhand.ingest.name_words import is_bad_outcome
from evenhand.ingest.reading import Reading
from evenhand.ingest.roles import Missing, Roles, WeightKind
from evenhand.ingest.survey_weights import Seen, refuse_survey_weights
from evenhand.ingest.values import encode, group_codes, outcomes, to_floats, writable
from evenhand.tables.arrays import Bools, Floats, Ints
from evenhand.tables.cells import MISSING_GROUP, NO_GROUP, Attribute
from evenhand.tables.exact_sums import Scales, ends_of, parts_of, scales
from evenhand.tables.groups import tally_key
from evenhand.tables.joint import JointTable
from evenhand.tables.provenance import Provenance
from evenhand.tables.ranges import rounded_range
from evenhand.tables.table import Meaning, Table

OK, ZERO, NEGATIVE, NOT_FINITE = range(4)
TOO_MUCH = 1e150
"""Weights from here on are not squared: they are refused anyway."""


@dataclass(frozen=True)
class Weights:
    """Weights of entries that each stand for one or more rows."""

    total: Floats
    """Their sum, in parts that add up exactly: a row for each part, a column for each entry;"""
    squares: Floats
    """and that of their squares."""
    state: Ints
    fractional: Ints
    """How many rows of each entry have a weight that is not whole."""


@dataclass(frozen=True)
class Columns:
    """The columns an audit needs, by role."""

    names: Mapping[str, str]
    """The user's names by role: score, label, prediction, weight."""
    groups: Mapping[str, Any]
    n: Ints
    finer: Mapping[str, Any] = field(default_factory=dict)
    """Groups that were put into bands, as they stood in the data: rows are alike if they are alike in these."""
    score: Any = None
    label: Any = None
    prediction: Any = None
    weights: Weights | None = None
    cluster: Any = None
    further: tuple[Any, ...] = ()
    """Scores of further models, whose names are those of the roles score_1, score_2 …"""
    time: str | None = None
    """Which of the groups is the period."""
    notes: tuple[str, ...] = field(default=())
    precision: Mapping[str, str] = field(default_factory=dict)
    """Types of fewer than 64 bits that scores had, by role; they are shortest decimals by now."""


def counted(
    cells: Mapping[str, Any],
    names: Mapping[str, str],
    groups: list[str],
    notes: tuple[str, ...] = (),
    precision: Mapping[str, str] | None = None,
) -> Columns:
    """Columns from the cells that an engine counted, under the keys score, label, prediction, group_0 …, n."""
    weights = None
    if "weight" in names:
        codes, states = encode(cells["state"])
        weights = Weights(
            total=np.array([cells[name] for name in cells if name.startswith("total_")], np.float64),
            squares=np.array([cells[name] for name in cells if name.startswith("squares_")], np.float64),
            state=np.array([int(s) for s in states], np.int64)[codes],
            fractional=np.asarray(cells["fractional"]).astype(np.int64),
        )
    return Columns(
        names=names,
        groups={g: cells[f"group_{i}"] for i, g in enumerate(groups)},
        n=np.asarray(cells["n"]).astype(np.int64),
        score=cells.get("score"),
        label=cells.get("label"),
        prediction=cells.get("prediction"),
        weights=weights,
        further=tuple(cells[role] for role in further_roles(names)),
        notes=notes,
        precision=precision or {},
    )


def further_roles(names: Mapping[str, Any]) -> list[str]:
    """The roles of scores of further models."""
    return [role for role in names if role.startswith("score_")]


def scales_of_weights(smallest: float, largest: float, rows: int) -> dict[str, Scales]:
    """What cuts finite weights, and their squares, into parts; the same for every engine.

    >>> scales_of_weights(0.5, 3.0, 1000)["squares"] == scales(0.25, 9.0, 1000)
    True
    """
    low, high = (min(end, TOO_MUCH) ** 2 for end in (smallest, largest))
    return {"total": scales(smallest, largest, rows), "squares": scales(low, high, rows)}


def weigh(values: Any, column: str) -> Weights:
    """Weights of single rows."""
    w = to_floats(values, column, "weight")
    finite = np.isfinite(w)
    state = np.where(finite, np.where(w > 0, OK, np.where(w == 0, ZERO, NEGATIVE)), NOT_FINITE)
    total = np.where(finite, w, 0.0)
    by = scales_of_weights(*ends_of(total), len(total))
    countable = np.where(total < TOO_MUCH, total, 0.0)
    parts = parts_of(total, by["total"]), parts_of(countable * countable, by["squares"])
    return Weights(*parts, state, (finite & (np.floor(total) != total)).astype(np.int64))


def count(columns: Columns, roles: Reading, alike: bool = True) -> Table:
    """Check every column, leave out what must be left out, and count the rest."""
    return Table.of_cells(**without_rounding(checked(columns, roles, alike)[0], roles))


def without_rounding(cells: dict[str, Any], roles: Reading) -> dict[str, Any]:
    """The cells with scores that leave their range by rounding inside it, and a note that says so."""
    score = cells["score"]
    if score is None:
        return cells
    limits, notes = rounded_range(float(score.min()), float(score.max()), roles.score_range)
    return cells if limits is None else {**cells, "score": np.clip(score, *limits), "notes": (*cells["notes"], *notes)}


def count_together(columns: Columns, roles: Reading) -> JointTable:
    """The same for several scores of the same people. A row without one of them is left out for all."""
    cells, further = checked(columns, roles)
    meaning = cells.pop("meaning")
    names = [meaning.score, *(writable(columns.names[role]) for role in further_roles(columns.names))]
    cells["provenance"] = replace(cells["provenance"], precision=None)
    precision = [columns.precision.get(role) for role in ("score", *further_roles(columns.names))]
    scores = []
    for score in (cells.pop("score"), *further):
        settled = without_rounding({"score": score, "notes": ()}, roles)
        scores.append(settled["score"])
        cells["notes"] = tuple(dict.fromkeys([*cells["notes"], *settled["notes"]]))
    return JointTable.of_cells(scores, names, replace(meaning, score=None), precision, **cells)


def checked(columns: Columns, roles: Reading, alike: bool = True) -> tuple[dict[str, Any], list[Floats]]:
    """What a table is made of, and the scores of further models.

    Rows of one entry are `alike` in all that an audit sees, unless scores or times were put together before.
    """
    if not len(columns.n):
        raise DataError("there are no rows to count")
    faults: list[tuple[str, Bools]] = []
    score = label = decision = None
    if columns.score is not None:
        score = to_floats(columns.score, columns.names["score"], "score")
        faults.append((f"without a finite score {shown(columns.names['score'])}", ~np.isfinite(score)))
    further = []
    for role, values in zip(further_roles(columns.names), columns.further, strict=True):
        further.append(to_floats(values, columns.names[role], "score"))
        faults.append((f"without a finite score {shown(columns.names[role])}", ~np.isfinite(further[-1])))
    if columns.label is not None:
        name = columns.names["label"]
        label = outcomes(columns.label, roles.favorable, name, "label", roles.outcomes)
        faults.append((f"without a label {shown(name)}", label.missing))
    if columns.prediction is not None:
        name = columns.names["prediction"]
        alone = roles.favorable_prediction is not None
        known = roles.outcomes | label.present if label and not alone else roles.outcomes
        wanted = roles.favorable_prediction if alone else roles.favorable
        decision = outcomes(columns.prediction, wanted, name, "prediction", known)
        faults.append((f"without a prediction {shown(name)}", decision.missing))
    outcome = label or decision
    bad = [] if label is None else _bad_outcome(columns.names["label"], label.wanted)
    own = decision.wanted if decision and outcome and decision.wanted != outcome.wanted else None
    flags = [(columns.names[role], o) for role, o in (("label", label), ("prediction", decision)) if o is not None]
    seen = [(Attribute(name, (f"not {o.wanted}", o.wanted)), o.favourable) for name, o in flags]
    cells, kept = people_of(columns, roles, faults, Seen(seen, _one_score(score, further)) if alike else None)
    unused = {*further_roles(columns.names), *(() if cells["weight"] is not None else ("weight",))}
    cells |= dict(
        notes=(*cells["notes"], *bad),
        score=kept(score),
        decision=kept(decision.favourable) if decision else None,
        label=kept(label.favourable) if label else None,
        meaning=Meaning(
            **{role: writable(name) for role, name in columns.names.items() if role not in unused},
            favorable=outcome.wanted if outcome else None,
            favorable_prediction=own,
            risk=roles.risk,
            score_range=roles.score_range,
        ),
    )
    return cells, [kept(score) for score in further]


def _one_score(score: Floats | None, further: list[Floats]) -> Floats | None:
    """Several scores as one: numbers that differ where one of them does."""
    if score is None or not further:
        return score
    together = np.stack([score, *further])
    return np.unique(together, axis=1, return_inverse=True)[1].reshape(-1).astype(np.float64)


def people_of(
    columns: Columns, roles: Roles, faults: list[tuple[str, Bools]], seen: Seen | None
) -> tuple[dict[str, Any], Callable[[Any], Any]]:
    """Groups, clusters and numbers of people, and what picks the entries that are kept: those without a fault.

    Whether whole weights count people is told by what an audit has seen of rows alike; None if they are not.
    """
    attributes, codes, lacking, remarks = _divided(columns, roles.missing)
    faults += lacking
    cluster = None
    if columns.cluster is not None:
        name = columns.names["cluster"]
        cluster = _clusters(columns.cluster, name)
        faults.append((f"without a cluster {shown(name)}", cluster < 0))
    weights, n, notes = _read_weights(columns, roles.weight_kind)
    if weights is not None:
        faults.append((f"without a finite weight {shown(columns.names['weight'])}", weights.state == NOT_FINITE))
        faults.append((f"of weight zero in {shown(columns.names['weight'])}", weights.state == ZERO))
    tally = _Tally(faults, tuple(attributes), codes, n)
    tally.refuse_unless(roles.missing)
    if seen is not None and weights is not None and notes:  # nobody said how they are meant
        finer = map(columns.finer.get, columns.groups)
        apart = [_as_seen(*one) for one in zip(finer, attributes, codes, strict=True)]
        everything = Seen([*apart, *seen.values], seen.score)
        entries = everything.kept(tally.kept, n=columns.n, weight=weights.total, weight2=weights.squares)
        refuse_survey_weights(columns.names["weight"], entries)
    sampled = weights if n is columns.n else None
    cells = dict(
        attributes=tuple(attributes),
        codes=tally.kept(np.array(codes).reshape(len(codes), -1)),
        n=tally.kept(n),
        weight=tally.kept(sampled.total) if sampled else None,
        weight2=tally.kept(sampled.squares) if sampled else None,
        provenance=Provenance(
            tallied=weights is not None and sampled is None,
            unknown=roles.missing == "bounds",
            precision=columns.precision.get("score"),
        ),
        left_out=tally.by_reason(),
        left_out_groups=tally.by_group(),
        notes=(*columns.notes, *notes, *remarks, *_suspicious(attributes)),
        **({} if cluster is None else {"cluster": tally.kept(cluster)}),
    )
    return cells, tally.kept


def _divided(
    columns: Columns, missing: Missing
) -> tuple[list[Attribute], list[Ints], list[tuple[str, Bools]], list[str]]:
    """Attributes and the group of each entry, which entries have none, and what is to be said about it.

    Who has no value in one column but in another is counted by the other: leaving rows out is left to those who have
    no group at all, and these stay too where it is asked what they could change.
    """
    attributes: list[Attribute] = []
    codes: list[Ints] = []
    faults: list[tuple[str, Bools]] = []
    lacking: list[int] = []
    for name, values in columns.groups.items():
        code, groups = group_codes(values, name)
        if name == columns.time:
            faults.append((f"without a time {shown(name)}", code < 0))
        elif missing == "group":
            code, groups = _one_more(code, groups, MISSING_GROUP, name)
        else:
            lacking.append(len(codes))
        attributes.append(Attribute(writable(name), groups))
        codes.append(code)
    if missing == "refuse" or (missing == "drop" and len(lacking) == 1):
        faults += [(f"without a group {shown(attributes[i].name)}", codes[i] < 0) for i in lacking]
        return attributes, codes, faults, []
    notes = []
    if lacking:
        names = [attributes[i].name for i in lacking]
        nowhere = np.all([codes[i] < 0 for i in lacking], axis=0)
        if missing == "drop":
            faults.append((f"without a group {' or '.join(map(shown, names))}", nowhere))
        for i, name in zip(lacking, names, strict=True):
            if missing == "drop" and (some := int(columns.n[(codes[i] < 0) & ~nowhere].sum())):
                others = listed(n for n in names if n != name)
                notes.append(f"{some:,} rows without {shown(name)} are left out of its groups, but counted by {others}")
            codes[i], groups = _one_more(codes[i], attributes[i].groups, NO_GROUP, name)
            attributes[i] = replace(attributes[i], groups=groups)
    return attributes, codes, faults, notes


def _one_more(codes: Ints, groups: tuple[str, ...], group: str, column: str) -> tuple[Ints, tuple[str, ...]]:
    """Those who have no group as one more of them, if there are any."""
    if group in groups:
        raise DataError(
            f"missing values become the group {shown(group)}, but column {shown(column)} has that as a value: rename it"
        )
    without = codes < 0
    return (np.where(without, len(groups), codes), (*groups, group)) if without.any() else (codes, groups)


def _as_seen(finer: Any, attribute: Attribute, codes: Ints) -> tuple[Attribute, Ints]:
    """A group column as it stood in the data, before it was put into bands, if it was."""
    if finer is None:
        return attribute, codes
    places, names = group_codes(finer, attribute.name)
    return replace(attribute, groups=names), np.where(codes < 0, codes, places)


def people_in(columns: Columns, kind: WeightKind) -> Ints:
    """How many people each entry stands for: rows, or as many as whole weights say."""
    return _read_weights(columns, kind)[1]


def _clusters(values: Any, name: str) -> Ints:
    """Numbers in the order of the names of clusters, so that every engine gives the same; −1 where there is none."""
    codes, names = group_codes(values, name, "cluster")
    number = np.empty(len(names) + 1, np.int64)
    number[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    number[-1] = -1
    return np.asarray(number[codes])


def _read_weights(columns: Columns, kind: WeightKind) -> tuple[Weights | None, Ints, list[str]]:
    """Whole weights are numbers of people; others are sampling weights (unless the caller says which)."""
    w = columns.weights
    if w is None:
        return None, columns.n, []
    name = columns.names["weight"]
    negative = w.state == NEGATIVE
    if negative.any():
        raise DataError(
            f"weights must not be negative, but {int(columns.n[negative].sum())} rows have a negative "
            f"{shown(name)}: repair or remove them"
        )
    if not sum(w.total.sum(-1).tolist()) < 2**53:
        raise DataError(f"the weights {shown(name)} add up to more than can be counted exactly (2**53): rescale them")
    fractional = int(w.fractional.sum())
    if kind == "frequency" and fractional:
        raise DataError(
            f"frequency weights are whole numbers, but {fractional} rows of {shown(name)} are not: "
            "leave weight_kind out or say 'sampling'"
        )
    if kind == "sampling" or fractional:
        return w, columns.n, []
    people = np.where(w.state == OK, np.rint(w.total.sum(0)), columns.n).astype(np.int64)
    note = (
        f"the weights {shown(name)} are whole numbers and are read as numbers of people "
        "(if they are survey weights, say weight_kind='sampling')"
    )
    return w, people, [note] if kind == "auto" else []


class _Tally:
    """Which rows are left out, why, and from which groups."""

    def __init__(
        self, faults: list[tuple[str, Bools]], attributes: tuple[Attribute, ...], codes: list[Ints], n: Ints
    ) -> None:
        self.reasons = [reason for reason, _ in faults]
        self.attributes = attributes
        first = np.zeros(len(n), np.int16)  # 0 = kept, else 1 + index of the first reason
        for i, (_, fault) in reversed(list(enumerate(faults))):
            first[fault] = i + 1
        self.keep = first == 0
        gone = np.flatnonzero(first)
        self.first, self.n, self.codes = first[gone], n[gone], [c[gone] for c in codes]

    def kept(self, array: Any) -> Any:
        return array if array is None or not len(self.n) else array[..., self.keep]

    def by_reason(self) -> dict[str, int]:
        counts = np.bincount(self.first, weights=self.n, minlength=len(self.reasons) + 1)
        return {r: int(c) for r, c in sorted(zip(self.reasons, counts[1:], strict=True)) if c}

    def by_group(self) -> dict[str, dict[str, int]]:
        """By attribute, and by their intersection."""
        if not len(self.n):
            return {}
        distinct, places = np.unique(np.array(self.codes), axis=1, return_inverse=True)
        counts = np.bincount(places.reshape(-1), weights=self.n)
        attributes = [a.name for a in self.attributes]
        out: dict[str, dict[str, int]] = {name: {} for name in attributes}
        for codes, n in zip(distinct.T.tolist(), counts.tolist(), strict=True):
            members = tuple(
                (*a.groups, "")[c] for a, c in zip(self.attributes, codes, strict=True)
            )  # no group is called ""
            whole = [*zip(attributes, members, strict=True)]
            if len(members) > 1:
                whole.append((" × ".join(attributes), tally_key(members)))
            for attribute, group in whole:
                tally = out.setdefault(attribute, {})
                tally[group] = tally.get(group, 0) + int(n)
        return {a: dict(sorted(tally.items())) for a, tally in out.items()}

    def refuse_unless(self, missing: str) -> None:
        refused = {r: c for r, c in self.by_reason().items() if not r.startswith("of weight zero")}
        if refused and missing not in ("drop", "bounds"):
            where = "; ".join(
                f"{shown_name(a)}: "
                + ", ".join(f"{shown_name(g or '(missing)')} {c:,}" for g, c in list(groups.items())[:6])
                + (f" and {len(groups) - 6} more groups" if len(groups) > 6 else "")
                for a, groups in list(self.by_group().items())[: len(self.attributes)]
            )
            what = ", ".join(f"{c:,} rows {r}" for r, c in refused.items())
            raise DataError(
                f"every row needs its values, but there are {what} (by {where}): repair them, or leave them "
                f"out with missing='drop' (--missing drop) and the report will say so{_or_group(refused)}"
            )
        if not self.keep.any():
            gone = ", ".join(f"{count:,} rows {reason}" for reason, count in self.by_reason().items())
            raise DataError(f"no rows are left to count: {gone} were left out")


def _bad_outcome(label: str, favorable: str) -> list[str]:
    """A remark if an outcome that sounds bad is taken for good where it happens."""
    if favorable.casefold() not in ("1", "yes", "y") or not is_bad_outcome(label):
        return []
    return [
        f"the label {shown(label)} sounds like something bad, but {shown_name(favorable)} is taken for its good value: "
        f"if {shown_name(favorable)} means that it happened, name the other value (favorable=, --favorable)"
    ]


def _or_group(reasons: Mapping[str, int]) -> str:
    """Another way out, if all that rows lack is a group."""
    if not all(reason.startswith("without a group") for reason in reasons):
        return ""
    return "; or make those without a group one of their own with missing='group' (--missing group)"


def _suspicious(attributes: list[Attribute]) -> list[str]:
    odd = {"nan", "none", "null", "<na>", "nat"}
    return [
        f"the group {shown(g)} of {shown(a.name)} looks like a missing value that became text"
        for a in attributes
        for g in sorted(a.groups)
        if g.casefold() in odd
    ]
