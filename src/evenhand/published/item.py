"""What a document numbers, and what running it again gives."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand.report.charts.chart import Chart

DOCUMENTS = {
    "han-jiang": "Han, Jiang, Jin, Liu, Zou, Wang & Hu 2023",
    "exfairness": "ExFairness metric specification",
    "becker": "Becker, Dumitrasc & Broelemann 2024",
    "han-baldwin": "Han, Baldwin & Cohn 2023",
    "taskesen": "Taskesen, Blanchet, Kuhn & Nguyen 2021",
}
"""The five documents, in the order of docs/references.md, by how their items begin."""
SHORT = {
    "han-jiang": "Han, Jiang et al. 2023", "exfairness": "ExFairness", "becker": "Becker et al. 2024",
    "han-baldwin": "Han, Baldwin & Cohn 2023", "taskesen": "Taskesen et al. 2021",
}  # fmt: skip


@dataclass(frozen=True)
class Value:
    """A number of a document, by its row and column there, and ours.

    >>> value = Value("EO bias", "COMPAS", 0.161, 0.16136, 0.0005)
    >>> round(value.difference, 5), value.agrees
    (0.00036, True)
    """

    row: str
    column: str
    published: float | None
    """None where the document prints no number."""
    found: float
    """NaN where it is undefined."""
    tolerance: float = 0.0
    """How far apart the two may be: half a unit of the last printed digit, or what the document says of its spread."""

    @property
    def difference(self) -> float | None:
        """Ours minus theirs; NaN if ours is undefined."""
        return None if self.published is None else self.found - self.published

    @property
    def agrees(self) -> bool | None:
        """Whether both are alike, if a number is printed; what is undefined does not agree."""
        if self.difference is None:
            return None
        return bool(math.isfinite(self.difference) and abs(self.difference) <= self.tolerance + 1e-12)


@dataclass(frozen=True)
class Claim:
    """What a document says without a number, and whether it is so here."""

    says: str
    holds: bool
    seen: str = ""
    """The numbers it was judged by."""


@dataclass(frozen=True)
class Outcome:
    """What running an item gave."""

    values: tuple[Value, ...] = ()
    claims: tuple[Claim, ...] = ()
    charts: tuple[Chart, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Setting:
    """What an item is run with."""

    data: Path | None
    """The folder with the data sets."""
    runs: Path | None
    """Where trained runs are kept, so that a stopped one goes on."""
    full: bool
    """As many replications, splits and resamples as published, instead of what takes a minute."""
    seed: int
    progress: Callable[[float, str], None] = lambda fraction, text: None

    def file(self, name: str) -> Path:
        """A file of the data folder, which the item said it needs."""
        assert self.data is not None
        return self.data / name


WORDS = {
    "def": "definition", "eq": "equation", "fig": "figure", "lem": "lemma", "prop": "proposition", "sec": "section",
    "tab": "table", "thm": "theorem",
}  # fmt: skip


def slug(name: str) -> str:
    """A name as ids are written.

    >>> slug("Figure 4"), slug("Fig. C1"), slug("Eq. (2)"), slug("Theorem 4.10")
    ('figure-4', 'figure-c1', 'equation-2', 'theorem-4-10')
    """
    return "-".join(WORDS.get(word, word) for word in re.findall("[a-z0-9]+", name.lower()))


@dataclass(frozen=True)
class Item:
    """A numbered definition, theorem, table or figure, where it is in Evenhand, and how it is run."""

    id: str
    """The document and the label, such as `becker-table-1`."""
    label: str
    says: str
    """What it is about, in a few words."""
    place: str
    """The module of evenhand that has it, such as `measures.roc`."""
    command: str = ""
    """The command line that a user gives for it; without one that of `evenhand reproduce`."""
    run: Callable[[Setting], Outcome] | None = None
    """None of what is defined only: what shows it is a test, named by `test`."""
    test: str = ""
    """A test of it, such as `tests/measures/test_oracles.py`."""
    data: tuple[str, ...] = ()
    """Files of the data folder without which it cannot be run; `a|b` is either of two, `*` stands for any text."""
    libraries: tuple[str, ...] = ()
    """What must be installed, such as `torch`."""
    lacks: str = ""
    """What cannot be had, ending the sentence "not run: …"."""
    slow: bool = False
    """Takes minutes: run if it is named or with `full`."""

    @property
    def document(self) -> str:
        """The key of its document.

        >>> Item("han-jiang-table-1", "Table 1", "tabular data", "learn").document
        'han-jiang'
        """
        return next(key for key in DOCUMENTS if self.id.startswith(f"{key}-"))
