"""Addresses that DuckDB reads through its extensions: object stores, the web, PostgreSQL. Their secrets stay secret."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from evenhand.errors import UsageError
from evenhand.files.paths import shown_path
from evenhand.files.secrets import is_address

_DATABASE = "evenhand_database"
_EXTENSION = re.compile(r"(?i:install|download|load|require|missing)[^\n]*?\b[Ee]xtension:?\s*['\"]?([a-z][a-z0-9_]*)")


def is_database(path: str) -> bool:
    return path.lower().startswith(("postgresql://", "postgres://"))


def extensions(files: Sequence[str]) -> dict[str, Any]:
    """How DuckDB treats extensions: only an address may fetch or load one, no file that lies here."""
    allowed = "true" if any(map(is_address, files)) else "false"
    return {"autoinstall_known_extensions": allowed, "autoload_known_extensions": allowed}


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
