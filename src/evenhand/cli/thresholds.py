"""The command that finds a threshold."""

from __future__ import annotations

from typing import Any

import click

from evenhand.cli.options import COLUMNS, NUMBERS, ONE_OR_NAMES, command, option, references, shared, take, under
from evenhand.cli.output import progress_bar, wanted, write
from evenhand.errors import UsageError


@command("data")
@under("Columns")
@under(
    "Decision",
    shared("threshold", help="The threshold in use, to compare with."),
    option("--attribute", metavar="COL[,COL…]", callback=ONE_OR_NAMES,
           help="Compare by this group column; several for their intersection."),
    "reference",
    option("--require", metavar="RULE", multiple=True, help="The policy, such as 'disparate_impact >= 0.8'."),
    option("--choose", type=click.Choice(["interval", "value"]), default="interval",
           help="The best threshold whose intervals meet the policy, or whose values do."),
    option("--fairness", metavar="ID", help="Measure of decisions  [default: that required, or demographic_parity]"),
    option("--performance", metavar="P", default="accuracy", help="Or balanced_accuracy."),
    option("--cost", metavar="FP,FN", callback=NUMBERS,
           help="Costs of a false favourable and a false unfavourable decision, instead of performance."),
    option("--allow-trivial", is_flag=True, help="Recommend even to select everybody or nobody."),
    option("--by-group", is_flag=True, help="Analyse what separate thresholds for each group would achieve."),
)  # fmt: skip
@under("Inference", "confidence", "bootstrap", "seed")
@under("Output")
def thresholds(data: str, seed: int, reference: tuple[str, ...], attribute: Any, **options: Any) -> None:
    """Find the threshold of a score in DATA that meets a policy at the least cost, and show all others."""
    from evenhand.analyses.options import cuts_of
    from evenhand.analyses.thresholds.thresholds import checked_options, thresholds as run
    from evenhand.ingest.resolve import as_table
    from evenhand.ingest.roles import Roles, picked

    paths = wanted(options)
    if options["prediction"] is not None:
        raise UsageError("a prediction is decided already: leave --prediction out and name the --score")
    columns = take(options, COLUMNS)
    asked = checked_options(**options, rng=seed)
    with progress_bar() as progress:
        progress(0, "counting rows")
        table = as_table(data, picked(Roles, columns), cuts_of(asked.options))
        compared = references([a.name for a in table.attributes], reference)
        result = run(table, **options, attribute=attribute, reference=compared, rng=seed)
    write(result, paths)
