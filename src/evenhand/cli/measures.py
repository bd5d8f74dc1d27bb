"""The command that lists all measures."""

from __future__ import annotations

from typing import Any

import click

from evenhand.cli.options import command, under
from evenhand.cli.output import wanted, write


@command()
@click.argument("ids", nargs=-1, metavar="[ID]…")
@under("Output", "markdown", "json")
def measures(ids: tuple[str, ...], **options: Any) -> None:
    """List all measures: what each asks, its formula, what it needs; or those of these IDs."""
    from evenhand.analyses.planning.catalogue import catalogue

    write(catalogue(list(ids) or None), wanted(options))
