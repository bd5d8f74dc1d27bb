"""The command that looks at a file and proposes how to audit it."""

from __future__ import annotations

import shlex
from typing import Any

from evenhand.cli.files import SHOWN
from evenhand.cli.options import command, option, under
from evenhand.cli.output import wanted, write, write_starter
from evenhand.errors import UsageError


@command("data")
@under(
    "Output",
    option("-o", "--output", metavar="FILE|-", type=SHOWN, help="Write a policy for evenhand check with them."),
    "html", "markdown", "json",
)  # fmt: skip
def init(data: str, output: str | None, **options: Any) -> None:
    """Look at DATA and guess which column is the score, the outcome, the groups; print the command to run."""
    from evenhand.analyses.proposal.proposal import propose

    paths = wanted(options)
    found = propose(data)
    if output is None:
        write(found, paths)
        return
    if output == "-" and "-" in paths.values():
        raise UsageError("--output and another form both go to standard output: name a file for one of them")
    if found.lacking:
        raise UsageError(f"there is no policy to write: {found.lacking}; name it, or add it to the data")
    then = f"read its [audit], edit its rules, then run {found.check} {shlex.quote(output)}"
    write_starter(output, found.policy(), then)
    if paths or output != "-":
        write(found, paths)


def proposed(data: str) -> str:
    """What the columns of a file may be, in place of an audit that named none."""
    from evenhand.analyses.proposal.proposal import propose

    return repr(propose(data))
