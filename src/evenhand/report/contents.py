"""What a report says: the answer first, then tables. Its page and its Markdown are made of this, so they agree."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from evenhand.errors import shown_name
from evenhand.report.format import number as written, percent

Mood = Literal["good", "bad", "warn", "plain"]


class Name(str):
    """A name from the data: it is shortened, and does not turn the text around it."""

    __slots__ = ()


class Code(str):
    """What is typed: a command, an option, an id."""

    __slots__ = ()


@dataclass(frozen=True)
class Number:
    """A number as it is written, and its value, by which a table is sorted."""

    text: str
    value: float | None


@dataclass(frozen=True)
class Word:
    """A word that has a colour; in Markdown what is bad is bold."""

    text: str
    mood: Mood = "plain"


Cell = str | Number | Word | tuple[Any, ...]
"""A tuple is one after another."""


@dataclass(frozen=True)
class Sheet:
    """A table. The first column names the rows; columns of `texts` hold words, the others numbers.

    The rows that matter most come first: those that do not fit are counted. A row of one cell is a heading.
    """

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    texts: Collection[str] = ()
    legend: str | None = None
    sortable: bool = False


@dataclass(frozen=True)
class Box:
    """Something found, under a heading of its own."""

    heading: str
    text: str
    mood: Mood = "plain"


@dataclass(frozen=True)
class Points:
    """Sentences below one another."""

    lines: Sequence[str]


@dataclass(frozen=True)
class Command:
    """What to type, in lines that can be copied."""

    text: str


Part = str | Sheet | Box | Points | Command
"""A text is a paragraph."""


@dataclass(frozen=True)
class Section:
    """A heading, and what is below it; one that is `minor` is on the page only, folded."""

    id: str
    heading: str
    parts: Sequence[Part]
    minor: bool = False


@dataclass(frozen=True)
class Contents:
    """A whole report: a title, whom it is about, the answer with its mood, then sections."""

    title: str
    about: Sequence[str]
    answer: str
    said: Sequence[str] = ()
    mood: Mood = "plain"
    sections: Sequence[Section] = ()
    notes: Sequence[str] = ()
    command: str | None = None
    """What gives it again, of the same file."""
    options: dict[str, Any] = field(default_factory=dict)
    """What it takes to repeat it."""


def figure(value: float | None, **how: Any) -> Number:
    """A number as `report.format.number` writes it.

    >>> figure(0.5, sign=True), figure(None).text
    (Number(text='+0.500', value=0.5), '–')
    """
    return Number(written(value, **how), value)


def share(value: float | None, **how: Any) -> Number:
    """A share in percent."""
    return Number(percent(value, **how), value)


def count(value: float | None) -> Number:
    """So many; of weighted people perhaps not a whole number.

    >>> count(1200).text, count(0.5).text
    ('1,200', '0.5')
    """
    return Number("–" if value is None else f"{value:,.15g}" if value < 1e15 else f"{value:,.0f}", value)


def joined(names: Iterable[object], most: int = 5, limit: int = 40) -> str:
    """Names in a sentence.

    >>> joined(["a", "b", "c"]), joined("abcdefg", most=3)
    ('a, b and c', 'a, b, c and 4 more')
    """
    known = [shown_name(name, limit) for name in names]
    if len(known) > most:
        return f"{', '.join(known[:most])} and {len(known) - most:,} more"
    return ", ".join(known[:-1]) + (" and " if known[:-1] else "") + (known[-1] if known else "")


def left_out(data: dict[str, Any]) -> list[str]:
    """How many rows the data lack, by reason."""
    return [f"left out: {n:,} rows {shown_name(reason, 100)}" for reason, n in data["left_out"].items()]


def several(n: int, one: str, many: str | None = None) -> str:
    """So many of something.

    >>> several(1, "rule"), several(1200, "person", "people")
    ('1 rule', '1,200 people')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def capital(text: str) -> str:
    """A text that begins a sentence."""
    return text[:1].upper() + text[1:]
