"""The command that runs published tables and figures again."""

from __future__ import annotations

import re
from typing import Any

import click

from evenhand.cli.files import FOLDER
from evenhand.cli.options import command, option, under
from evenhand.cli.output import progress_bar, wanted, write
from evenhand.errors import UsageError


@command()
@click.argument("which", nargs=-1, metavar="[WHICH]…")
@under(
    "What",
    option("--list", "listed", is_flag=True, help="List all items, and what each needs."),
    option("--data", metavar="DIR", type=FOLDER, help="Folder with the data sets, such as adult.data."),
    option("--runs", metavar="DIR", help="Keep trained models here, so that a stopped run goes on."),
    option("--full", is_flag=True, help="As many replications and splits as published; takes hours."),
)
@under("Inference", "seed")
@under("Output")
def reproduce(which: tuple[str, ...], listed: bool, seed: int, **options: Any) -> None:
    """Run published tables and figures again and put ours beside theirs.

    WHICH are ids as --list shows them, beginnings of them (becker, becker-table), what is called so in any document
    (Table 3), or all.
    """
    paths, which = wanted(options), _joined(which)
    if listed:
        _list(which, options["data"])
        return
    if not which:
        raise UsageError("say what to reproduce: all, or ids that evenhand reproduce --list shows")
    from evenhand.published.reproduce import reproduce as run

    with progress_bar() as progress:
        found = run(which, rng=seed, progress=progress, **options)
    write(found, paths)


def _joined(words: tuple[str, ...]) -> tuple[str, ...]:
    """Words of a shell as names: a number belongs to the word before, as in Table 3 or Figure C1."""
    names: list[str] = []
    for word in words:
        if names and re.match(r"[A-Za-z]?\.?\d", word):
            names[-1] += f" {word}"
        else:
            names.append(word)
    return tuple(names)


def _list(which: tuple[str, ...], data: str | None) -> None:
    from evenhand.files.paths import as_path
    from evenhand.published.registry import chosen, missing
    from evenhand.published.text import listing

    folder = None if data is None else as_path(data)
    click.echo(listing([(item, missing(item, folder)) for item in chosen(which or ("all",))]))
