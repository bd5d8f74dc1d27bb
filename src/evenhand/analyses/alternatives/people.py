"""Data → the people to select on and those to confirm with, and what candidates are compared by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from evenhand.analyses.alternatives.of_scores import Part, Setting
from evenhand.analyses.alternatives.options import Asked
from evenhand.analyses.models.models import thresholds_of
from evenhand.analyses.options import Axes, Options, cuts_of, with_threshold
from evenhand.analyses.reference import grouping_named, reference_group
from evenhand.errors import DataError, UsageError, listed, shown, unknown
from evenhand.inference.held_out import divided
from evenhand.ingest.resolve import as_counts
from evenhand.ingest.roles import Roles
from evenhand.measures.registry import Measure, ScoreMeasure
from evenhand.tables.joint import JointTable
from evenhand.tables.table import Table

ONE = "an alternative needs another model: name two or more scores, the one in use first (--score current,challenger)"


def checked_fairness(m: Measure) -> None:
    """Refuse a measure by which no reduction can be confirmed."""
    if isinstance(m, ScoreMeasure) and m.view is not None:
        raise UsageError(
            f"that {m.id} became smaller cannot be confirmed (bins of few people overstate it): take another measure "
            "for fairness"
        )


def counted(data: Any, roles: Roles, options: Options, said: Asked) -> JointTable:
    """All people by all scores, and by the column that divides them, if there is one."""
    if said.split is not None:
        roles = replace(roles, group=_with_split(roles.group, said.split[0]))
    joint = as_counts(data, roles, cuts_of(options))
    if not isinstance(joint, JointTable):
        raise UsageError(ONE)
    if joint.index.label is None:
        raise UsageError("how well a candidate performs needs true outcomes: name their column (--label)")
    return joint


def _with_split(group: Any, column: str) -> list[str]:
    groups = [group] if isinstance(group, str) else group
    if not isinstance(groups, list | tuple) or not all(isinstance(name, str) for name in groups):
        raise UsageError("split names a column of the data, so group must name columns too")
    if column in groups:
        raise UsageError(f"{shown(column)} cannot both divide people and be a group: name another column")
    return [*groups, column]


def parts_of(joint: JointTable, said: Asked, rng: np.random.Generator) -> tuple[JointTable, JointTable, JointTable]:
    """Everybody who is in one of the parts, those to select on, and those to confirm with."""
    if said.split is None:
        return joint, *divided(joint, said.share, rng)
    column, *values = said.split
    table = joint.index
    place = [a.name for a in table.attributes].index(column)
    names = table.attributes[place].groups
    for value in values:
        if value not in names:
            raise unknown(f"nobody has in {shown(column)} the value", value, names)
    codes = table.codes[place]
    several = [np.isin(codes, [names.index(v) for v in wanted]) for wanted in (values, values[:1], values[1:])]
    everybody, first, second = (_without(joint, cells, place) for cells in several)
    return everybody, first, second


def _without(joint: JointTable, cells: Any, place: int) -> JointTable:
    """The people of some cells, without the attribute that divides them."""
    some = joint.index.of_some(cells)
    kept = [i for i in range(len(some.attributes)) if i != place]
    about = {name: getattr(some, name) for name in ("score", "label", "cluster", "meaning")}
    index = Table.of_cells(
        **some._same_people()
        | about
        | {"attributes": tuple(some.attributes[i] for i in kept), "codes": some.codes[kept], "left_out_groups": {}}
    )
    return replace(joint, index=index)


def setting_of(
    joint: JointTable,
    baseline: str | None,
    axes: Axes,
    attribute: Any,
    reference: Any,
    threshold: Any,
    options: Options,
) -> tuple[Setting, list[str]]:
    """What is compared, by the scores of everybody: thresholds, ranges, the reference, the groups; and remarks."""
    names = joint.names
    if baseline is not None and baseline not in names:
        raise unknown("baseline must be one of the scores, not", baseline, names)
    base = 0 if baseline is None else names.index(baseline)
    tables = [joint.of(k) for k in range(len(names))]
    settled, notes = [], []
    for own, table in zip(thresholds_of(threshold, names), tables, strict=True):
        one = replace(options, threshold=own.threshold, cutoff=own.cutoff or options.cutoff)
        found, remarks = with_threshold(one, table)
        settled.append(found)
        notes += remarks
    grouping = grouping_named(tables[base], attribute)
    ref = reference_group(tables[base], grouping, reference, settled[base].threshold)
    share = tables[base].people_in(grouping) / max(tables[base].people, 1)
    small = [g for g, s in zip(grouping.groups, share.tolist(), strict=True) if s < options.exclude_below]
    groups = tuple(g for i, g in enumerate(grouping.groups) if i != ref.place and g not in small)
    if not groups:
        raise DataError(f"no group of {shown(grouping.name)} is left to compare with {grouping.groups[ref.place]!r}")
    if small:
        notes.append(f"below {100 * options.exclude_below:g}% of the people, so not compared: {listed(small)}")
    ranges = tuple(t.score_range for t in tables)
    setting = Setting(names, base, axes, grouping, grouping.groups[ref.place], groups, tuple(settled), ranges)
    return setting, [*dict.fromkeys(notes), *ref.remarks]


def both(setting: Setting, parts: tuple[JointTable, JointTable]) -> tuple[Part, Part]:
    """The two parts, if each has people to compare."""
    for what, joint in zip(("to select on", "to confirm with"), parts, strict=True):
        there = {a.name: a.groups for a in joint.index.attributes}
        grouping = next((g for g in joint.index.groupings if g.name == setting.grouping.name), None)
        groups = () if grouping is None else grouping.groups
        if setting.reference not in groups or len(groups) < 2:
            raise DataError(
                f"among the {joint.index.people:,} people {what} are too few to compare groups of "
                f"{shown(setting.grouping.name)} ({listed(groups or there)}): count more people, or take another share"
            )
    selecting, confirming = (Part(joint, setting) for joint in parts)
    return selecting, confirming


def data_of(joint: JointTable) -> Mapping[str, Any]:
    """What the document says of the people."""
    table, meaning = joint.index, joint.meaning
    return {
        "people": table.people,
        "label": meaning.label,
        "favorable": meaning.favorable,
        "risk": meaning.risk,
        "score_range": None if meaning.score_range is None else list(meaning.score_range),
        "weight": meaning.weight,
        "cluster": meaning.cluster,
        "group": [a.name for a in table.attributes],
        "left_out": dict(table.left_out),
    }
