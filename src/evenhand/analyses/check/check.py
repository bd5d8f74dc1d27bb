"""Data and a policy → a verdict: whether every rule is kept to, for every group."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from evenhand.analyses.audit.attribute import AttributeAudit
from evenhand.analyses.audit.audit import Audit, audit_table
from evenhand.analyses.audit.gaps import Gap
from evenhand.analyses.audit.information import Information
from evenhand.analyses.audit.largest_gap import LargestGap
from evenhand.analyses.audit.warnings import too_small_note, unjudged_notes
from evenhand.analyses.check.data import counted
from evenhand.analyses.check.finding import FAILING, Finding, judged, names_of, undecided, unjudged
from evenhand.analyses.check.policy import Rulebook
from evenhand.analyses.check.policy_file import rulebook
from evenhand.analyses.check.rule import Rule
from evenhand.analyses.check.scope import Case, cases_of
from evenhand.analyses.options import MeasureArgs, Options, Progress, Watched, watching, with_threshold
from evenhand.errors import shown
from evenhand.inference.resample import generator
from evenhand.inference.settings import ResamplingArgs
from evenhand.ingest.roles import RolesArgs, check_known
from evenhand.measures.registry import Measure, RateMeasure
from evenhand.report.result import Result, write
from evenhand.tables.table import Table


@dataclass(frozen=True, repr=False)
class Verdict(Result):
    """Whether a policy is kept to. Print it, or take `to_dict`, `to_json`, `to_markdown`, `to_junit` …"""

    table: Table
    book: Rulebook
    options: Options
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether nothing fails and something was judged."""
        return not self.failing and any(f.passes for f in self.findings)

    @property
    def exit_code(self) -> int:
        """0 if the policy is kept to, else 1."""
        return 0 if self.passed else 1

    @property
    def failing(self) -> tuple[Finding, ...]:
        """What stands in the way of passing."""
        return tuple(f for f in self.findings if f.status in FAILING)

    def to_junit(self, path: Any = None) -> str:
        """The verdict as JUnit XML, one test case for each rule and comparison; also written to a file if named."""
        from evenhand.analyses.check.ci import junit

        return write(junit(self.to_dict()), path)

    def to_annotations(self) -> str:
        """The verdict as workflow commands of GitHub, one line each."""
        from evenhand.analyses.check.ci import workflow_commands

        return workflow_commands(self.to_dict())


class CheckArgs(RolesArgs, ResamplingArgs, MeasureArgs, total=False):
    """The options of an audit that rules leave open, for signatures."""

    threshold: float | str | None
    reference: str | Mapping[str, str] | None


def check(
    data: Any = None,
    require: str | Sequence[str] = (),
    *,
    policy: str | os.PathLike[str] | Mapping[str, Any] | Rulebook | None = None,
    undefined: str | None = None,
    min_group_size: int | None = None,
    small_groups: str | None = None,
    progress: Watched = None,
    **options: Unpack[CheckArgs],
) -> Verdict:
    """Hold data to a policy: does every group keep to every limit?

    `data` is a `Table`, a path to a saved one, or rows with their columns, as in `evenhand.data`.

    Parameters
    ----------
    require
        Rules as texts: "disparate_impact >= 0.8" judges the value, "abcc <= 0.1 at 95%" its whole interval, "abcc <=
        0.05 above chance" what exceeds the noise floor; "… for sex" names the attribute, otherwise all count, and the
        intersection of several.
    policy
        The path of a TOML file, or what it holds as a dict. Its rules and those of `require` must all be kept to.
    undefined
        What it means if a measure is undefined for a group: "fail" (default), or "skip" to leave that comparison out.
    min_group_size, small_groups
        Groups of fewer people are not judged; that means "fail" (default) or "skip".
    threshold, top, reference, exclude_below, ranks, calibration_bins, bandwidth, tolerance
        As in `evenhand.audit`. These, the columns and the options of `evenhand.Inference` (but for the level, which
        the rules say) prevail over those of the policy.

    Examples
    --------
    >>> import evenhand
    >>> verdict = evenhand.check(evenhand.compas(), require="equal_opportunity <= 0.1", threshold=5)
    >>> verdict.passed, verdict.exit_code, round(verdict.findings[0].by, 3)
    (False, 1, 0.114)
    >>> evenhand.check(evenhand.compas(), require="abcc <= 0.2 at 95%").passed
    True
    """
    check_known(options, CheckArgs.__optional_keys__, check)
    said: dict[str, Any] = {word: value for word, value in options.items() if value is not None}
    if "rng" in said:
        said["seed"] = said.pop("rng")
    book = rulebook(policy, require, undefined, min_group_size, small_groups, said)
    with watching(progress) as told:
        return judge(counted(data, book), book, told)


