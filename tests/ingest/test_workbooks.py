"""Workbooks: what their cells mean, which sheet is read, and what is refused."""

from __future__ import annotations

import datetime as dt
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest

import evenhand
from evenhand.errors import EvenhandError
from evenhand.ingest.engines.sources import column_names
from evenhand.ingest.rows import read_rows
from workbook_files import Fault, Formula, Percent, write_ods, write_xlsx, write_zip

pytest.importorskip("python_calamine")

ROLES: dict[str, Any] = dict(score="p", label="y", group="g")
HEAD = ["p", "y", "g"]
PEOPLE = [HEAD, [0.2, 1, "a"], [0.7, 0, "b"], [0.4, 1, "b"], [0.9, 0, "a"]]


def test_cells_mean_what_they_show(tmp_path: Path) -> None:
    head = ["p", "percent", "day", "moment", "truth", "formula", "text", "whole", "failed", "gap"]
    day, moment = dt.date(2024, 5, 1), dt.datetime(2024, 5, 1, 17, 30, 5)
    first = [0.25, Percent(0.45), day, moment, True, Formula(0.5), "007", 3, Fault("#N/A"), None]
    second = [1, Percent(1), dt.date(2024, 5, 2), dt.datetime(2024, 5, 2), False, Formula(2), "a, “b”\n", 4.0, 1, "x"]
    for path in (
        write_xlsx(tmp_path / "a.xlsx", {"s": [head, first, second]}, blank=2),
        write_ods(tmp_path / "a.ods", {"s": [head, [None if isinstance(v, Fault) else v for v in first], second]}),
    ):
        assert column_names(path) == head
        read = read_rows(path, {"score": "p", "other": "percent"}, [], head[2:])
        assert read.numbers["p"].tolist() == [0.25, 1.0]
        assert read.numbers["percent"].tolist() == [0.45, 1.0]
        found = {name: [values.distinct[c] for c in values.codes] for name, values in read.values.items()}
        assert found["day"] == ["2024-05-01", "2024-05-02"]
        assert found["moment"] == ["2024-05-01 17:30:05", "2024-05-02"]
        assert found["truth"] == [True, False]
        assert found["formula"] == [0.5, 2]
        assert found["text"][0] == "007"
        assert found["whole"] == [3, 4]
        assert (found["failed"][0], found["gap"]) == (None, [None, "x"])


def test_sheets_are_chosen_by_name_and_number(tmp_path: Path) -> None:
    other = [HEAD, [0.1, 1, "c"], [0.3, 0, "d"]]
    path = write_xlsx(tmp_path / "a.xlsx", {"2023": PEOPLE, "2024": other, "1": PEOPLE[:4]})
    first = evenhand.tabulate(path, **ROLES)
    assert first.rows == 4
    assert first.notes == ("sheet '2023' was read; the workbook also has '2024', '1' (--sheet)",)
    for sheet, rows in ((2, 2), ("2024", 2), (2024, 2), ("2", 2), ("1", 3), (3, 3)):  # a name goes before a number
        table = evenhand.tabulate(path, **ROLES, sheet=sheet)
        assert (table.rows, table.notes) == (rows, ()), sheet
    with pytest.raises(evenhand.UsageError, match=r"has no sheet 'x2024' .*did you mean '2024'"):
        evenhand.tabulate(path, **ROLES, sheet="x2024")
    with pytest.raises(evenhand.UsageError, match="has no sheet 9: it has 3"):
        evenhand.tabulate(path, **ROLES, sheet=9)


def test_another_sheet_that_has_the_columns_is_suggested(tmp_path: Path) -> None:
    path = write_xlsx(tmp_path / "a.xlsx", {"README": [["Loans of 2024"]], "empty": [], "loans": [["Loans"], *PEOPLE]})
    refused(path, "sheet 'README' .* does not name the columns, but sheet 'loans' does: say --sheet 'loans'")
    refused(path, "row 1 of .* but row 2 does: say --header-row 2", sheet="loans", header_row=1)
    assert evenhand.tabulate(path, **ROLES, sheet="loans", header_row=2).rows == 4


