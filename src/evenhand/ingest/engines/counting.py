"""What an engine answers so that its rows can be counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from evenhand.errors import DataError
from evenhand.ingest.columns import Columns
from evenhand.tables.grid import Grid


class Counting(Protocol):
    """Rows that can be counted, all of them with the same columns.

    It may also have `coarsen(edges)`, by which it is told, once bands are settled, that numbers of some groups need be
    distinguished by these borders only: cells are fewer then, and nothing else changes.
    """

    @property
    def length(self) -> int | None:
        """How many rows there are, if that costs nothing to know."""

    @property
    def split(self) -> bool:
        """Whether rows alike may stand in several entries, as they were distinguished by what is then forgotten."""

    def size(self) -> int:
        """How many rows there are."""

    def totals(self) -> Columns:
        """Rows by everything but the score; their lowest score is `score`, their highest `further[0]`."""

    def exact(self) -> Columns:
        """Rows by score and everything else."""

    def within(self, ranges: Sequence[tuple[float, float]]) -> Columns:
        """The same of those rows whose score lies strictly inside one of the ranges."""

    def keyed(self, grid: Grid, extremes: bool) -> Columns:
        """Rows by the cell of a grid: `score` is its key. With extremes, `further` has its lowest and highest score."""


@dataclass(frozen=True)
class Adjusted:
    """Counts that are changed before anybody sees them, such as to those of some rows only."""

    rows: Counting
    change: Callable[[Columns, bool], Columns]
    """Takes counts, and whether they are of a part of the rows."""
    length: int | None = None
    joins: Callable[[], bool] = lambda: False
    """Whether the change forgets what told rows apart, which may be known only once it was made."""

    @property
    def split(self) -> bool:
        return self.joins()

    def size(self) -> int:
        return self.rows.size()

    def totals(self) -> Columns:
        return self.change(self.rows.totals(), False)

    def exact(self) -> Columns:
        return self.change(whole(self.rows), False)

    def within(self, ranges: Sequence[tuple[float, float]]) -> Columns:
        return self.change(self.rows.within(ranges), True)

    def keyed(self, grid: Grid, extremes: bool) -> Columns:
        return self.change(self.rows.keyed(grid, extremes), False)


def whole(rows: Counting) -> Columns:
    """All rows by everything, exactly."""
    columns = rows.exact()
    check_same_total(int(columns.n.sum()), rows.size())
    return columns


def check_same_total(counted: int, rows: int) -> None:
    """No row may get lost on the way, or be counted twice."""
    if counted != rows:
        raise DataError(
            f"the data changed while they were counted, or were counted wrongly: {counted:,} rows in cells, but "
            f"{rows:,} in all; count them again"
        )
