"""Classes × groups → one number: the two steps of Han, Baldwin & Cohn 2023, first over groups, then over classes.

A rate of one class against the rest is a matrix M (…, class, group); M̄ (…, class, 1) is what groups are compared with.
Step one makes β (…, class) of it, step two one number (…). Leading axes are resamples. What is undefined is NaN and
stays aside in means.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from evenhand.measures.rates import RATES, effective, ratio
from evenhand.tables.arrays import Bools, Floats
from evenhand.tables.confusion import Sums

Unit = Literal["score", "gap", "ratio"]
UNITS = ("score", "gap", "ratio")
Permuted = Literal["true", "predicted", "all"]
_TOUCHING = 1e-12
"""A gap that misses a threshold by no more than rounding errors keeps to it."""


# ---- rates -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ClassRate:
    """A rate of one class against the rest: a share of people."""

    id: str
    part: Callable[[Sums], Floats]
    whole: Callable[[Sums], Floats]
    empty: str
    """Whom a group lacks when `whole` is empty; {0} is the class."""
    permuted_within: Permuted
    """Who are alike under the null hypothesis: people of the same true or predicted class, or all."""
    needs: Literal["hits", "sums"] = "sums"
    """Whether the people who are permuted only have to be told right or wrong."""
    trials: Callable[[Sums], Floats] | None = None
    """How many people the rate rests on, if that is not `whole`."""

    @property
    def title(self) -> str:
        return RATES[self.id].title if self.id in RATES else "F1 score"

    @property
    def present(self) -> str:
        """Whom a group has when `whole` is not empty."""
        some = self.empty.replace("nobody", "people", 1).replace("no rows", "rows")
        return some.replace(", nor", ", or")

    def values(self, sums: Sums) -> Floats:
        """Axes (…, class, group)."""
        return ratio(self.part(sums), self.whole(sums))

    def people(self, sums: Sums, squares: Sums | None = None) -> Floats:
        """How many people the rate rests on; with sampling weights, as many as would know it as well."""
        whole = self.trials or self.whole
        if squares is None:
            return whole(sums)
        part = self.part if self.trials is None else (lambda s: s.hits)
        return effective(part(sums), whole(sums), part(squares), whole(squares))


def _rest(total: Floats, *some: Floats) -> Floats:
    """Who is left, never fewer than nobody: sums of fractions are not exact."""
    left = total - sum(some)
    return np.where(left < 1e-9 * total, 0.0, left)


def _misses(s: Sums) -> Floats:
    return _rest(s.true, s.hits)


def _alarms(s: Sums) -> Floats:
    return _rest(s.predicted, s.hits)


def _others(s: Sums) -> Floats:
    return _rest(np.broadcast_to(s.total, s.true.shape), s.true)


def _unselected(s: Sums) -> Floats:
    return _rest(np.broadcast_to(s.total, s.true.shape), s.predicted)


def _rejected(s: Sums) -> Floats:
    """People of other classes, rightly predicted to be so."""
    return np.maximum(_others(s) - _alarms(s), 0.0)


def _everybody(s: Sums) -> Floats:
    return np.broadcast_to(s.total, s.true.shape)


_NONE_TRUE = "nobody of class {0}"
_NONE_GUESSED = "nobody predicted to be of class {0}"
_NO_OTHERS = "nobody of another class than {0}"
_NO_OTHER_GUESS = "nobody predicted to be of another class than {0}"

# fmt: off
METRICS = {m.id: m for m in (
    ClassRate("tpr", lambda s: s.hits, lambda s: s.true, _NONE_TRUE, "true", "hits"),
    ClassRate("fnr", _misses, lambda s: s.true, _NONE_TRUE, "true", "hits"),
    ClassRate("fpr", _alarms, _others, _NO_OTHERS, "true"),
    ClassRate("tnr", _rejected, _others, _NO_OTHERS, "true"),
    ClassRate("ppv", lambda s: s.hits, lambda s: s.predicted, _NONE_GUESSED, "predicted", "hits"),
    ClassRate("fdr", _alarms, lambda s: s.predicted, _NONE_GUESSED, "predicted", "hits"),
    ClassRate("npv", _rejected, _unselected, _NO_OTHER_GUESS, "predicted"),
    ClassRate("for", _misses, _unselected, _NO_OTHER_GUESS, "predicted"),
    ClassRate("selection_rate", lambda s: s.predicted, _everybody, "no rows", "all"),
    ClassRate("accuracy", lambda s: s.hits + _rejected(s), _everybody, "no rows", "true"),
    ClassRate("f1", lambda s: 2 * s.hits, lambda s: s.true + s.predicted,
              "nobody of class {0}, nor predicted to be", "true", trials=lambda s: _rest(s.true + s.predicted, s.hits)),
)}
# fmt: on


def baseline(rate: ClassRate, sums: Sums, values: Floats, which: str) -> Floats:
    """What groups are compared with, axes (…, class, 1): the rate over all rows, or the mean over groups."""
    if which == "overall":
        return rate.values(sums.overall())
    return power_mean(values, 1.0)[..., None]


# ---- generalised means ---------------------------------------------------------------------------------------------


def power_mean(values: Floats, power: float, weights: Floats | None = None) -> Floats:
    """The generalised mean (Σ w v^p)^(1/p) of the last axis, Σ w = 1; NaN stay aside. Values must not be negative.

    Exponent 0 is the geometric mean, ∞ the largest, −∞ the smallest value; with a negative exponent (or 0), a value of
    0 makes it 0. (Han, Baldwin & Cohn 2023 divide the weighted mean by n once more, though its weights add up to 1: a
    misprint.)

    >>> import numpy as np
    >>> v = np.array([1.0, 4.0, np.nan])
    >>> [float(power_mean(v, p).round(3)) for p in (-np.inf, -1, 0, 1, 2, np.inf)]
    [1.0, 1.6, 2.0, 2.5, 2.915, 4.0]
    >>> float(power_mean(v, 1, weights=np.array([3.0, 1.0, 1.0])))
    1.75
    """
    values = np.asarray(values, np.float64)
    share = np.broadcast_to(np.ones(1) if weights is None else np.asarray(weights, np.float64), values.shape)
    known = ~np.isnan(values) & (share > 0)
    if np.isinf(power):
        far, most = (-np.inf, np.max) if power > 0 else (np.inf, np.min)
        found = most(np.where(known, values, far), axis=-1, initial=far)
        return np.where(known.any(-1), found, np.nan)
    share = np.where(known, share, 0.0)
    if weights is not None:
        _, size = np.frexp(share.max(-1, keepdims=True, initial=0.0))
        share = np.ldexp(share, -size)  # exact, and the sum of huge weights is finite
    total = share.sum(-1, keepdims=True)
    share = share / np.where(total > 0, total, 1.0)
    if power == 1:
        found = (share * np.where(known, values, 0.0)).sum(-1)
    else:
        found = _mean_of_powers(np.where(known, values, np.nan), power, share)
    return np.where(known.any(-1), found, np.nan)


def _mean_of_powers(values: Floats, power: float, share: Floats) -> Floats:
    """By logarithms, from the value that counts most: neither large nor tiny powers lose digits."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log = np.log(values)
        if abs(power) < 1e-12:  # the same to twelve digits, and the powers of tiny powers lose theirs
            return np.asarray(np.exp(np.where(share > 0, share * log, 0.0).sum(-1)))
        far, most = (-np.inf, np.max) if power > 0 else (np.inf, np.min)
        top = most(np.where(np.isnan(log), far, log), axis=-1, keepdims=True, initial=far)
        apart = np.where(share > 0, np.expm1(power * (log - top)), 0.0)
        middle = top[..., 0] + np.log1p((share * apart).sum(-1)) / power
        found = np.exp(middle)
    return np.where(np.isinf(top[..., 0]), np.where(top[..., 0] > 0, np.inf, 0.0), found)


