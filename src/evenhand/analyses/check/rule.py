"""One rule of a policy: a requirement, what of a gap must keep to it, and whom it is about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from evenhand.analyses.requirement import Requirement, parsed, several
from evenhand.errors import UsageError, listed, shown, shown_name
from evenhand.measures.registry import Measure, ScoreMeasure

Judge = Literal["value", "interval", "excess"]
JUDGES = ("value", "interval", "excess")
PAIRS = ("reference", "all", "together")

GRAMMAR = (
    "MEASURE >= NUMBER (of a ratio) or MEASURE <= NUMBER (of a gap), then perhaps 'at 95%' (the whole interval must "
    "keep to it) or 'above chance' (what exceeds the noise floor must), and 'for ATTRIBUTE'"
)
_WHO = {"reference": "", "all": ", any two groups", "together": ", all groups together"}
_FOR = re.compile(r"\s+for(?:\s+(.*))?", re.DOTALL)
_CHANCE = re.compile(r"\s+above\s+chance\s*$", re.DOTALL)
_AT = re.compile(r"\s+at(?:\s+(.*))?$", re.DOTALL)


@dataclass(frozen=True)
class Rule:
    """A limit for a measure, and how groups are held to it."""

    requirement: Requirement
    judge: Judge = "value"
    """The value itself, the far end of its interval, or its excess over what chance alone shows."""
    confidence: float | None = None
    """The level of that interval, if it is judged."""
    attributes: tuple[str, ...] | None = None
    """The group columns it is about; None for all of them, and for their intersection."""
    groups: tuple[str, ...] | None = None
    """The groups that are compared with the reference; None for all of them."""
    pairs: Literal["reference", "all", "together"] = "reference"
    """Whether each group is compared with the reference, the two that differ most with each other, or all at once."""
    undefined: str | None = None
    """What an undefined measure means, if not what the policy says."""
    reason: str | None = None
    """Why there is this rule, as those who made it say."""
    number: int | None = field(default=None, compare=False)
    """Which one it is in the policy, from 0."""
    line: int | None = field(default=None, compare=False)

    @property
    def measure(self) -> Measure:
        return self.requirement.measure

    @property
    def about(self) -> tuple[Any, ...]:
        """What the limit is for: two rules about the same would contradict or repeat each other."""
        return (self.measure.id, self.judge, self.confidence, self.attributes, self.groups, self.pairs)

    @property
    def asks_chance(self) -> bool:
        """Whether it takes what groups that are alike would show: if it says so, or of densities."""
        return self.judge == "excess" or (isinstance(self.measure, ScoreMeasure) and self.measure.smooth)

    def __str__(self) -> str:
        level = f" at {100 * (self.confidence or 0):.10g}%"
        how = {"value": "", "interval": level, "excess": " above chance"}[self.judge]
        whom = "" if self.attributes is None else " for " + ", ".join(shown_name(a) for a in self.attributes)
        if self.groups is not None:
            whom += ": " + ", ".join(shown_name(g) for g in self.groups)
        return f"{self.requirement}{how}{whom}{_WHO[self.pairs]}"


def rules_of(stated: Any) -> tuple[Rule, ...]:
    """Rules from texts, one text or several.

    >>> [str(rule) for rule in rules_of(["disparate_impact>=.8", "abcc <= 0.1 at 95%", "abcc <= 0.05 above chance"])]
    ['disparate_impact >= 0.8', 'abcc <= 0.1 at 95%', 'abcc <= 0.05 above chance']
    """
    return tuple(dict.fromkeys(_rule(text) for text in several(stated)))


def _rule(text: Any) -> Rule:
    if isinstance(text, Rule | Requirement):
        return text if isinstance(text, Rule) else Rule(text)
    if not isinstance(text, str):
        return Rule(parsed(text))  # it fails, and says why
    rest, attribute = _cut(_FOR, text)
    rest, chance = _cut(_CHANCE, rest)
    rest, level = _cut(_AT, rest)
    if chance is None:  # in either order
        rest, chance = _cut(_CHANCE, rest)
    if attribute == "":
        raise UsageError(f"name the attribute after 'for': {shown(text)}")
    if chance is not None and level is not None:
        raise UsageError(f"a rule judges the interval ('at 95%') or what is 'above chance', not both: {shown(text)}")
    return Rule(
        parsed(rest, GRAMMAR),
        "interval" if level is not None else "excess" if chance is not None else "value",
        None if level is None else _level(level, text),
        None if attribute is None else (attribute,),
    )


def _cut(pattern: re.Pattern[str], text: str) -> tuple[str, str | None]:
    """The text before a pattern, and what the pattern found; None without it."""
    found = pattern.search(text)
    if found is None:
        return text, None
    said = (found[1] or "").strip() if found.groups() else ""
    return text[: found.start()], said


def _level(words: str, text: str) -> float:
    try:
        percent = float(words.removesuffix("%")) if words.endswith("%") and "_" not in words else float("nan")
    except ValueError:
        percent = float("nan")
    if not 50 <= percent < 100:
        raise UsageError(
            f"the level after 'at' is a percentage from 50% to below 100%, not {shown(words)}: {shown(text)}"
        )
    return percent / 100


def unlike(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """The rules, each once, if no two set different limits for the same."""
    seen: dict[Any, Rule] = {}
    for rule in rules:
        first = seen.setdefault(rule.about, rule)
        if first.requirement != rule.requirement:
            raise UsageError(f"two limits for the same: {listed([str(first), str(rule)])}; leave one of them out")
    return tuple(seen.values())
