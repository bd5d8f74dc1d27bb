"""The most favourable distribution as a file: where the people of each cell go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evenhand.analyses.projection.shifts import Shifts
from evenhand.errors import UsageError, shown
from evenhand.files.paths import as_path, replacing

FORMATS = {".csv": "csv, HEADER", ".parquet": "parquet, COMPRESSION zstd"}
ALONE: dict[str, Any] = {
    "threads": 1, "autoinstall_known_extensions": "false", "autoload_known_extensions": "false",
}  # fmt: skip


def format_of(path: Any) -> str:
    """The format that a name asks for."""
    suffix = Path(as_path(path)).suffix.lower()
    if suffix not in FORMATS:
        raise UsageError(f"shifts are written as .csv or .parquet, not {shown(suffix or str(path))}: name such a file")
    return FORMATS[suffix]


def save(shifts: Shifts, path: Any) -> None:
    """Write the shifts; the file appears only when it is complete."""
    import duckdb

    form, columns = format_of(path), shifts.columns()
    with replacing(path) as temporary, duckdb.connect(config=ALONE) as connection:
        connection.register("shifts", columns)
        place = str(temporary).replace("'", "''")
        connection.execute(f"COPY (SELECT * FROM shifts) TO '{place}' (FORMAT {form})")