def test_an_old_workbook_that_excel_wrote() -> None:
    """One of statsmodels, beside what another library reads from its other form."""
    folder = Path(pytest.importorskip("statsmodels").__file__).parent / "datasets" / "macrodata"
    path = next((p for p in (folder / "src").rglob("macrodata.xls") if p.is_file()), None)
    if path is None:
        pytest.skip("this statsmodels comes without its workbook")
    rows = read_rows(evenhand.file(path, sheet="Quarterly"), {"gdp": "GDPC96"}, [], ["DATE"])
    known = [line.split(",") for line in (folder / "macrodata.csv").read_text().splitlines()]
    realgdp = [float(line[2]) for line in known[1:]]
    days = [rows.values["DATE"].distinct[c] for c in rows.values["DATE"].codes]
    start = days.index("1959-01-01")
    assert rows.numbers["GDPC96"][start : start + len(realgdp)].tolist() == realgdp


def test_blank_rows_and_columns_are_none(tmp_path: Path) -> None:
    rows = [[None, *row, None] for row in PEOPLE]
    path = write_xlsx(tmp_path / "a.xlsx", {"s": [*rows[:3], [None] * 5, *rows[3:], [None] * 5]}, blank=3)
    assert evenhand.tabulate(path, **ROLES).rows == 4
    assert column_names(path) == HEAD


def test_a_column_without_a_name_has_its_letter(tmp_path: Path) -> None:
    path = write_xlsx(tmp_path / "a.xlsx", {"s": [["p", None, "g"], [0.1, 5, "a"], [0.2, 6, "b"]]})
    assert column_names(path) == ["p", "column B", "g"]
    assert evenhand.tabulate(path, score="column B", group="g").scores.tolist() == [5, 6]


def test_workbooks_of_a_folder_are_read_together(tmp_path: Path) -> None:
    write_xlsx(tmp_path / "a.xlsx", {"s": PEOPLE})
    write_ods(tmp_path / "b.ods", {"s": [["g", "y", "p"], ["c", 1, 0.5]]})
    assert evenhand.tabulate(tmp_path, **ROLES).rows == 5


# ---- what is refused ------------------------------------------------------------------------------------------------


def refused(path: Path, message: str, **said: Any) -> None:
    with pytest.raises(EvenhandError, match=message) as error:
        evenhand.tabulate(path, **ROLES, **said)
    assert "\n" not in str(error.value)
    assert path.name in str(error.value)


SHEETS: dict[str, tuple[list[list[Any]], dict[str, Any], str]] = {
    "nothing": ([], {}, "sheet 's' of .* is empty: it needs a header"),
    "header only": ([HEAD], {}, "has no rows"),
    "text in a score": ([*PEOPLE, ["0.5", 1, "a"]], {}, "column 'p' .* must hold numbers, but holds '0.5'"),
    "word in a score": ([*PEOPLE, ["n/k", 1, "a"]], {}, "must hold numbers, but holds 'n/k'"),
    "two headers": ([HEAD, ["points", "0/1", "code"], *PEOPLE[1:]], {}, "must hold numbers, but holds 'points'"),
    "header again": ([*PEOPLE, *PEOPLE], {}, "holds 'p': a second header"),
    "title": ([["Loans"], [], *PEOPLE], {}, "row 1 of .* does not name the columns, but row 3 does"),
    "far header": (PEOPLE, {"header_row": 40}, "has no row 40"),
    "wrong header": (PEOPLE, {"header_row": 2}, "row 2 of .* does not name the columns, but row 1 does"),
    "twice": ([["p", "y", "g", "p"], [0.1, 1, "a", 0.1], [0.2, 0, "b", 0.3]], {}, "columns called 'p' that differ"),
    "text facts": (PEOPLE, {"decimal": ","}, "is a workbook, which has no decimal to state"),
}  # fmt: skip


@pytest.mark.parametrize("name", SHEETS)
def test_bad_sheets(tmp_path: Path, name: str) -> None:
    rows, said, message = SHEETS[name]
    refused(write_xlsx(tmp_path / "a.xlsx", {"s": rows}), message, **said)


def test_numbers_and_text_of_one_name_are_refused(tmp_path: Path) -> None:
    path = write_xlsx(tmp_path / "a.xlsx", {"s": [HEAD, [0.1, 1, 7], [0.2, 0, "7"]]})
    with pytest.raises(evenhand.DataError, match=r"holds both .*which have the same name"):
        evenhand.tabulate(path, **ROLES)


