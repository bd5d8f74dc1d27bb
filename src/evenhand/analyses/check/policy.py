"""The rules of a policy, what becomes of groups they cannot judge, and whether what it says makes sense."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from evenhand.analyses.check.rule import Rule
from evenhand.analyses.options import Options, checked
from evenhand.errors import UsageError, is_whole, listed, nearest, shown
from evenhand.files.toml import Places, Refuse
from evenhand.inference.settings import Inference
from evenhand.ingest.roles import MISSING, WEIGHT_KINDS, Roles
from evenhand.measures.curve import ScoreOptions

OUTCOMES = ("fail", "skip")
COLUMNS = tuple(f.name for f in fields(Roles))
OPTIONS = (
    "threshold",
    *(f.name for f in fields(Inference) if f.name not in ("confidence", "seed")),
    *(f.name for f in fields(ScoreOptions)),
)
WORDS = (*COLUMNS, *OPTIONS, "reference", "seed")
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


# ---- whether it makes sense ---------------------------------------------------------------------------------------


def check_setting(key: str, value: Any, refuse: Refuse) -> None:
    if key in ("undefined", "small_groups"):
        choice(key, value, OUTCOMES, refuse)
    elif key == "min_group_size" and not (is_whole(value) and 0 <= value <= 10**15):
        raise refuse(f"min_group_size is a whole number of people, such as 50, not {shown(value)}")
    elif key == "confidence":
        check_level(value, refuse)
    elif key in ("name", "reason"):
        text_only(key, value, refuse)


def choice(key: str, value: Any, choices: tuple[str, ...], refuse: Refuse) -> None:
    if not isinstance(value, str) or value not in choices:
        raise refuse(f"{key} is one of {listed(choices)}, not {shown(value)}{nearest(str(value), choices)}")


def text_only(key: str, value: Any, refuse: Refuse) -> None:
    if not isinstance(value, str) or not value.strip():
        raise refuse(f"{key} is a text, not {shown(value)}")


def check_level(value: Any, refuse: Refuse) -> None:
    try:
        checked(confidence=value)
    except UsageError as error:
        raise refuse(str(error)) from None


def check_word(word: str, value: Any, refuse: Refuse) -> None:
    """An option of [audit], as far as it can be judged before there are data."""
    if word in OPTIONS or word == "seed":
        check_option(word, value, refuse)
    elif word in ("score", "label", "prediction", "weight", "cluster"):
        text_only(word, value, refuse)
    elif word == "group" and not _texts(value) and not (isinstance(value, str) and value):
        raise refuse(f"group is the name of a column, or a list of names, not {shown(value)}")
    elif word == "risk" and not isinstance(value, bool):
        raise refuse(f"risk is true or false, not {shown(value)}")
    elif word == "missing":
        choice(word, value, MISSING, refuse)
    elif word == "weight_kind":
        choice(word, value, WEIGHT_KINDS, refuse)
    elif word == "score_range" and not (isinstance(value, list) and len(value) == 2 and all(map(finite, value))):
        raise refuse(f"score_range is two numbers such as [0, 1], not {shown(value)}")
    elif word == "where" and not (isinstance(value, Mapping) and value):
        raise refuse(f'where is a table of columns and values, such as {{ split = "test" }}, not {shown(value)}')
    elif word == "favorable" and isinstance(value, list | Mapping):
        raise refuse(f"favorable is one value of label and prediction, not {shown(value)}")
    elif word == "reference" and isinstance(value, list):
        raise refuse(f'reference is a group, or a table such as {{ sex = "m" }}, not {shown(value)}')


def check_option(word: str, value: Any, refuse: Refuse) -> None:
    try:
        check_options({} if word == "seed" else {word: value}, value if word == "seed" else 0)
    except UsageError as error:
        raise refuse(str(error)) from None


def check_options(options: Mapping[str, Any], seed: Any) -> None:
    checked(rng=seed, **options)


def _texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(v, str) and v.strip() for v in value)


def finite(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and abs(value) < 1e300  # a whole number of TOML may be larger than any float
