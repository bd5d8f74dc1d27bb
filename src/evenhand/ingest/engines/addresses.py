"""Addresses that DuckDB reads through its extensions: object stores, the web, PostgreSQL. Their secrets stay secret."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from evenhand.errors import UsageError
from evenhand.files.paths import shown_path

_DATABASE = "evenhand_database"
_EXTENSION = re.compile(r"(?i:install|download|load|require|missing)[^\n]*?\b[Ee]xtension:?\s*['\"]?([a-z][a-z0-9_]*)")


def is_database(path: str) -> bool:
    return path.lower().startswith(("postgresql://", "postgres://"))


def without_query(address: str) -> str:
    """The part of a web address that ends like a file name."""
    return re.split(r"[?#]", address)[0] if address.lower().startswith(("http://", "https://")) else address


def missing_extension(error: BaseException) -> str | None:
    """What to do if DuckDB lacks an extension and cannot fetch it."""
    found = _EXTENSION.search(str(error))
    if found is None:
        return None
    name = found[1].removesuffix("_scanner")
    return (
        f"it needs DuckDB's extension {name}, which is not installed and could not be fetched: where there is a "
        f"network, run once python -c \"import duckdb; duckdb.sql('INSTALL {name}')\""
    )


def table_of(connection: Any, address: str) -> Any:
    """A table of a PostgreSQL database, which is opened for reading only."""
    parts = urlsplit(address)
    said = parse_qsl(parts.query, keep_blank_values=True)
    tables = [value for name, value in said if name == "table"]
    if len(tables) != 1 or not all(names := tables[0].split(".")) or len(names) > 2:
        raise UsageError(
            "the address of a database names one table, as in postgresql://user@host/database?table=schema.table, "
            f"but this is {shown_path(address)}"
        )
    query = urlencode([(name, value) for name, value in said if name != "table"])
    place = parts._replace(query=query).geturl().replace("'", "''")
    connection.execute(f"ATTACH '{place}' AS {_DATABASE} (TYPE postgres, READ_ONLY)")
    quoted = ".".join('"' + name.replace('"', '""') + '"' for name in names)
    return connection.sql(f"FROM {_DATABASE}.{quoted}")
