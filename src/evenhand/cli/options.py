"""What a user says on the command line, and how it is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from evenhand.errors import UsageError, shown

Command = Callable[..., Any]


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

    def taken(value: Any) -> Any:
        try:
            return read(str(value))
        except ValueError:
            raise click.BadParameter(f"{shown(value)} is not a {what}") from None

    return taken


WHOLE, NUMBER = _taking("whole number", whole), _taking("number", number)


def columns(command: Command) -> Command:
    """The words that say how data are to be read."""
    options = (
        click.option(
            "--score",
            metavar="COL[,COL…]",
            help="Column with the score of each person; several to compare models (audit).",
        ),
        click.option("--label", metavar="COL", help="Column with the true outcome."),
        click.option("--group", metavar="COL[,COL…]", help="Column(s) that divide people into groups."),
        click.option("--prediction", metavar="COL", help="Column with the decision, instead of a threshold."),
        click.option("--weight", metavar="COL", help="Column with weights; whole numbers count people."),
        click.option(
            "--weight-kind",
            type=click.Choice(["auto", "frequency", "sampling"]),
            help="How weights are meant; auto takes whole numbers for numbers of people.",
        ),
        click.option("--cluster", metavar="COL", help="Column that tells which rows belong to one person."),
        click.option("--favorable", metavar="V", help="The good value of label and prediction  [default: 1]"),
        click.option("--risk", is_flag=True, help="A high score is bad for the person."),
        click.option("--score-range", metavar="LO,HI", help="Lowest and highest possible score."),
        click.option(
            "--missing",
            type=click.Choice(["refuse", "drop"]),
            help="What to do with incomplete rows  [default: refuse]",
        ),
        click.option(
            "--where", metavar="COL=V[,V…]", multiple=True, help="Only rows with one of these values of a column."
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def cells(command: Command) -> Command:
    """The words that say in which cells very many scores are counted."""
    options = (
        click.option("--grid", metavar="TABLE", help="Count in the cells of this saved table, so that both add up."),
        click.option("--exact", is_flag=True, help="Keep every distinct score, whatever it costs."),
        click.option("--cut", metavar="SCORE[,…]", multiple=True, help="A threshold that must stay exact."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def classes(command: Command) -> Command:
    """The words that say how many classes become one number."""
    options = (
        click.option("--metric", metavar="RATE", help="Of classes: tpr (default), fpr, ppv, selection_rate, f1, …"),
        click.option("--unit", metavar="U", help="Of classes: gap (default), score or ratio."),
        click.option(
            "--across-groups", metavar="F", help="Of classes: a power (1), or a name such as 'max gap' or fairlib."
        ),
        click.option("--across-classes", metavar="F", help="Of classes: a power (2), mean, quadratic mean, binary."),
        click.option("--baseline", "average", metavar="B", help="Of classes: compare with overall (default) or mean."),
        click.option("--empty", metavar="R", type=NUMBER, help="Of classes: what a cell without rows counts as."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def auditing(command: Command) -> Command:
    """The words that say how groups are to be compared."""
    options = (
        click.option(
            "--threshold", metavar="T[,T…]", help="Favourable at scores ≥ T (risk scores: < T); one, or one a score."
        ),
        click.option(
            "--reference",
            metavar="V",
            multiple=True,
            help="Group to compare with, or COL=V for one of several columns  [default: the largest]",
        ),
        click.option(
            "--confidence", metavar="P", type=NUMBER, default=0.95, show_default=True, help="Level of intervals."
        ),
        click.option(
            "--bootstrap", metavar="N", type=WHOLE, default=1000, show_default=True, help="Resamples; 0 for none."
        ),
        click.option(
            "--measures",
            metavar="ID[,ID…]",
            help="Only these measures, by their ids in JSON  [default: all]",
        ),
        click.option(
            "--ranks",
            type=click.Choice(["published", "mid"]),
            default="published",
            show_default=True,
            help="How tied scores are ranked.",
        ),
        click.option(
            "--calibration-bins",
            metavar="N",
            type=WHOLE,
            default=50,
            show_default=True,
            help="Bins of calibration bias.",
        ),
        click.option(
            "--bandwidth",
            metavar="B",
            default="scott",
            show_default=True,
            help="Of densities: scott, silverman, or a share of the score range.",
        ),
        click.option(
            "--permutations",
            metavar="N",
            type=WHOLE,
            default=1000,
            show_default=True,
            help="Tables with exchanged groups, for p-values and the noise floor; 0 for none.",
        ),
        click.option(
            "--null",
            type=click.Choice(["concept", "published"]),
            default="concept",
            show_default=True,
            help="Who exchanges groups: whom a measure calls alike, or everybody.",
        ),
        click.option(
            "--interval",
            type=click.Choice(["auto", "percentile", "basic", "bca"]),
            default="auto",
            show_default=True,
            help="The best known intervals, or ordinary bootstrap ones.",
        ),
        click.option("--stratified", is_flag=True, help="Resamples keep the size of every group."),
        click.option("--seed", metavar="N", type=WHOLE, default=0, show_default=True, help="Seed of the resampling."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def read_words(words: dict[str, Any]) -> dict[str, Any]:
    """Command-line words as `tabulate` takes them; those not said are left out."""
    read = {k: v for k, v in words.items() if v is not None and v is not False and v != ()}
    if "where" in read:
        read["where"] = where_rows(read["where"])
    if "group" in read:
        read["group"] = split(read["group"])
    if "score" in read:
        names = split(read["score"])
        read["score"] = names[0] if len(names) == 1 else names
    if "score_range" in read:
        parts = read["score_range"].split(",")
        try:
            lo, hi = map(number, parts)
        except ValueError:
            raise UsageError(f"--score-range takes two numbers such as 0,1, not {shown(read['score_range'])}") from None
        read["score_range"] = (lo, hi)
    return read


def read_cells(words: dict[str, Any]) -> dict[str, Any]:
    """In which cells to count, taken out of the words."""
    grid, exact, cut = words.pop("grid"), words.pop("exact"), words.pop("cut")
    said = [word for word, value in (("--grid", grid is not None), ("--exact", exact), ("--cut", cut)) if value]
    if said and words["score"] is None:
        raise UsageError(f"{said[0]} is about scores: name their column too (--score)")
    if exact and len(said) > 1:
        raise UsageError(f"--exact keeps every score, so there is no use for {said[said[0] == '--exact']}: choose one")
    if grid is not None and cut:
        raise UsageError("--grid takes the cells of a table as they are: leave --cut out, or make that table with it")
    cuts = tuple(c for text in cut for c in numbers(text, "cut"))
    return {k: v for k, v in {"grid": False if exact else grid, "cuts": cuts}.items() if v is not None and v != ()}


def where_rows(stated: tuple[str, ...], word: str = "where") -> dict[str, list[str]]:
    """--where COL=V, or several values between commas."""
    chosen = {}
    for text in stated:
        column, equals, values = text.partition("=")
        if not equals or not column or not values or "" in (found := split(values)):
            raise UsageError(f"--{word} takes COL=V or COL=V,V such as split=test,valid, not {shown(text)}")
        if column in chosen:
            raise UsageError(f"--{word} names {shown(column)} twice: put its values together, as in {column}=V,V")
        chosen[column] = found
    return chosen


def split(text: str) -> list[str]:
    """Names between commas; a name that holds a comma is put in double quotes."""
    import csv

    try:
        return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    except csv.Error as error:
        raise UsageError(
            f"{shown(text)} is no list of names between commas: put a name with a line break in double quotes"
        ) from error


def numbers(text: str, word: str) -> tuple[float, ...]:
    try:
        return tuple(number(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"--{word.replace('_', '-')} takes numbers such as 0.65,0.7, not {shown(text)}") from None


def number_or_word(text: str) -> str | float:
    try:
        return number(text)
    except ValueError:
        return text


def references(table: Any, stated: tuple[str, ...]) -> str | dict[str, str] | None:
    """--reference V, or --reference COL=V for each of several columns; a group may be called 'a=b'."""
    names = [a.name for a in table.attributes]
    by_column = {}
    for text in stated:
        column, equals, value = text.partition("=")
        if equals and column in names:
            if column in by_column:
                raise UsageError(f"two references are given for {shown(column)}: choose one")
            by_column[column] = value
        elif len(stated) == 1:
            return text
        else:
            raise UsageError(f"with several references say COL=V for each, not {shown(text)}")
    return by_column or None
