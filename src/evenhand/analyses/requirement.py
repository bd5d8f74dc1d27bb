"""What a measure is required to keep to: `disparate_impact >= 0.8` as text, and whether numbers meet it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.analyses.audit.gaps import Gap
from evenhand.errors import UsageError, shown, unknown
from evenhand.measures.measure import SLACK, worst_of_interval
from evenhand.measures.registry import MEASURES, Measure, find
from evenhand.tables.arrays import Bools, Floats

_FORM = re.compile(r"\s*([^<>=≤≥\s]+)\s*([<>=≤≥]+)\s*([^<>=≤≥]*?)\s*", re.DOTALL)
_JUDGED = re.compile(r"\s(at\s.*%|above\s+chance|for\s).*", re.DOTALL)
_SAME = {"≥": ">=", "≤": "<="}
_EXAMPLE = "'disparate_impact >= 0.8' or 'equal_opportunity <= 0.05'"


@dataclass(frozen=True)
class Requirement:
    """A limit for one measure: of a difference the largest gap, of a ratio the lower rate over the higher."""

    measure: Measure
    comparison: str
    """One of >=, >, <=, <."""
    bound: float

    def __str__(self) -> str:
        return f"{self.measure.id} {self.comparison} {repr(self.bound + 0.0).removesuffix('.0')}"

    def meets(self, size: Any) -> Bools:
        """Whether sizes, as `sized` gives them, keep to the limit; what is undefined does not.

        >>> required("demographic_parity <= 0.1")[0].meets([0.4 - 0.3, 0.2, float("nan")]).tolist()
        [True, False, False]
        """
        short = self._short(size)
        return np.asarray(short < -SLACK if self.strict else short <= SLACK)

    def shortfall(self, size: Any) -> Floats:
        """By how much sizes miss the limit: 0 where they meet it, infinite where they are undefined."""
        short = self._short(size)
        return np.where(np.isnan(short), np.inf, np.where(self.meets(size), 0.0, np.maximum(short, 0.0)))

    @property
    def strict(self) -> bool:
        return len(self.comparison) == 1

    @property
    def limit(self) -> float:
        """The bound, or what is just within it if that itself is not allowed."""
        inside = 3 * SLACK if self.strict else 0.0
        return self.bound + inside if self.measure.scale == "ratio" else self.bound - inside

    def _short(self, size: Any) -> Floats:
        size = np.asarray(size, np.float64)
        return np.asarray(self.bound - size if self.measure.scale == "ratio" else size - self.bound)

    def settled(self, gap: Gap) -> bool | None:
        """Whether the whole interval of a gap meets the limit; None if it has none."""
        if gap.undefined or gap.ci is None:
            return None
        return bool(self.meets(worst_of_interval(self.measure, gap.ci)))


def required(stated: Any) -> tuple[Requirement, ...]:
    """Requirements of values from text, one or several.

    >>> [str(r) for r in required(["disparate_impact>=.8", "equal_opportunity ≤ 0.05"])]
    ['disparate_impact >= 0.8', 'equal_opportunity <= 0.05']
    """
    return tuple(dict.fromkeys(text if isinstance(text, Requirement) else _plain(text) for text in several(stated)))


def several(stated: Any) -> Sequence[Any]:
    """One requirement or several, as a list."""
    texts = [stated] if isinstance(stated, str | Requirement) else stated
    if not isinstance(texts, Sequence):
        raise UsageError(f"require is a list of requirements such as {_EXAMPLE}, not {shown(stated)}")
    return texts


def _plain(text: Any) -> Requirement:
    match = _JUDGED.search(text) if isinstance(text, str) else None
    if match:
        raise UsageError(
            f"a requirement on thresholds is a measure and its limit, so leave out {shown(match[0].strip())} "
            f"({shown(text)}): intervals count by choose='interval' (--choose, --confidence), and evenhand check "
            "judges what is above chance"
        )
    return parsed(text)


def parsed(text: Any, grammar: str | None = None) -> Requirement:
    """A requirement from text; `grammar` tells what else a user may say.

    >>> str(parsed("abcc<=.10"))
    'abcc <= 0.1'
    """
    match = _FORM.fullmatch(text) if isinstance(text, str) else None
    if match is None or not match[3]:
        raise UsageError(
            f"a requirement names a measure, >= or <=, and a number, such as {_EXAMPLE}; not {shown(text)}"
            f"{_more(grammar)}"
        )
    measure = measure_named(match[1])
    comparison = _comparison(measure, _SAME.get(match[2], match[2]), text)
    bound = _number(match[3], text, grammar)
    return Requirement(measure, comparison, checked_bound(measure, comparison, bound, text))


def _more(grammar: str | None) -> str:
    return f" (a rule is {grammar})" if grammar else ""


def measure_named(id: str) -> Measure:
    """The measure of that id."""
    measure = find(id)
    if measure is None:
        raise unknown("there is no measure", id, MEASURES, 40)
    return measure


def _comparison(m: Measure, comparison: str, text: str) -> str:
    if comparison not in (">=", ">", "<=", "<"):
        meant = {"=<": "; did you mean '<='?", "=>": "; did you mean '>='?"}.get(comparison, "")
        raise UsageError(f"a requirement compares by >= or <=, not by {shown(comparison)} ({shown(text)}){meant}")
    ratio = m.scale == "ratio"
    if ratio != (comparison[0] == ">"):
        kind, example = ("a ratio, and 1 is parity", ">= 0.8") if ratio else ("a gap, and 0 is parity", "<= 0.1")
        raise UsageError(f"{m.id} is {kind}: require for example '{m.id} {example}', not {shown(text)}")
    return comparison


def _number(given: str, text: str, grammar: str | None) -> float:
    if given.endswith("%"):
        raise UsageError(f"a limit is a plain number, 0.8 rather than 80%, not {shown(given)} ({shown(text)})")
    try:
        bound = float(given) if "_" not in given else math.nan
    except ValueError:
        bound = math.nan
    if not math.isfinite(bound):
        raise UsageError(f"the limit of a requirement is a number, not {shown(given)} ({shown(text)}){_more(grammar)}")
    return bound


def checked_bound(m: Measure, comparison: str, bound: float, text: str) -> float:
    """A limit that the measure can have; `text` is how it was said."""
    if m.scale == "ratio" and not (0 < bound <= 1 and (bound < 1 or comparison == ">=")):
        raise UsageError(
            f"{m.id} is the lower rate over the higher, so its limit lies between 0 and 1, not {shown(text)}"
        )
    if m.scale != "ratio" and not (bound > 0 or (bound == 0 and comparison == "<=")):
        raise UsageError(f"{m.id} is the size of a gap, so its limit is not below 0, and 0 only with <=: {shown(text)}")
    if m.scale != "ratio" and (bound > m.most or (bound == m.most and comparison == "<=")):
        raise UsageError(f"{m.id} is never above {m.most:.3g}, so this limit would mean nothing: {shown(text)}")
    return bound
