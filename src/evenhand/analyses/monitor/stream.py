"""Data → periods: one table each, in the order of time, those too small put together, and the baseline among them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from glob import has_magic
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.errors import DataError, UsageError, listed, nearest, shown
from evenhand.files.data_file import stated_of
from evenhand.files.finding import matching, once, said_of, whole_files
from evenhand.files.paths import as_path, is_file, shown_path
from evenhand.files.secrets import is_address
from evenhand.ingest.periods import Every, apart, in_order
from evenhand.ingest.roles import Roles
from evenhand.ingest.tabulation import tabulate_in_time
from evenhand.tables.confusion import Confusion
from evenhand.tables.storage import is_table_file, load
from evenhand.tables.table import SAME_RANGES, Table

ENOUGH = 5000
"""So many people of every group make a baseline, if nobody says what it is …"""
MOST_FIRST = 12
"""… and so many periods at most."""


@dataclass(frozen=True)
class Span:
    """A period, or several that were put together."""

    table: Table
    members: tuple[str, ...]
    finished: bool = True
    """Whether it has all its rows, and enough of them to be looked at."""
    left_out: int = 0

    @property
    def name(self) -> str:
        return self.members[0] if len(self.members) == 1 else f"{self.members[0]} to {self.members[-1]}"

    def __add__(self, other: Span) -> Span:
        return Span(
            self.table + other.table, self.members + other.members, other.finished, self.left_out + other.left_out
        )


@dataclass(frozen=True)
class Stream:
    """All periods in their order."""

    spans: tuple[Span, ...]
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, int] | None = None


@dataclass(frozen=True)
class Baseline:
    """What later periods are compared with: some of the periods, or a table from elsewhere."""

    table: Table
    name: str
    first: int
    """The place of its first period; that of a table from elsewhere is before all."""
    stop: int
    """The place of the first period after it."""


# ---- reading ------------------------------------------------------------------------------------------------


def read(data: Any, time: Any, every: Every, roles: Roles) -> Stream:
    """Rows with a time, a table of which one attribute is the time, or one table for each period."""
    if isinstance(data, Table):
        return _from_table(data, time, roles)
    if time is None:
        return _from_tables(data, roles)
    found = tabulate_in_time(data, time, every, roles)
    attribute = found.table.attributes[-1].name
    tables = apart(found.table, attribute)
    lost = found.table.left_out_groups.get(attribute, {})
    names = [n for n in found.names if n in tables]
    spans = [Span(tables[n], (n,), left_out=lost.get(n, 0)) for n in names]
    if found.unfinished and spans:
        spans[-1] = replace(spans[-1], finished=False)
    gone = [n for n in found.names if n not in tables]
    notes = [*found.table.notes, *found.notes]
    if gone:
        notes.append(f"every row of these periods was left out: {listed(gone)}")
    return Stream(tuple(spans), tuple(notes), dict(found.table.left_out))


def _from_table(table: Table, time: Any, roles: Roles) -> Stream:
    if said := replace(roles, depth=None).said():
        raise UsageError(f"a table knows its columns already: leave out {listed(said)}")
    table = table if roles.depth is None else table.crossed(roles.depth)
    names = [a.name for a in table.attributes]
    if not isinstance(time, str) or time not in names:
        close = nearest(time, names) if isinstance(time, str) else ""
        raise UsageError(f"time must be an attribute of the table (it has: {listed(names)}), not {shown(time)}{close}")
    tables = apart(table, time)
    return Stream(tuple(Span(tables[n], (n,)) for n in in_order(set(tables))), table.notes, dict(table.left_out))


def _from_tables(data: Any, roles: Roles) -> Stream:
    """One table for each period: by name, or in files."""
    if said := replace(roles, depth=None).said():
        raise UsageError(
            f"saved tables know their columns already: leave out {listed(said)}, or name the time column of rows "
            "(--time)"
        )
    notes: list[str] = []
    if isinstance(data, Mapping):
        tables = {str(name): table for name, table in data.items()}
        order = list(tables)
    else:
        files, notes = table_files(data)
        tables = {name: load(file) for name, file in files.items()}
        order = in_order(set(tables)) if not isinstance(data, list | tuple) else list(tables)
    for name, table in tables.items():
        _check(name, table, tables[order[0]], order[0])
    if roles.depth is not None:
        tables = {name: table.crossed(roles.depth) for name, table in tables.items()}
    if not tables:
        raise UsageError("there is no period to look at: pass one table for each")
    left_out: dict[str, int] = {}
    for table in tables.values():
        notes += [n for n in table.notes if n not in notes]
        for reason, n in table.left_out.items():
            left_out[reason] = left_out.get(reason, 0) + n
    spans = (Span(tables[n], (n,), left_out=sum(tables[n].left_out.values())) for n in order)
    return Stream(tuple(spans), tuple(notes), left_out)


def table_files(data: Any) -> tuple[dict[str, Path], list[str]]:
    """Files of tables by the name of their period, and a remark on what else lies there."""
    aside: list[str] = []
    if isinstance(data, list | tuple):
        paths = [as_path(p) for p in data]
    elif isinstance(data, str) and is_address(data):
        raise UsageError(
            f"saved tables are read from disk, not from {shown_path(data)}: copy them, or name the time column of rows "
            "(--time)"
        )
    elif isinstance(data, str | os.PathLike):
        stated_of(data).check_only((), data, "a saved table")
        paths, aside = _found(as_path(data))
    else:
        raise UsageError(
            "say which column tells the time (time=, --time), or pass saved tables, one for each period: a folder, a "
            f"pattern, a list of files, or a dict from period to table; not {shown(type(data).__name__)}"
        )
    kept, again = once(map(str, paths))
    files: dict[str, Path] = {}
    for path in map(Path, kept):
        name = path.name.rsplit(".", 1)[0] or path.name
        if name in files:
            both = f"{shown_path(files[name].name)} and {shown_path(path.name)}"
            raise UsageError(f"every period needs one table, but {both} are both called {shown(name)}: rename one")
        files[name] = path
    notes = [f"files that are no tables were left aside: {listed(aside)}"] if aside else []
    return files, [*notes, *said_of(again, os.path.basename)]


def _found(path: Path) -> tuple[list[Path], list[str]]:
    try:
        if path.is_dir():
            names = [str(p) for p in path.iterdir() if not p.name.startswith((".", "_"))]
            files = list(map(Path, whole_files(names)))
        else:
            files = list(map(Path, whole_files(matching(path)))) if has_magic(str(path)) else [path]
    except OSError as error:
        raise DataError(f"cannot read {shown_path(path)}: {error.strerror or error}") from error
    if files == [path] and not is_file(path):
        raise DataError(f"there is no file or folder {shown_path(path)}")
    if files == [path] and not is_table_file(path):
        raise UsageError(f"to monitor the rows of {shown_path(path)}, say which column tells the time (--time)")
    # a Parquet file that is no table, or a damaged one, is refused when it is loaded
    tables = sorted(p for p in files if _looks_like_one(p))
    if not tables:
        raise DataError(
            f"{shown_path(path)} holds no table saved by evenhand: make one for each period (evenhand table make), "
            "or name the time column of rows (--time)"
        )
    return tables, sorted(p.name for p in files if p not in tables)


def _looks_like_one(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def _check(name: str, table: Any, first: Any, first_name: str) -> None:
    if not isinstance(table, Table | Confusion):
        raise UsageError(f"a period is a table, but {shown(name)} is {shown(type(table).__name__)}")
    check_alike(first, _checked(table, f"period {shown(name)}"), f"periods {shown(first_name)} and {shown(name)}")


def _checked(table: Table | Confusion, what: str) -> Table:
    """A table that monitoring can compare with others."""
    if isinstance(table, Confusion):
        raise UsageError(f"{what} is a table of classes: monitoring needs scores or decisions")
    if table.noise is not None:
        raise UsageError(f"{what} is a private table: monitoring would take its noise for change")
    for grouping in table.groupings:
        table.refuse_incomplete(grouping)
    return table


def check_alike(a: Table, b: Table, what: str) -> None:
    """Refuse tables that cannot be added up."""
    try:
        lost = a.lost_in(a.added(b), b)
    except UsageError as error:
        raise UsageError(f"{what}: {error}") from None
    if lost:
        raise UsageError(f"{what}: {lost}; {SAME_RANGES}, or tables of decisions instead of scores (--prediction)")


# ---- putting periods together ---------------------------------------------------------------------------------


def too_small(table: Table, min_people: int) -> bool:
    """Whether an attribute has fewer than two groups of enough people, so that nothing can be compared."""
    single = table.groupings[: len(table.attributes)]
    return any((table.sizes(g) >= min_people).sum() < 2 for g in single)


def merged(spans: Sequence[Span], min_people: int) -> list[Span]:
    """Every period that is too small goes on until it is not; one at the end waits."""
    found: list[Span] = []
    waiting: Span | None = None
    for span in spans:
        whole = span if waiting is None else waiting + span
        if too_small(whole.table, min_people) or not whole.finished:
            waiting = whole
        else:
            found.append(whole)
            waiting = None
    return found if waiting is None else [*found, replace(waiting, finished=False)]


def one_range(spans: Sequence[Span], other: Table | None) -> tuple[list[Span], Table | None, list[str]]:
    """Scores beyond [0, 1] without a stated range: all periods get the range of all, so that they can be compared."""
    tables = [s.table for s in spans] + ([] if other is None else [other])
    ends = [t.extremes for t in tables if t.score is not None]
    if not ends or tables[0].meaning.score_range is not None:
        return list(spans), other, []
    lo, hi = min(low for low, _ in ends), max(high for _, high in ends)
    if (lo >= 0 and hi <= 1) or lo == hi:
        return list(spans), other, []

    def ranged(table: Table) -> Table:
        return replace(table, meaning=replace(table.meaning, score_range=(lo, hi)))

    note = (
        f"no score range was stated, so that of all periods is used, {lo:g} to {hi:g}: state it (score_range=, "
        "--score-range), or later scores may change earlier figures"
    )
    return [replace(s, table=ranged(s.table)) for s in spans], None if other is None else ranged(other), [note]


# ---- the baseline ---------------------------------------------------------------------------------------------


def baseline_table(stated: Any) -> Table | None:
    """A baseline from elsewhere: a table, or the file of one."""
    if isinstance(stated, Table):
        return stated
    if isinstance(stated, os.PathLike) or (isinstance(stated, str) and is_file(as_path(stated))):
        return _checked(load(stated), f"the baseline {shown_path(stated)}")
    return None


def baseline_of(spans: Sequence[Span], stated: Any) -> Baseline:
    """The periods that a word means: how many first ones, a name, or the first and the last name."""
    finished = [s for s in spans if s.finished]
    if not finished:
        raise DataError(
            f"no period has two groups of enough people ({sum(s.table.rows for s in spans):,} rows in all): take more "
            "data or a lower min_people (--min-people)"
        )
    first, stop = _places(finished, stated)
    table = sum((s.table for s in finished[first + 1 : stop]), finished[first].table)
    ends = (finished[first].members[0], finished[stop - 1].members[-1])
    return Baseline(table, ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}", first, stop)


def _places(spans: Sequence[Span], stated: Any) -> tuple[int, int]:
    if stated is None:
        return 0, _enough(spans)
    if isinstance(stated, tuple | list) and len(stated) == 2:
        first, last = (_place(spans, end) for end in stated)
    elif isinstance(stated, int | np.integer) and not isinstance(stated, bool):
        first, last = 0, _number(spans, int(stated)) - 1
    elif isinstance(stated, str) and any(stated in s.members or stated == s.name for s in spans):
        first = last = _place(spans, stated)
        _check_number(spans, stated, first)
    elif isinstance(stated, str) and stated.strip().isdecimal() and len(stated) < 10:
        first, last = 0, _number(spans, int(stated)) - 1
    elif isinstance(stated, str) and ".." in stated:
        ends = stated.split("..")
        first, last = _place(spans, ends[0].strip()), _place(spans, ends[-1].strip())
    else:
        first = last = _place(spans, stated)
    if last < first:
        raise UsageError(f"a baseline goes from an earlier to a later period, not as in {shown_path(stated)}")
    return first, last + 1


def _check_number(spans: Sequence[Span], stated: str, place: int) -> None:
    """A period may be called 6, and 6 first periods may be meant."""
    number = int(stated) if re.fullmatch(r"\s*\d{1,9}\s*", stated, re.ASCII) else 0
    if 1 <= number <= len(spans) and (number, place) != (1, 0):
        ends = f"{spans[0].members[0]}..{spans[number - 1].members[-1]}"
        raise UsageError(
            f"baseline {shown(stated)} is the name of a period and could be a number of first periods: say "
            f"{shown(f'{stated}..{stated}', 80)} for the period, or {shown(ends, 80)} for the first {number}"
        )


def _number(spans: Sequence[Span], number: int) -> int:
    if not 1 <= number <= len(spans):
        raise UsageError(f"a baseline has 1 to {len(spans)} of the periods there are, not {number}")
    return number


def _place(spans: Sequence[Span], name: Any) -> int:
    for i, s in enumerate(spans):
        if name == s.name or name in s.members:
            return i
    names = [m for s in spans for m in s.members]
    raise UsageError(
        f"the baseline is a number of first periods, a period, two as FIRST..LAST, or a saved table; "
        f"{shown_path(name)} is none (there are: {listed(names)}){nearest(name, names)}"
    )


def _enough(spans: Sequence[Span]) -> int:
    """As many first periods as hold enough people of every group that the first one has."""
    whole = spans[0].table
    for i, span in enumerate(spans[:MOST_FIRST]):
        whole = whole if i == 0 else whole + span.table
        if all((whole.sizes(g) >= ENOUGH).all() for g in whole.groupings[: len(whole.attributes)]):
            return i + 1
    return min(MOST_FIRST, len(spans))
