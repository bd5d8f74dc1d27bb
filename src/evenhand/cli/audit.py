"""The commands that audit: demo, audit."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from evenhand.cli.files import MAPPED, ONE_FILE, READ
from evenhand.cli.options import (
    BY_NAME,
    CLASSES,
    COLUMNS,
    COVER,
    NAMES,
    THRESHOLDS,
    command,
    option,
    references,
    said_options,
    shared,
    take,
    under,
)
from evenhand.cli.output import FORMS, progress_bar, say, wanted, write
from evenhand.errors import EvenhandError, UsageError

_MODELS = ("performance", "fairness")


@command()
@under("Decision")
@under("Measures")
@under("Inference")
@under("Output", "full", "quiet", *FORMS, "docx", "embed")
@under("To sign")
def demo(**options: Any) -> None:
    """Audit the built-in COMPAS recidivism scores (no file, no network)."""
    from evenhand.datasets.example import compas

    if options["top"] is None and options["threshold"] is None:
        options["threshold"] = 5.0
    options["reference"] = options["reference"] or ("Caucasian",)
    _show(compas(), {}, options)


@command("data")
@under("Columns")
@under(
    "Decision",
    shared("threshold", metavar="T[,T…]", type=str, callback=THRESHOLDS,
           help="Favourable at scores ≥ T (--risk: < T), or strictly above the median or quantile:Q; one for all "
           "scores, or one for each."),
    "top",
    "reference",
    "exclude_below",
    shared("within"),
)  # fmt: skip
@under("Measures")
@under("Inference")
@under(
    "Rule",
    option("--profile", metavar="NAME[@DATE]|FILE", type=ONE_FILE,
           help="The options and tables of a rule (evenhand profiles)."),
    option("--fact", "facts", metavar="ID=TEXT", multiple=True, callback=BY_NAME,
           help="Something that the rule wants stated."),
    option("--population", metavar="FILE", type=READ,
           help="A TOML file of shares of a population: a table for each column, group = share."),
    option("--map", metavar="COL=FILE", type=MAPPED, multiple=True, callback=BY_NAME,
           help="A TOML file with a line for each value of a group column: value = \"name\"."),
)  # fmt: skip
@under(
    "Output", "full", "quiet", *FORMS, "docx", "embed",
    option("--also", metavar="JSON", type=READ, multiple=True,
           help="Add a section to --html: the JSON of individual, counterfactual or projection-test."),
)  # fmt: skip
@under("To sign")
@under(
    "Several models only",
    option("--performance", metavar="P", help="accuracy (default), auroc, brier, …"),
    option("--fairness", metavar="ID", help="Measure of the trade-off with performance."),
)
@under(
    "Groups as probabilities",
    option(
        "--group-probability",
        metavar="COL,COL[,…]",
        callback=NAMES,
        help="Instead of --group: columns of probabilities that add up to 1.",
    ),
    option("--proxy-cell", metavar="COL", help="Correct within the values of this column, such as a zip code."),
)
@under("Multi-class only", *CLASSES)
def audit(data: str, also: tuple[str, ...], **options: Any) -> None:
    """Audit DATA: a file, folder or glob, or a saved table.

    CSV, Parquet, Arrow, JSON lines, Excel, LibreOffice, SAS, SPSS, Stata and R are read.
    """
    columns = take(options, COLUMNS)
    probable = take(options, ("group_probability", "proxy_cell"))
    if not columns and not probable:
        _propose(data)
    if probable:
        _show_probable(data, {**columns, **probable}, options, also)
    else:
        _show(data, columns, options, also)


def _show_probable(data: str, columns: dict[str, Any], options: dict[str, Any], also: tuple[str, ...]) -> None:
    """The audit of groups that are known as probabilities."""
    from evenhand.analyses.entry import audit as run

    paths = wanted(options)
    flags = [flag for flag in ("full", "quiet", "docx", "embed", *COVER) if options.pop(flag, None)]
    if flags or also or "docx" in paths:
        flag = next(iter(flags), "also" if also else "docx")
        raise UsageError(f"--{flag} is for groups that are known: leave it out")
    seed, threshold, stated = (options.pop(k) for k in ("seed", "threshold", "reference"))
    if len(stated) > 1:
        raise UsageError("groups as probabilities have one reference: name one of the columns")
    one = threshold[0] if isinstance(threshold, tuple) and len(threshold) == 1 else threshold
    with progress_bar() as progress:
        result = run(
            data, **columns, **options, threshold=one, reference=next(iter(stated), None), rng=seed, progress=progress
        )
    write(result, paths)


def _propose(data: Any) -> None:
    """End with a proposal of columns if nobody named any and the data are rows."""
    from evenhand.cli.init import proposed
    from evenhand.ingest.confusion_counts import roles_of_counts
    from evenhand.ingest.engines.found import kind_by_name
    from evenhand.ingest.roles import Roles
    from evenhand.tables.storage import is_table_file

    if is_table_file(data) or roles_of_counts(data, Roles()) is not None:
        return
    try:
        text = proposed(data)
    except EvenhandError:
        if kind_by_name(os.fspath(data)) in (None, "parquet"):
            return  # it may be a saved table: whoever reads it as one says what is wrong with it
        raise
    say(f"{text}\n")
    raise UsageError("nothing was audited: name the columns; above is what they look like (evenhand init)")


def _others(also: tuple[str, ...]) -> list[dict[str, Any]]:
    """What other commands wrote as JSON."""
    from evenhand.analyses.audit.attachments import documents, read_document, sections
    from evenhand.files.paths import naming
    from evenhand.report.page.figures import Room

    found = []
    for path in also:
        with naming(path):
            found += documents([read_document(path)])
            sections(found[-1:], Room())  # better known before the data are counted
    return found


def _profile(data: Any, columns: dict[str, Any], options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The profile that was asked for, and the options that it adds to those that were said."""
    profile, facts, population = (options.pop(name, None) for name in ("profile", "facts", "population"))
    if profile is None:
        if facts or population:
            raise UsageError("--fact and --population state something for a profile: name one (--profile)")
        return None, {}
    from evenhand.analyses.profiles.use import taken
    from evenhand.files.toml import read_toml

    shares = None if population is None else read_toml(population, "list of shares")[0]

    stated = {name: options[name] for name in said_options() if name in options and options[name] != ()}
    for name in ("reference", "threshold"):
        if isinstance(stated.get(name), tuple) and len(stated[name]) == 1:
            (stated[name],) = stated[name]
    _, use, added = taken(data, profile, facts, shares, {**columns, **stated})
    if "reference" in added:
        added["reference"] = (added["reference"],)
    return use, added


