"""A file → which column plays which role, the command that audits it, and a policy: a proposal, and no audit."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.analyses.check.template import starter
from evenhand.analyses.proposal.guesses import Guess, Guesses, guessed
from evenhand.analyses.proposal.profile import profiled
from evenhand.errors import UsageError, shown
from evenhand.files.data_file import FileFormat, stated_of
from evenhand.files.secrets import is_address, masked
from evenhand.ingest.engines import names_of
from evenhand.ingest.rows import read_rows
from evenhand.report.command import listed
from evenhand.report.result import Result, write
from evenhand.tables.confusion import Confusion
from evenhand.tables.joint import JointTable
from evenhand.tables.table import Table

MOST_ROWS = 200_000
"""Of a file, so many rows are looked at."""


@dataclass(frozen=True, repr=False)
class Proposal(Result):
    """What the columns of some data may be, each with a reason, and how to audit them."""

    source: str
    """What the data are called on the command line."""
    rows: int
    """Rows that were looked at,"""
    all_rows: bool
    """and whether these are all."""
    found: Guesses
    format: FileFormat
    """What was said about the file."""

    @property
    def guesses(self) -> tuple[Guess, ...]:
        """Every column, with its role and a reason."""
        return self.found.guesses

    @property
    def lacking(self) -> str | None:
        """What an audit needs and nothing looks like; None if it can be run."""
        of = self.found.of
        missing = [] if of("score") or of("prediction") else ["a score or a decision"]
        missing += [] if of("group") else ["a group"]
        return None if not missing else f"no column looks like {' nor like '.join(missing)}, which an audit needs"

    @property
    def columns(self) -> dict[str, Any]:
        """The options of an audit: `evenhand.audit(data, **proposal.columns)`."""
        of, g = self.found.of, self.found
        scores, labels = of("score"), of("label")
        said = {
            "score": scores[0] if len(scores) == 1 else scores or None,
            "label": labels[0] if labels else None,
            "group": of("group") or None,
            "prediction": next(iter(of("prediction") if len(scores) < 2 else ()), None),
            "weight": next(iter(of("weight")), None),
            "weight_kind": g.weight_kind,
            "favorable": None if g.favorable in (None, "1") else g.favorable,
            "favorable_prediction": g.favorable_prediction if len(scores) < 2 else None,
            "risk": g.risk or None,
            "missing": g.missing,
        }
        return {role: value for role, value in said.items() if value is not None}

    @property
    def command(self) -> str | None:
        """The command to run, quoted for a shell; None if something is lacking."""
        if self.lacking:
            return None
        return shlex.join(["evenhand", "audit", self.source, *_options(self.format.said()), *_options(self.columns)])

    @property
    def check(self) -> str:
        """What to run with a policy of these columns, but for its name."""
        return shlex.join(["evenhand", "check", self.source, *_options(self.format.said()), "--policy"])

    def policy(self, path: str | Path | None = None) -> str:
        """A policy that `evenhand check` reads, with these columns, also written to a file if a path is given."""
        columns = self.columns
        if isinstance(columns.get("score"), list):
            columns["score"] = columns["score"][0]
        reasons = {g.column: g.reason for g in self.guesses}
        return write(starter(columns, reasons | self.found.reasons), path)


def propose(data: Any) -> Proposal:
    """Look at data and guess which column is the score, the outcome, the decision, the groups, and so on.

    Nothing is audited: the guesses are to be read, and corrected where need be.

    Parameters
    ----------
    data
        A dataframe, a dict of columns, or the path of a file, of which the first 200 000 rows are looked at.

    Examples
    --------
    >>> import evenhand
    >>> rows = {"p": [0.2, 0.7, 0.5, 0.1, 0.4], "repaid": [0, 1, 1, 0, 1], "sex": ["f", "m", "m", "f", "m"]}
    >>> found = evenhand.propose(rows)
    >>> found.columns
    {'score': 'p', 'label': 'repaid', 'group': ['sex']}
    >>> found.guesses[2].reason
    'called like an attribute of people, 2 values: f, m'
    """
    if isinstance(data, Table | Confusion | JointTable):
        raise UsageError(
            f"columns are guessed of rows, not of {shown(type(data).__name__)}: pass a dataframe or a path"
        )
    names = list(dict.fromkeys(names_of(data)))
    if not names:
        raise UsageError("the data have no columns with names: pass a dataframe, a dict of columns or a path")
    path = isinstance(data, str | os.PathLike)
    read = read_rows(data, {}, [], names, MOST_ROWS + 1 if path else None).values
    profiles = profiled(read)
    rows = profiles[0].rows
    if not rows:
        raise UsageError("there are no rows to look at")
    source = os.fspath(data) if path else "DATA"
    source = masked(source) if is_address(source) else source
    looked = min(rows, MOST_ROWS) if path else rows
    return Proposal(str(source), looked, looked == rows, guessed(profiles), stated_of(data))


_SPELT = {"\t": "tab", " ": "space"}
"""Characters that are hard to see in a command."""


def _options(said: Mapping[str, Any]) -> Iterator[str]:
    """Options as words of a command."""
    for name, value in said.items():
        flag = f"--{name.replace('_', '-')}"
        text = listed(value) if isinstance(value, list) else _SPELT.get(value, str(value))
        yield from [flag] if value is True else [f"{flag}={text}"] if text.startswith("-") else [flag, text]
