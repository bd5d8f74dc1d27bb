"""The command of the Wasserstein-projection test."""

from __future__ import annotations

from typing import Any

import click

from evenhand.cli.files import MODEL, WRITTEN
from evenhand.cli.options import (
    NAMES,
    NUMBER,
    ONE_OR_NAMES,
    command,
    given,
    numbers,
    option,
    read_by,
    shared,
    under,
)
from evenhand.cli.output import say, wanted, write
from evenhand.errors import UsageError, shown, shown_name

CRITERIA = ("equal_opportunity", "predictive_equality", "equalized_odds", "demographic_parity")


def _along(text: str, flag: str) -> dict[str, tuple[float, ...]]:
    """NAME=V,V: a number for each score."""
    name, equals, values = text.partition("=")
    if not equals or not name:
        raise UsageError(f"{flag} takes NAME=V,V such as penalty=0.1,1,10, not {shown(text)}")
    return {name: numbers(values, flag)}


@command("data")
@under(
    "Columns",
    shared("score", help="Column of probabilities; several for a test of each."),
    option("--logit", metavar="COL[,COL…]", callback=ONE_OR_NAMES, help="Column of logits, instead of probabilities."),
    "label",
    shared("group", metavar="COL", callback=None, help="Column of groups."),
    "bands", "weight", "weight_kind",
    shared("favorable", help="Favourable value of the label  [default: 1]"),
    "risk", "where", "missing",
)  # fmt: skip
@under(
    "Model",
    option("--model", metavar="M", type=MODEL,
           help="Instead of a score: a .skops or .onnx file, or package.module:name."),
    option("--features", metavar="COL[,COL…]", callback=NAMES,
           help="Columns the model takes, in its order  [default: its own, or all without a role]"),
    option("--trust", metavar="TYPE", multiple=True, help="A type in a .skops file that you know to be harmless."),
    option("--unsafe-pickle", is_flag=True, help="Load a pickle, which can run any code."),
)  # fmt: skip
@under(
    "Test",
    option("--beta-norm", metavar="B", type=NUMBER, help="‖β‖ of the model; without it, distances are in logits."),
    shared("reference", multiple=False, help="Group to compare with  [default: the largest]"),
    option("--compare", metavar="V", help="Group to compare  [default: each of the others]"),
    option("--criterion", metavar="C", type=click.Choice(CRITERIA), default="equal_opportunity",
           help="What should hold: equal_opportunity, predictive_equality, equalized_odds, demographic_parity."),
    option("--margin", metavar="E", type=NUMBER, default=0.0, help="Largest gap of mean scores that is none."),
    option("--level", metavar="P", type=NUMBER, default=0.05, help="Level of the test."),
    option("--along", metavar="NAME=V,V", callback=read_by(_along),
           help="A number for each of several scores, such as penalty=0.1,1,10: the page shows the tests over it."),
)  # fmt: skip
@under(
    "Output",
    "html", "markdown", "json",
    option("--shifts", metavar="FILE", type=WRITTEN,
           help="Write where everybody would have to move, as .csv or .parquet. These are personal data."),
)  # fmt: skip
def projection_test(data: str, shifts: str | None, **options: Any) -> None:
    """Test a logistic score in DATA: how far must people move until it is fair? (Wasserstein projection)"""
    from evenhand.analyses.projection.projection_test import projection_test as test
    from evenhand.analyses.projection.results import ProjectionTest
    from evenhand.analyses.projection.shifts_file import format_of
    from evenhand.ingest.model_files import is_import

    if shifts is not None:
        format_of(shifts)
    paths = wanted(options)
    if is_import(options["model"]):
        module = shown_name(options["model"].partition(":")[0])
        say(f"importing {module}, from the current folder if it is there, runs its code")
    found = test(data, **given(options))
    if shifts is not None:
        if not isinstance(found, ProjectionTest):
            raise UsageError("--shifts is about one test: name one score, and the group to compare (--compare)")
        found.save_shifts(shifts)
    write(found, paths)
