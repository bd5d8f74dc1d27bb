"""Options that commands share, the headings of their help, and how what a user writes is read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import Field, fields
from functools import partial
from typing import Any

import click

from evenhand.cli.files import ONE_FILE, READ, SHOWN, WRITTEN, Read, check_places
from evenhand.cli.output import FORMS
from evenhand.errors import UsageError, shown
from evenhand.files.data_file import FileFormat, with_format
from evenhand.inference.settings import Inference
from evenhand.ingest.roles import AUDIT_ONLY, MISSING, Roles

Decorator = Callable[[Any], Any]
WIDTH = 24
"""Of the column of options in a help text."""


# ---- headings -------------------------------------------------------------------------------------------------------


class _Option(click.Option):
    """An option that stands under a heading of its command's help."""

    def __init__(self, *flags: Any, heading: str = "Options", **settings: Any) -> None:
        super().__init__(*flags, **settings)
        self.heading = heading


class _Command(click.Command):
    """A command that shows its options under their headings, and overwrites nothing that it reads.

    What was said about the file that it reads goes with its path.
    """

    reads: str | None = None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            rest = super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if instead := AUDIT_ONLY.get(error.option_name.lstrip("-").replace("-", "_")):
                raise UsageError(instead) from None
            raise
        check_places(ctx)
        if self.reads is not None and not ctx.resilient_parsing:
            ctx.params[self.reads] = with_format(ctx.params[self.reads], ctx.params)
        return rest

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        headings: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            if isinstance(param, click.Option) and (record := param.get_help_record(ctx)):
                headings.setdefault(getattr(param, "heading", "Help"), []).append(record)
        for heading, records in headings.items():
            with formatter.section(heading):
                formatter.write_dl([(f"{flags:<{WIDTH}}", text) for flags, text in records], col_max=WIDTH)


def command(argument: str | None = None, reads: Read = READ, **settings: Any) -> Decorator:
    """A command with such options, which takes one argument, the name of what it reads, or none."""

    def give(function: Any) -> Any:
        if argument is None:
            return click.command(cls=_Command, **settings)(function)
        given = click.argument(argument, type=reads)(under("File", *FILE)(function))
        made = click.command(cls=_Command, **settings)(given)
        made.reads = argument
        made.params.sort(key=lambda param: getattr(param, "heading", "") == "File")
        return made

    return give


def option(*flags: str, **settings: Any) -> Callable[..., Decorator]:
    """An option of one command only, to be put under a heading; lists of names add up where it is said twice."""
    usual = {"cls": _Option, "show_default": True, "multiple": settings.get("callback") in (NAMES, IDS, ONE_OR_NAMES)}
    return partial(click.option, *flags, **{**usual, **settings})


def shared(name: str, **changes: Any) -> Callable[..., Decorator]:
    """An option that commands share, with what differs in one of them."""
    settings = {**SHARED[name], **changes}
    return option(f"--{name.replace('_', '-')}", *settings.pop("formerly", ()), **settings)


def under(heading: str, *chosen: str | Callable[..., Decorator]) -> Decorator:
    """Give a command options under a heading of its help: by default the usual ones.

    A name stands for an option that commands share.
    """

    def give(command: Any) -> Any:
        for one in reversed(chosen or USUAL[heading]):
            command = (shared(one) if isinstance(one, str) else one)(heading=heading)(command)
        return command

    return give


# ---- what a user writes ---------------------------------------------------------------------------------------------


def whole(text: str) -> int:
    """A whole number as people write it; Python's own int() also takes 1_0 and ٥."""
    return int(_plain(text))


def number(text: str) -> float:
    return float(_plain(text))


def _plain(text: str) -> str:
    if not text.isascii() or "_" in text:
        raise ValueError(text)
    return text


def _taking(what: str, read: Callable[[str], Any]) -> Callable[[Any], Any]:
    """What an option takes, as click wants it."""

    def checked(value: Any) -> Any:
        try:
            return read(str(value))
        except ValueError:
            raise click.BadParameter(f"{shown(value)} is not a {what}") from None

    return checked


WHOLE, NUMBER = _taking("whole number", whole), _taking("number", number)


