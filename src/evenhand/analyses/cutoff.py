"""Thresholds that follow from the scores of everybody: the median, a quantile, the best so many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from evenhand.errors import UsageError, is_whole, number, shown
from evenhand.tables.arrays import Floats
from evenhand.tables.table import Table

INSTEAD = "give the threshold itself (--threshold 0.5)"
ALMOST = 1 - 1e-12


@dataclass(frozen=True)
class CutoffRule:
    """Who is selected, by the scores of all: whoever is strictly beyond a quantile, or the best so many.

    >>> str(quantile_rule("median")), str(quantile_rule("quantile:0.9")), str(top_rule("10%")), str(top_rule(100))
    ('median', 'quantile:0.9', 'top 10%', 'top 100')
    """

    kind: Literal["quantile", "top"]
    amount: float
    """The quantile; of the best their share of the people, or, from 1 on, how many they are."""

    @property
    def said(self) -> str:
        """As the option is written."""
        if self.kind == "quantile":
            return "median" if self.amount == 0.5 else f"quantile:{self.amount:.12g}"
        return f"{100 * self.amount:.12g}%" if self.amount < 1 else f"{self.amount:.0f}"

    def __str__(self) -> str:
        return self.said if self.kind == "quantile" else f"top {self.said}"


@dataclass(frozen=True)
class Cutoff:
    """The threshold that selects whom a rule means, and what is to be said about it."""

    threshold: float
    note: str


def percentage(text: str) -> float:
    """A share written as a number, or in percent; NaN if it is neither.

    >>> percentage("2%"), percentage("0.02"), percentage("two")
    (0.02, 0.02, nan)
    """
    plain = text.removesuffix("%")
    try:
        value = float(plain) if plain.isascii() and "_" not in plain else np.nan
    except ValueError:
        return np.nan
    return value if plain == text else value / 100


def quantile_rule(stated: str) -> CutoffRule:
    """What a threshold in words means: "median", or "quantile:0.9"."""
    word, _, q = stated.partition(":")
    if stated == "median":
        return CutoffRule("quantile", 0.5)
    amount = percentage(q) if word == "quantile" and "%" not in q else np.nan
    if not 0 < amount < 1:
        raise UsageError(
            f"threshold must be a finite number, 'median' or 'quantile:Q' with Q between 0 and 1, not {shown(stated)}"
        )
    return CutoffRule("quantile", amount)


def top_rule(stated: Any) -> CutoffRule:
    """What the best so many are: a whole number of people, or a share of them such as "10%"."""
    text = stated.strip() if isinstance(stated, str) else ""
    if text.endswith("%"):
        amount = percentage(text)
        good = 0 < amount < 1
    else:
        amount = float(int(text)) if text.isascii() and text.isdigit() else number(stated)
        good = (is_whole(stated) or bool(text)) and amount >= 1
    if not good or not np.isfinite(amount):
        raise UsageError(
            "top is a whole number of people from 1 on, such as 100, or a share above 0% and below 100%, such as "
            f"'10%', not {shown(stated)}"
        )
    return CutoffRule("top", amount)


def cutoff(rule: CutoffRule, table: Table) -> Cutoff:
    """The threshold of a rule, by the scores of everybody in the table, also of people without a group."""
    if table.score is None:
        raise UsageError(f"{rule} is about scores, and there are none: name their column (--score)")
    if because := not_of_all(table):
        raise UsageError(f"{because}, so {rule} is not known: {INSTEAD}")
    levels, first = np.unique(table.score, return_index=True)
    mass = np.add.reduceat(np.asarray(table.mass, np.float64), first)
    found = _Levels(table, levels, table.cutoffs, mass)
    return found.beyond(rule) if rule.kind == "quantile" else found.best(rule)


def not_of_all(table: Table) -> str | None:
    """Why the scores of everybody are not known."""
    if table.noise is not None:
        return "the counts of a private table hold noise"
    if table.provenance.withheld or table.provenance.incomplete:
        return "some people were withheld when the table was suppressed"
    return None


@dataclass(frozen=True)
class _Levels:
    """The distinct scores of a table, the threshold just below each, and how many people have it."""

    table: Table
    scores: Floats
    cutoffs: Floats
    mass: Floats

    def beyond(self, rule: CutoffRule) -> Cutoff:
        """Strictly above the quantile; of a risk score strictly below it."""
        low, high, part = self._around(rule.amount)
        if low == high:
            self._refuse_range(rule, low)
        alone = low if self.table.meaning.risk else low + 1
        threshold = self._from(alone if low == high else high)
        value = float(self.scores[low] + part * (self.scores[high] - self.scores[low]))
        if low != high and self.table.spans is not None:
            value = threshold  # where in its range a score lies is not known
        side = "below" if self.table.meaning.risk else "above"
        name = "median" if rule.amount == 0.5 else f"{rule.amount:.12g} quantile"
        note = f"the threshold is the {name} of the scores of all {self._people()}, {value:.12g}"
        note += f": {self._selected(threshold):.1%} are strictly {side} it and selected"
        tied = self.mass[low] / self.mass.sum()
        if low == high and self.mass[low] > 1:
            note += f", since {tied:.1%} have exactly this score"
        return Cutoff(threshold, note)

    def _around(self, q: float) -> tuple[int, int, float]:
        """Between which levels a quantile lies, and how far from the first to the second.

        As numpy has it; with sampling weights where the share of people reaches it, in the middle of two that do.
        """
        upto = np.cumsum(self.mass)
        if self.table.weight is None:
            place = (self.table.rows - 1) * q
            below = np.floor(place + 1e-9)
            part = max(place - below, 0.0) if place - below > 1e-9 else 0.0
            low, high = (int(np.searchsorted(upto, at, side="right")) for at in (below, below + (part > 0)))
            return low, high, part
        low = int(np.searchsorted(upto, q * upto[-1] * ALMOST))
        exact = upto[low] * ALMOST <= q * upto[-1] and low + 1 < len(upto)
        return low, low + exact, 0.5 * exact

    def best(self, rule: CutoffRule) -> Cutoff:
        """The best so many, and everybody who is tied with the last of them."""
        wanted = self._wanted(rule)
        risk = self.table.meaning.risk
        upto = np.cumsum(self.mass if risk else self.mass[::-1])
        place = min(int(np.searchsorted(upto, wanted * ALMOST)), len(upto) - 1)
        level = place if risk else len(upto) - 1 - place
        tied = float(upto[place]) > wanted / ALMOST
        if tied:
            self._refuse_range(rule, level)
        threshold = self._from(level + 1 if risk else level)
        way = "lowest" if risk else "highest"
        of_all = "" if rule.amount >= 1 else f" ({rule.said} of {self._people()})"
        asked = f"{wanted:,.0f} {way} scores{of_all}" if self.table.weight is None else f"{way} {rule.said} of scores"
        note = f"the {asked} were asked for"
        if not tied:
            return Cutoff(threshold, f"{note} and are selected")
        number_ = f"{upto[place]:,.0f} people" if self.table.weight is None else f"{self._selected(threshold):.2%}"
        same = f", {self.mass[level]:,.0f}," if self.table.weight is None else ""
        return Cutoff(
            threshold,
            f"{note}, and {number_} are selected: all{same} who are tied at the last score, {self.scores[level]:.12g}",
        )

    def _wanted(self, rule: CutoffRule) -> float:
        """How many people, or how much weight, are to be selected: of a share that is no whole number, one more."""
        if self.table.weight is not None:
            if rule.amount >= 1:
                raise UsageError(f"{rule} counts people, and sampling weights do not: say a share such as top='10%'")
            return rule.amount * float(self.mass.sum())
        people = self.table.rows
        if rule.amount >= people:
            raise UsageError(f"{rule} would select all {people:,} people: take fewer")
        return rule.amount if rule.amount >= 1 else float(np.ceil(rule.amount * people * ALMOST))

    def _from(self, level: int) -> float:
        """The threshold just below a level; above all where there is none."""
        if level < len(self.cutoffs):
            return float(self.cutoffs[level])
        return self.table.above(self.table.extremes[1])

    def _refuse_range(self, rule: CutoffRule, level: int) -> None:
        """People whose scores are known in one range cannot be told apart."""
        spans = self.table.spans
        if spans is not None and spans.width(self.scores[[level]])[0] > 0:
            low, high = (float(end[0]) for end in spans.ends(self.scores[[level]]))
            raise UsageError(
                f"the table does not tell scores between {low!r} and {high!r} apart, and {rule} lies there: give the "
                "threshold itself, one of these two, or count the data exactly (grid=False)"
            )

    def _selected(self, threshold: float) -> float:
        selected = self.table.selected(threshold)
        return float(self.table.mass[selected].sum() / self.table.mass.sum())

    def _people(self) -> str:
        return f"{self.table.rows:,} people"
