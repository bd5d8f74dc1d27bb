"""Commands that help to choose: a threshold, a method."""

from __future__ import annotations

from typing import Any

import click

from evenhand.cli.options import NUMBER, WHOLE, columns, numbers, read_words, references, split, where_rows
from evenhand.cli.output import progress_bar, views, wanted, write
from evenhand.errors import UsageError

_CUTOFFS = (
    "attribute", "reference", "performance", "cost", "fairness", "require", "threshold", "allow_trivial", "by_group",
    "confidence", "bootstrap",
)  # fmt: skip


@click.command()
@click.argument("data")
@columns
@click.option("--attribute", metavar="COL[,COL…]", help="Compare by this group column; all of them for their product.")
@click.option(
    "--reference",
    metavar="V",
    multiple=True,
    help="Group to compare with, or COL=V for one of several columns  [default: the largest]",
)
@click.option("--performance", metavar="P", default="accuracy", show_default=True, help="Or balanced_accuracy.")
@click.option("--cost", metavar="FP,FN", help="Costs of a false favourable and a false unfavourable decision instead.")
@click.option("--fairness", metavar="ID", help="Measure of decisions  [default: that required, or demographic_parity]")
@click.option("--require", metavar="RULE", multiple=True, help="The policy, such as 'disparate_impact >= 0.8'.")
@click.option("--threshold", metavar="T", type=NUMBER, help="The threshold in use, to compare with.")
@click.option("--allow-trivial", is_flag=True, help="Recommend even to select everybody or nobody.")
@click.option("--by-group", is_flag=True, help="Analyse what separate thresholds for each group would achieve.")
@click.option("--confidence", metavar="P", type=NUMBER, default=0.95, show_default=True, help="Level of intervals.")
@click.option("--bootstrap", metavar="N", type=WHOLE, default=1000, show_default=True, help="Resamples; 0 for none.")
@click.option("--seed", metavar="N", type=WHOLE, default=0, show_default=True, help="Seed of the resampling.")
@views
def thresholds(data: str, seed: int, **words: Any) -> None:
    """Find the threshold of a score in DATA that meets a policy at the least cost, and show all others."""
    from evenhand.analyses.options import cuts_of
    from evenhand.analyses.thresholds.thresholds import checked_words
    from evenhand.analyses.thresholds.thresholds import thresholds as found
    from evenhand.ingest.resolve import as_table
    from evenhand.ingest.roles import Roles, picked

    paths = wanted(words, data)
    if words.pop("prediction") is not None:
        raise UsageError("a prediction is decided already: leave --prediction out and name the --score")
    how = {word: words.pop(word) for word in _CUTOFFS}
    if how["cost"] is not None:
        how["cost"] = numbers(how["cost"], "cost")
    if how["attribute"] is not None:
        names = split(how["attribute"])
        how["attribute"] = names[0] if len(names) == 1 else names
    stated = how.pop("reference")
    asked = checked_words(**{k: v for k, v in how.items() if k != "attribute"}, rng=seed)
    with progress_bar() as progress:
        progress(0, "counting rows")
        table = as_table(data, picked(Roles, read_words(words)), cuts_of(asked.options))
        result = found(table, **how, reference=references(table, stated), rng=seed)
    write(result, paths)


@click.command()
@click.argument("runs")
@click.option("--method", metavar="COL", required=True, help="Column with the name of the method.")
@click.option("--performance", metavar="COL", required=True, help="Column with the performance (test results).")
@click.option("--fairness", metavar="COL", required=True, help="Column with the fairness (test results).")
@click.option("--dev-performance", metavar="COL", help="Column with the performance on development data, to select by.")
@click.option("--dev-fairness", metavar="COL", help="Column with the fairness on development data, to select by.")
@click.option(
    "--settings",
    metavar="COL[,COL…]",
    multiple=True,
    help="Columns that tell settings apart; rows alike in them are seeds.",
)
@click.option("--where", metavar="COL=V[,V…]", multiple=True, help="Only runs with one of these values of a column.")
@click.option(
    "--random-performance", metavar="P", type=NUMBER, help="Performance of a random guess, where areas start."
)
@click.option(
    "--front",
    type=click.Choice(["dev", "published"]),
    default="dev",
    show_default=True,
    help="The front of development results, or of test results as published (which leaks).",
)
@click.option(
    "--lower-is-better",
    metavar="WHAT",
    multiple=True,
    help="performance, fairness or both, for an error or a gap: 1 - value is used.",
)
@click.option(
    "--fairness-floor",
    metavar="F[,F…]",
    multiple=True,
    help="Also select the best performance with at least this fairness.",
)
@click.option(
    "--performance-floor",
    metavar="P[,P…]",
    multiple=True,
    help="Also select the best fairness with at least this performance.",
)
@click.option("--baseline", metavar="NAME", help="Method whose results the margins add to.")
@click.option(
    "--margins",
    metavar="X[,X…]",
    multiple=True,
    help="Fairness above, performance below the baseline  [default: 0.05,0.1]",
)
@click.option("--utopia", metavar="P,F", help="Ideal performance and fairness  [default: 1,1]")
@click.option("--normalize", metavar="range|P,F", help="Divide the axes of the distance by their ranges, or by these.")
@click.option("--performance-from", metavar="P", type=NUMBER, help="Partial area: where performance is at least this.")
@click.option("--fairness-from", metavar="F", type=NUMBER, help="Partial area: where fairness is at least this.")
@click.option("--dto-to", metavar="D", type=NUMBER, help="Partial area: where the distance is at most this.")
@click.option(
    "--missing", type=click.Choice(["refuse", "drop"]), help="What to do with runs without results  [default: refuse]"
)
@click.option("--confidence", metavar="P", type=NUMBER, default=0.95, show_default=True, help="Level of intervals.")
@click.option(
    "--bootstrap", metavar="N", type=WHOLE, help="Number of resamples  [default: 1000, fewer for very many runs]"
)
@click.option("--seed", metavar="N", type=WHOLE, default=0, show_default=True, help="Seed of the resampling.")
@views
def compare(runs: str, seed: int, **words: Any) -> None:
    """Compare methods by their RUNS: a file with a row per method, setting and seed. Which trade-off is best?"""
    from evenhand.analyses.compare.compare import compare as run

    paths = wanted(words, runs)
    how = {k: v for k, v in words.items() if v not in (None, ())}
    for word in ("settings", "lower_is_better"):
        if word in how:
            how[word] = [name for text in how[word] for name in split(text) if name]
    for word in ("fairness_floor", "performance_floor", "margins"):
        if word in how:
            how[word] = [number for text in how[word] for number in numbers(text, word)]
    if "where" in how:
        how["where"] = where_rows(how["where"])
    if "utopia" in how:
        how["utopia"] = numbers(how["utopia"], "utopia")
    if how.get("normalize", "range") != "range":
        how["normalize"] = numbers(how["normalize"], "normalize")
    found = run(runs, **how, rng=seed)
    write(found, paths)
