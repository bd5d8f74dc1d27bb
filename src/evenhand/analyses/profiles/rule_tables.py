"""The tables of a profile, made of an audit's document."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from evenhand.analyses.profiles.columns import COLUMNS, INTERVAL, Member, unknown_note
from evenhand.analyses.profiles.further_tables import blank, deciles, shares, strata
from evenhand.analyses.profiles.profile import RuleTable
from evenhand.analyses.profiles.use import Use
from evenhand.errors import shown_name
from evenhand.report.format import percent

Document = Mapping[str, Any]
NOT_STATED = "not stated"


def profile_document(use: Use, document: Document, counted: bool) -> dict[str, Any]:
    """What the profile says and shows of an audit; `counted` says that everybody counts once."""
    p = use.profile
    return {
        "name": p.name,
        "title": p.title,
        "date": p.date,
        "source": list(p.source),
        "states": p.states,
        "not_covered": list(p.not_covered),
        "unsure": list(p.unsure),
        "otherwise": [
            {"option": name, "profile": _text(wanted), "stated": _text(stated)}
            for name, (wanted, stated) in use.instead.items()
        ],
        "facts": _facts(use, document.get("cover")),
        "tables": [made for table in p.tables for made in _MADE[table.kind](table, use, document, counted)],
        "signing": p.signing,
    }


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _facts(use: Use, cover: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """What was stated, or stands on the cover."""
    own = cover or {}
    return [
        {"id": f.id, "title": f.title, "text": use.facts.get(f.id) or (own.get(f.cover) if f.cover else None)}
        for f in use.profile.facts
    ]


def _attributes(table: RuleTable, use: Use, document: Document) -> list[Mapping[str, Any]]:
    """The attributes that a table is about."""
    if not table.of:
        return list(document["attributes"])
    wanted = {use.categories[name] for name in table.of}
    return [a for a in document["attributes"] if {*a["columns"]} == wanted]


def _places(use: Use, attribute: Mapping[str, Any], members: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Where a group stands: in the order of the rule, what it does not know at the end."""
    category = {column: name for name, column in use.categories.items()}
    known = {c.name: c for c in use.profile.categories}
    found = []
    for column, member in zip(attribute["columns"], members, strict=True):
        own = known.get(category.get(column, ""))
        place = None if own is None else own.place(member)
        found.append((0, place) if place is not None else (1, 0))
    return tuple(found)


def members_of(use: Use, attribute: Mapping[str, Any], document: Document, counted: bool) -> list[Member]:
    """The groups of an attribute in the order of the rule."""
    groups = sorted(attribute["groups"], key=lambda g: _places(use, attribute, g["members"]))
    data = document["data"]
    return [Member(attribute, g, counted, data["rows"], data["clusters"] is not None) for g in groups]


def _groups(table: RuleTable, use: Use, document: Document, counted: bool) -> Iterator[dict[str, Any]]:
    """A row for every group."""
    for attribute in _attributes(table, use, document):
        members = members_of(use, attribute, document, counted)
        cells = {c: [COLUMNS[c].cell(m) for m in members] for c in table.columns}
        lacking = {c: why for c, own in cells.items() if (why := _nowhere(own)) is not None}
        heads = {c: _head(c, use, document) for c in table.columns if c not in lacking}
        rows = [list(row) for row in zip(*(cells[c] for c in heads), strict=True)]
        notes = [
            f"No {_head(c, use, document)['head']}: {why}." for c, why in lacking.items() if not c.endswith("_interval")
        ]
        notes = [*_notes(table, attribute, members, document), *notes, *table.notes]
        yield _made(table, attribute, [*heads.values()], rows, notes)


def _nowhere(cells: Sequence[Any]) -> str | None:
    """Why a column is undefined for every group that is compared, if it is."""
    found = {cell for cell in cells if isinstance(cell, str) and cell.startswith("undefined ")}
    return found.pop() if len(found) == 1 and all(isinstance(c, str) or c in (None, 1.0) for c in cells) else None