def _maps(files: dict[str, str] | None) -> dict[str, dict[str, Any]] | None:
    """What groups are called, by column, from the files that say so."""
    from evenhand.files.toml import read_toml

    return {column: read_toml(path, "map of values")[0] for column, path in files.items()} if files else None


def _cover(data: Any, options: dict[str, Any]) -> tuple[Any, list[str]]:
    """What the report is signed with, and the options that say so, taken out of the others."""
    from evenhand.files.paths import as_path, is_file
    from evenhand.report.cover import Cover, read_note

    said = take(options, COVER)
    if not said:
        return None, []
    file = data if isinstance(data, str | os.PathLike) and is_file(as_path(data)) else None
    note = {"note": read_note(said["note"])} if "note" in said else {}
    return Cover(**{**said, **note}, file=file), [*said]


def _show(data: Any, columns: dict[str, Any], options: dict[str, Any], also: tuple[str, ...] = ()) -> None:
    from evenhand.analyses.audit.audit import Audit
    from evenhand.analyses.audit.repeated import reading_of
    from evenhand.analyses.classes.aggregate import class_choices
    from evenhand.analyses.entry import audit as run
    from evenhand.analyses.options import checked, chosen_measures, cuts_of
    from evenhand.ingest.resolve import as_counts
    from evenhand.ingest.roles import Roles, picked
    from evenhand.ingest.strata import with_strata
    from evenhand.report.console import Harmless

    paths = wanted(options)
    full, quiet = options.pop("full"), options.pop("quiet")
    if full and quiet:
        raise UsageError("--full shows everything and --quiet hardly anything: say one of them")
    asked_for = {"also": also, "embed": options.pop("embed", None)}
    page = {flag: value for flag, value in asked_for.items() if value}
    for flag in page if "html" not in paths else ():
        raise UsageError(f"--{flag} says what is on a page: say --html FILE too")
    if "docx" in paths:
        from evenhand.report.word import library

        library()  # better known before the data are counted
    page |= {"also": _others(also)} if also else {}
    use, more = _profile(data, columns, options)
    options |= {name: value for name, value in more.items() if name not in COLUMNS}
    columns |= {name: value for name, value in more.items() if name in COLUMNS}
    names = _maps(options.pop("map", None))
    cover, signing = _cover(data, options)
    seed, threshold, stated, measures = (options.pop(k) for k in ("seed", "threshold", "reference", "measures"))
    models, classes = take(options, _MODELS), take(options, CLASSES)
    class_choices(**classes)  # refuse what makes no sense before the data are read
    for one in threshold if isinstance(threshold, tuple) else ():
        checked(one, 0.95, 0, 0)
    if isinstance(threshold, tuple) and len(threshold) == 1:
        threshold = threshold[0]
    within = options.pop("within", None)
    asked = checked(threshold if isinstance(threshold, float | str) else None, **options, rng=seed)
    chosen_measures(measures)
    with progress_bar() as progress:
        progress(0, "counting rows")
        roles = with_strata(picked(Roles, columns), within)
        table = as_counts(data, roles, cuts_of(asked))
        reference = references([a.name for a in table.attributes], stated)
        options |= {
            **classes,
            **models,
            "threshold": threshold,
            "reference": reference,
            "measures": measures,
            "within": within,
            "profile": use,
            "map": names,
        }
        result = run(table, **options, rng=seed, progress=progress)
    of_one = [*page, *(["quiet"] if quiet else []), *signing, *({"docx"} & {*paths})]
    if of_one and not isinstance(result, Audit):
        raise UsageError(f"--{of_one[0]} is for the audit of one score: audit several scores, or classes, without it")
    if isinstance(result, Audit):
        mapped = result.reading
        result = replace(result, reading=(*reading_of(roles), *mapped), cover=cover)
    drawn: Any = result
    if isinstance(result, Audit) and (full or quiet):
        from evenhand.analyses.audit.text import render

        drawn = Harmless(render(result.to_dict(), "full" if full else "verdict"))
    write(result, paths, drawn, **page)
