"""The command that tells what a report was made from: verify."""

from __future__ import annotations

from typing import Any

import click

from evenhand.cli.files import ONE_FILE, READ
from evenhand.cli.options import COLUMNS, FILE, command, take, under
from evenhand.cli.output import progress_bar
from evenhand.errors import shown_name

_NOT_TOLD = ("where", "bands")
"""What a report does not tell of the rows that it is about."""


@command()
@click.argument("report", type=ONE_FILE)
@click.argument("data", type=READ)
@under("Columns")
@under("File", *FILE)
def verify(report: str, data: str, **options: Any) -> int:
    """Tell whether REPORT was made from DATA, a saved table or rows: exit code 0, or 1 if not.

    REPORT is a page, JSON, or a Word document. Of rows it names the columns, unless you say them.
    """
    from evenhand.analyses.origin import verify as compared

    said = take(options, COLUMNS)
    with progress_bar() as progress:
        progress(0, "counting rows")
        origin = compared(report, data, **said)
    names = shown_name(report, 120), shown_name(data, 120)
    if origin:
        click.echo(f"{names[0]} was made from {names[1]} (table {origin.found})")
        return 0
    click.echo(f"{names[0]} was not made from {names[1]}: its table is {origin.stated}, this one {origin.found}")
    if not any(option in said for option in _NOT_TOLD):
        click.echo("If it is about chosen rows or bands of your own, say them again (--where, --bands).")
    return 1


verify.reads = "data"
