"""The command that compares similar people."""

from __future__ import annotations

from typing import Any

import click

from evenhand.cli.options import COMPLETE, NAMES, NUMBER, WHOLE, command, given, option, shared, under
from evenhand.cli.output import FORMS, progress_bar, wanted, write
from evenhand.errors import UsageError


@command("data")
@under(
    "Columns",
    shared("score", metavar="COL", callback=None, help="Column of scores."),
    shared("group", metavar="COL", callback=None, help="Column of groups; it is no part of the distance."),
    shared("reference", multiple=False, help="Group to compare with  [default: the largest]"),
    "risk", "score_range",
    shared("missing", type=COMPLETE, help="What to do with incomplete people  [default: refuse]"),
)  # fmt: skip
@under(
    "Distance",
    option("--columns", metavar="COL[,COL…]", callback=NAMES,
           help="Columns that make up the distance  [default: all others]"),
    option("--exclude", metavar="COL[,COL…]", callback=NAMES,
           help="Columns to leave out of the distance, such as the label."),
    option("--categories", metavar="COL[,COL…]", callback=NAMES, help="Columns of numbers that are only names."),
    option("--metric", type=click.Choice(["gower", "euclidean", "mahalanobis"]), default="gower",
           help="How distance is measured."),
    option("--k", metavar="N", type=WHOLE, help="Similar are the N nearest people  [default: 10]"),
    option("--radius", metavar="D", type=NUMBER, help="Similar is everybody within this distance, instead."),
    option("--neighbours", type=click.Choice(["auto", "exact", "approximate"]), default="auto",
           help="How near people are found; auto is exact up to 20,000 people."),
)  # fmt: skip
@under(
    "Scores",
    option("--epsilon", metavar="E", type=NUMBER, help="Scores this close are alike  [default: 0.05 of their range]"),
    option("--lipschitz", metavar="L", type=NUMBER, help="Lipschitz constant: scores may differ by L × distance."),
)
@under("Inference", "confidence", shared("seed", help="Seed of the order among equally near people."))
@under("Output", *FORMS, option("--worst", metavar="N", type=WHOLE, default=20, help="Pairs to show side by side."))
def individual(data: str, seed: int, **options: Any) -> None:
    """Compare similar people in DATA: are they scored alike, and whom does it hit if not?"""
    from evenhand.analyses.individual.individual import individual_fairness

    paths = wanted(options)
    if options["score"] is None:
        raise UsageError("say which column holds the score of each person: --score COL")
    with progress_bar() as progress:
        found = individual_fairness(data, options.pop("score"), **given(options), rng=seed, progress=progress)
    write(found, paths)
