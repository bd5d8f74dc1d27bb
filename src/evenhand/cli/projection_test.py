"""The command of the Wasserstein-projection test."""

from __future__ import annotations

from typing import Any

import click

from evenhand.cli.options import NUMBER, ONE_OR_NAMES, command, given, option, shared, under
from evenhand.cli.output import wanted, write

CRITERIA = ("equal_opportunity", "predictive_equality", "equalized_odds", "demographic_parity")


@command("data")
@under(
    "Columns",
    shared("score", help="Column of probabilities of a logistic model; several for a test of each."),
    option("--logit", metavar="COL[,COL…]", callback=ONE_OR_NAMES,
           help="Column of its logits, instead of the probabilities."),
    "label",
    shared("group", metavar="COL", callback=None, help="Column of groups."),
    "weight", "weight_kind",
    shared("favorable", help="Favourable value of the label  [default: 1]"),
    "risk", "where", "missing",
)  # fmt: skip
@under(
    "Test",
    option("--beta-norm", metavar="B", type=NUMBER, help="‖β‖ of the model; without it, distances are in logits."),
    shared("reference", multiple=False, help="Group to compare with  [default: the largest]"),
    option("--compare", metavar="V", help="Group to compare  [default: all others, each]"),
    option("--criterion", type=click.Choice(CRITERIA), default="equal_opportunity", help="What should hold."),
    option("--margin", metavar="E", type=NUMBER, default=0.0, help="Largest gap of mean scores that is none."),
    option("--level", metavar="P", type=NUMBER, default=0.05, help="Level of the test."),
)  # fmt: skip
@under("Output")
def projection_test(data: str, **options: Any) -> None:
    """Test a logistic score in DATA: how far must people move until it is fair? (Wasserstein projection)"""
    from evenhand.analyses.projection.projection_test import projection_test as test

    paths = wanted(options)
    write(test(data, **given(options)), paths)
