"""The command that follows fairness over time."""

from __future__ import annotations

import sys
from typing import Any

import click

from evenhand.cli.files import PERIODS, READ
from evenhand.cli.options import COLUMNS, NUMBER, WHOLE, command, option, references, shared, take, under
from evenhand.cli.output import FORMS, progress_bar, reader_gone, wanted, write


@command("data", reads=PERIODS)
@under("Columns")
@under(
    "Periods",
    option("--time", metavar="COL", help="Column of times; without it DATA are saved tables, one for each period."),
    option("--every", metavar="E", help="day, week, month, quarter, year, value, or 1000-rows  [default: month]"),
    option("--baseline", metavar="B", type=READ,
           help="Compare with: so many first periods, a period, FIRST..LAST, or a saved table."),
    option("--small", type=click.Choice(["merge", "keep"]), default="merge",
           help="What to do with periods that are too small."),
    option("--min-people", metavar="N", type=WHOLE, default=30, help="Least number of people of a group."),
)  # fmt: skip
@under(
    "Decision",
    "threshold",
    "top",
    shared("reference", help="Group to compare with, or COL=V for each of several columns  "
           "[default: the largest of the baseline]"),
    "exclude_below",
)  # fmt: skip
@under("Measures")
@under(
    "Inference",
    option("--looks", metavar="N", type=WHOLE, default=200, help="Planned number of periods."),
    option("--false-alarms", metavar="P", type=NUMBER, default=0.05, help="Probability of a false alarm at any look."),
    "confidence",
    shared("bootstrap", default=199),
    "seed",
)
@under("Output", *FORMS, option("--fail-on-alarm", is_flag=True, help="Exit with code 1 if there is an alarm."))
def monitor(data: str, fail_on_alarm: bool, seed: int, reference: tuple[str, ...], **options: Any) -> int:
    """Follow fairness in DATA over time: rows with a --time, or a folder of saved tables, one for each period."""
    from evenhand.analyses.monitor.monitor import monitor as run

    paths = wanted(options)
    columns = take(options, COLUMNS)
    compared = references(columns.get("group", []), reference)
    with progress_bar() as progress:
        report = run(data, **options, **columns, reference=compared, rng=seed, progress=progress)
    with reader_gone():  # whoever stops reading does not change what was found
        write(report, paths)
        sys.stdout.flush()
    return int(fail_on_alarm and bool(report.alarms))
