"""Projection tests of several groups, or several scores: what is found together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.analyses.projection.results import ProjectionTest
from evenhand.inference.significance import holm
from evenhand.report.result import Result, write


@dataclass(frozen=True)
class Along:
    """What tells the scores apart: a number, such as the penalty of the models that gave them."""

    name: str
    values: tuple[float, ...]
    """One for each test."""


@dataclass(frozen=True, repr=False)
class ProjectionTests(Result):
    """Every group against the reference, by every score. Iterate over it, or take `to_dict`, `to_json`, `to_html`.

    >>> from evenhand import projection_test
    >>> people = {"p": [0.7, 0.4, 0.6, 0.2, 0.5, 0.3], "race": ["a", "b", "a", "c", "b", "c"]}
    >>> found = projection_test(people, score="p", group="race", reference="a", criterion="demographic_parity")
    >>> [(t.group, round(t.p_value, 2), round(p, 2)) for t, p in zip(found, found.p_adjusted)]
    [('b', 0.33, 0.67), ('c', 0.33, 0.67)]
    """

    drawn_by = "evenhand.analyses.projection.landscape"

    tests: tuple[ProjectionTest, ...]
    along: Along | None = None

    def __iter__(self) -> Iterator[ProjectionTest]:
        return iter(self.tests)

    def __len__(self) -> int:
        return len(self.tests)

    def __getitem__(self, group: Any) -> ProjectionTest:
        """The first test of that place, or of a group by its name."""
        if isinstance(group, int):
            return self.tests[group]
        return {test.group: test for test in reversed(self.tests)}[group]

    @property
    def p_adjusted(self) -> tuple[float, ...]:
        """p-values adjusted for all tests (Holm): those that are small hold together."""
        return tuple(holm([test.p_value for test in self.tests]))

    @property
    def rejects(self) -> tuple[bool, ...]:
        """Which are rejected, all together at the level."""
        return tuple(p <= test.level for p, test in zip(self.p_adjusted, self.tests, strict=True))

    @property
    def interpretation(self) -> str:
        """The finding in a sentence or two."""
        from evenhand.analyses.projection.document import sentence_of_all

        return sentence_of_all(self)

    def to_dict(self) -> dict[str, Any]:
        """All tests as plain values, in the form that docs/reference/json.md describes."""
        from evenhand.analyses.projection.document import documents

        return documents(self)

    def to_html(self, path: str | Path | None = None) -> str:
        """All tests as one self-contained page, also written to a file if a path is given."""
        from evenhand.analyses.projection.page import projection_page

        return write(projection_page(self.to_dict()), path)

    def _drawn(self) -> Any:
        from evenhand.analyses.projection.text import render_all

        return render_all(self.to_dict())
