"""Whether a report was made from a table, or from these rows: both have the same digest."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from evenhand.errors import UsageError, is_whole, number
from evenhand.ingest.reading import Cuts
from evenhand.ingest.resolve import as_counts
from evenhand.ingest.roles import MISSING_GROUPS, Roles, RolesArgs, check_known, picked
from evenhand.report.reading import Stated, stated
from evenhand.tables.confusion import Confusion
from evenhand.tables.joint import JointTable
from evenhand.tables.marginal import by_attributes
from evenhand.tables.storage import is_table_file
from evenhand.tables.table import Table

MOST_BINS = 10_000
_TOLD = ("score", "label", "prediction", "weight", "cluster", "favorable", "favorable_prediction")


@dataclass(frozen=True)
class Origin:
    """What a report says that it was made from, and what it was compared with; true if they are the same."""

    stated: str
    """The digest in the report."""
    found: str
    """The digest of the table."""

    def __bool__(self) -> bool:
        return self.stated == self.found


def verify(report: Any, data: Any, **columns: Unpack[RolesArgs]) -> Origin:
    """Whether a report (page, JSON or Word document) was made from a table, a saved one, or rows.

    Of rows the columns are those that the report names, unless they are said, as in `evenhand.audit`. A report says
    neither which rows were chosen (`where`) nor anything else about how data were read: say that again.

    It tells which table a report was made from, not that nobody changed the report since.

    >>> import evenhand, pathlib, tempfile
    >>> table = evenhand.compas()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = pathlib.Path(folder) / "report.json"
    ...     _ = table.audit(threshold=5, bootstrap=0, permutations=0).to_json(report)
    ...     bool(evenhand.verify(report, table))
    True
    """
    check_known(columns, RolesArgs.__optional_keys__, verify)
    said = stated(report)
    tables = list(_tables(said, data, dict(columns)))
    return Origin(said.digest, next((digest for digest in tables if digest == said.digest), tables[0]))


def _tables(said: Stated, data: Any, columns: dict[str, Any]) -> Iterator[str]:
    """Digests of the data as the report may have counted them."""
    told = _columns(said.document or {})
    if isinstance(data, Table | Confusion) or (isinstance(data, str | os.PathLike) and is_table_file(data)):
        yield _digest(as_counts(data, picked(Roles, columns)))
        if "depth" in told and not columns:
            yield _digest(as_counts(data, Roles(depth=told["depth"])))
        if not columns:
            yield from _without_strata(as_counts(data, Roles()), said.document or {}, told)
        return
    roles = {**told, **columns}
    if not roles.get("group"):
        raise UsageError("this report does not name its columns, so say them as for the audit (--score, --group, …)")
    spread = _range(said.document or {})
    for cuts in _cuts(said.document or {}):
        table = as_counts(data, picked(Roles, roles), cuts)
        yield _digest(table)
        if not isinstance(table, Table):
            return
        if spread is not None:
            yield replace(table, meaning=replace(table.meaning, score_range=spread)).digest()
        if table.spans is None:
            return


def _without_strata(table: Any, document: dict[str, Any], told: dict[str, Any]) -> Iterator[str]:
    """That of a table without the attributes within which its groups were compared: what the report is about."""
    if isinstance(table, Table) and "within" in document.get("options", {}):
        kept = [a.name for a in table.attributes if a.name in told["group"]]
        if kept:
            yield by_attributes(table, kept).crossed(told.get("depth", table.depth)).digest()


def _digest(table: Any) -> str:
    if isinstance(table, JointTable):
        raise UsageError("a report of several models names no table: verify an audit of one score")
    digest: str = table.digest()
    return digest


def _columns(document: dict[str, Any]) -> dict[str, Any]:
    """Which columns a report is about; what is not as evenhand writes it is not believed."""
    data, attributes = document.get("data", {}), document.get("attributes", [])
    lists = [a.get("columns") for a in attributes if isinstance(a, dict)] if isinstance(attributes, list) else []
    named = [[c for c in names if isinstance(c, str)] for names in lists if isinstance(names, list)]
    groups = list(dict.fromkeys(column for names in named for column in names))
    depth = max(map(len, named), default=0)
    return {
        **{role: data[role] for role in _TOLD if isinstance(data.get(role), str)},
        "group": groups,
        **({"depth": depth} if 0 < depth < len(groups) else {}),
        **({"risk": True} if data.get("risk") is True else {}),
        **_missing(document),
    }


def _missing(document: dict[str, Any]) -> dict[str, str]:
    """What was done with incomplete rows, which the command of the report says."""
    said = str(document.get("command", "")).split()
    found = [said[i + 1] for i in range(len(said) - 1) if said[i] == "--missing"]
    return {"missing": found[0]} if found and found[0] in MISSING_GROUPS else {}


def _range(document: dict[str, Any]) -> tuple[float, float] | None:
    """The range of scores, which may have been said."""
    ends = document.get("data", {}).get("score_range")
    known = isinstance(ends, list) and len(ends) == 2 and all(np.isfinite(number(end)) for end in ends)
    return (float(ends[0]), float(ends[1])) if known and ends[0] < ends[1] else None


def _cuts(document: dict[str, Any]) -> Iterator[Any]:
    """Where the audit kept scores apart: at a threshold that was said; nowhere, if it was found later."""
    threshold, options = number(document.get("data", {}).get("threshold")), document.get("options")
    if np.isfinite(threshold) and isinstance(options, dict):
        bins = (options.get("gap_bins"), options.get("calibration_bins"))
        yield Cuts((threshold,), tuple(n for n in bins if n is not None and is_whole(n) and 2 <= n <= MOST_BINS))
    yield ()
