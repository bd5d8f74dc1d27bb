"""The groups and the key measures of an audit as tables in LaTeX."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.analyses.audit import key_tables
from evenhand.errors import shown_name
from evenhand.report.latex import escaped, tabular


def audit_latex(document: dict[str, Any], booktabs: bool) -> str:
    """Of every attribute a table of its groups, and one of the key measures of each group."""
    return "\n".join(_parts(document, booktabs))


def _parts(document: dict[str, Any], booktabs: bool) -> Iterator[str]:
    seed, digest = document["options"]["seed"], document["data"]["table"][:16]
    yield f"% Evenhand {document['version']}, table {digest}, seed {seed}"
    for attribute in document["attributes"]:
        name, verdict = shown_name(attribute["name"]), attribute["verdict"]
        yield "% " + escaped(f"By {name}: {verdict['word']}. {verdict['sentence']}")
        yield _table(key_tables.groups(attribute), (0,), booktabs)
        for title, table in key_tables.comparisons(attribute, document["options"]["confidence"]):
            yield f"% {escaped(title)}"
            yield _table(table, (0, len(table.heads) - 1), booktabs)
        if more := key_tables.left_out(attribute):
            yield f"% {more}"


def _table(table: key_tables.Rows, texts: tuple[int, ...], booktabs: bool) -> str:
    rows = [[escaped(text) for text in row] for row in table.rows]
    return tabular([escaped(head) for head in table.heads], rows, booktabs=booktabs, texts=texts)
