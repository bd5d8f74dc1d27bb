"""The command that lists profiles."""

from __future__ import annotations

from typing import Any

import click

from evenhand.cli.files import ONE_FILE
from evenhand.cli.options import command, under
from evenhand.cli.output import wanted, write


@command()
@click.argument("names", nargs=-1, type=ONE_FILE, metavar="[NAME[@DATE]|FILE]…")
@under("Output", "markdown", "json")
def profiles(names: tuple[str, ...], **options: Any) -> None:
    """List the profiles of rules: source, date, and what they do not cover; or show those of these NAMES."""
    from evenhand.analyses.profiles.profiles import profiles as listed

    write(listed(list(names) or None), wanted(options))
