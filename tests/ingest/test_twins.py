"""One CSV and its twins of other programs give the same document, byte for byte."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand
from conftest import called
from workbook_files import write_ods, write_xlsx

NAMES = ["score", "repaid", "sex", "branch", "day"]
ROLES = ("--score", "score", "--label", "repaid", "--group", "sex,branch,day", "--depth", "1")
HOW = ("--measures", "disparate_impact,abcc", "--bootstrap", "30", "--permutations", "30", "--seed", "7")


def people(n: int = 240) -> list[list[Any]]:
    rng = np.random.default_rng(11)
    return [
        [
            round(float(rng.random()), 3),
            int(rng.integers(2)),
            str(rng.choice(["Männer", "Frauen"])),
            int(rng.integers(1, 4)),
            dt.date(2024, 5, int(rng.integers(1, 4))),
        ]
        for _ in range(n)
    ]


PEOPLE = people()


def csv(delimiter: str, decimal: str = ".") -> str:
    lines = [[str(v).replace(".", decimal) if isinstance(v, float) else str(v) for v in row] for row in PEOPLE]
    return "".join(delimiter.join(line) + "\n" for line in [NAMES, *lines])


def document(folder: Path, name: str, *options: str) -> str:
    result = called("audit", str(folder / name), *ROLES, *HOW, *options, "--json", "-")
    assert (result.returncode, result.stderr) == (0, "")
    return str(result.stdout).replace(name, "people")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("twins")
    (place / "people.csv").write_text(csv(","), encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def original(folder: Path) -> str:
    found = document(folder, "people.csv")
    assert json.loads(found)["data"]["rows"] == len(PEOPLE)
    return found


def test_semicolons_decimal_commas_and_latin_1(folder: Path, original: str) -> None:
    (folder / "german.csv").write_bytes(csv(";", ",").encode("latin-1"))
    assert document(folder, "german.csv", "--encoding", "latin-1", "--decimal", ",") == original


@pytest.mark.parametrize("kind", ["xlsx", "ods"])
def test_workbooks(folder: Path, original: str, kind: str) -> None:
    pytest.importorskip("python_calamine")
    write = write_xlsx if kind == "xlsx" else write_ods
    write(folder / f"book.{kind}", {"2023": [["other"], [1]], "2024": [NAMES, *PEOPLE]})
    assert document(folder, f"book.{kind}", "--sheet", "2024") == original


@pytest.mark.parametrize("kind", ["sav", "dta", "xpt"])
def test_spss_stata_and_sas(folder: Path, original: str, kind: str) -> None:
    stat = pytest.importorskip("pyreadstat")
    frame = pytest.importorskip("pandas").DataFrame(PEOPLE, columns=NAMES)
    {"sav": stat.write_sav, "dta": stat.write_dta, "xpt": stat.write_xport}[kind](frame, folder / f"people.{kind}")
    assert document(folder, f"people.{kind}") == original


def test_every_command_that_reads_rows_takes_what_is_known_about_the_file(folder: Path) -> None:
    """They all call one reader; here some that do so by other ways than the audit."""
    (folder / "runs.csv").write_text(
        "m;s;p;f\n" + "".join(f"{m};{i};0,{i + 5};0,{8 - i}\n" for m in "ab" for i in (1, 2))
    )
    (folder / "german.csv").write_bytes(csv(";", ",").encode("latin-1"))
    known = ("--encoding", "latin-1", "--decimal", ",")
    rows = [str(folder / "german.csv"), *known]
    roles = ("--score", "score", "--label", "repaid", "--group", "sex")
    for command in (
        ["check", *rows, *roles, "--require", "disparate_impact >= 0.1", "--bootstrap", "20"],
        ["monitor", *rows, *roles, "--time", "day"],
        ["thresholds", *rows, *roles, "--bootstrap", "20"],
        ["table", "make", *rows, *roles, "-o", str(folder / "a.table")],
        ["individual", *rows, "--score", "score", "--columns", "branch"],
        ["compare", str(folder / "runs.csv"), *known[2:], "--method", "m", "--performance", "p", "--fairness", "f",
         "--settings", "s"],
    ):  # fmt: skip
        result = called(*command)
        assert result.returncode == 0, (command, result.stderr)
    assert evenhand.load(folder / "a.table").rows == len(PEOPLE)


def test_a_refusal_writes_nothing(folder: Path) -> None:
    page = folder / "page.html"
    for options in ((), ("--encoding", "latin-1"), ("--sheet", "2"), ("--encoding", "klingon"), ("--decimal", ";")):
        (folder / "german.csv").write_bytes(csv(";", ",").encode("latin-1"))
        result = called("audit", str(folder / "german.csv"), *ROLES, *options, "--html", str(page))
        assert result.returncode == 2
        assert result.stdout == ""
        assert result.stderr.startswith("evenhand: ")
        assert result.stderr.count("\n") == 1
        assert not page.exists()
