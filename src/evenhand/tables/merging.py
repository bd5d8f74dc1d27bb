"""Tables that add up: what is left of the scores, and whether that is worth having."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from evenhand.errors import UsageError, shown, truth, values_in
from evenhand.tables.confusion import Confusion
from evenhand.tables.scores import ScoreView
from evenhand.tables.table import ALL_THE_SAME, SAME_RANGES, Table

USELESS = 0.5
"""A resolution from which on a score-level measure in [0, 1] says nothing."""
MANY_GROUPS = 50


@dataclass(frozen=True)
class Loss:
    """How well scores are known in tables, and in their sum."""

    ranges: tuple[int, ...]
    """In how many ranges, exact scores among them, each table knows scores;"""
    left: int
    """and their sum."""
    resolutions: tuple[float | None, ...]
    """How far score-level measures of each may be from exact ones;"""
    resolution: float | None
    """and those of their sum."""

    @property
    def refused(self) -> bool:
        """Whether ranges were lost, and what is left of them tells nothing."""
        useless = self.left == 1 or (self.resolution is not None and self.resolution >= USELESS)
        return useless and self.left < max(self.ranges)

    def __str__(self) -> str:
        ranges = _from_to([f"{n:,}" for n in (min(self.ranges), max(self.ranges))])
        text = f"scores are known in {ranges} ranges in each table, in {self.left:,} in their sum"
        known = [min(r, 1.0) for r in self.resolutions if r is not None]
        if self.resolution is None or not known:
            return text
        before = _from_to([f"{r:.2g}" for r in (min(known), max(known))])
        return f"{text}; resolution {before} before, {min(self.resolution, 1.0):.2g} after"


def _from_to(ends: Sequence[str]) -> str:
    return " to ".join(dict.fromkeys(ends))


def merge(tables: Iterable[Table | Confusion], *, force: bool = False) -> Table | Confusion:
    """The table of all rows of several tables, which must mean the same.

    Ranges of scores that overlap become one. If that leaves one range, or a resolution of 0.5 or more, where a table
    knew better, it is refused: share tables in the same ranges (`suppressed(…, like=)`). `force` adds them all the
    same, which does no harm to decisions.

    >>> import evenhand
    >>> t = evenhand.tabulate({"s": [0.2, 0.7, 0.7], "g": ["f", "m", "m"]}, score="s", group="g")
    >>> evenhand.merge([t, t, t]).rows
    9
    """
    force = truth("force", force)
    given, tables = tables, values_in(tables) or []
    if not tables or not all(isinstance(t, Table | Confusion) for t in tables):
        raise UsageError(f"tables to merge are a list of tables (evenhand.load reads saved ones), not {shown(given)}")
    whole: Table | Confusion = reduce(added, tables)
    found = loss(tables, whole)
    if found is not None and found.refused and not force:
        raise UsageError(nothing_left(found))
    return whole


def added(a: Any, b: Any) -> Any:
    """Two tables as one, whatever is left of their scores."""
    if type(a) is not type(b):
        raise UsageError("one is a table of decisions or scores, the other one of classes (table make has --classes)")
    return a.added(b) if isinstance(a, Table) else a + b


def loss(tables: Sequence[Table | Confusion], whole: Table | Confusion) -> Loss | None:
    """What adding up cost; None if all scores are exact, or there are none."""
    if not isinstance(whole, Table) or whole.spans is None:
        return None
    parts = [t for t in tables if isinstance(t, Table)]
    resolutions = tuple(resolution_of(t) for t in parts)
    return Loss(tuple(len(t.scores) for t in parts), len(whole.scores), resolutions, resolution_of(whole))


def nothing_left(found: Loss) -> str:
    """Why tables are not added up, and the way out."""
    return f"{found}: too little to tell anything about scores; {SAME_RANGES}, {ALL_THE_SAME}"


def resolution_of(table: Table) -> float | None:
    """The bound of the first attribute, each group against the largest; None if it is not asked of so many groups."""
    if table.score is None:
        return None
    if table.spans is None:
        return 0.0
    grouping = table.groupings[0]
    if not 2 <= len(grouping.groups) <= MANY_GROUPS:
        return None
    view, largest = ScoreView(table, grouping), int(table.sizes(grouping).argmax())
    return max(view((g, largest)).resolution for g in range(len(grouping.groups)) if g != largest)