def judge(table: Table, book: Rulebook, progress: Progress | None = None) -> Verdict:
    """Hold a table to the rules."""
    chance = any(rule.asks_chance for rule in book.rules)
    options, decided = with_threshold(_options(book, book.confidence, chance), table)
    cases = cases_of(table, book, options.threshold)
    audits = _Audits(table, book, options.threshold)
    for case in cases:
        audits.want(case, _larger(table, book, case))
    audits.run(progress)
    findings = tuple(f for case in cases for f in _findings(table, book, case, audits.of(case)))
    return Verdict(table, book, options, findings, tuple(dict.fromkeys((*decided, *audits.remarks()))))


def _options(book: Rulebook, confidence: float, chance: bool) -> Options:
    options = replace(book.options, confidence=confidence)
    return options if chance else replace(options, permutations=0)


def _larger(table: Table, book: Rulebook, case: Case) -> Table | None:
    """Of a search for the most different pair that skips small groups: the people of the others."""
    if case.rule.pairs == "reference" or book.small_groups != "skip":
        return None
    small = np.flatnonzero(table.people_in(case.grouping) < book.min_group_size)
    if not len(small):
        return None
    cells = ~np.isin(case.grouping.codes, small)
    if len(set(case.grouping.codes[cells].tolist()) - {-1}) < 2:
        return None
    return table.of_some(cells)


class _Audits:
    """The audits that the rules need: one for each level, with tests only where a rule asks about chance."""

    def __init__(self, table: Table, book: Rulebook, threshold: float | None) -> None:
        self.table, self.book, self.threshold = table, book, threshold
        self.wanted: dict[tuple[float, bool, str | None], dict[str, list[Measure]]] = {}
        self.tables: dict[str, Table] = {}
        self.found: dict[tuple[float, bool, str | None], dict[str, AttributeAudit]] = {}
        self.notes: dict[str, None] = {}
        self.too_small: dict[str, dict[str, None]] = {}

    def _key(self, case: Case) -> tuple[float, bool, str | None]:
        fewer = case.grouping.name if case.rule.pairs != "reference" and case.grouping.name in self.tables else None
        return case.confidence, case.rule.asks_chance, fewer

    def want(self, case: Case, larger: Table | None) -> None:
        if larger is not None:
            self.tables.setdefault(case.grouping.name, larger)
        measures = self.wanted.setdefault(self._key(case), {}).setdefault(case.grouping.name, [])
        if case.rule.measure.id not in [m.id for m in measures]:
            measures.append(case.rule.measure)

    def run(self, progress: Progress | None) -> None:
        for i, (key, measures) in enumerate(self.wanted.items()):
            confidence, chance, fewer = key

            def tell(done: float, what: str, i: int = i) -> None:
                if progress:
                    progress((i + done) / len(self.wanted), what)

            table = self.table if fewer is None else self.tables[fewer]
            reference = self.book.audit.get("reference") if fewer is None else None
            random = deepcopy(generator(self.book.audit.get("seed", 0)))
            options = replace(_options(self.book, confidence, chance), threshold=self.threshold)
            audit = audit_table(table, options, measures, reference, random, tell)
            self.found[key] = {a.name: a for a in audit.attributes}
            self._note(audit)

    def _note(self, audit: Audit) -> None:
        """What an audit remarks, but for its own tolerances: rules have their limits, and their findings say why.

        Small groups are put together, because each audit knows its own measures only.
        """
        for a in audit.attributes:
            self.too_small.setdefault(a.name, {}).update(dict.fromkeys(a.too_small))
        own = {too_small_note(a.name, a.too_small) for a in audit.attributes}
        own |= {note for a in audit.attributes for kind in (False, True) for note in unjudged_notes(a, kind)}
        self.notes.update(dict.fromkeys(note for note in audit.notes if note not in own))

    def remarks(self) -> tuple[str, ...]:
        return (*self.notes, *(too_small_note(name, list(few)) for name, few in self.too_small.items() if few))

    def of(self, case: Case) -> AttributeAudit:
        return self.found[self._key(case)][case.grouping.name]


