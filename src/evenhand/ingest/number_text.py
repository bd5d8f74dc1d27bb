"""Numbers as text spells them: decimal commas, separated thousands, percentages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from evenhand.errors import shown
from evenhand.files.data_file import FileFormat

_SPACES = "[ \u00a0\u202f]"
_PERCENT = f"(.*[^ \u00a0\u202f]){_SPACES}*%"
_EXPONENT = "([eE][+-]?[0-9]+)?"
_INFINITE = "(?i:[+-]?(inf(inity)?|nan))"


@dataclass(frozen=True)
class Spelling:
    """How numbers are spelt. Patterns hold in Python and in SQL, so that both read alike.

    >>> Spelling(",").plain("1.234,5"), Spelling(",").plain("1.234"), Spelling(",", ".").plain("1.234")
    ('1234.5', None, '1234')
    """

    decimal: str = "."
    thousands: str | None = None

    @property
    def usual(self) -> bool:
        return self.decimal == "." and self.thousands is None

    @cached_property
    def _number(self) -> str:
        """A number without exponent. Separated thousands are read if they were stated, or can mean nothing else."""
        decimal = re.escape(self.decimal)
        groups = f"[1-9][0-9]{{0,2}}({self._separator}[0-9]{{3}})"
        forms = [f"[0-9]+({decimal}[0-9]*)?", f"{decimal}[0-9]+"]
        if self.thousands is not None:
            forms.append(f"{groups}+({decimal}[0-9]*)?")
        elif self.decimal == ",":
            forms += [f"{groups}+{decimal}[0-9]+", f"{groups}{{2,}}"]
        return f"[+-]?({'|'.join(forms)})"

    @property
    def _separator(self) -> str:
        if self.thousands is None:
            return r"\."
        return _SPACES if re.fullmatch(_SPACES, self.thousands) else re.escape(self.thousands)

    def plain(self, text: str, percent: bool = False) -> str | None:
        """A number as programs spell it; None if the text is none. 45 % is 45e-2, which no division can spoil."""
        text = text.strip()
        if percent:
            found = re.fullmatch(_PERCENT, text)
            inner = self.plain(found[1]) if found and re.fullmatch(self._number, found[1]) else None
            return inner and f"{inner}e-2"
        if not re.fullmatch(self._number + _EXPONENT, text):
            return None
        return text if self.usual else re.sub(self._separator, "", text).replace(self.decimal, ".")

    def sql(self, x: str, percent: bool = False) -> str:
        """SQL for the number that trimmed text spells, null if it spells none."""
        if self.usual and not percent:
            # an underscore between digits is a habit of programmers, not of data: let it fail
            return f"try_cast(replace({x}, '_', '?') AS DOUBLE)"
        number = self._number
        if percent:
            x, end = f"regexp_extract({x}, {_quoted(f'^{_PERCENT}$')}, 1)", " || 'e-2'"
        else:
            number, end = number + _EXPONENT, ""
        bare = x if self.usual else f"regexp_replace({x}, {_quoted(self._separator)}, '', 'g')"
        digits = f"replace({bare}, {_quoted(self.decimal)}, '.'){end}"
        infinite = f"CASE WHEN regexp_full_match({x}, {_quoted(_INFINITE)}) THEN {x} END"
        return (
            f"try_cast(CASE WHEN regexp_full_match({x}, {_quoted(number)}) THEN {digits} ELSE {infinite} END AS DOUBLE)"
        )

    def name_sql(self, x: str) -> str:
        """SQL for a name; a number with a decimal comma has the name that it has with a point."""
        if self.decimal == ".":
            return x
        return f"CASE WHEN regexp_full_match({x}, '[+-]?[0-9]+,[0-9]+') THEN replace({x}, ',', '.') ELSE {x} END"


USUAL = Spelling()


def spelling_of(format: FileFormat) -> Spelling:
    return Spelling(format.decimal or ".", format.thousands)


def is_percentage(text: str) -> bool:
    """Whether text ends like a percentage.

    >>> is_percentage("45 %"), is_percentage("45")
    (True, False)
    """
    return text.rstrip().endswith("%")


_OTHERS = (
    Spelling(","), Spelling(".", ","), Spelling(",", "."), Spelling(".", " "), Spelling(",", " "), Spelling(".", "'"),
    Spelling(",", "'"), Spelling(".", "’"),
)  # fmt: skip


def way_out(text: str, spelling: Spelling) -> str:
    """What can be done about text that is no number in this spelling: other spellings in which it is one.

    >>> way_out("0,75", Spelling())
    "if it is 0.75, say --decimal , (decimal=',')"
    >>> way_out("1.234", Spelling(","))
    "it may be 1.234 or 1234: say --decimal , --thousands . (decimal=',', thousands='.') if it is 1234"
    """
    if is_percentage(text):
        return "percentages are read as scores if all of a column are: make them one kind"
    found: dict[str, Spelling] = {}
    for other in (USUAL, *_OTHERS):
        number = other.plain(text)
        if number is not None and other != spelling:
            found.setdefault(number, other)
    if not found:
        return "repair it"
    if len(found) == 1:
        number, other = next(iter(found.items()))
        return f"if it is {number}, say {_as_said(other)}"
    said = [(number, other) for number, other in found.items() if not other.usual]
    ways = ", ".join(f"{_as_said(other)} if it is {number}" for number, other in said)
    return f"it may be {' or '.join(found)}: say {ways}"


def _as_said(spelling: Spelling) -> str:
    stated = {"decimal": spelling.decimal} if spelling.decimal != "." else {}
    if spelling.thousands is not None:
        stated["thousands"] = spelling.thousands
    flags = " ".join(f"--{name} {shown(c) if c in ' ' + chr(39) else c}" for name, c in stated.items())
    return f"{flags} ({', '.join(f'{name}={c!r}' for name, c in stated.items())})"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
