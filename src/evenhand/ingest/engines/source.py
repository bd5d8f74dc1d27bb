"""A relation of DuckDB, and what a reader of it has to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from evenhand.files.paths import identifier
from evenhand.ingest.number_text import USUAL, Spelling, is_percentage
from evenhand.ingest.progress import followed
from evenhand.ingest.values import NO_VALUE, Encoded, name_of


class Labels(NamedTuple):
    """What a file calls the values of a column."""

    names: Mapping[str, str]
    """Names by the names that values have themselves; none if those are kept."""
    note: str


@dataclass(frozen=True)
class Source:
    """A relation, and what a reader of it has to know."""

    relation: Any
    connection: Any = None
    """The connection that belongs to the source; None for a relation of the user's."""
    label: str = "the data"
    values: Literal["typed", "text", "json"] = "typed"
    """How columns arrive. CSV is read as text and JSON as JSON, so that no type is guessed from a sample."""
    names: Mapping[str, str] = field(default_factory=dict)
    """What columns are called in the relation, where that is something else (it does not tell G from g)."""
    notes: tuple[str, ...] = ()
    spelling: Spelling = USUAL
    """How text spells numbers."""
    labels: Mapping[str, Labels] = field(default_factory=dict)
    _percentages: dict[str, bool] = field(default_factory=dict)
    """What was found out already, as it takes a query."""

    @property
    def columns(self) -> list[str]:
        return list(self.names or self.relation.columns)

    def type_of(self, name: str) -> str:
        """What DuckDB says that a column holds."""
        types = dict(zip(self.relation.columns, self.relation.types, strict=True))
        return str(types[self.names.get(name, name)])

    def column(self, name: str) -> str:
        """A column, quoted for SQL."""
        return identifier(self.names.get(name, name))

    def text(self, name: str) -> str:
        """SQL for what a column says, as text."""
        return f"json_extract_string({self.column(name)}, '$')" if self.values == "json" else self.column(name)

    def renamed(self, name: str, values: Encoded) -> Encoded:
        """The values of a column by their labels, if it has any."""
        names = self.labels[name].names if name in self.labels else {}
        return Encoded(values.codes, [names.get(name_of(v) or "", v) for v in values.distinct]) if names else values

    def first(self, name: str, condition: str = "true") -> str | None:
        """Some text of a column that is not empty, and meets a condition."""
        text = f"trim({self.text(name)})"
        empty = ", ".join(f"'{spelt}'" for spelt in sorted(NO_VALUE))
        some = self.relation.filter(f"{text} NOT IN ({empty}) AND {condition}").project(text).limit(1)
        found = followed(self.connection, f"checking {name}", some.fetchall)
        return str(found[0][0]) if found else None

    def holds_percentages(self, name: str) -> bool:
        """Whether a column spells percentages. One value tells: whatever is spelt otherwise is refused then."""
        if name not in self._percentages:
            self._percentages[name] = self.values == "text" and is_percentage(self.first(name) or "")
        return self._percentages[name]
