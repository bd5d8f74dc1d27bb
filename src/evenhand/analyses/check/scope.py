"""Whom each rule of a policy is about, in these data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.analyses.audit.unreliable import excluded
from evenhand.analyses.check.policy import Rulebook
from evenhand.analyses.check.rule import Rule
from evenhand.analyses.reference import comparable, reference_group
from evenhand.errors import UsageError, listed, nearest, shown
from evenhand.measures.registry import of_decisions
from evenhand.tables.groups import Grouping
from evenhand.tables.table import Table


@dataclass(frozen=True)
class Case:
    """A rule on one attribute."""

    rule: Rule
    grouping: Grouping
    confidence: float
    undefined: str
    resamples: int
    meaningless: str | None = None
    """Why the measure has a value that says nothing."""


def cases_of(table: Table, book: Rulebook, threshold: float | None) -> list[Case]:
    """Every rule on every attribute that it is about, if the data have what it names."""
    cases: list[Case] = []
    for rule in book.rules:
        undefined = book.undefined_for(rule)
        _check_possible(table, book, rule, undefined)
        for grouping in _groupings(table, book, rule):
            _check_groups(table, book, rule, grouping, threshold)
            level, nothing = rule.confidence or book.confidence, _constant(table, rule, threshold)
            cases.append(Case(rule, grouping, level, undefined, book.options.bootstrap, nothing))
    return cases


def _constant(table: Table, rule: Rule, threshold: float | None) -> str | None:
    """A threshold in the wrong unit selects nobody, which treats all alike: that is no reason to pass."""
    if of_decisions(rule.measure):
        selected = table.selected(threshold)
        if selected.all() or not selected.any():
            who = "everybody" if selected.all() else "nobody"
            return f"because {who} receives the favourable decision, so that rates of decisions say nothing"
    elif table.score is not None and table.extremes[0] == table.extremes[1]:
        return f"because the score is the same for everybody ({table.extremes[0]:g}) and says nothing"
    return None


def _check_possible(table: Table, book: Rulebook, rule: Rule, undefined: str) -> None:
    """Data that cannot give a measure for anybody are a mistake of the call, unless that was foreseen."""
    m = rule.measure
    if undefined == "skip":
        return
    if m.needs_label and table.label is None:
        raise book.where(rule, "measure")(
            f'{m.id} needs true outcomes, and there are none: name their column (--label), or say undefined = "skip"'
        )
    if table.score is None and not of_decisions(m):
        raise book.where(rule, "measure")(
            f'{m.id} is about scores, and there are none: name their column (--score), or say undefined = "skip"'
        )


def _groupings(table: Table, book: Rulebook, rule: Rule) -> Sequence[Grouping]:
    compared = {g.name for g in comparable(table)[0]}
    if rule.attributes is None:
        found: Sequence[Grouping] = table.groupings
    else:
        names = [g.name for g in table.groupings]
        for i, name in enumerate(rule.attributes):
            if name not in names:
                raise book.where(rule, "attribute", i)(
                    f"{shown(name)} is not an attribute of the data (they have: {listed(names)}){nearest(name, names)}"
                )
        found = [g for g in table.groupings if g.name in rule.attributes]
    for grouping in found:
        if grouping.name not in compared:
            raise book.where(rule, "attribute")(
                f"{shown(grouping.name)} has {len(grouping.groups):,} groups, too many to compare: name the attributes "
                "that the rule is about"
            )
    return found


def _check_groups(table: Table, book: Rulebook, rule: Rule, grouping: Grouping, threshold: float | None) -> None:
    small = excluded(table, grouping, book.options.exclude_below)
    try:
        ref = reference_group(table, grouping, book.audit.get("reference"), threshold, small).place
    except UsageError as error:
        if "reference" in book.written and len(grouping.groups) > 1:
            raise book.places.refuse(("audit", "reference", grouping.name), error) from None
        raise
    if rule.groups is None:
        return
    if rule.attributes is None and len(table.groupings) > 1:
        names = listed([g.name for g in table.groupings])
        raise book.where(rule, "groups")(f"say of which attribute these groups are: {names}")
    for i, name in enumerate(rule.groups):
        refuse = book.where(rule, "groups", i)
        if name in grouping.groups and (place := grouping.groups.index(name)) in small:
            raise refuse(f"{shown(name)} is not compared {small[place]}")
        if name not in grouping.groups:
            raise refuse(
                f"{shown(name)} is not a group of {shown(grouping.name)} (there are: {listed(grouping.groups)})"
                f"{nearest(name, grouping.groups)}"
            )
        if name == grouping.groups[ref]:
            raise refuse(f"{shown(name)} is the reference, which the others are compared with: leave it out")
