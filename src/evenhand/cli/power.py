"""The command that plans how many people an audit needs."""

from __future__ import annotations

from typing import Any

from evenhand.cli.options import NUMBER, command, option, read_by, under, whole
from evenhand.cli.output import FORMS, wanted, write
from evenhand.errors import UsageError, shown


def _people(text: str, flag: str) -> tuple[int, ...]:
    try:
        return tuple(whole(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"{flag} takes one or two whole numbers such as 200,1000, not {shown(text)}") from None


@command()
@under(
    "Groups",
    option("--n", metavar="N[,M]", callback=read_by(_people, one=True),
           help="People of each group, or of the group and of the reference."),
    option("--base-rate", metavar="P", type=NUMBER, required=True, help="The rate of the reference."),
    option("--gap", metavar="D", type=NUMBER, help="Rate of the group minus rate of the reference."),
    option("--ratio", metavar="R", type=NUMBER, default=1.0, help="People of the reference for each of the group."),
)  # fmt: skip
@under(
    "Inference",
    option("--power", metavar="P", type=NUMBER, default=0.8, help="Wanted power."),
    option("--level", metavar="P", type=NUMBER, default=0.05, help="Level of the test."),
)
@under("Output", *FORMS)
def power(n: Any, **options: Any) -> None:
    """Plan how many people it takes to find a gap: say --n or --gap, or both."""
    from evenhand.analyses.planning.power import power as plan

    paths = wanted(options)
    write(plan(n, **options), paths)
