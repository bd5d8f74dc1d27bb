"""Whom a policy is held against: a table given, saved, or counted as the policy says."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from evenhand.analyses.check.policy import COLUMNS, Rulebook
from evenhand.analyses.options import cuts_of
from evenhand.errors import EvenhandError, UsageError, same, shown, values_in
from evenhand.files.toml_lines import Path
from evenhand.ingest.band_rules import checked_bands, fits
from evenhand.ingest.engines import names_of
from evenhand.ingest.resolve import as_table
from evenhand.ingest.roles import MISSING_GROUPS, Roles, picked
from evenhand.ingest.values import label_key
from evenhand.tables.cells import MISSING_GROUP, NO_GROUP
from evenhand.tables.confusion import Confusion
from evenhand.tables.joint import JointTable
from evenhand.tables.storage import is_table_file, load
from evenhand.tables.table import Table


def counted(data: Any, book: Rulebook) -> Table:
    """The table given, saved, or counted as the policy says."""
    if isinstance(data, str | os.PathLike) and is_table_file(data):
        data = load(data)
    if isinstance(data, Table):
        return as_table(data, _beyond_table(data, book))
    try:
        return as_table(data, picked(Roles, book.audit), cuts_of(book.options))
    except EvenhandError as error:
        place = None if isinstance(data, Confusion | JointTable) else _mistaken(data, book, error)
        if place is None:
            raise
        raise book.places.refuse(place, error) from None


def _beyond_table(table: Table, book: Rulebook) -> Roles:
    """The roles that a table cannot confirm; one that it contradicts is refused."""
    known = _known(table, book.audit.get("bands"))
    said = {word: value for word in COLUMNS if (value := book.audit.get(word)) is not None}
    for word, value in said.items():
        if word in known and not any(same(_said(word, value), one) for one in known[word]):
            had = " or ".join("none" if one is None else shown(one) for one in known[word])
            message = f"{word} is said to be {shown(value)}, but the table was counted with {had}"
            raise book.places.refuse(("audit", word), message) if word in book.written else UsageError(message)
    return picked(Roles, {word: value for word, value in said.items() if word not in known})


def _bands(table: Table, stated: Any) -> Any:
    """What is said of bands, if groups are called like that; else what they are called."""
    rules = checked_bands(stated)
    by_name = dict.fromkeys((a.name for a in table.attributes), rules) if isinstance(rules, str) else rules or {}
    groups = {a.name: list(a.groups) for a in table.attributes if a.name in by_name}
    return stated if all(fits(by_name[name], names) for name, names in groups.items()) else groups


def _known(table: Table, bands: Any = None) -> dict[str, list[Any]]:
    """What a table tells about how it was counted: by role, all that agrees with it."""
    known = {word: [value] for word, value in vars(table.meaning).items()}
    groups = {g for a in table.attributes for g in a.groups}
    dropped = NO_GROUP in groups or any(
        not reason.startswith(("of weight zero", "of groups too small")) for reason in table.left_out
    )
    unknown = ["bounds"] if table.provenance.unknown else ["drop"] if dropped else list(MISSING_GROUPS)
    return known | {
        "bands": [_bands(table, bands)],
        "favorable_prediction": [table.meaning.decided],
        "group": [[a.name for a in table.attributes]],
        "weight_kind": ["frequency" if table.weight is None else "sampling", "auto"],
        "missing": ["group"] if MISSING_GROUP in groups else unknown,
    }


def _said(word: str, value: Any) -> Any:
    """What was said, as a table keeps it."""
    if word == "group":
        return [value] if isinstance(value, str) else values_in(value)
    if word == "score_range":
        return Roles(score_range=value).score_range
    return label_key(value) if word.startswith("favorable") else value


def _mistaken(data: Any, book: Rulebook, error: EvenhandError) -> Path | None:
    """Where the policy names a column that the data do not have."""
    if data is None or not book.written:
        return None
    try:
        there = set(names_of(data))
    except EvenhandError:  # no data at all
        return None
    lost = next((path for path, name in _columns(book) if there and name not in there), None)
    if lost is None and "where" in book.written and str(error).startswith("where: "):  # a value that no row has
        return ("audit", "where")
    return lost


def _columns(book: Rulebook) -> Iterator[tuple[Path, Any]]:
    """Every column that the policy itself names, and where."""
    for word in ("score", "label", "prediction", "weight", "cluster", "group", "where"):
        if word not in book.written:
            continue
        value = book.audit[word]
        if isinstance(value, str):
            yield ("audit", word), value
        elif isinstance(value, Mapping):
            yield from ((("audit", word, name), name) for name in value)
        else:
            yield from ((("audit", word, i), name) for i, name in enumerate(value))
