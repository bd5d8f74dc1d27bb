"""Words for tables that are handed to somebody else, and the command that shows what a table tells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import click

from evenhand.cli.options import Command, numbers, where_rows, whole
from evenhand.cli.output import views, wanted, write
from evenhand.errors import UsageError, shown

_BELOW, _PRIVATE = ("keep_threshold", "ranges"), ("cells", "groups")


def sharing(command: Command) -> Command:
    """The words that say how a table is made fit to be shared."""
    options = (
        click.option("--suppress-below", metavar="K", help="Share: no cell of fewer than K people."),
        click.option(
            "--keep-threshold", metavar="T", multiple=True, help="With --suppress-below: decisions stay exact at T."
        ),
        click.option(
            "--ranges",
            metavar="N",
            help="With --suppress-below: withhold small groups until scores have N ranges  [default: 5]",
        ),
        click.option("--privacy", metavar="EPSILON", help="Share: differentially private counts."),
        click.option(
            "--cells",
            metavar="N|V,V…",
            help="With --privacy: equal ranges of the score, or all its possible values  [default: 100]",
        ),
        click.option(
            "--groups", metavar="COL=V[,V…]", multiple=True, help="With --privacy: all groups there can be, as public."
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@dataclass(frozen=True)
class Sharing:
    """How a table is made fit to be shared."""

    of_table: Callable[[Any], Any]
    cuts_of: Callable[[tuple[float, float] | None], Sequence[float]]
    """Where scores must be told apart for that, given their stated range."""


def shared_how(words: dict[str, Any]) -> Sharing | None:
    """What makes a table fit to be shared, as the words say; None if they do not. They are taken out of the others."""
    said = {k: words.pop(k) for k in ("suppress_below", "privacy", *_BELOW, *_PRIVATE)}
    said = {k: v for k, v in said.items() if v not in (None, ())}
    if "suppress_below" in said and "privacy" in said:
        raise UsageError("--suppress-below and --privacy are two ways to share a table: choose one")
    for needed, others in (("suppress_below", _BELOW), ("privacy", _PRIVATE)):
        stray = [k for k in others if k in said and needed not in said]
        if stray:
            raise UsageError(f"--{stray[0].replace('_', '-')} belongs to --{needed.replace('_', '-')}: say that too")
    if "suppress_below" in said:
        return _suppressing(said)
    return _privatizing(said) if "privacy" in said else None


def _suppressing(said: dict[str, Any]) -> Sharing:
    from evenhand.tables.suppression import RANGES, check_numbers, suppressed

    below, ranges = _whole("suppress_below", said["suppress_below"]), _whole("ranges", said.get("ranges", RANGES))
    thresholds = [t for text in said.get("keep_threshold", ()) for t in numbers(text, "keep_threshold")]
    check_numbers(below, ranges, thresholds)
    made = partial(suppressed, below=below, ranges=ranges, keep_thresholds=thresholds)
    return Sharing(made, lambda _: thresholds)


def _privatizing(said: dict[str, Any]) -> Sharing:
    from evenhand.tables.privacy import CELLS, NO_RANGE, cell_edges, check_epsilon, check_library, is_number, privatized

    (epsilon, *more) = numbers(said["privacy"], "privacy")
    if more:
        raise UsageError(f"--privacy takes one number, not {shown(said['privacy'])}")
    check_epsilon(epsilon)
    check_library()
    cells: Any = said.get("cells", CELLS)
    if isinstance(cells, str):
        cells = numbers(cells, "cells") if "," in cells else _whole("cells", cells)
    groups = where_rows(said["groups"], "groups") if "groups" in said else None

    def cuts(score_range: tuple[float, float] | None) -> Sequence[float]:
        if score_range is None:
            raise UsageError(NO_RANGE)
        found: list[float] = cell_edges(score_range, cells)[1:-1].tolist() if is_number(cells) else []
        return found

    return Sharing(partial(privatized, epsilon=epsilon, cells=cells, groups=groups), cuts)


def ranged(table: Any, score_range: tuple[float, float] | None) -> Any:
    """A saved table with the range that its scores can have, if that is said now."""
    if score_range is None:
        return table
    if getattr(table, "score", None) is None:
        raise UsageError("the table has no scores, so they have no range: leave --score-range out")
    return replace(table, meaning=replace(table.meaning, score_range=score_range))


def _whole(word: str, value: Any) -> int:
    try:
        return whole(str(value))
    except ValueError:
        raise UsageError(f"--{word.replace('_', '-')} takes a whole number such as 5, not {shown(value)}") from None


@click.group(name="table", invoke_without_command=True)
@click.pass_context
def table(context: click.Context) -> None:
    """Look at a saved table."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@table.command()
@click.argument("file", metavar="TABLE")
@views
def info(file: str, **words: Any) -> None:
    """Show what a saved TABLE holds, and what it tells about single people."""
    from evenhand.analyses.disclosure.disclosure import table_info

    paths = wanted(words, file)
    write(table_info(file), paths)
