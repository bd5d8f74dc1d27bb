"""All measures, or some of them, as the registry describes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.analyses.options import chosen_measures
from evenhand.measures.registry import MEASURES, PRACTICE, Measure
from evenhand.report.result import Result


@dataclass(frozen=True, repr=False)
class Catalogue(Result):
    """What measures ask, how they are defined, when to use them, and what they need."""

    measures: tuple[Measure, ...]


def catalogue(measures: Sequence[str] | None = None) -> Catalogue:
    """The measures of these ids, variants such as `roc_linf` too; by default all.

    >>> print(catalogue(["demographic_parity"]))
    Independence: are all people treated alike, whatever their outcome?
    <BLANKLINE>
    demographic_parity · demographic parity
      Is the favourable decision given equally often?
      P(Ŷ=1 | group) − P(Ŷ=1 | reference); tolerance 0.1
      needs a decision, or a score with a threshold; key of decisions, decisions and
      outcomes
    """
    return Catalogue(tuple(chosen_measures(measures or [*MEASURES, *PRACTICE])))