def _made(
    table: RuleTable, attribute: Mapping[str, Any], columns: list[dict[str, str]], rows: list[Any], notes: list[str]
) -> dict[str, Any]:
    title = table.title.format(attribute=shown_name(attribute["name"]), reference=shown_name(attribute["reference"]))
    return {
        "title": title,
        "attribute": attribute["name"],
        "annex": table.annex,
        "columns": columns,
        "rows": rows,
        "notes": notes,
    }


def _head(id_: str, use: Use, document: Document) -> dict[str, str]:
    column, p = COLUMNS[id_], use.profile
    own = p.heads_of_scores.get(id_) if use.scored else None
    head = own or p.heads.get(id_) or column.head
    if head == INTERVAL:
        head = f"{100 * document['options']['confidence']:g}% {head}"
    return {"id": id_, "head": head, "kind": column.kind}


def _notes(
    table: RuleTable, attribute: Mapping[str, Any], members: Sequence[Member], document: Document
) -> Iterator[str]:
    """Who is not in a table, and who is not compared."""
    if table.unknown:
        yield unknown_note(attribute, document["data"])
    small = [m for m in members if m.excluded]
    if small and "impact_ratio" in table.columns:
        below = percent(document["options"]["exclude_below"]) if document["options"]["exclude_below"] else "the limit"
        which = f"{len(small):,} {'category' if len(small) == 1 else 'categories'}"
        yield f"Left out of the ratios, since fewer than {below} of the people are in it: {which}."


def _static(table: RuleTable, use: Use, document: Document, counted: bool) -> Iterator[dict[str, Any]]:
    """The same rows whatever the data."""
    columns = [{"id": f"text_{i}", "head": head, "kind": "text"} for i, head in enumerate(table.heads)]
    yield {
        "title": table.title,
        "attribute": None,
        "annex": table.annex,
        "columns": columns,
        "rows": [list(row) for row in table.rows],
        "notes": list(table.notes),
    }


def _names(use: Use, attribute: Mapping[str, Any], document: Document) -> list[str]:
    return [m.name for m in members_of(use, attribute, document, True)]


def _deciles(table: RuleTable, use: Use, document: Document, counted: bool) -> Iterator[dict[str, Any]]:
    for attribute in _attributes(table, use, document):
        if (made := deciles(attribute, _names(use, attribute, document))) is not None:
            yield _made(table, attribute, *made[:2], [*made[2], *table.notes])


def _strata(table: RuleTable, use: Use, document: Document, counted: bool) -> Iterator[dict[str, Any]]:
    for attribute in _attributes(table, use, document):
        made = strata(attribute, _names(use, attribute, document), document["options"]["confidence"])
        if made is not None:
            yield _made(table, attribute, *made[:2], [*made[2], *table.notes])


def _shares(table: RuleTable, use: Use, document: Document, counted: bool) -> Iterator[dict[str, Any]]:
    """One table for each attribute of which shares were stated; else where to state them."""
    for attribute in _attributes(table, use, document):
        sizes = [(m.name, m.group["n"]) for m in members_of(use, attribute, document, True)]
        stated = use.population.get(attribute["name"])
        if stated is not None:
            made = shares(attribute, sizes, stated, document["options"]["confidence"])
            yield _made(table, attribute, *made[:2], [*made[2], *table.notes])
        elif len(attribute["columns"]) == 1:
            columns = [{"id": "category", "head": "category", "kind": "name"}]
            columns.append({"id": "people", "head": "people", "kind": "count"})
            yield _made(table, attribute, columns, [list(pair) for pair in sizes], [*blank(attribute)])


_MADE: dict[str, Callable[[RuleTable, Use, Document, bool], Iterator[dict[str, Any]]]] = {
    "groups": _groups,
    "deciles": _deciles,
    "strata": _strata,
    "shares": _shares,
    "text": _static,
}
