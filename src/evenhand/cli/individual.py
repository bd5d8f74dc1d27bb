"""The command that compares people who are near to each other."""

from __future__ import annotations

from typing import Any

import click

from evenhand.cli.options import NUMBER, WHOLE, numbers, split
from evenhand.cli.output import progress_bar, reader_gone, views, wanted, write
from evenhand.errors import UsageError, shown


@click.command()
@click.argument("data")
@click.option("--score", metavar="COL", help="Column with the score of each person.")
@click.option("--group", metavar="COL", help="Column that divides people into groups; it is not compared.")
@click.option("--reference", metavar="V", help="Group to compare with  [default: the largest]")
@click.option("--columns", metavar="COL[,COL…]", help="Columns that make up the distance  [default: all others]")
@click.option("--exclude", metavar="COL[,COL…]", help="Columns to leave out of the distance, such as the label.")
@click.option("--categories", metavar="COL[,COL…]", help="Columns of numbers that are only names.")
@click.option(
    "--metric",
    type=click.Choice(["gower", "euclidean", "mahalanobis"]),
    default="gower",
    show_default=True,
    help="How distance is measured.",
)
@click.option("--k", metavar="N", type=WHOLE, help="Near are the N nearest people  [default: 10]")
@click.option("--radius", metavar="D", type=NUMBER, help="Near is everybody within this distance, instead.")
@click.option("--epsilon", metavar="E", type=NUMBER, help="Scores this close are alike  [default: 0.05 of their range]")
@click.option("--lipschitz", metavar="L", type=NUMBER, help="Scores may differ by L × distance.")
@click.option("--risk", is_flag=True, help="A high score is bad for the person.")
@click.option("--score-range", metavar="LO,HI", help="Lowest and highest possible score.")
@click.option(
    "--neighbours",
    type=click.Choice(["auto", "exact", "approximate"]),
    default="auto",
    show_default=True,
    help="How near people are found; auto is exact up to 20,000 people.",
)
@click.option("--worst", metavar="N", type=WHOLE, default=20, show_default=True, help="Pairs to show side by side.")
@click.option("--confidence", metavar="P", type=NUMBER, default=0.95, show_default=True, help="Level of intervals.")
@click.option("--missing", type=click.Choice(["refuse", "drop"]), default="refuse", show_default=True,
              help="What to do with incomplete people.")  # fmt: skip
@click.option("--seed", metavar="N", type=WHOLE, default=0, show_default=True, help="Of the order among equally near.")
@views
def individual(data: str, seed: int, **words: Any) -> None:
    """Compare similar people in DATA: are they scored alike, and whom does it hit if not?"""
    from evenhand.analyses.individual.individual import individual_fairness

    paths = wanted(words, data)
    if words["score"] is None:
        raise UsageError("say which column holds the score of each person: --score COL")
    for word in ("columns", "exclude", "categories"):
        if words[word] is not None:
            words[word] = split(words[word])
    if words["score_range"] is not None:
        ends = numbers(words["score_range"], "score_range")
        if len(ends) != 2:
            raise UsageError(f"--score-range takes two numbers such as 0,1, not {shown(words['score_range'])}")
        words["score_range"] = ends
    said = {k: v for k, v in words.items() if v is not None}
    with progress_bar() as progress:
        found = individual_fairness(data, said.pop("score"), **said, rng=seed, progress=progress)
    with reader_gone():
        write(found, paths)
