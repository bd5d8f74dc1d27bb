"""Commands that count data and audit them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evenhand.cli.options import (
    NUMBER,
    WHOLE,
    auditing,
    cells,
    classes,
    columns,
    number_or_word,
    numbers,
    read_cells,
    read_words,
    references,
    split,
)
from evenhand.cli.output import FORMS, check_place, progress_bar, views, wanted, write
from evenhand.cli.table import ranged, shared_how, sharing
from evenhand.errors import UsageError, shown

_HOW = (
    "threshold", "reference", "confidence", "bootstrap", "measures", "ranks", "calibration_bins", "bandwidth",
    "permutations", "null", "interval", "stratified", "seed", *FORMS,
)  # fmt: skip


_MODELS = ("performance", "fairness")


_CLASSES = ("metric", "unit", "across_groups", "across_classes", "average", "empty")


@click.command()
@auditing
@views
def demo(**how: Any) -> None:
    """Audit the built-in COMPAS recidivism scores (no file, no network)."""
    from evenhand.datasets.example import compas

    how["threshold"] = "5" if how["threshold"] is None else how["threshold"]
    how["reference"] = how["reference"] or ("Caucasian",)
    _show(compas(), {}, how)


@click.command()
@click.argument("data")
@columns
@auditing
@views
@click.option("--performance", metavar="P", help="Of several scores: accuracy (default), auroc, brier, …")
@click.option("--fairness", metavar="ID", help="Of several scores: the measure to weigh against it.")
@click.option("--also", metavar="JSON", multiple=True, help="Also into --html: a result of individual, …")
@classes
def audit(data: str, also: tuple[str, ...], **words: Any) -> None:
    """Audit DATA: a file, folder or glob (CSV, TSV, Parquet, Arrow, JSON lines), or a saved table."""
    if also and words["html"] is None:
        raise UsageError("--also adds sections to a page: say --html FILE too")
    how = {k: words.pop(k) for k in _HOW}
    how |= {k: v for k in (*_MODELS, *_CLASSES) if (v := words.pop(k)) is not None}
    _show(data, read_words(words), how, also)


def _others(also: tuple[str, ...]) -> list[dict[str, Any]]:
    """What other commands wrote as JSON."""
    import json

    from evenhand.analyses.audit.attachments import documents
    from evenhand.files.paths import as_path, shown_path

    found = []
    for path in also:
        try:
            found.append(json.loads(as_path(path).read_text(encoding="utf-8")))
        except OSError as error:
            raise UsageError(f"cannot read {shown_path(path)}: {error.strerror or error}") from error
        except (ValueError, RecursionError) as error:
            raise UsageError(f"--also takes the JSON of a result, but {shown_path(path)} is none: {error}") from None
    return documents(found)


def _show(data: Any, words: dict[str, Any], how: dict[str, Any], also: tuple[str, ...] = ()) -> None:
    from evenhand.analyses.audit.audit import Audit
    from evenhand.analyses.classes.audit import checked_choices
    from evenhand.analyses.entry import audit as run
    from evenhand.analyses.options import checked, chosen_measures, cuts_of
    from evenhand.ingest.resolve import as_counts
    from evenhand.ingest.roles import Roles, picked

    paths = wanted(how, data, *also)
    page = {"also": _others(also)} if also else {}
    seed = how.pop("seed")
    stated = how.pop("reference")
    measures = how.pop("measures")
    ids = None if measures is None else [id_ for id_ in split(measures) if id_]
    how["bandwidth"] = number_or_word(how["bandwidth"])
    threshold = how.pop("threshold")
    models = {k: how.pop(k) for k in _MODELS if k in how}
    if threshold is not None:
        threshold = numbers(threshold, "threshold")
        for one in threshold:
            checked(one, 0.95, 0, 0)
        threshold = threshold[0] if len(threshold) == 1 else threshold
    classes = checked_choices({k: how.pop(k) for k in _CLASSES if k in how})
    options = checked(threshold if isinstance(threshold, float) else None, **how, rng=seed)
    chosen_measures(ids)
    with progress_bar() as progress:
        progress(0, "counting rows")
        table = as_counts(data, picked(Roles, words), cuts_of(options))
        how |= {**classes, **models, "threshold": threshold, "reference": references(table, stated), "measures": ids}
        result = run(table, **how, rng=seed, progress=progress)
    if page and not isinstance(result, Audit):
        raise UsageError("--also fits into the page of one score: audit several scores, or classes, without it")
    write(result, paths, **page)


@click.command()
@click.argument("data")
@columns
@click.option("--classes", is_flag=True, help="Count true and predicted classes, though there are only two.")
@cells
@sharing
@click.option("-o", "--output", metavar="TABLE", required=True, help="Where to write the table.")
def tabulate(data: str, output: str, **words: Any) -> None:
    """Count DATA (rows or a saved table) once and keep the table, which holds no personal data beyond its counts."""
    from evenhand.ingest.confusion_counts import roles_of_counts
    from evenhand.ingest.roles import Roles, picked
    from evenhand.ingest.tabulation import count_rows
    from evenhand.tables.storage import is_table_file, load

    share = shared_how(words)
    counted_in = read_cells(words)
    read = read_words(words)
    roles = picked(Roles, read)
    check_place("--output", output, {}, [data])
    if share is not None and read.keys() <= {"score_range"} and is_table_file(data):
        table = ranged(load(data), roles.score_range)
    else:
        roles = roles_of_counts(data, roles) or roles
        if roles.group is None:
            raise UsageError("name at least one group column (--group)")
        cuts = counted_in.pop("cuts", ())
        if share is not None and roles.score is not None:
            cuts = (*cuts, *share.cuts_of(roles.score_range))
        with progress_bar() as progress:
            progress(0, "counting rows")
            table = count_rows(data, roles, read.get("classes"), cuts=cuts, **counted_in)
    if share is not None:
        table = share.of_table(table)
    table.save(output)
    click.echo(f"{table!r}\nsaved to {output}", err=True)


@click.command()
@click.argument("tables", nargs=-1, required=True, metavar="TABLE…")
@click.option("-o", "--output", metavar="TABLE", required=True, help="Where to write their sum.")
def merge(tables: tuple[str, ...], output: str) -> None:
    """Add up saved tables: the result is the table of all their rows."""
    from evenhand.tables.storage import load

    check_place("--output", output, {}, tables)
    total = load(tables[0])
    for path in tables[1:]:
        try:
            total = _added(total, load(path))
        except UsageError as error:
            raise UsageError(f"cannot add {shown(Path(path).name)}: {error}") from error
    total.save(output)
    click.echo(f"{total!r}\nsaved to {output}", err=True)


def _added(a: Any, b: Any) -> Any:
    if type(a) is not type(b):
        raise UsageError("one is a table of decisions or scores, the other one of classes (tabulate has --classes)")
    return a + b


@click.command()
@click.argument("data")
@click.option("--label", metavar="COL", help="Column with the true class.")
@click.option("--prediction", metavar="COL", help="Column with the predicted class.")
@click.option("--group", metavar="COL[,COL…]", help="Column(s) that divide people into groups.")
@click.option("--weight", metavar="COL", help="Column with weights; whole numbers count people.")
@click.option(
    "--weight-kind", type=click.Choice(["auto", "frequency", "sampling"]), help="How weights are meant  [default: auto]"
)
@click.option(
    "--missing", type=click.Choice(["refuse", "drop"]), help="What to do with incomplete rows  [default: refuse]"
)
@click.option("--where", metavar="COL=V[,V…]", multiple=True, help="Only rows with one of these values of a column.")
@classes
@click.option("--gamma", metavar="G", type=NUMBER, help="Limit of the difference or ratio threshold.")
@click.option("--positive", metavar="V", help="The class that --across-classes binary is about.")
@click.option("--attribute", metavar="COL", help="Compare by this group column  [default: the product of all]")
@click.option("--confidence", metavar="P", type=NUMBER, default=0.95, show_default=True, help="Level of intervals.")
@click.option("--bootstrap", metavar="N", type=WHOLE, default=1000, show_default=True, help="Resamples; 0 for none.")
@click.option("--permutations", metavar="N", type=WHOLE, default=1000, show_default=True, help="Exchanges; 0 for none.")
@click.option("--seed", metavar="N", type=WHOLE, default=0, show_default=True, help="Seed of the resampling.")
@views
def aggregate(data: str, seed: int, **words: Any) -> None:
    """Make one number of many classes and groups in DATA: rows, confusion counts, or a saved table."""
    from evenhand.analyses.classes.aggregate import aggregate as made

    paths = wanted(words, data)
    write(made(data, rng=seed, **read_words(words)), paths)
