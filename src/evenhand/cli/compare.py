"""The command that compares methods."""

from __future__ import annotations

from typing import Any

import click

from evenhand.cli.options import COMPLETE, IDS, NUMBER, NUMBERS, command, given, numbers, option, read_by, shared, under
from evenhand.cli.output import wanted, write


@command("runs")
@under(
    "Columns",
    option("--method", metavar="COL", required=True, help="Column of names of methods."),
    option("--performance", metavar="COL", required=True, help="Column of performance (test results)."),
    option("--fairness", metavar="COL", required=True, help="Column of fairness (test results)."),
    option("--dev-performance", metavar="COL", help="Column of performance on development data, to select by."),
    option("--dev-fairness", metavar="COL", help="Column of fairness on development data, to select by."),
    option("--loss", metavar="COL", help="Column of losses, of any size: also select the setting with the least."),
    option("--settings", metavar="COL[,COL…]", multiple=True, callback=IDS,
           help="Columns of settings; rows alike in them are seeds."),
    option("--lower-is-better", metavar="WHAT", multiple=True, callback=IDS,
           help="performance, fairness or both, for an error or a gap: 1 - value is used."),
    shared("where", help="Only runs with one of these values in a column."),
    shared("missing", type=COMPLETE, help="What to do with runs without results  [default: refuse]"),
)  # fmt: skip
@under(
    "Trade-off",
    option("--front", type=click.Choice(["dev", "published"]), default="dev",
           help="Pareto front of development results, or of test results as published (which leaks)."),
    option("--random-performance", metavar="P", type=NUMBER, help="Performance of a random guess, where areas start."),
    option("--utopia", metavar="P,F", callback=NUMBERS, help="Ideal performance and fairness  [default: 1,1]"),
    option("--normalize", metavar="range|P,F",
           callback=read_by(lambda text, flag: text if text == "range" else numbers(text, flag)),
           help="Divide the axes of the distance by their ranges, or by these."),
    option("--performance-from", metavar="P", type=NUMBER, help="Partial area: where performance is at least this."),
    option("--fairness-from", metavar="F", type=NUMBER, help="Partial area: where fairness is at least this."),
    option("--dto-to", metavar="D", type=NUMBER, help="Partial area: where the distance is at most this."),
)  # fmt: skip
@under(
    "Selection",
    option("--fairness-floor", metavar="F[,F…]", multiple=True, callback=NUMBERS,
           help="Also select the best performance with at least this fairness."),
    option("--performance-floor", metavar="P[,P…]", multiple=True, callback=NUMBERS,
           help="Also select the best fairness with at least this performance."),
    option("--baseline", metavar="NAME", help="Method whose results the margins add to."),
    option("--margins", metavar="X[,X…]", multiple=True, callback=NUMBERS,
           help="Fairness above, performance below the baseline  [default: 0.05,0.1]"),
)  # fmt: skip
@under(
    "Inference",
    "confidence",
    shared("bootstrap", default=None, help="Resamples; 0 for none  [default: 1000, fewer for very many runs]"),
    "seed",
)
@under("Output")
def compare(runs: str, seed: int, **options: Any) -> None:
    """Compare methods by their RUNS: a file with a row per method, setting and seed. Which trade-off is best?"""
    from evenhand.analyses.compare.compare import compare as run

    paths = wanted(options)
    write(run(runs, **given(options), rng=seed), paths)