def names(text: str, flag: str = "") -> list[str]:
    """Names between commas; a name that holds a comma is put in double quotes."""
    import csv

    try:
        return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    except csv.Error as error:
        raise UsageError(
            f"{shown(text)} is no list of names between commas: put a name with a line break in double quotes"
        ) from error


def ids(text: str, flag: str = "") -> list[str]:
    """Names between commas, none of them empty."""
    return [name for name in names(text) if name]


def numbers(text: str, flag: str) -> tuple[float, ...]:
    try:
        return tuple(number(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"{flag} takes numbers such as 0.65,0.7, not {shown(text)}") from None


def threshold(text: str) -> float | str:
    """A number, or a rule in words, which the analysis reads."""
    if text.strip() == "median" or text.startswith("quantile"):
        return text.strip()
    return number(text)


def thresholds(text: str, flag: str) -> tuple[float | str, ...]:
    """One, or one for each model."""
    try:
        return tuple(threshold(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"{flag} takes numbers such as 0.65,0.7, median or quantile:0.9, not {shown(text)}") from None


def whole_or_numbers(text: str, flag: str) -> int | tuple[float, ...]:
    try:
        return numbers(text, flag) if "," in text else whole(text)
    except ValueError:
        raise UsageError(f"{flag} takes a whole number such as 100 or values such as 1,2, not {shown(text)}") from None


def limits(text: str, flag: str) -> tuple[float, ...]:
    """A lower and an upper limit."""
    try:
        lower, upper = map(number, text.split(","))
    except ValueError:
        raise UsageError(f"{flag} takes two numbers such as 0,1, not {shown(text)}") from None
    return lower, upper


def number_or_name(text: str, flag: str = "") -> str | float:
    try:
        return number(text)
    except ValueError:
        return text


def values_by_column(texts: tuple[str, ...], flag: str) -> dict[str, list[str]]:
    """COL=V, or several values between commas, for each of several columns."""
    chosen: dict[str, list[str]] = {}
    for text in texts:
        column, equals, values = text.partition("=")
        if not equals or not column or not values or "" in (found := names(values)):
            raise UsageError(f"{flag} takes COL=V or COL=V,V such as split=test,valid, not {shown(text)}")
        if column in chosen:
            raise UsageError(f"{flag} names {shown(column)} twice: put its values together, as in {column}=V,V")
        chosen[column] = found
    return chosen


def bands_by_column(texts: tuple[str, ...], flag: str) -> dict[str, Any] | str:
    """COL=25,40,60 or COL=RULE for each of several columns; none of all."""
    if texts == ("none",):
        return "none"
    chosen: dict[str, Any] = {}
    for text in texts:
        column, equals, rule = text.rpartition("=")
        if not equals or not column or not rule.strip():
            raise UsageError(f"{flag} takes COL=25,40,60, COL=decades, COL=quantiles:4 or COL=none, not {shown(text)}")
        if column in chosen:
            raise UsageError(f"{flag} names {shown(column)} twice: choose one")
        chosen[column] = _band_rule(rule.strip(), flag)
    return chosen


def _band_rule(text: str, flag: str) -> Any:
    """Borders between commas, or a rule by its name."""
    try:
        return [_plain(part.strip()) and part.strip() for part in text.split(",") if number(part.strip()) is not None]
    except ValueError:
        return text


def texts_by_name(texts: tuple[str, ...], flag: str) -> dict[str, str]:
    """NAME=TEXT for each of several names."""
    chosen: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise UsageError(f"{flag} takes NAME=TEXT, not {shown(text)}")
        if name in chosen:
            raise UsageError(f"{flag} names {shown(name)} twice: choose one")
        chosen[name] = value
    return chosen


def said_options() -> list[str]:
    """The options of the running command that were said, not taken by default."""
    context = click.get_current_context()
    default = click.core.ParameterSource.DEFAULT
    return [name for name in context.params if context.get_parameter_source(name) is not default]


def numbers_by_id(texts: tuple[str, ...], flag: str) -> dict[str, float]:
    """ID=T for each of several measures."""
    chosen: dict[str, float] = {}
    for text in texts:
        id_, _, value = text.partition("=")
        try:
            tolerance = number(value)
        except ValueError:
            raise UsageError(f"{flag} takes ID=T such as abcc=0.05, not {shown(text)}") from None
        if id_ in chosen:
            raise UsageError(f"{flag} names {shown(id_)} twice: choose one")
        chosen[id_] = tolerance
    return chosen


def read_by(read: Callable[[Any, str], Any], one: bool = False, together: bool = False) -> Callable[..., Any]:
    """How click reads an option: all its values `together`, or one by one; a list of `one` becomes that one."""

    def callback(context: click.Context, param: click.Parameter, value: Any) -> Any:
        flag = param.opts[-1]
        if value is None or value == ():
            return None
        each = isinstance(value, tuple) and not together
        found = [part for text in value for part in read(text, flag)] if each else read(value, flag)
        return found[0] if one and len(found) == 1 else found

    return callback


NAMES, IDS, NUMBERS, ONE_OR_NAMES = read_by(names), read_by(ids), read_by(numbers), read_by(names, one=True)
THRESHOLDS = read_by(thresholds)
BY_NAME = read_by(texts_by_name, together=True)
BY_COLUMN, CELLS = read_by(values_by_column, together=True), read_by(whole_or_numbers)


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """What was said of the options of a command."""
    return {name: v for name, v in options.items() if v is not None and v is not False and v != ()}


def take(options: dict[str, Any], chosen: Collection[str]) -> dict[str, Any]:
    """What was said of some options, which are taken out of the others."""
    return given({name: options.pop(name) for name in chosen if name in options})


def references(columns: Collection[str], stated: tuple[str, ...]) -> str | dict[str, str] | None:
    """--reference V, or --reference COL=V for each of several columns; a group may be called 'a=b'."""
    by_column: dict[str, str] = {}
    for text in stated:
        column, equals, value = text.partition("=")
        if len(stated) == 1 and not (equals and column in columns):
            return text
        if not equals or (columns and column not in columns):
            raise UsageError(f"with several references say COL=V for each, not {shown(text)}")
        if column in by_column:
            raise UsageError(f"two references are given for {shown(column)}: choose one")
        by_column[column] = value
    return by_column or None


# ---- options that commands share ------------------------------------------------------------------------------------


def _of_field(field: Field[Any], passed: bool) -> dict[str, Any]:
    """The option for a field of `Roles` or `Inference`; a default that is not `passed` on is only shown."""
    settings = dict(field.metadata)
    choices = settings.pop("choices")
    if choices:
        settings["type"] = click.Choice(choices)
    elif field.default is False:
        settings["is_flag"] = True
    elif passed:
        settings["type"] = {float: NUMBER, int: WHOLE}[type(field.default)]
    if passed:
        settings["default"] = field.default
    elif field.default not in (None, False):
        settings["help"] += f"  [default: {field.default}]"
    return settings


_READ: dict[str, dict[str, Any]] = {
    "score": {"callback": ONE_OR_NAMES},
    "group": {"callback": NAMES},
    "depth": {"type": WHOLE},
    "header_row": {"type": WHOLE},
    "sheet": {"callback": read_by(lambda text, flag: int(text) if text.isascii() and text.isdigit() else text)},
    "score_range": {"callback": read_by(limits)},
    "where": {"callback": BY_COLUMN, "multiple": True},
    "bands": {"callback": read_by(bands_by_column, together=True), "multiple": True},
}
SHARED: dict[str, dict[str, Any]] = {
    # a saved table knows its roles, so that a default would contradict it
    **{role.name: _of_field(role, passed=False) | _READ.get(role.name, {}) for role in fields(Roles)},
    **{fact.name: _of_field(fact, passed=False) | _READ.get(fact.name, {}) for fact in fields(FileFormat)},
    **{setting.name: _of_field(setting, passed=True) for setting in fields(Inference)},
    "threshold": {"metavar": "T", "type": _taking("number; give one threshold, median or quantile:Q", threshold),
                  "help": "Favourable at scores ≥ T (--risk: < T), or strictly above the median or quantile:Q of all."},
    "top": {"metavar": "K", "help": "Select the best so many instead (100 or 10%), and who is tied with the last."},
    "reference": {"metavar": "V", "multiple": True,
                  "help": "Group to compare with, highest (the most often selected), or COL=V for each of several "
                  "columns  [default: the largest]"},
    "exclude_below": {"metavar": "SHARE", "help": "Show groups with a smaller share of the people, such as 2%, without "
                      "comparing them."},
    "within": {"metavar": "COL[,COL…]", "callback": NAMES,
               "help": "Compare within the strata of these columns too, and pooled over them."},
    "measures": {"metavar": "ID[,ID…]", "callback": IDS,
                 "help": "Only these measures, by their ids; all,ID adds one  [default: all]"},
    "ranks": {"type": click.Choice(["published", "mid"]), "default": "published", "help": "How ties are ranked."},
    "calibration_bins": {"metavar": "N", "type": WHOLE,
                         "help": "Bins of calibration bias, gap and error  [default: 50 of bias, 10 of the others]"},
    "bandwidth": {"metavar": "B", "default": "scott", "callback": read_by(number_or_name),
                  "help": "Bandwidth of densities: scott, silverman, common, or a share of the score range."},
    "tolerance": {"metavar": "ID=T", "multiple": True, "callback": read_by(numbers_by_id, together=True),
                  "help": "How large a gap by this measure may be (a ratio: how small)."},
    "metric": {"metavar": "RATE", "help": "tpr (default), fpr, ppv, selection_rate, f1, …"},
    "unit": {"metavar": "U", "help": "gap (default), score or ratio."},
    "across_groups": {"metavar": "F", "help": "Exponent of a mean (1), or a name such as 'max gap' or fairlib."},
    "across_classes": {"metavar": "F", "help": "Exponent of a mean (2), mean, quadratic mean, or binary."},
    "average": {"formerly": ("--baseline",), "metavar": "B", "help": "Compare with overall (default) or mean."},
    "empty": {"metavar": "R", "type": NUMBER, "help": "Rate of a cell without rows."},
    "html": {"metavar": "FILE|-", "type": SHOWN, "help": "Write the result as one self-contained page."},
    "markdown": {"metavar": "FILE|-", "type": SHOWN, "help": "Write the result as Markdown."},
    "json": {"metavar": "FILE|-", "type": SHOWN, "help": "Write the result as JSON; - for standard output."},
    "docx": {"metavar": "FILE", "type": WRITTEN, "help": "Write the result as a Word document."},
    "full": {"is_flag": True, "help": "Show every measure, not only the key ones."},
    "quiet": {"is_flag": True, "help": "Show the verdict alone."},
    "title": {"metavar": "TEXT", "help": "Title of the report."},
    "author": {"metavar": "NAME", "help": "Who answers for it."},
    "organisation": {"formerly": ("--organization",), "metavar": "NAME", "help": "For whom it was made."},
    "date": {"metavar": "DAY", "help": "A day such as 2026-03-01; a report has none by itself."},
    "source": {"metavar": "TEXT", "help": "Where the data come from, besides the name and hash of the file."},
    "logo": {"metavar": "FILE", "type": ONE_FILE, "help": "A PNG or JPEG of up to 200 kB."},
    "note": {"metavar": "FILE", "type": ONE_FILE, "help": "A text in Markdown to stand at the end."},
    "embed": {"type": click.Choice(["coarse", "exact", "none"]),
              "help": "Scores in --html: steps of at least 5 people of each group and outcome, every score, or no "
              "explorer  [default: coarse]"},
}  # fmt: skip

COMPLETE = click.Choice(MISSING)
"""What can be done with rows that lack a value, where these are no groups."""
FILE = tuple(fact.name for fact in fields(FileFormat))
COLUMNS = tuple(role.name for role in fields(Roles))
SCORES = ("ranks", "calibration_bins", "bandwidth", "tolerance")
INFERENCE = tuple(setting.name for setting in fields(Inference))
CLASSES = ("metric", "unit", "across_groups", "across_classes", "average", "empty")
COVER = ("title", "author", "organisation", "date", "source", "logo", "note")
USUAL = {
    "Columns": COLUMNS,
    "Decision": ("threshold", "top", "reference", "exclude_below"),
    "Measures": ("measures", *SCORES),
    "Inference": INFERENCE,
    "Output": FORMS,
    "To sign": COVER,
}
"""What stands under a heading where a command says nothing else."""
