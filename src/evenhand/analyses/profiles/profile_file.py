"""A TOML file → a profile, with the line of whatever is wrong in it."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from evenhand.analyses.options import checked, chosen_measures
from evenhand.analyses.profiles.columns import COLUMNS, KINDS
from evenhand.analyses.profiles.profile import Category, Fact, Need, Profile, RuleTable
from evenhand.errors import UsageError, listed, shown, unknown
from evenhand.files.toml import Places, known, read_toml
from evenhand.ingest.roles import Roles

OPTIONS = (
    "reference", "exclude_below", "missing", "measures", "threshold", "top", "confidence", "bootstrap", "permutations",
    "tolerance",
)  # fmt: skip
"""What a profile may say of an audit."""
COVER = ("title", "author", "organisation", "date", "source")
ROLES = ("score", "label")
_TOP = (
    "name", "title", "date", "source", "states", "not_covered", "unsure", "options", "options_of_scores", "heads",
    "heads_of_scores", "signing", "category", "need", "fact", "table",
)  # fmt: skip
_REQUIRED = ("name", "title", "date", "source", "states", "not_covered")


def read_profile(path: Any) -> Profile:
    """The profile in a file."""
    document, places = read_toml(path, "profile")
    known(document, _TOP, (), places, f"a profile has {', '.join(_TOP)}")
    for key in _REQUIRED:
        if key not in document:
            raise UsageError(f"{places.file}: a profile says its {key}: write {key} = …")
    reader = _Reader(places)
    categories = tuple(reader.each(document, "category", _category))
    tables = tuple(reader.each(document, "table", _table))
    _check_categories(tables, [c.name for c in categories], places)
    return Profile(
        **{key: reader.text(document, key) for key in ("name", "title", "states")},
        date=_day(document, places),
        source=reader.texts(document, "source"),
        not_covered=reader.texts(document, "not_covered"),
        unsure=reader.texts(document, "unsure"),
        options=_options(document, "options", places),
        options_of_scores=_options(document, "options_of_scores", places),
        heads=_heads(document, "heads", places),
        heads_of_scores=_heads(document, "heads_of_scores", places),
        categories=categories,
        needs=tuple(reader.each(document, "need", _need)),
        facts=tuple(reader.each(document, "fact", _fact)),
        tables=tables,
        signing=reader.truth(document, "signing"),
        file=places.file,
    )


class _Reader:
    """Values of a part of the file, refused with their line where they are of the wrong kind."""

    def __init__(self, places: Places, path: tuple[str | int, ...] = ()) -> None:
        self.places, self.path = places, path

    def refuse(self, key: str, message: str) -> UsageError:
        return self.places.refuse((*self.path, key), message)

    def known(self, table: Mapping[str, Any], keys: Collection[str], required: Collection[str]) -> None:
        what = self.path[0] if self.path else "profile"
        known(table, keys, self.path, self.places, f"[[{what}]] has {', '.join(keys)}")
        for key in required:
            if key not in table:
                raise self.places.refuse(self.path, f"[[{what}]] needs {key} = …")

    def text(self, table: Mapping[str, Any], key: str) -> str:
        value = table[key]
        if not isinstance(value, str) or not value.strip():
            raise self.refuse(key, f"{key} is a text, not {shown(value)}")
        return value.strip()

    def texts(self, table: Mapping[str, Any], key: str) -> tuple[str, ...]:
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise self.refuse(key, f"{key} is a list of texts, not {shown(value)}")
        return tuple(value)

    def truth(self, table: Mapping[str, Any], key: str) -> bool:
        value = table.get(key, False)
        if not isinstance(value, bool):
            raise self.refuse(key, f"{key} is true or false, not {shown(value)}")
        return value

    def each(self, document: Mapping[str, Any], key: str, read: Callable[[Mapping[str, Any], _Reader], Any]) -> Any:
        tables = document.get(key, [])
        if not isinstance(tables, list) or not all(isinstance(one, Mapping) for one in tables):
            raise self.refuse(key, f"write [[{key}]], with two brackets on each side")
        return (read(one, _Reader(self.places, (key, i))) for i, one in enumerate(tables))


def _day(document: Mapping[str, Any], places: Places) -> str:
    value = document["date"]
    try:
        return value.isoformat() if type(value) is datetime.date else datetime.date.fromisoformat(value).isoformat()
    except (TypeError, ValueError):
        raise places.refuse(("date",), f"date is a day such as 2023-07-05, not {shown(value)}") from None


def _options(document: Mapping[str, Any], key: str, places: Places) -> Mapping[str, Any]:
    """Options of an audit, as far as they can be judged without data."""
    options = document.get(key, {})
    if not isinstance(options, Mapping):
        raise places.refuse((key,), f"[{key}] is a table, not {shown(options)}")
    known(options, OPTIONS, (key,), places, f"[{key}] has {', '.join(OPTIONS)}")
    for name, value in options.items():
        try:
            _check_option(name, value)
        except UsageError as error:
            raise places.refuse((key, name), error) from None
    return dict(options)


def _check_option(name: str, value: Any) -> None:
    if name == "measures":
        chosen_measures(value)
    elif name == "missing":
        Roles(missing=value)
    elif name != "reference":
        checked(**{name: value})
    elif not isinstance(value, str | Mapping):
        raise UsageError(f"reference is a group, or highest, not {shown(value)}")


def _heads(document: Mapping[str, Any], key: str, places: Places) -> Mapping[str, str]:
    heads = document.get(key, {})
    if not isinstance(heads, Mapping):
        raise places.refuse((key,), f"[{key}] is a table, not {shown(heads)}")
    known(heads, COLUMNS, (key,), places, f"[{key}] has {', '.join(COLUMNS)}")
    reader = _Reader(places, (key,))
    return {name: reader.text(heads, name) for name in heads}


def _category(table: Mapping[str, Any], reader: _Reader) -> Category:
    reader.known(table, ("name", "columns", "values", "closed"), ("name", "columns"))
    values = table.get("values", {})
    lists = isinstance(values, Mapping) and all(isinstance(v, list) for v in values.values())
    if not lists or not all(isinstance(one, str) for v in values.values() for one in v):
        raise reader.refuse("values", "values is a table of groups and lists of what else they are called")
    if not (columns := reader.texts(table, "columns")):
        raise reader.refuse("columns", "columns holds a word or more of what the column is called")
    if reader.truth(table, "closed") and not values:
        raise reader.refuse("closed", "a category that has no other groups names its own: [category.values]")
    return Category(
        reader.text(table, "name"),
        columns,
        {name: tuple(others) for name, others in values.items()},
        reader.truth(table, "closed"),
    )


def _need(table: Mapping[str, Any], reader: _Reader) -> Need:
    reader.known(table, ("role", "for"), ("role", "for"))
    role = reader.text(table, "role")
    if role not in ROLES:
        raise reader.refuse("role", f"role is one of {listed(ROLES)}, not {shown(role)}")
    return Need(role, reader.text(table, "for"))


def _fact(table: Mapping[str, Any], reader: _Reader) -> Fact:
    reader.known(table, ("id", "title", "cover"), ("id", "title"))
    if (cover := table.get("cover")) is not None and cover not in COVER:
        raise reader.refuse("cover", f"cover is one of {listed(COVER)}, not {shown(cover)}")
    return Fact(reader.text(table, "id"), reader.text(table, "title"), cover)


def _check_categories(tables: Sequence[RuleTable], names: Sequence[str], places: Places) -> None:
    """Tables are about categories that there are."""
    for i, table in enumerate(tables):
        for name in table.of:
            if name not in names:
                raise places.refuse(("table", i, "of"), unknown("there is no [[category]]", name, names))


def _title(table: Mapping[str, Any], reader: _Reader) -> str:
    """A title, into which only what is known can be put."""
    title = reader.text(table, "title")
    left = title.replace("{attribute}", "").replace("{reference}", "")
    if "{" in left or "}" in left:
        raise reader.refuse("title", "a title may hold {attribute} and {reference}, and no other braces")
    return title


def _table(table: Mapping[str, Any], reader: _Reader) -> RuleTable:
    keys = ("title", "kind", "columns", "of", "annex", "unknown", "notes", "heads", "rows")
    reader.known(table, keys, ("title",))
    kind = table.get("kind", "groups")
    if kind not in KINDS:
        raise reader.refuse("kind", str(unknown("there is no table of kind", kind, KINDS)))
    columns = reader.texts(table, "columns")
    for column in columns:
        if column not in COLUMNS:
            raise reader.refuse("columns", str(unknown("there is no column", column, COLUMNS, 40)))
    if kind == "groups" and not columns:
        raise reader.refuse("title", 'a table of groups names its columns: columns = ["category", …]')
    rows, heads = table.get("rows", []), reader.texts(table, "heads")
    if not isinstance(rows, list) or not all(isinstance(row, list) and len(row) == len(heads) for row in rows):
        raise reader.refuse("rows", f"rows are lists of {len(heads)} texts each, one for each of the heads")
    return RuleTable(
        _title(table, reader), kind, columns, reader.texts(table, "of"), reader.truth(table, "annex"),
        reader.truth(table, "unknown"), reader.texts(table, "notes"), heads,
        tuple(tuple(map(str, row)) for row in rows),
    )  # fmt: skip
