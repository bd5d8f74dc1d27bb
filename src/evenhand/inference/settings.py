"""How sure a result is to be: intervals and tests, said once for Python, the command line and policy files."""

# ruff: noqa: RUF009 (a field of a dataclass, made by a shorter call)
from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from evenhand.errors import UsageError, is_whole, number, one_of, shown, truth

if TYPE_CHECKING:
    import numpy as np

NullKind = Literal["concept", "published"]
IntervalKind = Literal["auto", "percentile", "basic", "bca"]
NULLS = ("concept", "published")
INTERVALS = ("auto", "percentile", "basic", "bca")


def _setting(default: Any, help_: str, metavar: str | None = None, choices: tuple[str, ...] = ()) -> Any:
    return field(default=default, metadata={"help": help_, "metavar": metavar, "choices": choices})


@dataclass(frozen=True)
class Inference:
    """Intervals and tests: level, numbers of resamples and of permutations, and their kinds.

    confidence, bootstrap
        Level of the intervals, and number of resamples (0 for none).
    permutations, null
        How many tables with permuted group labels show what chance alone would do (0 for no tests), and whose labels
        are permuted: those of people whom the "concept" of each measure calls alike, or everybody's, as "published".
    interval, stratified
        Bootstrap intervals instead of the best known ones ("percentile", "basic", "bca"), and whether resamples keep
        the size of every group. See docs/reference/uncertainty.md.
    seed
        Of resamples and permutations; in Python `rng`, a seed or a generator. None stands for a generator.

    >>> Inference(confidence=0.9).bootstrap
    1000
    """

    confidence: float = _setting(0.95, "Level of intervals.", "P")
    bootstrap: int = _setting(1000, "Resamples; 0 for none.", "N")
    permutations: int = _setting(
        1000, "Tables with permuted group labels, for p-values and the noise floor; 0 for none.", "N"
    )
    null: NullKind = _setting(
        "concept", "Whose group labels are permuted: of people whom a measure calls alike, or of all.", choices=NULLS
    )
    interval: IntervalKind = _setting(
        "auto", "The best known intervals, or ordinary bootstrap ones.", choices=INTERVALS
    )
    stratified: bool = _setting(False, "Resamples keep the size of every group.")
    seed: int | None = _setting(0, "Seed of the resampling.", "N")

    def __post_init__(self) -> None:
        if not 0.5 <= number(self.confidence) <= 1 - 1e-9:
            raise UsageError(
                f"confidence must be a number from 0.5 to below 1, such as 0.95, not {shown(self.confidence)}"
            )
        for word, count in (("bootstrap", self.bootstrap), ("permutations", self.permutations)):
            if not is_whole(count) or not 0 <= count <= 1_000_000:
                raise UsageError(f"{word} must be a whole number from 0 (none) to a million, not {shown(count)}")
        for word, choice, known in (("null", self.null, NULLS), ("interval", self.interval, INTERVALS)):
            one_of(word, choice, known)
        if self.interval != "auto" and not self.bootstrap:
            raise UsageError(
                f"interval={self.interval!r} rests on resamples: ask for some (bootstrap=1000), or leave it out"
            )
        truth("stratified", self.stratified)
        plain = {"confidence": float, "bootstrap": int, "permutations": int, "stratified": bool}
        for option, kind in plain.items():
            object.__setattr__(self, option, kind(getattr(self, option)))


class IntervalArgs(TypedDict, total=False):
    """The options of intervals, for signatures. See `Inference`."""

    confidence: float
    bootstrap: int
    rng: int | np.random.Generator | None


class ResamplingArgs(TypedDict, total=False):
    """All options of `Inference` but the level, for signatures."""

    bootstrap: int
    permutations: int
    null: str
    interval: str
    stratified: bool
    rng: int | np.random.Generator | None


class InferenceArgs(ResamplingArgs, total=False):
    """The options of `Inference`, for signatures."""

    confidence: float
