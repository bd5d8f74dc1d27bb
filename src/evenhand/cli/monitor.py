"""The command that watches fairness over time."""

from __future__ import annotations

import sys
from typing import Any

import click

from evenhand.cli.options import NUMBER, WHOLE, columns, number_or_word, read_words, split
from evenhand.cli.output import FORMS, progress_bar, reader_gone, views, wanted, write
from evenhand.errors import UsageError, shown

_HOW = (
    "time", "every", "baseline", "threshold", "looks", "false_alarms", "small", "min_people", "confidence", "bootstrap",
    "ranks", "calibration_bins",
)  # fmt: skip


@click.command()
@click.argument("data")
@columns
@click.option("--time", metavar="COL", help="Column that tells when; without it DATA are saved tables, one a period.")
@click.option("--every", metavar="E", help="day, week, month, quarter, year, value, or 1000-rows  [default: month]")
@click.option(
    "--baseline", metavar="B", help="Compare with: so many first periods, a period, FIRST..LAST, or a saved table."
)
@click.option("--threshold", metavar="T", type=NUMBER, help="Favourable at scores ≥ T (risk scores: < T).")
@click.option(
    "--reference",
    metavar="V",
    multiple=True,
    help="Group to compare with, or COL=V for one of several columns  [default: the largest of the baseline]",
)
@click.option("--measures", metavar="ID[,ID…]", help="Only these measures, by their ids in JSON  [default: all]")
@click.option(
    "--looks", metavar="N", type=WHOLE, default=200, show_default=True, help="Periods that are planned in all."
)
@click.option(
    "--false-alarms",
    metavar="P",
    type=NUMBER,
    default=0.05,
    show_default=True,
    help="Chance of any false alarm in all.",
)
@click.option(
    "--small",
    type=click.Choice(["merge", "keep"]),
    default="merge",
    show_default=True,
    help="What to do with periods that are too small.",
)
@click.option(
    "--min-people", metavar="N", type=WHOLE, default=30, show_default=True, help="People of a group to be looked at."
)
@click.option("--confidence", metavar="P", type=NUMBER, default=0.95, show_default=True, help="Level of intervals.")
@click.option("--bootstrap", metavar="N", type=WHOLE, default=199, show_default=True, help="Resamples; 0 for none.")
@click.option(
    "--ranks", type=click.Choice(["published", "mid"]), default="published", help="How tied scores are ranked."
)
@click.option("--calibration-bins", metavar="N", type=WHOLE, default=50, show_default=True, help="Of calibration bias.")
@click.option(
    "--bandwidth", metavar="B", default="scott", show_default=True, help="Of densities: a share of the range."
)
@click.option("--seed", metavar="N", type=WHOLE, default=0, show_default=True, help="Seed of the resampling.")
@click.option("--fail-on-alarm", is_flag=True, help="Exit with code 1 if there is an alarm.")
@views
def monitor(data: str, fail_on_alarm: bool, seed: int, **words: Any) -> int:
    """Watch fairness in DATA over time: rows with a --time, or a folder of saved tables, one for each period."""
    from evenhand.analyses.monitor.monitor import monitor as watch
    from evenhand.analyses.monitor.stream import table_files

    inputs = [data]
    if words["time"] is None and any(words[form] not in (None, "-") for form in FORMS):
        inputs = list(map(str, table_files(data)[0].values()))
    paths = wanted(words, *inputs, words["baseline"])
    how = {word: words.pop(word) for word in _HOW}
    ids, stated, bandwidth = words.pop("measures"), words.pop("reference"), words.pop("bandwidth")
    read = read_words(words)
    with progress_bar() as progress:
        found = watch(
            data, **how, **read, measures=None if ids is None else split(ids), bandwidth=number_or_word(bandwidth),
            reference=_reference(stated, read.get("group", [])), rng=seed, progress=progress,
        )  # fmt: skip
    with reader_gone():  # whoever stops reading does not change what was found
        write(found, paths)
        sys.stdout.flush()
    return int(fail_on_alarm and bool(found.alarms))


def _reference(stated: tuple[str, ...], groups: list[str]) -> str | dict[str, str] | None:
    """--reference V, or --reference COL=V for each of several columns."""
    if len(stated) == 1 and stated[0].partition("=")[0] not in groups:
        return stated[0]
    by_column: dict[str, str] = {}
    for text in stated:
        column, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"with several references say COL=V for each, not {shown(text)}")
        by_column[column] = value
    return by_column or None
