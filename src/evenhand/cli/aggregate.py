"""The command that reduces many classes and groups to one number."""

from __future__ import annotations

from typing import Any

from evenhand.cli.files import READ
from evenhand.cli.options import CLASSES, NUMBER, command, given, names, number, option, read_by, shared, under
from evenhand.cli.output import wanted, write
from evenhand.errors import UsageError, shown


def _weights(text: str, flag: str) -> str | dict[str, float]:
    """`size`, or NAME=W for every name; a name may hold an equals sign."""
    if text == "size":
        return text
    found: dict[str, float] = {}
    for part in names(text):
        name, _, weight = part.rpartition("=")
        try:
            value = number(weight)
        except ValueError:
            raise UsageError(
                f"{flag} takes size, or a number for every name such as a=2,b=1, not {shown(text)}"
            ) from None
        if name in found:
            raise UsageError(f"{flag} names {shown(name)} twice: choose one")
        found[name] = value
    return found


def _reasons(texts: tuple[str, ...], flag: str) -> dict[str, str]:
    """ITEM=TEXT for each of several items of the checklist."""
    found: dict[str, str] = {}
    for text in texts:
        item, _, reason = text.partition("=")
        if not item.strip() or not reason.strip():
            raise UsageError(f"{flag} takes ITEM=TEXT such as groups='the worst-off group decides', not {shown(text)}")
        if item in found:
            raise UsageError(f"{flag} names {shown(item)} twice: put the reasons together")
        found[item] = reason.strip()
    return found


WEIGHTS, REASONS = read_by(_weights), read_by(_reasons, together=True)


@command("data")
@under(
    "Columns",
    shared("label", help="Column of true classes."),
    shared("prediction", help="Column of predicted classes."),
    "group", "bands", "depth", "weight", "weight_kind", "missing", "where",
)  # fmt: skip
@under(
    "Aggregation",
    *CLASSES,
    option("--gamma", metavar="G", type=NUMBER, help="Tolerance of the difference or ratio threshold."),
    option("--positive", metavar="V", help="The class of --across-classes binary."),
    option("--weights", metavar="size|V=W,…", callback=WEIGHTS,
           help="How much groups count: by their people, or as stated for each."),
    option("--class-weights", metavar="size|V=W,…", callback=WEIGHTS, help="The same of classes."),
    option("--attribute", metavar="COL", help="Compare by this group column  [default: the intersection of all]"),
    option("--against", metavar="DATA|COL", type=READ,
           help="A second model: DATA of the same form, or its column of predicted classes."),
    option("--why", metavar="ITEM=TEXT", multiple=True, callback=REASONS,
           help="Your reason for the metric, unit, groups or classes, for the checklist."),
)  # fmt: skip
@under("Inference", "confidence", "bootstrap", "permutations", "seed")
@under("Output")
def aggregate(data: str, seed: int, **options: Any) -> None:
    """Reduce many classes and groups in DATA to one number: rows, confusion counts, or a saved table."""
    from evenhand.analyses.classes.aggregate import aggregate as made

    paths = wanted(options)
    write(made(data, rng=seed, **given(options)), paths)
