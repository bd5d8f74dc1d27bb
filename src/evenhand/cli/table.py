"""The commands of saved tables: make, merge, info; and how a table is made fit to be shared."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from evenhand.cli.files import READ, WRITTEN
from evenhand.cli.options import BY_COLUMN, CELLS, NUMBER, NUMBERS, WHOLE, command, given, option, take, under
from evenhand.cli.output import progress_bar, say, wanted, write
from evenhand.errors import UsageError, is_whole, shown, shown_name
from evenhand.files.finding import once, said_of
from evenhand.files.paths import as_path, naming, shown_path

_BELOW, _PRIVATE = ("keep_threshold", "ranges", "like", "edges"), ("cells", "groups")


_OUTPUT = option("-o", "--output", metavar="TABLE", type=WRITTEN, required=True, help="Where to save the table.")


@command("data")
@under("Columns")
@under(
    "Cells",
    option("--classes", is_flag=True, help="Count true and predicted classes, though there are only two."),
    option("--grid", metavar="TABLE", type=READ, help="Count in the cells of this saved table, so that both add up."),
    option("--exact", is_flag=True, help="Keep every distinct score, whatever it costs."),
    option("--cut", metavar="SCORE[,…]", multiple=True, callback=NUMBERS, help="A threshold that must stay exact."),
)
@under(
    "Sharing by suppression",
    option("--suppress-below", metavar="K", type=WHOLE, help="No cell of fewer than K people, at least 3."),
    option("--keep-threshold", metavar="T", multiple=True, callback=NUMBERS, help="Decisions stay exact at T."),
    option("--ranges", metavar="N", type=WHOLE, help="Withhold small groups until scores have N ranges  [default: 5]"),
    option("--like", metavar="TABLE", type=READ, help="In the ranges of this shared table, so that both add up."),
    option("--edges", metavar="E,E…", multiple=True, callback=NUMBERS, help="In ranges with these borders."),
)
@under(
    "Sharing with differential privacy",
    option("--privacy", metavar="EPSILON", type=NUMBER, help="Differentially private counts."),
    option("--cells", metavar="N|V,V…", callback=CELLS,
           help="Equal ranges of the score, or all its possible values  [default: 100]"),
    option("--groups", metavar="COL=V[,V…]", multiple=True, callback=BY_COLUMN,
           help="All groups there can be, as public."),
)  # fmt: skip
@under("Output", _OUTPUT)
def make(data: str, output: str, **options: Any) -> None:
    """Count DATA once and save the counts. DATA are rows or a saved table.

    The table holds no personal data beyond its counts, and `evenhand audit` takes it instead of the rows.
    """
    from evenhand.ingest.confusion_counts import roles_of_counts
    from evenhand.ingest.roles import Roles, picked
    from evenhand.ingest.tabulation import count_rows
    from evenhand.tables.storage import is_table_file, load

    share, cells = _sharing(options), _cells(options)
    read = given(options)
    roles = picked(Roles, read)
    if share is not None and read.keys() <= {"score_range"} and is_table_file(data):
        found = _ranged(load(data), roles.score_range)
    else:
        roles = roles_of_counts(data, roles) or roles
        if roles.group is None:
            raise UsageError("name at least one group column (--group)")
        if share is not None and roles.score is not None:
            cells["cuts"] = (*cells["cuts"], *share.cuts_of(roles.score_range))
        with progress_bar() as progress:
            progress(0, "counting rows")
            found = count_rows(data, roles, read.get("classes"), **cells)
    _save(found if share is None else share.of_table(found), output)


@command()
@click.argument("tables", nargs=-1, required=True, metavar="TABLE…", type=READ)
@under(
    "Output",
    _OUTPUT,
    option("--force", is_flag=True, help="Add them up even if too little is left of their scores."),
)
def merge(tables: tuple[str, ...], output: str, force: bool) -> None:
    """Add up saved tables. The result is the table of all their rows.

    Ranges of scores that overlap become one. What that loses is said, and refused if nothing useful is left. A table
    that is named twice is added once.
    """
    from evenhand.tables.merging import added, loss, nothing_left
    from evenhand.tables.storage import load

    files, again = once(map(os.fspath, map(as_path, tables)))
    parts = [load(file) for file in files]
    total: Any = parts[0]
    for file, part in zip(files[1:], parts[1:], strict=True):
        try:
            total = added(total, part)
        except UsageError as error:
            raise UsageError(f"cannot add {shown(Path(file).name)}: {error}") from error
    lost = loss(parts, total)
    if lost is not None:
        if lost.refused and not force:
            raise UsageError(nothing_left(lost))
        say(str(lost))
    notes = said_of(again)
    for remark in [*notes, *_copies(files, parts)]:
        say(remark)
    _save(replace(total, notes=(*total.notes, *notes)), output)


def _copies(files: Sequence[str], parts: Sequence[Any]) -> Iterator[str]:
    """Small tables may be alike by chance, but large ones that are alike are copies."""
    first: dict[str, str] = {}
    for file, part in zip(files, parts, strict=True):
        same = first.setdefault(part.digest(), file)
        if same != file:
            yield f"{shown_path(file)} holds the same counts as {shown_path(same)}: if it is a copy, leave it out"


@command()
@click.argument("file", metavar="TABLE", type=READ)
@under("Output")
def info(file: str, **options: Any) -> None:
    """Show what a saved TABLE holds, and what it discloses."""
    from evenhand.analyses.disclosure.disclosure import table_info

    paths = wanted(options)
    write(table_info(file), paths)


@click.group(commands=[make, merge, info], invoke_without_command=True)
@click.pass_context
def table(context: click.Context) -> None:
    """Make, merge or show saved tables: counts instead of people."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def _save(table: Any, output: str) -> None:
    table.save(output)
    say(f"{table!r}\nsaved to {shown_name(output, 120)}")