# ---- the two steps ---------------------------------------------------------------------------------------------------

Kind = Literal["power", "sum", "variance", "difference", "quotient", "threshold", "binary"]


@dataclass(frozen=True)
class Step:
    """How values become one, over groups or over classes."""

    name: str
    kind: Kind
    formula: str
    power: float | None = None
    unit: Unit | None = None
    """The unit that the name fixes."""


def power_step(power: float, unit: Unit | None = None, name: str | None = None) -> Step:
    """A generalised mean."""
    formulas = {np.inf: "max v", -np.inf: "min v", 0.0: "(Π v)^(1/n)", 1.0: "(1/n) Σ v", 2.0: "√((1/n) Σ v²)"}
    formula = formulas.get(power, f"((1/n) Σ v^{power:g})^(1/{power:g})")
    return Step(name or f"generalised mean, power {power:g}", "power", formula, float(power), unit)


_MEANS = {
    "mean": 1.0, "quadratic mean": 2.0, "geometric mean": 0.0, "harmonic mean": -1.0, "minimum": -np.inf,
    "maximum": np.inf,
}  # fmt: skip
_PLAIN = {name: power_step(power, None, name) for name, power in _MEANS.items()}

GROUPWISE = {
    **_PLAIN,
    "mean gap": power_step(1, "gap", "mean gap"),
    "variance": Step("variance", "variance", "(1/(G−1)) Σ |M − M̄|²", None, "gap"),
    "max gap": power_step(np.inf, "gap", "max gap"),
    "min score": power_step(-np.inf, "score", "min score"),
    "min ratio": power_step(-np.inf, "ratio", "min ratio"),
    "max difference": Step("max difference", "difference", "max M − min M", None, "score"),
    "max ratio": Step("max ratio", "quotient", "max M / min M", None, "ratio"),
    "difference threshold": Step("difference threshold", "threshold", "share of groups with |M − M̄| ≤ γ", None, "gap"),
    "ratio threshold": Step("ratio threshold", "threshold", "share of groups with |M / M̄ − 1| ≤ γ", None, "ratio"),
    "sum of gaps": Step("sum of gaps", "sum", "Σ |M − M̄|", None, "gap"),
    "fairlib": Step("fairlib", "sum", "Σ |M − M̄|", None, "gap"),
}
"""Table 1 of Han, Baldwin & Cohn 2023, fairlib's headline, and means by their names."""

