"""The command that searches for less discriminatory alternatives."""

from __future__ import annotations

from typing import Any

import click

from evenhand.cli.options import (
    BY_COLUMN,
    COLUMNS,
    IDS,
    NUMBER,
    ONE_OR_NAMES,
    THRESHOLDS,
    command,
    given,
    option,
    references,
    shared,
    under,
)
from evenhand.cli.output import progress_bar, wanted, write
from evenhand.errors import UsageError


@command("data")
@under("Columns", *(name for name in COLUMNS if name != "prediction"))
@under(
    "Decision",
    shared("threshold", metavar="T[,T…]", type=str, callback=THRESHOLDS,
           help="Favourable at scores ≥ T (--risk: < T); one for all scores, or one for each."),
    "top",
    option("--attribute", metavar="COL[,COL…]", callback=ONE_OR_NAMES,
           help="Compare by this group column; several for their intersection."),
    "reference",
    "exclude_below",
)  # fmt: skip
@under(
    "Search",
    option("--baseline", metavar="NAME", help="The score in use, by default the first; of runs, the method in use."),
    option("--performance", metavar="P", help="accuracy (default), auroc, brier, …; of runs, its column."),
    option("--fairness", metavar="ID", help="Measure of the gap, equalized_odds by default; of runs, its column."),
    option("--within-best", metavar="X", type=NUMBER, default=0.01,
           help="How much below the best a performance may be, in its units."),
    option("--selection-share", metavar="SHARE", type=NUMBER,
           help="Share of the people to select on; the others confirm  [default: 0.5]"),
    option("--split", metavar="COL=V,V", multiple=True, callback=BY_COLUMN,
           help="Column with the value of those to select on and of those to confirm with, instead."),
)  # fmt: skip
@under(
    "Runs only",
    option("--method", metavar="COL", help="DATA are runs: the column of names of methods."),
    option("--dev-performance", metavar="COL", help="Column of performance on development data, to select by."),
    option("--dev-fairness", metavar="COL", help="Column of fairness on development data, to select by."),
    option("--settings", metavar="COL[,COL…]", multiple=True, callback=IDS,
           help="Columns of settings; rows alike in them are seeds."),
    option("--lower-is-better", metavar="WHAT", multiple=True, callback=IDS,
           help="performance, fairness or both, for an error or a gap: 1 - value is used."),
)  # fmt: skip
@under("Inference", "confidence", "bootstrap", "seed")
@under("Output")
@click.pass_context
def alternatives(context: click.Context, /, data: str, seed: int, reference: tuple[str, ...], **options: Any) -> None:
    """Search the scores in DATA for a model with a smaller gap at about the same performance, and confirm it.

    Half of the people select, the others confirm. DATA may also hold runs of methods (--method).
    """
    from evenhand.analyses.alternatives.alternatives import alternatives as run

    paths = wanted(options)
    said = given(options)
    threshold = said.get("threshold")
    if isinstance(threshold, tuple) and len(threshold) == 1:
        said["threshold"] = threshold[0]
    if "method" in said:
        _refuse_people(context, said)
    elif compared := references(said.get("group") or (), reference):
        said["reference"] = compared
    with progress_bar() as progress:
        result = run(data, **said, rng=seed, progress=progress)
    write(result, paths)


def _refuse_people(context: click.Context, said: dict[str, Any]) -> None:
    """Resamples are of people, and not asked for where only their default is there."""
    if context.get_parameter_source("bootstrap") is not click.core.ParameterSource.DEFAULT:
        raise UsageError("--bootstrap draws people, and these are runs (--method): leave it out")
    said.pop("bootstrap", None)
