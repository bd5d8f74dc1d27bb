"""Workbooks (Excel, LibreOffice) → the rows of a sheet, by python-calamine."""

from __future__ import annotations

import os
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NoReturn

from evenhand.errors import DataError, EvenhandError, MissingLibrary, UsageError, listed, nearest, shown
from evenhand.files.data_file import FileFormat
from evenhand.files.paths import shown_path
from evenhand.ingest.engines.csv_files import header_elsewhere
from evenhand.ingest.engines.damage import check_columns
from evenhand.ingest.engines.sheets import Row, Sheet, named
from evenhand.ingest.progress import tell

OPTIONS = ("sheet", "header_row")
_LOOK = 20
"""Rows in which a header is looked for."""
_MOST_BYTES, _MOST_CELLS = 4 << 30, 50_000_000
"""What a workbook may hold when it is unpacked, and its sheets from the first to the last cell: all is in memory."""
_CELL = re.compile(rb"""r=["']([A-Z]{0,3})([0-9]{1,10})["']""")
_FAR = re.compile(rb"""r=["'](?=[A-Z]{2}|[A-Z]{0,3}[0-9]{7})([A-Z]{0,3})([0-9]{1,10})["']""")
"""Cells and rows, and those beyond column Z or of a million rows, which most sheets do not have."""
_OLE, _ENCRYPTED = b"\xd0\xcf\x11\xe0", "EncryptedPackage".encode("utf-16-le")
_UNNAMED = "column "


def read_workbook(file: str, needed: Sequence[str], format: FileFormat) -> Sheet:
    """The needed columns of a sheet."""
    sheet, others = _sheet(file, format)
    where = f"sheet {shown(sheet.name)} of {shown_path(file)}"
    names, rows = _table(sheet, where, format)
    if not set(needed) <= set(names):
        _say_where(file, sheet, others, needed, format)
    check_columns(needed, [n for n in names if n], where)
    places = {name: [i for i, other in enumerate(names) if other == name] for name in needed}
    _refuse_merged(sheet, where, _header_row(sheet, format), [p[0] for p in places.values()])
    twice = tuple(
        f"the sheet has {len(p)} columns called {shown(name)}; they are identical"
        for name, p in places.items()
        if len(p) > 1
    )
    note = f"sheet {shown(sheet.name)} was read; the workbook also has {listed(others, 5)} (--sheet)"
    return Sheet(_chosen(rows, places, where), (*([note] if others else []), *twice))


def names_in(file: str, format: FileFormat) -> list[str]:
    """What the columns of a sheet are called; those that hold something and have no name are `column C`."""
    sheet, _ = _sheet(file, format)
    return [n for n in _table(sheet, f"sheet {shown(sheet.name)} of {shown_path(file)}", format)[0] if n]


def _say_where(file: str, sheet: Any, others: Sequence[str], needed: Sequence[str], format: FileFormat) -> None:
    """Raise if another row, or another sheet, names the columns."""
    if row := _row_of(sheet, needed):
        raise UsageError(header_elsewhere(file, "row", _header_row(sheet, format), row))
    for name in others:
        if _row_of(_sheet(file, replace(format, sheet=name))[0], needed):
            raise UsageError(
                f"sheet {shown(sheet.name)} of {shown_path(file)} does not name the columns, but sheet {shown(name)} "
                f"does: say --sheet {shown(name)} (sheet={name!r})"
            )


def _row_of(sheet: Any, needed: Sequence[str]) -> int | None:
    """The first of the first rows that names the columns."""
    rows = islice(sheet.iter_rows(), _LOOK) if sheet.end is not None else ()
    return next((place for place, row in enumerate(rows, 1) if set(needed) <= set(named(row))), None)


def _table(sheet: Any, where: str, format: FileFormat) -> tuple[list[str], Iterator[Row]]:
    """The names of columns, and the rows below that hold anything."""
    start = _header_row(sheet, format)
    rows = iter(sheet.iter_rows()) if sheet.end is not None else iter(())
    header = next(islice(rows, start - 1, None), None)
    if header is None:
        raise DataError(
            f"{where} is empty: it needs a header and at least one row"
            if sheet.end is None
            else f"{where} has no row {start}: name the row of its header (--header-row)"
        )
    names = list(named(header))
    if "" in names:
        below = [row for row in rows if any(cell != "" for cell in row)]
        held = [any(row[i] != "" for row in below) for i in range(len(names))]
        names = [n or (f"{_UNNAMED}{_letters(i)}" if held[i] else "") for i, n in enumerate(names)]
        return names, iter(below)
    return names, (row for row in rows if any(cell != "" for cell in row))


def _header_row(sheet: Any, format: FileFormat) -> int:
    """The row of the header, from 1 on: by default the first that holds anything."""
    return format.header_row or (sheet.start[0] + 1 if sheet.start else 1)


def _chosen(rows: Iterator[Row], places: dict[str, list[int]], where: str) -> Iterator[Row]:
    first = [p[0] for p in places.values()]
    again = [(name, p[0], other) for name, p in places.items() for other in p[1:]]
    for row in rows:
        for name, one, other in again:
            if row[one] != row[other]:
                raise DataError(f"{where} has columns called {shown(name)} that differ: rename one of them")
        yield [None if row[i] == "" else row[i] for i in first]