CLASSWISE = {**_PLAIN, "binary": Step("binary", "binary", "β of the positive class")}


@dataclass(frozen=True)
class Recipe:
    """Everything that makes one number of a matrix."""

    unit: Unit
    group: Step
    classes: Step
    gamma: float = 0.1
    positive: int = 0
    """The place of the positive class, for "binary"."""
    group_weights: Floats | None = None
    class_weights: Floats | None = None

    @property
    def complement(self) -> bool:
        """Whether the number is a fairness, 1 minus the disparity, as fairlib's is."""
        return self.group.name == "fairlib"

    @property
    def compares(self) -> bool:
        """Whether groups are compared, with each other or with everybody: a class of one group then says nothing."""
        return self.unit != "score" or self.group.kind in ("difference", "quotient")

    @property
    def worse(self) -> int:
        """+1 if a larger number is a larger disparity, −1 if a smaller one is, 0 if it is no disparity."""
        if self.complement:
            return -1
        step, power = self.group, self.group.power
        if step.kind == "threshold":
            return -1
        if step.kind != "power" or self.unit == "gap":
            return 1
        if self.unit == "ratio" and power is not None and np.isinf(power):
            return 1 if power > 0 else -1
        return 0

    @property
    def method(self) -> Literal["norm", "basic", "band"]:
        """Which interval is valid: see docs/analyses/classes.md."""
        q = 1.0 if self.classes.kind == "binary" else self.classes.power
        assert q is not None
        step, p = self.group, self.group.power
        if step.kind == "variance":
            return "norm" if q >= 0.5 else "band"
        if step.kind in ("sum", "difference"):
            return "norm" if q >= 1 else "band"
        if step.kind == "power" and p is not None and p >= 1 and q >= 1:
            if self.unit == "gap":
                return "norm"
            return "band" if np.isinf(max(p, q)) else "basic"
        return "band"

    def units(self, values: Floats, base: Floats) -> Floats:
        """Scores, gaps or ratios."""
        if self.unit == "gap":
            return np.abs(values - base)
        return values if self.unit == "score" else ratio(values, base)

    def beta(self, values: Floats, base: Floats) -> Floats:
        """The first step: axes (…, class)."""
        step, v = self.group, self.units(values, base)
        if step.kind == "power":
            assert step.power is not None
            return power_mean(v, step.power, self.group_weights)
        known = ~np.isnan(v)
        if step.kind == "threshold":
            off = v if self.unit == "gap" else np.abs(v - 1)
            return power_mean(np.where(known, off <= self.gamma + _TOUCHING, np.nan), 1.0, self.group_weights)
        if step.kind in ("difference", "quotient"):
            most, least = power_mean(values, np.inf), power_mean(values, -np.inf)
            with np.errstate(divide="ignore", invalid="ignore"):
                return most - least if step.kind == "difference" else most / least
        total = np.where(known, v if step.kind == "sum" else v * v, 0.0).sum(-1)
        count = known.sum(-1)
        if step.kind == "sum":
            return np.where(count >= 1, total, np.nan)
        return np.where(count >= 2, total / np.maximum(count - 1, 1), np.nan)

    def of_units(self, units: Floats) -> Floats:
        """The first step of a mean, for units that may have been moved below 0."""
        assert self.group.power is not None
        return power_mean(units if self.group.power == 1 else np.abs(units), self.group.power, self.group_weights)

    def over_classes(self, beta: Floats) -> Floats:
        """The second step: axes (…)."""
        if self.classes.kind == "binary":
            found = beta[..., self.positive]
        else:
            assert self.classes.power is not None
            beta = beta if self.classes.power == 1 else np.abs(beta)  # a resample may lie below 0
            found = power_mean(beta, self.classes.power, self.class_weights)
        return 1 - found if self.complement else found

    def value(self, values: Floats, base: Floats) -> Floats:
        """Both steps."""
        return self.over_classes(self.beta(values, base))

    def norm(self, gaps: Floats) -> Floats:
        """The norm of signed gaps (…, class, group) that the number is, or the square of, or 1 minus."""
        zero = np.zeros((*gaps.shape[:-1], 1))
        beta = self.beta(gaps, zero) if self.group.kind != "variance" else np.sqrt(self.beta(gaps, zero))
        if self.classes.kind == "binary":
            return beta[..., self.positive]
        assert self.classes.power is not None
        power = self.classes.power * (2 if self.group.kind == "variance" else 1)
        return power_mean(beta, power, self.class_weights)

    def from_norm(self, norm: float) -> float:
        """The number that belongs to a norm."""
        if self.group.kind == "variance":
            return norm * norm
        return 1 - norm if self.complement else norm


