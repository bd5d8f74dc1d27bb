"""A policy from a TOML file, a dict or options, with the line of whatever is wrong in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from evenhand.analyses.check.policy import KEYS, Rulebook, check_key, check_options, finite
from evenhand.analyses.check.rule import Rule, rules_of, unlike
from evenhand.analyses.options import least_resamples
from evenhand.analyses.requirement import Requirement, checked_bound, measure_named
from evenhand.errors import UsageError, listed, shown
from evenhand.files.toml import Places, Refuse, known, read_toml
from evenhand.ingest.roles import AUDIT_ONLY
from evenhand.ingest.values import name_of
from evenhand.measures.registry import ScoreMeasure

MOST_RULES = 1_000
LEAST_PERMUTATIONS = 99
_POLICY = ("name", "undefined", "min_group_size", "small_groups", "confidence")
_RULE = (
    "measure", "at_most", "at_least", "judge", "confidence", "attribute", "groups", "pairs", "undefined", "reason",
)  # fmt: skip


def rulebook(
    policy: Any = None,
    require: Any = (),
    undefined: Any = None,
    min_group_size: Any = None,
    small_groups: Any = None,
    options: Mapping[str, Any] | None = None,
) -> Rulebook:
    """What was asked for, if it makes sense: a policy, further rules, and options that prevail over it.

    >>> book = rulebook(require=["abcc <= 0.1 at 90%", "disparate_impact >= 0.8"], undefined="skip")
    >>> [rule.judge for rule in book.rules], book.undefined
    (['interval', 'value'], 'skip')
    """
    book = Rulebook(()) if policy is None else _policy(policy)
    said = {"undefined": undefined, "min_group_size": min_group_size, "small_groups": small_groups}
    said = {key: value for key, value in said.items() if value is not None}
    for key, value in said.items():
        check_key(key, value, UsageError)
    options = dict(options or {})
    for key, value in options.items():
        check_options({key: value}, UsageError)
    book = replace(book, **said)
    if undefined == "fail":  # of what a rule says and what is said beside the policy, the stricter counts
        book = replace(book, rules=tuple(replace(rule, undefined=None) for rule in book.rules))
    further = [rule for rule in unlike(rules_of(require)) if not _said_already(rule, book)]
    book = replace(book, rules=(*book.rules, *further))
    book = replace(book, audit={**book.audit, **options}, written=book.written - set(options))
    if not book.rules:
        raise UsageError("nothing to check: name a policy (--policy FILE) or a rule (--require 'abcc <= 0.1')")
    _check_together(book)
    return book


def _said_already(rule: Rule, book: Rulebook) -> bool:
    """Whether the policy has the same rule, and none that is laxer about what is undefined."""
    same = [r for r in book.rules if (r.about, r.requirement) == (rule.about, rule.requirement)]
    return any(book.undefined_for(r) == "fail" or book.undefined == "skip" for r in same)


def _check_together(book: Rulebook) -> None:
    """What no single option can tell."""
    check_options(book.audit, UsageError)
    for rule in book.rules:
        if rule.judge == "excess" and book.audit.get("permutations", LEAST_PERMUTATIONS) < LEAST_PERMUTATIONS:
            raise book.where(rule, "judge")(
                f"what is above chance needs at least {LEAST_PERMUTATIONS} tables with permuted group labels, not "
                f"permutations = {book.audit['permutations']}: leave that out (1,000 by default)"
            )
        level = rule.confidence or book.confidence
        least = least_resamples(level)
        if rule.judge == "interval" and _resampled(rule, book) and 0 < book.audit.get("bootstrap", 1000) < least:
            raise book.where(rule, "judge")(
                f"an interval of {rule.measure.id} at {100 * level:.10g}% needs at least {least:,} resamples: say "
                f"bootstrap = {least} (--bootstrap {least}) or more"
            )


def _resampled(rule: Rule, book: Rulebook) -> bool:
    """Whether an interval rests on resamples, rather than on a formula."""
    ordinary = book.audit.get("interval", "auto") != "auto"
    return isinstance(rule.measure, ScoreMeasure) or rule.pairs != "reference" or ordinary


def _policy(policy: Any) -> Rulebook:
    if isinstance(policy, Rulebook):
        return policy
    if isinstance(policy, Mapping):
        return _read(policy, Places())
    if not isinstance(policy, str | os.PathLike):
        raise UsageError(f"policy is the path of a TOML file, or what it holds as a dict, not {shown(policy)}")
    return _read(*read_toml(policy, "policy"))


def _read(document: Mapping[str, Any], places: Places) -> Rulebook:
    known(document, ("policy", "audit", "rule"), (), places, "a policy has [policy], [audit] and [[rule]]")
    settings = _table(document, "policy", places)
    known(settings, _POLICY, ("policy",), places, f"[policy] has {', '.join(_POLICY)}")
    for key, value in settings.items():
        check_key(key, value, places.refusal(("policy", key)))
    audit = _table(document, "audit", places)
    for key in audit:
        if key in AUDIT_ONLY:
            raise places.refuse(("audit", key), AUDIT_ONLY[key])
    known(audit, KEYS, ("audit",), places, f"[audit] has {', '.join(KEYS)}")
    for key, value in audit.items():
        check_key(key, value, places.refusal(("audit", key)))
    book = Rulebook((), audit=dict(audit), written=frozenset(audit), places=places, **settings)
    return replace(book, rules=_rules(document.get("rule", []), book))


def _table(document: Mapping[str, Any], key: str, places: Places) -> Mapping[str, Any]:
    table = document.get(key, {})
    if not isinstance(table, Mapping):
        raise places.refuse((key,), f"[{key}] is a table, not {shown(table)}")
    return table


def _rules(tables: Any, book: Rulebook) -> tuple[Rule, ...]:
    places = book.places
    if isinstance(tables, Mapping):
        raise places.refuse(("rule",), "a rule is written [[rule]], with two brackets on each side")
    if not isinstance(tables, list | tuple) or not all(isinstance(table, Mapping) for table in tables):
        raise places.refuse(("rule",), f"rules are tables: write [[rule]] above each, not {shown(tables)}")
    if not tables:
        raise UsageError(f"{places.file or 'the policy'} has no rules, so nothing could fail: write a [[rule]]")
    if len(tables) > MOST_RULES:
        raise places.refuse(("rule",), f"a policy has at most {MOST_RULES:,} rules, not {len(tables):,}")
    rules: list[Rule] = []
    for i, table in enumerate(tables):
        rules.append(_rule(table, i, book))
        before = next((r for r in rules[:-1] if r.about == rules[-1].about), None)
        if before is not None:
            also = f"rule {(before.number or 0) + 1} is about the same: {before}; leave one of them out"
            raise places.refuse(("rule", i), also)
    return tuple(rules)


def _rule(table: Mapping[str, Any], i: int, book: Rulebook) -> Rule:
    def refuse(*key: str | int) -> Refuse:
        return book.places.refusal(("rule", i, *key))

    known(table, _RULE, ("rule", i), book.places, f"a rule has {', '.join(_RULE)}")
    judge = table.get("judge", "value")
    pairs = table.get("pairs", "reference")
    for key in ("judge", "pairs", "undefined", "reason", "confidence"):
        if key in table:
            check_key(key, table[key], refuse(key))
    if "confidence" in table and judge != "interval":
        raise refuse("confidence")(f'confidence is the level of an interval: say judge = "interval", not "{judge}"')
    requirement = _requirement(table, refuse)
    attributes = _named("attribute", table, refuse, one=True)
    groups = _named("groups", table, refuse)
    if groups is not None and pairs != "reference":
        raise refuse("groups")(f'groups are compared with the reference: leave out groups, or pairs = "{pairs}"')
    if pairs == "together" and not (isinstance(requirement.measure, ScoreMeasure) and requirement.measure.information):
        whole = "only mutual_information is one number for all groups together"
        raise refuse("pairs")(f'{whole}, not {requirement.measure.id}: say pairs = "all"')
    if groups is not None and attributes is not None and len(attributes) > 1:
        raise refuse("groups")(f"groups are of one attribute, not of {len(attributes)}: write a rule for each")
    confidence = float(table.get("confidence", book.confidence)) if judge == "interval" else None
    line = book.places.line(("rule", i))
    return Rule(
        requirement, judge, confidence, attributes, groups, pairs, table.get("undefined"), table.get("reason"), i, line
    )


def _requirement(table: Mapping[str, Any], refuse: Callable[..., Refuse]) -> Requirement:
    if "measure" not in table:
        raise refuse("measure")('a rule names its measure, such as measure = "disparate_impact"')
    check_key("measure", table["measure"], refuse("measure"))
    try:
        measure = measure_named(table["measure"])
    except UsageError as error:
        raise refuse("measure")(str(error)) from None
    right, wrong, example = (
        ("at_least", "at_most", "at_least = 0.8")
        if measure.scale == "ratio"
        else ("at_most", "at_least", "at_most = 0.1")
    )
    if wrong in table:
        kind = "a ratio, and 1 is parity" if measure.scale == "ratio" else "a gap, and 0 is parity"
        raise refuse(wrong)(f"{measure.id} is {kind}: say for example {example}, not {wrong}")
    if right not in table:
        raise refuse("measure")(f"the rule for {measure.id} has no limit: say for example {example}")
    bound = table[right]
    if not finite(bound):
        raise refuse(right)(f"{right} is a number, not {shown(bound)}")
    comparison = ">=" if measure.scale == "ratio" else "<="
    try:
        return Requirement(measure, comparison, checked_bound(measure, comparison, float(bound), f"{right} = {bound}"))
    except (UsageError, OverflowError) as error:
        raise refuse(right)(str(error)) from None


def _named(
    key: str, table: Mapping[str, Any], refuse: Callable[..., Refuse], one: bool = False
) -> tuple[str, ...] | None:
    """Names of attributes or groups; a group may be a number or a truth."""
    if key not in table:
        return None
    value = table[key]
    names = value if isinstance(value, list | tuple) else [value]
    what = "a name, or a list of names" if one else "a list of names"
    if not names or (not one and not isinstance(value, list | tuple)):
        raise refuse(key)(f"{key} is {what}, not {shown(value)}")
    for i, v in enumerate(names):
        if not (v.strip() if isinstance(v, str) else not one and (finite(v) or isinstance(v, bool))):
            raise refuse(key, i)(f"{key} is {what}, not {shown(value)}")
        if str(v) in map(str, names[:i]):
            raise refuse(key, i)(f"{key} names one twice: {listed(names)}")
    return tuple(names if one else [str(name_of(v)) for v in names])
