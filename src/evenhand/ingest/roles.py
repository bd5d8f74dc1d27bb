"""Which column plays which role: the options, said once for Python, the command line and policy files."""

# ruff: noqa: RUF009 (a field of a dataclass, made by a shorter call)
from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar
from warnings import warn

from evenhand.errors import UsageError, listed, nearest, one_of, shown, truth, whole_number
from evenhand.files.data_file import FileArgs
from evenhand.ingest.band_rules import checked_bands

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Kind = TypeVar("Kind", bound="DataclassInstance")
Missing = Literal["refuse", "drop", "group", "bounds"]
WeightKind = Literal["auto", "frequency", "sampling"]
MISSING = ("refuse", "drop")
"""What can be done with rows of whatever kind that lack a value;"""
MISSING_GROUPS = (*MISSING, "group", "bounds")
"""and with people who lack a group: one of their own, or counted as unknown, which bounds what they could change."""
WEIGHT_KINDS = ("auto", "frequency", "sampling")


class _Unsaid(int):
    """A default that is known from the same number said by the caller, also when it was copied or pickled."""

    def __reduce__(self) -> str:
        return "UNSAID"


UNSAID = _Unsaid(1)


def _role(help_: str, metavar: str | None = None, default: Any = None, choices: tuple[str, ...] = ()) -> Any:
    return field(default=default, metadata={"help": help_, "metavar": metavar, "choices": choices})


@dataclass(frozen=True)
class Roles:
    """Which column plays which role, and how its values are meant. Columns are names, or arrays.

    >>> Roles(score="p", group=["sex"], missing="drop").said()
    {'score': 'p', 'group': ['sex'], 'missing': 'drop'}
    """

    score: Any = _role("Column with the score of each person; several to compare models (audit).", "COL[,COL…]")
    label: Any = _role("Column with the true outcome.", "COL")
    group: Any = _role("Column(s) that divide people into groups.", "COL[,COL…]")
    bands: Mapping[str, Any] | str | None = _role(
        "Bands of a number: COL=25,40,60, COL=decades, COL=quantiles:4 or COL=none.", "COL=RULE"
    )
    depth: int | None = _role("Cross up to so many group columns; by default all at once.", "N")
    prediction: Any = _role("Column with the decision, instead of a threshold.", "COL")
    weight: Any = _role("Column with weights: numbers of people, or survey weights.", "COL")
    weight_kind: WeightKind = _role(
        "How weights are meant; auto takes whole ones for numbers of people, or asks.",
        default="auto",
        choices=WEIGHT_KINDS,
    )
    cluster: Any = _role("Column that tells which rows belong to one person.", "COL")
    favorable: Any = _role("The good value of label and prediction.", "V", UNSAID)
    favorable_prediction: Any = _role("The good value of the prediction, if it is coded in its own way.", "V")
    risk: bool = _role("A high score is bad for the person.", default=False)
    score_range: tuple[float, float] | None = _role("Lowest and highest possible score.", "LO,HI")
    missing: Missing = _role(
        "Incomplete rows; group: those without one are a group; bounds: are unknown.",
        default="refuse",
        choices=MISSING_GROUPS,
    )
    where: Mapping[str, Any] | None = _role("Only rows with one of these values of a column.", "COL=V[,V…]")

    def __post_init__(self) -> None:
        """The rules that need no data."""
        one_of("missing", self.missing, MISSING_GROUPS)
        one_of("weight_kind", self.weight_kind, WEIGHT_KINDS)
        object.__setattr__(self, "risk", truth("risk", self.risk))
        object.__setattr__(self, "score_range", _checked_range(self.score_range))
        check_where(self.where)
        checked_bands(self.bands)
        if isinstance(self.favorable, Mapping):
            self._take_apart(self.favorable)
        if self.depth is not None:
            object.__setattr__(self, "depth", whole_number("depth", self.depth, 1))

    def _take_apart(self, favorable: Mapping[str, Any]) -> None:
        """The good values of label and prediction, said as one."""
        stray = [role for role in favorable if role not in ("label", "prediction")]
        if stray or not favorable:
            raise UsageError(
                "favorable is a value, or a dict such as {'label': 1, 'prediction': 'approve'}, not "
                f"{shown(dict(favorable))}"
            )
        own = favorable.get("prediction")
        if own is not None and self.favorable_prediction is not None:
            raise UsageError("favorable has a value for the prediction already: leave favorable_prediction out")
        object.__setattr__(self, "favorable", favorable.get("label", UNSAID))
        object.__setattr__(self, "favorable_prediction", self.favorable_prediction if own is None else own)

    def said(self) -> dict[str, Any]:
        """The options that were said: whatever is not the default."""
        values = {f.name: (getattr(self, f.name), f.default) for f in fields(Roles)}
        return {
            name: value
            for name, (value, default) in values.items()
            if value is not default and not (isinstance(value, str) and value == default)
        }