def within_reach(recipe: Recipe, lo: Floats, hi: Floats, base_lo: Floats, base_hi: Floats) -> tuple[Floats, Floats]:
    """The least and the largest number that matrices between `lo` and `hi` have, over bases between theirs.

    All means grow with each of their values, so what every cell allows gives what their aggregate allows.
    """
    if recipe.group.kind in ("difference", "quotient"):
        low_most, low_least = power_mean(lo, np.inf), power_mean(lo, -np.inf)
        top_most, top_least = power_mean(hi, np.inf), power_mean(hi, -np.inf)
        if recipe.group.kind == "difference":
            return _ends(recipe, np.maximum(low_most - top_least, 0.0), top_most - low_least)
        with np.errstate(divide="ignore", invalid="ignore"):
            return _ends(recipe, np.maximum(low_most / top_least, 1.0), top_most / low_least)
    if recipe.unit == "gap":
        inside: Bools = (lo <= base_hi) & (hi >= base_lo)
        least = np.where(inside, 0.0, np.maximum(lo - base_hi, base_lo - hi))
        most = np.maximum(np.abs(hi - base_lo), np.abs(base_hi - lo))
        least, most = (np.where(np.isnan(lo), np.nan, v) for v in (least, most))
    elif recipe.unit == "ratio":
        with np.errstate(divide="ignore", invalid="ignore"):
            least, most = lo / base_hi, hi / base_lo
    else:
        least, most = lo, hi
    if recipe.group.kind == "threshold":
        near, far = (least, most) if recipe.unit == "gap" else _off_one(least, most)
        count = [np.where(np.isnan(v), np.nan, v <= recipe.gamma + _TOUCHING) for v in (far, near)]
        return _ends(recipe, *(power_mean(c, 1.0, recipe.group_weights) for c in count))
    zero = np.zeros((*lo.shape[:-1], 1))
    plain = replace(recipe, unit="score" if recipe.group.kind == "power" else "gap")
    return _ends(recipe, plain.beta(least, zero), plain.beta(most, zero))


def _off_one(least: Floats, most: Floats) -> tuple[Floats, Floats]:
    """How far from 1 ratios are at least and at most."""
    near = np.where((least <= 1) & (most >= 1), 0.0, np.minimum(np.abs(least - 1), np.abs(most - 1)))
    return np.where(np.isnan(least), np.nan, near), np.maximum(np.abs(least - 1), np.abs(most - 1))


def _ends(recipe: Recipe, least: Floats, most: Floats) -> tuple[Floats, Floats]:
    a, b = recipe.over_classes(least), recipe.over_classes(most)
    return np.minimum(a, b), np.maximum(a, b)