def test_columns_that_stand_twice_and_agree_are_one(tmp_path: Path) -> None:
    path = write_xlsx(tmp_path / "a.xlsx", {"s": [[*HEAD, "p"], [0.1, 1, "a", 0.1], [0.2, 0, "b", 0.2]]})
    assert evenhand.tabulate(path, **ROLES).notes == ("the sheet has 2 columns called 'p'; they are identical",)


def test_merged_cells(tmp_path: Path) -> None:
    rows = [HEAD, [0.2, 1, "a"], [0.7, 0, None], [0.4, 1, "b"]]
    refused(write_xlsx(tmp_path / "a.xlsx", {"s": rows}, merged=["C2:C3"]), "cells C2:C3 of sheet 's' .* are merged")
    elsewhere = [[*row, None] for row in PEOPLE]
    table = evenhand.tabulate(write_xlsx(tmp_path / "b.xlsx", {"s": elsewhere}, merged=["D2:D3"]), **ROLES)
    assert table.rows == 4  # a column that is not needed may be as it is


def test_damaged_workbooks(tmp_path: Path) -> None:
    content = write_xlsx(tmp_path / "whole.xlsx", {"s": PEOPLE}).read_bytes()
    spoilt = bytearray(content)
    spoilt[content.index(b"xl/worksheets/sheet1.xml") + 40] ^= 0xFF
    cases = {
        "cut.xlsx": (content[:-200], "damaged, or no workbook"),
        "spoilt.xlsx": (bytes(spoilt), "damaged, or no workbook"),
        "empty.xlsx": (b"", "is empty"),
        "text.xlsx": (b"p,y,g\n0.1,1,a\n", "begins like text: if it is CSV, let it end in .csv"),
        "page.xls": (b"<html><table>", "begins like a web page: open it in a spreadsheet program"),
        "old.xls": (b"\xd0\xcf\x11\xe0" + bytes(600), "cannot read"),
        "really.csv": (content, "is a workbook or another zip file, not CSV: let its name end in .xlsx or .ods"),
    }
    for name, (held, message) in cases.items():
        (tmp_path / name).write_bytes(held)
        refused(tmp_path / name, message)
    write_zip(tmp_path / "other.xlsx", {"a.txt": "no workbook"})
    refused(tmp_path / "other.xlsx", "damaged, or no workbook")


def test_passwords(tmp_path: Path) -> None:
    encrypted = b"\xd0\xcf\x11\xe0" + bytes(1000) + "EncryptedPackage".encode("utf-16-le") + bytes(1000)
    (tmp_path / "secret.xlsx").write_bytes(encrypted)
    refused(tmp_path / "secret.xlsx", "protected by a password: save it without one")
    write_ods(tmp_path / "secret.ods", {"s": PEOPLE})
    with zipfile.ZipFile(tmp_path / "secret.ods", "r") as file:
        parts = {name: file.read(name).decode() for name in file.namelist()}
    parts["META-INF/manifest.xml"] = parts["META-INF/manifest.xml"].replace("/>", "><manifest:encryption-data/></x>", 1)
    refused(write_zip(tmp_path / "secret.ods", parts), "protected by a password")


def test_workbooks_that_would_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_xlsx(tmp_path / "far.xlsx", {"s": PEOPLE})
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name).decode() for name in file.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = parts[sheet].replace(
        "</sheetData>", '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
    )
    refused(write_zip(path, parts), "reaches to row 1,048,576 and column 16,384, which is too much")
    monkeypatch.setattr("evenhand.ingest.engines.workbooks._MOST_BYTES", 1 << 20)
    parts[sheet] += " " * (1 << 20)
    refused(write_zip(path, parts), "bytes when unpacked")


def test_a_part_that_lies_about_its_size_is_refused(tmp_path: Path) -> None:
    path = write_xlsx(tmp_path / "lies.xlsx", {"s": [*PEOPLE, *([0.5, 1, "a"] for _ in range(2000))]})
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as file:
        size = file.getinfo("xl/worksheets/sheet1.xml").file_size
    true, false = struct.pack("<L", size), struct.pack("<L", 100)
    assert content.count(true) == 2  # before the part, and in the list of parts
    path.write_bytes(bytes(content).replace(true, false))
    refused(path, "damaged, or no workbook")


def test_who_lacks_the_library_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    path = write_xlsx(tmp_path / "a.xlsx", {"s": PEOPLE})
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(evenhand.MissingLibrary, match=r"pip install 'evenhand\[files\]'"):
        evenhand.tabulate(path, **ROLES)