def _refuse_merged(sheet: Any, where: str, header_row: int, columns: Sequence[int]) -> None:
    """Of merged cells only the first has a value: the others would be missing."""
    for (top, left), (bottom, right) in sheet.merged_cell_ranges or ():
        if bottom >= header_row and any(left <= c <= right for c in columns) and (bottom > top or right > left):
            place = f"{_letters(left)}{top + 1}:{_letters(right)}{bottom + 1}"
            raise DataError(f"cells {place} of {where} are merged: unmerge them, and fill in each of them")


def _letters(column: int) -> str:
    """0 is A, 26 is AA."""
    return (_letters(column // 26 - 1) if column >= 26 else "") + chr(65 + column % 26)


def _sheet(file: str, format: FileFormat) -> tuple[Any, list[str]]:
    """The sheet that was named; or the first, and the names of the others."""
    try:
        import python_calamine as calamine
    except ImportError:
        raise MissingLibrary(
            f"{shown_path(file)} is a workbook, which needs python-calamine: pip install 'evenhand[files]', or save "
            "the sheet as CSV"
        ) from None
    _check(file)
    try:
        book = calamine.CalamineWorkbook.from_path(file)
        names = [m.name for m in book.sheets_metadata if m.typ == calamine.SheetTypeEnum.WorkSheet]
        if not names:
            raise DataError(f"{shown_path(file)} has no sheet with cells")
        if format.sheet is None:
            return book.get_sheet_by_name(names[0]), names[1:]
        return book.get_sheet_by_name(_chosen_name(file, names, format.sheet)), []
    except calamine.PasswordError:
        _refuse_password(file)
    except EvenhandError:
        raise
    except (calamine.CalamineError, OSError, ValueError) as error:
        raise DataError(f"cannot read {shown_path(file)}: {error}; it may be damaged, or no workbook") from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of Rust, which is no Exception
            raise
        raise DataError(f"cannot read {shown_path(file)}: it is damaged") from None


def _chosen_name(file: str, names: Sequence[str], stated: str | int) -> str:
    """A name, or a number from 1 on; a sheet may be called 2024."""
    if str(stated) in names:
        return str(stated)
    text = str(stated)
    if text.isascii() and text.isdigit():
        if 1 <= int(text) <= len(names):
            return names[int(text) - 1]
        raise UsageError(f"{shown_path(file)} has no sheet {text}: it has {len(names)} ({listed(names, 10)})")
    raise UsageError(
        f"{shown_path(file)} has no sheet {shown(stated)} (it has: {listed(names, 10)}){nearest(text, names)}"
    )


def _refuse_password(file: str) -> NoReturn:
    raise DataError(f"{shown_path(file)} is protected by a password: save it without one, or the sheet as CSV")


def _check(file: str) -> None:
    """Refuse a workbook that is encrypted, damaged, or too large when it is unpacked."""
    if os.path.getsize(file) == 0:
        raise DataError(f"{shown_path(file)} is empty: repair it, or remove it if it should hold no rows")
    with open(file, "rb") as stream:
        if stream.read(4) == _OLE:  # of Excel before 2007, or an encrypted one
            stream.seek(0)
            if any(_ENCRYPTED in block for block in _overlapping(stream)):
                _refuse_password(file)
            return
    try:
        with zipfile.ZipFile(file) as packed:
            _check_parts(file, packed)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise DataError(f"cannot read {shown_path(file)}: it is damaged, or no workbook ({error})") from error


def _overlapping(stream: Any) -> Iterator[bytes]:
    before = b""
    while block := stream.read(1 << 20):
        yield before + block
        before = block[-len(_ENCRYPTED) :]


def _check_parts(file: str, packed: zipfile.ZipFile) -> None:
    """Unpack every part to its end, where its checksum is: a part that says it is small may be large."""
    parts = packed.infolist()
    manifest = "META-INF/manifest.xml"
    if manifest in packed.namelist() and b"encryption-data" in packed.open(manifest).read(1 << 20):
        _refuse_password(file)
    size = sum(part.file_size for part in parts)
    if size > _MOST_BYTES:
        raise DataError(
            f"{shown_path(file)} is {size:,} bytes when unpacked, which is too much for a workbook: save the "
            "sheet as CSV"
        )
    for part in parts:
        bottom, right = _reach(packed, part, _FAR)
        if max(bottom, 10**6) * max(right, 26) > _MOST_CELLS:
            bottom, right = _reach(packed, part, _CELL)
        if bottom * right > _MOST_CELLS:
            raise DataError(
                f"a sheet of {shown_path(file)} reaches to row {bottom:,} and column {right:,}, which is too much for "
                "a workbook: remove stray cells, or save the sheet as CSV"
            )


def _reach(packed: zipfile.ZipFile, part: zipfile.ZipInfo, cells: re.Pattern[bytes]) -> tuple[int, int]:
    """The last row and column of those cells of a part that a pattern finds."""
    bottom, right, end, done = 0, 0, b"", 0
    with packed.open(part) as stream:
        while block := stream.read(1 << 20):
            done += len(block)
            tell(done / max(part.file_size, 1), f"checking {os.path.basename(packed.filename or part.filename)}")
            for letters, digits in set(cells.findall(end + block)):
                bottom, right = max(bottom, int(digits or 0)), max(right, _column(letters))
            end = block[-20:]
    return bottom, right


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number
