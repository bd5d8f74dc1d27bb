"""The command that finds a threshold."""

from __future__ import annotations

from typing import Any

from evenhand.cli.options import (
    COLUMNS,
    NUMBERS,
    argument,
    command,
    names,
    option,
    read_by,
    references,
    shared,
    take,
    under,
)
from evenhand.cli.output import FORMS, progress_bar, wanted, write
from evenhand.errors import UsageError


@command()
@argument("data")
@under("Columns", *COLUMNS)
@under(
    "Decision",
    shared("threshold", help="The threshold in use, to compare with."),
    option("--attribute", metavar="COL[,COL…]", callback=read_by(names, one=True),
           help="Compare by this group column; several for their intersection."),
    "reference",
    option("--require", metavar="RULE", multiple=True, help="The policy, such as 'disparate_impact >= 0.8'."),
    option("--fairness", metavar="ID", help="Measure of decisions  [default: that required, or demographic_parity]"),
    option("--performance", metavar="P", default="accuracy", help="Or balanced_accuracy."),
    option("--cost", metavar="FP,FN", callback=NUMBERS,
           help="Costs of a false favourable and a false unfavourable decision, instead of performance."),
    option("--allow-trivial", is_flag=True, help="Recommend even to select everybody or nobody."),
    option("--by-group", is_flag=True, help="Analyse what separate thresholds for each group would achieve."),
)  # fmt: skip
@under("Inference", "confidence", "bootstrap", "seed")
@under("Output", *FORMS)
def thresholds(data: str, seed: int, reference: tuple[str, ...], attribute: Any, **options: Any) -> None:
    """Find the threshold of a score in DATA that meets a policy at the least cost, and show all others."""
    from evenhand.analyses.options import cuts_of
    from evenhand.analyses.thresholds.thresholds import checked_words, thresholds as found
    from evenhand.ingest.resolve import as_table
    from evenhand.ingest.roles import Roles, picked

    paths = wanted(options, data)
    if options["prediction"] is not None:
        raise UsageError("a prediction is decided already: leave --prediction out and name the --score")
    columns = take(options, COLUMNS)
    asked = checked_words(**options, rng=seed)
    with progress_bar() as progress:
        progress(0, "counting rows")
        table = as_table(data, picked(Roles, columns), cuts_of(asked.options))
        compared = references([a.name for a in table.attributes], reference)
        result = found(table, **options, attribute=attribute, reference=compared, rng=seed)
    write(result, paths)
