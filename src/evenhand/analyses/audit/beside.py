"""Several audits as the rows of one table, for a paper: models, data sets, or both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.analyses.audit.audit import Audit
from evenhand.analyses.audit.gaps import Gap
from evenhand.errors import UsageError, listed, same, shown, shown_name, truth, unknown, values_in
from evenhand.measures.measure import sized
from evenhand.measures.registry import Measure
from evenhand.report.format import interval, number
from evenhand.report.frame import rows_frame
from evenhand.report.latex import escaped as latex, tabular
from evenhand.report.markdown import escaped, finished, table
from evenhand.report.result import write
from evenhand.tables.arrays import Pair

if TYPE_CHECKING:
    from pathlib import Path

    from evenhand.analyses.audit.attribute import AttributeAudit

_TYPES = {
    "name": "str", "attribute": "str", "measure": "str", "group": "str", "reference": "str", "value": "float",
    "ci_low": "float", "ci_high": "float", "best": "bool", "undefined": "str",
}  # fmt: skip
DIGITS = 3


@dataclass(frozen=True)
class Cell:
    """One measure of one audit."""

    measure: Measure
    group: str | None
    """None, and no reference, if no pair of groups has the measure."""
    reference: str | None
    value: float
    """With its sign, of a comparison that has one."""
    ci: Pair | None
    undefined: str | None
    signed: bool
    largest: bool = False
    """Whether this is the pair of groups that differs most."""

    @property
    def apart(self) -> Pair | None:
        """Between what the size of the gap lies, 0 being parity: of a ratio, how far the lower is below the higher."""
        if self.undefined is not None or self.ci is None:
            return None
        ratio, parity = self.measure.scale == "ratio", 1.0 if self.measure.scale == "ratio" else 0.0
        ends = [1 - float(s) if ratio else float(s) for s in sized(self.measure, list(self.ci))]
        least = 0.0 if self.ci[0] <= parity <= self.ci[1] else min(ends)
        return least, max(ends)

    @property
    def text(self) -> str:
        """The value and its interval."""
        if self.undefined is not None:
            return number(None)
        ends = "" if self.ci is None else f" ({interval(self.ci, sign=self.signed, join=', ')})"
        return f"{number(self.value, sign=self.signed, digits=DIGITS)}{ends}"


@dataclass(frozen=True)
class Line:
    """One audit."""

    name: str
    attribute: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, repr=False)
class SideBySide:
    """Audits as rows, measures as columns. Print it, or take `to_latex`, `to_markdown`, `to_frame`."""

    lines: tuple[Line, ...]
    library: str | None = None

    @property
    def best(self) -> tuple[int | None, ...]:
        """Of each measure the row with the smallest gap, if its interval ends below those of all others."""
        return tuple(_smallest([line.cells[i] for line in self.lines]) for i in range(len(self.lines[0].cells)))

    def to_latex(self, path: str | Path | None = None, *, booktabs: bool = False) -> str:
        """The table in LaTeX, also written to a file if a path is given; the best value of a column in bold."""
        bold = self._texts(latex, r"\textbf{{{}}}".format)
        heads = [latex(head) for head in self._heads]
        return write(tabular(heads, bold, booktabs=truth("booktabs", booktabs)), path)

    def to_markdown(self, path: str | Path | None = None) -> str:
        """The table in Markdown, also written to a file if a path is given."""
        lines = table([escaped(head) for head in self._heads], self._texts(escaped, "**{}**".format))
        return write(finished([*lines, escaped(self.legend)]), path)

    def to_frame(self, library: str | None = None) -> Any:
        """One row per audit and measure as a dataframe, in the library of the first data (or the one named)."""
        rows = [
            {
                "name": line.name, "attribute": line.attribute, "measure": cell.measure.id, "group": cell.group,
                "reference": cell.reference, "value": None if cell.undefined else cell.value,
                **dict(zip(("ci_low", "ci_high"), cell.ci or (None, None), strict=True)),
                "best": best == i, "undefined": cell.undefined,
            }
            for i, line in enumerate(self.lines)
            for cell, best in zip(line.cells, self.best, strict=True)
        ]  # fmt: skip
        return rows_frame(rows, _TYPES, self.library if library is None else library)

    @property
    def legend(self) -> str:
        """How to read the table."""
        pairs = dict.fromkeys(_whom(line) for line in self.lines)
        return f"{'; '.join(pairs)}. Bold: the smallest gap, where its interval ends below those of all others."

    @property
    def _heads(self) -> list[str]:
        return ["", *(cell.measure.title for cell in self.lines[0].cells)]

    def _texts(self, taken: Any, bold: Any) -> list[list[str]]:
        return [
            [
                taken(shown_name(line.name)),
                *(
                    bold(taken(cell.text)) if best == i else taken(cell.text)
                    for cell, best in zip(line.cells, self.best, strict=True)
                ),
            ]
            for i, line in enumerate(self.lines)
        ]

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    def __repr__(self) -> str:
        return self.to_markdown().rstrip("\n")


def side_by_side(
    audits: Mapping[str, Audit],
    *,
    measures: Sequence[str] | None = None,
    attribute: str | Mapping[str, str] | None = None,
    group: str | Mapping[str, str] | None = None,
) -> SideBySide:
    """Several audits as one table: a row for each, under its name, and a column for each measure with its interval.

    Compared are the group named (`group`, for all or by row) and its reference; without a name the only other group,
    or of more groups the most different pair by each measure. The attribute is the first of each audit, or the one
    named (for all or by row); measures are by default the key measures that all audits have.

    >>> import evenhand
    >>> table = evenhand.compas()
    >>> options = {"reference": "Caucasian", "measures": ["disparate_impact", "equal_opportunity"]}
    >>> audits = {f"below {t}": evenhand.audit(table, threshold=t, **options) for t in (4, 8)}
    >>> print(evenhand.side_by_side(audits))
    |  | disparate impact | equal opportunity |
    |---|---:|---:|
    | below 4 | 0.574 (0.540, 0.610) | -0.214 (-0.247, -0.181) |
    | below 8 | **0.814 (0.794, 0.835)** | **-0.104 (-0.124, -0.083)** |
    <BLANKLINE>
    African-American against Caucasian. Bold: the smallest gap, where its interval ends below those of all others.
    """
    if not isinstance(audits, Mapping) or not audits:
        raise UsageError(f"audits is a dict from names to audits, such as {{'a': audit}}, not {shown(audits)}")
    for name, one in audits.items():
        if not isinstance(one, Audit):
            raise UsageError(f"{shown(name)} is not the audit of one score, but {shown(one)}: audit each by itself")
    chosen = {name: _attribute(one, _of_row("attribute", attribute, name, audits)) for name, one in audits.items()}
    ids = _measures(chosen, measures)
    lines = [
        Line(str(name), a.name, tuple(_cell(a, id_, _of_row("group", group, name, audits), name) for id_ in ids))
        for name, a in chosen.items()
    ]
    return SideBySide(tuple(lines), next(iter(audits.values())).library)


def _of_row(option: str, stated: Any, name: str, audits: Mapping[str, Audit]) -> Any:
    """What was said for all rows, or for one of them."""
    if not isinstance(stated, Mapping):
        return stated
    for row in stated:
        if row not in audits:
            raise unknown(f"{option} is said of a row that is not there,", row, map(str, audits))
    return stated.get(name)


def _attribute(audit: Audit, name: Any) -> AttributeAudit:
    for a in audit.attributes:
        if name is None or same(name, a.name):
            return a
    raise unknown("this audit has no attribute", name, [a.name for a in audit.attributes])


def _measures(chosen: Mapping[str, AttributeAudit], stated: Any) -> list[str]:
    """Those that were named, or the key measures of all."""
    if stated is not None:
        named = values_in(stated)
        if not named or not all(isinstance(id_, str) for id_ in named):
            raise UsageError(f"measures is a list of ids, not {shown(stated)}")
        return list(dict.fromkeys(named))
    first, *rest = chosen.values()
    common = [id_ for id_ in first.key if all(id_ in a.key for a in rest)]
    if not common:
        raise UsageError(f"no key measure is one of all these audits ({listed(chosen)}): name measures")
    return common


def _cell(a: AttributeAudit, id_: Any, group: Any, row: str) -> Cell:
    """One measure of one audit, of the group named, the only one, or the most different pair."""
    own = [gap for gap in a.measures if same(id_, gap.id)]
    if not own:
        raise unknown(f"{shown(row)} has no measure", id_, [gap.id for gap in a.measures], 40)
    if group is None and len(own) > 1:
        found = next((one for one in a.largest if one.id == own[0].id), None)
        if found is None:
            return Cell(
                own[0].measure, None, None, np.nan, None, "because no pair of all groups was looked for", False, True
            )
        first, second = found.pair or (None, None)
        return Cell(found.measure, first, second, found.value, found.ci, found.undefined, False, True)
    for gap in own:
        if group is None or same(group, gap.group):
            return _of_gap(gap)
    raise unknown(f"{shown(row)} compares no group", group, [gap.group for gap in own])


def _of_gap(gap: Gap) -> Cell:
    signed = gap.measure.signed and gap.signed is not None
    return Cell(gap.measure, gap.group, gap.reference, gap.estimate, gap.ci, gap.undefined, signed)


def _smallest(cells: Sequence[Cell]) -> int | None:
    """The cell whose interval ends below all others, if everything is known."""
    ends = [cell.apart for cell in cells]
    if len(cells) < 2 or None in ends:
        return None
    known = [pair for pair in ends if pair is not None]
    first = min(range(len(known)), key=lambda i: known[i][1])
    others = [low for i, (low, _) in enumerate(known) if i != first]
    return first if known[first][1] < min(others) else None


def _whom(line: Line) -> str:
    """Who is compared in a row."""
    if line.cells[0].largest:
        return f"the most different pair of groups of {shown_name(line.attribute)}"
    return f"{shown_name(line.cells[0].group)} against {shown_name(line.cells[0].reference)}"