def _cells(options: dict[str, Any]) -> dict[str, Any]:
    """In which cells to count, taken out of the options."""
    said = take(options, ("grid", "exact", "cut"))
    flags = [f"--{name}" for name in said]
    if said and options["score"] is None:
        raise UsageError(f"{flags[0]} is about scores: name their column too (--score)")
    if "exact" in said and len(said) > 1:
        stray = next(flag for flag in flags if flag != "--exact")
        raise UsageError(f"--exact keeps every score, so there is no use for {stray}: choose one")
    if len(said) > 1:
        raise UsageError("--grid takes the cells of a table as they are: leave --cut out, or make that table with it")
    return {"grid": False if "exact" in said else said.get("grid"), "cuts": tuple(said.get("cut", ()))}


@dataclass(frozen=True)
class _Sharing:
    """How a table is made fit to be shared."""

    of_table: Callable[[Any], Any]
    cuts_of: Callable[[tuple[float, float] | None], Sequence[float]]
    """Where scores must stay exact for that, given their stated range."""


def _sharing(options: dict[str, Any]) -> _Sharing | None:
    """What makes a table fit to be shared, taken out of the options; None if they do not say so."""
    said = take(options, ("suppress_below", "privacy", *_BELOW, *_PRIVATE))
    if "like" in said and "suppress_below" not in said and "privacy" not in said:
        said["suppress_below"] = None  # that of the other table
    if "suppress_below" in said and "privacy" in said:
        raise UsageError("--suppress-below and --privacy are two methods to share a table: choose one")
    for needed, others in (("suppress_below", _BELOW), ("privacy", _PRIVATE)):
        stray = [k for k in others if k in said and needed not in said]
        if stray:
            raise UsageError(f"--{stray[0].replace('_', '-')} belongs to --{needed.replace('_', '-')}: say that too")
    if "suppress_below" in said:
        return _suppressing(said)
    return _privatizing(said) if "privacy" in said else None


def _suppressing(said: dict[str, Any]) -> _Sharing:
    from evenhand.tables.edges import check_edges, edges_of
    from evenhand.tables.storage import load
    from evenhand.tables.suppression import RANGES, below_like, check_numbers, suppressed

    like = load(said["like"]) if "like" in said else None
    with naming(said.get("like")):
        below = below_like(like) if said["suppress_below"] is None else said["suppress_below"]
        shared = [] if like is None else edges_of(like).tolist()
    ranges, thresholds = said.get("ranges", RANGES), said.get("keep_threshold", [])
    check_numbers(below, ranges, thresholds)
    edges = check_edges(said["edges"]).tolist() if "edges" in said else None
    borders = [*(edges or ()), *shared]
    made = partial(suppressed, below=below, ranges=ranges, keep_thresholds=thresholds, like=like, edges=edges)
    return _Sharing(made, lambda _: [*thresholds, *borders])


def _privatizing(said: dict[str, Any]) -> _Sharing:
    from evenhand.tables.privacy import CELLS, NO_RANGE, cell_edges, check_epsilon, check_library, privatized

    epsilon, cells = said["privacy"], said.get("cells", CELLS)
    check_epsilon(epsilon)
    check_library()

    def cuts(score_range: tuple[float, float] | None) -> Sequence[float]:
        if score_range is None:
            raise UsageError(NO_RANGE)
        found: list[float] = cell_edges(score_range, cells)[1:-1].tolist() if is_whole(cells) else []
        return found

    return _Sharing(partial(privatized, epsilon=epsilon, cells=cells, groups=said.get("groups")), cuts)


def _ranged(table: Any, score_range: tuple[float, float] | None) -> Any:
    """A saved table with the range that its scores can have, if that is said now."""
    if score_range is None:
        return table
    if getattr(table, "score", None) is None:
        raise UsageError("the table has no scores, so they have no range: leave --score-range out")
    return replace(table, meaning=replace(table.meaning, score_range=score_range))