def _checked_range(given: Any) -> tuple[float, float] | None:
    if given is None:
        return None
    try:
        if isinstance(given, str):
            raise TypeError
        lo, hi = (float(v) for v in given)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"score_range is two numbers (lowest, highest), not {shown(given)}") from None
    if not (math.isfinite(hi - lo) and lo < hi):
        raise UsageError(f"score_range needs two finite numbers, the lower first, not {lo:g}, {hi:g}")
    return lo, hi


def check_where(where: Any) -> None:
    if where is not None and (not isinstance(where, Mapping) or not all(isinstance(name, str) for name in where)):
        raise UsageError(f"where is a dict from column to value (or values), not {shown(where)}")


class ColumnArgs(TypedDict, total=False):
    """All options of `Roles` but the score, for signatures in which the kind of score decides the kind of result."""

    label: Any
    group: Any
    bands: Mapping[str, Any] | str | None
    depth: int | None
    prediction: Any
    weight: Any
    weight_kind: str
    cluster: Any
    favorable: Any
    favorable_prediction: Any
    risk: bool
    score_range: tuple[float, float] | None
    missing: str
    where: Mapping[str, Any] | None


class RolesArgs(ColumnArgs, total=False):
    """The options of `Roles`, for signatures."""

    score: Any


AUDIT_ONLY = {
    "within": "within= (--within) is for an audit; all else is about everybody together: take one stratum at a time "
    "(where=, such as --where dept=Sales), or name its columns as groups too (--group sex,dept)",
    "group_probability": "group_probability= (--group-probability) is for an audit; all else needs the group of each "
    "person: name its column (--group)",
}
"""What only an audit takes, and what to do instead."""


def check_known(said: Mapping[str, Any], known: Collection[str], question: Callable[..., Any], name: str = "") -> None:
    """Refuse an option that a function takes neither among those known nor by its signature."""
    for option in said:
        if option not in known and option in AUDIT_ONLY:
            raise UsageError(AUDIT_ONLY[option])
        if option not in known and option in FileArgs.__annotations__:
            raise UsageError(
                f"{name or question.__name__} takes what is known about a file with its path: "
                f"evenhand.file(path, {option}={said[option]!r})"
            )
        if option not in known:
            _, *own = [p.name for p in signature(question).parameters.values() if p.kind != p.VAR_KEYWORD]
            there, name = sorted({*known, *own}), name or question.__name__
            raise UsageError(
                f"{name} has no option {shown(option)} (it has: {listed(there, 40)}){nearest(option, there)}"
            )


def renamed(said: dict[str, Any], old: str, new: str, value: Any = None, default: Any = None) -> Any:
    """The value of an option, taken from its old name if it was said so: that still works for a while."""
    if said.get(old) is None:
        return value
    if value is not default:
        raise UsageError(f"{new} and {old} say the same: pass {new} alone")
    warn(f"{old}= is now called {new}=", DeprecationWarning, stacklevel=3)
    return said.pop(old)


def picked(kind: type[Kind], said: Mapping[str, Any]) -> Kind:
    """What was said about `kind`, such as `Roles`, among other things.

    >>> picked(Roles, {"score": "p", "threshold": 0.5}).said()
    {'score': 'p'}
    """
    return kind(**{f.name: said[f.name] for f in fields(kind) if f.name in said})
