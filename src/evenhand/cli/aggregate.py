"""The command that reduces many classes and groups to one number."""

from __future__ import annotations

from typing import Any

from evenhand.cli.options import CLASSES, NUMBER, command, given, option, shared, under
from evenhand.cli.output import wanted, write


@command("data")
@under(
    "Columns",
    shared("label", help="Column of true classes."),
    shared("prediction", help="Column of predicted classes."),
    "group", "weight", "weight_kind", "missing", "where",
)  # fmt: skip
@under(
    "Aggregation",
    *CLASSES,
    option("--gamma", metavar="G", type=NUMBER, help="Tolerance of the difference or ratio threshold."),
    option("--positive", metavar="V", help="The class of --across-classes binary."),
    option("--attribute", metavar="COL", help="Compare by this group column  [default: the intersection of all]"),
)
@under("Inference", "confidence", "bootstrap", "permutations", "seed")
@under("Output")
def aggregate(data: str, seed: int, **options: Any) -> None:
    """Reduce many classes and groups in DATA to one number: rows, confusion counts, or a saved table."""
    from evenhand.analyses.classes.aggregate import aggregate as made

    paths = wanted(options)
    write(made(data, rng=seed, **given(options)), paths)
