"""The rules of a policy, what becomes of groups they cannot judge, and whether what it says makes sense."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from evenhand.analyses.check.rule import JUDGES, PAIRS, Rule
from evenhand.analyses.options import Options, checked
from evenhand.errors import UsageError, is_whole, listed, nearest, shown
from evenhand.files.toml import Places, Refuse
from evenhand.inference.settings import Inference
from evenhand.ingest.band_rules import checked_bands
from evenhand.ingest.roles import MISSING_GROUPS, WEIGHT_KINDS, Roles
from evenhand.measures.curve import ScoreOptions

OUTCOMES = ("fail", "skip")
COLUMNS = tuple(f.name for f in fields(Roles))
OPTIONS = (
    "threshold",
    *(f.name for f in fields(Inference) if f.name not in ("confidence", "seed")),
    *(f.name for f in fields(ScoreOptions)),
    "tolerance",
    "top",
    "exclude_below",
)
KEYS = (*COLUMNS, *OPTIONS, "reference", "seed")
"""What `[audit]` may say: the options of an audit."""


@dataclass(frozen=True)
class Rulebook:
    """The rules of a policy, how to read the data, and what is to happen where a rule cannot judge."""

    rules: tuple[Rule, ...]
    name: str | None = None
    undefined: str = "fail"
    min_group_size: int = 0
    small_groups: str = "fail"
    confidence: float = 0.95
    """Of the intervals shown beside rules that judge something else, and of those that name no level."""
    audit: Mapping[str, Any] = field(default_factory=dict)
    written: frozenset[str] = frozenset()
    """The options of `audit` that the policy itself says."""
    places: Places = field(default_factory=Places)

    @property
    def options(self) -> Options:
        """How the data are to be audited."""
        stated = {k: v for k in OPTIONS if (v := self.audit.get(k)) is not None}
        return checked(rng=self.audit.get("seed", 0), **stated)

    def undefined_for(self, rule: Rule) -> str:
        """What an undefined measure means for a rule."""
        return rule.undefined or self.undefined

    def where(self, rule: Rule, *key: str | int) -> Refuse:
        """What refuses a key of a rule, by its message; without a line for a rule that is in no file."""
        if rule.number is None:
            return lambda message: UsageError(f"{shown(str(rule))}: {message}")
        return self.places.refusal(("rule", rule.number, *key))


def check_key(key: str, value: Any, refuse: Refuse) -> None:
    """A key of a policy, as far as it can be judged before there are data."""
    check_options({key: value}, refuse)
    choices = CHOICES.get(key)
    if choices is not None and not (isinstance(value, str) and value in choices):
        raise refuse(f"{key} is one of {listed(choices)}, not {shown(value)}{nearest(value, choices)}")
    good, what = KINDS.get(key, (None, ""))
    if good is not None and not good(value):
        raise refuse(f"{key} is {what}, not {shown(value)}")


def check_options(options: Mapping[str, Any], refuse: Refuse) -> None:
    """The options of an audit that say how it computes; what else there is passes."""
    try:
        checked(rng=options.get("seed", 0), **{key: options[key] for key in ("confidence", *OPTIONS) if key in options})
    except UsageError as error:
        raise refuse(str(error)) from None


def _texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(v, str) and v.strip() for v in value)


def _are_bands(value: Any) -> bool:
    try:
        return checked_bands(value) is not None
    except UsageError:
        return False


def finite(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and abs(value) < 1e300  # a whole number of TOML may be larger than any float


CHOICES: dict[str, tuple[str, ...]] = {
    "undefined": OUTCOMES, "small_groups": OUTCOMES, "missing": MISSING_GROUPS, "weight_kind": WEIGHT_KINDS,
    "judge": JUDGES, "pairs": PAIRS,
}  # fmt: skip
KINDS: dict[str, tuple[Callable[[Any], Any], str]] = {
    **dict.fromkeys(
        ("name", "reason", "measure", "score", "label", "prediction", "weight", "cluster"),
        (lambda v: isinstance(v, str) and v.strip(), "a text"),
    ),
    "min_group_size": (lambda v: is_whole(v) and 0 <= v <= 10**15, "a whole number of people, such as 50"),
    "group": (lambda v: _texts(v) or (isinstance(v, str) and v), "the name of a column, or a list of names"),
    "bands": (_are_bands, "a table of columns and borders, or rules, such as { age = [25, 40, 60] }"),
    "depth": (lambda v: is_whole(v) and v >= 1, "a whole number of group columns, such as 2"),
    "risk": (lambda v: isinstance(v, bool), "true or false"),
    "score_range": (lambda v: isinstance(v, list) and [*map(finite, v)] == [True, True], "two numbers such as [0, 1]"),
    "where": (lambda v: isinstance(v, Mapping) and v, 'a table of columns and values, such as { split = "test" }'),
    "favorable": (lambda v: not isinstance(v, list | Mapping), "one value of label and prediction"),
    "favorable_prediction": (lambda v: not isinstance(v, list | Mapping), "one value of the prediction"),
    "reference": (lambda v: not isinstance(v, list), 'a group, or a table such as { sex = "m" }'),
}
"""What a value must be, and what to call that."""