def _findings(table: Table, book: Rulebook, case: Case, audit: AttributeAudit) -> Iterator[Finding]:
    rule, least = case.rule, book.min_group_size
    sizes = dict(zip(case.grouping.groups, table.sizes(case.grouping).tolist(), strict=True))
    small = {name: n for name, n in zip(sizes, table.people_in(case.grouping).tolist(), strict=True) if n < least}
    if rule.groups is None:
        yield from _gone(table, case)
    if rule.pairs != "reference":
        for name in small:
            yield _small(table, book, case, (name, None), small)
        left = len(sizes) - (len(small) if book.small_groups == "skip" else 0)
        if left >= 2:
            yield from _of_pairs(case, audit, sizes)
        return
    for gap in audit.measures:
        if gap.id != rule.measure.id or (rule.groups is not None and gap.group not in rule.groups):
            continue
        names = gap.group, gap.reference
        few = {name: small[name] for name in names if name in small}
        yield _small(table, book, case, names, few) if few else _judged(case, _against_nobody(gap, rule, audit), sizes)


def _gone(table: Table, case: Case) -> Iterator[Finding]:
    """Groups that missing values have taken away altogether."""
    there = set(case.grouping.members)
    for members in table.left_out_by(case.grouping):
        if "" not in members and members not in there:  # "" is no group
            name = case.grouping.name_of(members)
            because = "because every row of this group was left out"
            yield unjudged(case.rule, case.grouping.name, (name, None), because, "undefined", case.undefined)


def _of_pairs(case: Case, audit: AttributeAudit, sizes: Mapping[str, int]) -> Iterator[Finding]:
    """The most different pair, and what stands aside because its measure is undefined; or all groups together."""
    m = case.rule.measure
    if case.rule.pairs == "together" and audit.information is not None:
        yield _judged(case, audit.information, sizes)
        return
    largest = next((g for g in audit.largest if g.id == m.id), None)
    if largest is None and len(audit.groups) - len(audit.excluded) == 2:
        yield from (
            _judged(case, _against_nobody(gap, case.rule, audit), sizes) for gap in audit.measures if gap.id == m.id
        )
        return
    if largest is None:
        why = next((g.undefined for g in audit.measures if g.id == m.id and g.undefined), None)
        because = why or "because no two groups can be compared"
        yield unjudged(case.rule, audit.name, (None, None), because, "undefined", case.undefined if why else "fail")
        return
    for name in largest.left_out:
        because = f"because {m.id} does not exist for this group"
        yield unjudged(case.rule, audit.name, (name, None), because, "undefined", case.undefined)
    yield from (_judged(case, gap, sizes) for gap in largest.incomparable)
    if largest.undefined is None or not largest.left_out:
        yield _judged(case, largest, sizes)


def _against_nobody(gap: Gap, rule: Rule, audit: AttributeAudit) -> Gap:
    """Some against none: no ratio for an audit, which divides by the reference, but the lowest rate over the higher."""
    m = rule.measure
    if gap.undefined is None or not isinstance(m, RateMeasure) or m.scale != "ratio":
        return gap
    rates = {g.name: g.rates[m.components[0]].value for g in audit.groups}
    pair = sorted((rates[gap.group], rates[gap.reference]))
    return replace(gap, value=0.0) if pair[0] == 0 < pair[1] else gap  # still undefined: why it has no interval


def _judged(case: Case, gap: Gap | LargestGap | Information, sizes: Mapping[str, int]) -> Finding:
    undefined = (gap.undefined if np.isnan(gap.value) else None) or case.meaningless
    because = undefined or undecided(case.rule, gap)
    if because is None:
        return judged(case.rule, case.grouping.name, gap, sizes, case.confidence, case.resamples)
    names = names_of(gap)
    outcome = case.undefined if undefined else "fail"  # what is there and not known well enough is not to be skipped
    found = unjudged(case.rule, case.grouping.name, names, because, "undefined", outcome)
    return replace(found, n=sizes.get(names[0] or ""), n_reference=sizes.get(names[1] or ""))


def _small(table: Table, book: Rulebook, case: Case, names: tuple[str, str | None], few: Mapping[str, int]) -> Finding:
    kind = f"people by {shown(table.meaning.cluster)}" if table.clustered else "people"
    who = " and ".join(f"{shown(name)} has {n:,} {kind}" for name, n in few.items() if name in names)
    because = f"because {who}, fewer than the {book.min_group_size:,} required"
    return unjudged(case.rule, case.grouping.name, names, because, "too small", book.small_groups)
