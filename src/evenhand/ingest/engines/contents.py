"""What a file holds by its first bytes, where its name says something else."""

from __future__ import annotations

from evenhand.errors import DataError
from evenhand.files.paths import shown_path
from evenhand.files.secrets import is_address

_MARKS = (
    (b"PK\x03\x04", "workbook", "a workbook or another zip file", ".xlsx or .ods"),
    (b"\xd0\xcf\x11\xe0", "workbook", "an old or protected workbook", ".xls or .xlsx"),
    (b"PAR1", "parquet", "a Parquet file", ".parquet"),
    (b"ARROW1", "arrow", "an Arrow file", ".arrow"),
    (b"$FL2", "statistical", "a file of SPSS", ".sav"),
    (b"$FL3", "statistical", "a file of SPSS", ".zsav"),
    (b"<stata_dta>", "statistical", "a file of Stata", ".dta"),
    (b"HEADER RECORD*******LIB", "statistical", "a transport file of SAS", ".xpt"),
    (bytes(12) + b"\xc2\xea\x81\x60", "statistical", "a file of SAS", ".sas7bdat"),
    (b"RDX", "R", "a file of R", ".RData"),
    (b"\x1f\x8b", "gzip", "compressed by gzip", ".gz"),
    (b"\x28\xb5\x2f\xfd", "zstd", "compressed by Zstandard", ".zst"),
)
_BY_NAME = {
    "csv": "CSV",
    "tsv": "CSV",
    "json": "JSON",
    "workbook": "a workbook",
    "statistical": "a file of SAS, SPSS or Stata",
}
_PACKED = (".gz", ".zst")


def check_contents(file: str, kind: str) -> None:
    """Refuse a file that holds something else than its name says."""
    if kind not in _BY_NAME or is_address(file) or file.lower().endswith(_PACKED):
        return
    with open(file, "rb") as stream:
        start = stream.read(64)
    for mark, held, what, suffix in _MARKS:
        if start.startswith(mark) and held != kind:
            raise DataError(f"{shown_path(file)} is {what}, not {_BY_NAME[kind]}: let its name end in {suffix}")
    if kind == "workbook" and start and not start.startswith((b"PK", b"\xd0\xcf\x11\xe0")):
        page = start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
        way = "open it in a spreadsheet program and save it as .xlsx" if page else "if it is CSV, let it end in .csv"
        raise DataError(f"{shown_path(file)} is no workbook, it begins like {'a web page' if page else 'text'}: {way}")
