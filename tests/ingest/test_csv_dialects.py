"""CSV as programs of other countries and other decades write it: encodings, separators, percentages, headers."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand
from evenhand.ingest.number_text import Spelling, way_out

ROLES: dict[str, Any] = dict(score="p", label="y", group="g")


def rows(n: int = 200) -> list[tuple[float, int, str]]:
    rng = np.random.default_rng(4)
    return [(round(float(rng.random()), 3), int(rng.integers(2)), ("Zoé", "Müller")[i % 2]) for i in range(n)]


PEOPLE = rows()


def spelt(number: str = "{:.3f}", decimal: str = ".", delimiter: str = ",") -> str:
    lines = [delimiter.join("pyg")]
    for p, y, g in PEOPLE:
        lines.append(delimiter.join([number.format(p).replace(".", decimal), str(y), g]))
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> evenhand.Table:
    path = tmp_path_factory.mktemp("csv") / "people.csv"
    path.write_text(spelt(), encoding="utf-8")
    return evenhand.tabulate(path, **ROLES)


def written(folder: Path, content: str | bytes, encoding: str = "utf-8", name: str = "people.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return path


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("utf-8", {}), ("utf-8-sig", {}), ("utf-16", {}), ("utf-32", {}),  # these have a mark
        ("cp1252", {"encoding": "cp1252"}), ("latin-1", {"encoding": "latin-1"}), ("cp437", {"encoding": "cp437"}),
        ("utf-16-le", {"encoding": "utf-16-le"}), ("mac_roman", {"encoding": "mac_roman"}),
    ],
)  # fmt: skip
def test_encodings(tmp_path: Path, expected: evenhand.Table, encoding: str, said: dict[str, str]) -> None:
    path = written(tmp_path, spelt(), encoding)
    assert evenhand.tabulate(path, **ROLES, **said) == expected


def test_packed_text_has_an_encoding_too(tmp_path: Path, expected: evenhand.Table) -> None:
    (tmp_path / "packed.csv.gz").write_bytes(gzip.compress(spelt().encode("cp1252")))
    assert evenhand.tabulate(tmp_path / "packed.csv.gz", **ROLES, encoding="cp1252") == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (spelt(decimal=",", delimiter=";"), {"decimal": ","}),
        (spelt(decimal=",", delimiter=";").replace("\n", "\r\n"), {"decimal": ","}),
        (spelt(decimal=",", delimiter="\t"), {"decimal": ","}),
        (spelt(delimiter="~"), {"delimiter": "~"}),
        (spelt(delimiter="\t"), {"delimiter": "tab"}),
        ("Loans of 2024; all branches\n\n" + spelt(delimiter=";"), {"header_row": 3}),
        ("a,title\n" + spelt(decimal=",", delimiter=";"), {"header_row": 2, "decimal": ","}),
    ],
)
def test_separators_and_headers(tmp_path: Path, expected: evenhand.Table, text: str, said: dict[str, Any]) -> None:
    path = written(tmp_path, text)
    assert evenhand.tabulate(path, **ROLES, **said) == expected


def test_facts_are_said_where_columns_are_named_or_of_the_file(tmp_path: Path, expected: evenhand.Table) -> None:
    path = written(tmp_path, spelt(decimal=",", delimiter=";"), "cp1252")
    said: dict[str, Any] = {"decimal": ",", "encoding": "cp1252"}
    people = evenhand.file(path, **said)
    assert evenhand.data(path, **ROLES, **said).table() == evenhand.data(people, **ROLES).table() == expected
    how: dict[str, Any] = {**ROLES, "bootstrap": 0, "permutations": 0}
    assert evenhand.audit(path, **how, **said).to_json() == evenhand.audit(people, **how).to_json()
    assert evenhand.check(people, **ROLES, require="disparate_impact >= 0.1").passed


def test_files_of_several_encodings_are_read_together(tmp_path: Path) -> None:
    lines = spelt().splitlines(keepends=True)
    written(tmp_path, lines[0] + "".join(lines[1:90]), "utf-16", "a.csv")
    written(tmp_path, lines[0] + "".join(lines[90:]), "utf-8", "b.csv")
    assert evenhand.tabulate(tmp_path, **ROLES).rows == len(PEOPLE)


def test_percentages_are_shares_and_a_note_says_so(tmp_path: Path, expected: evenhand.Table) -> None:
    percent = "".join(f"{100 * p:.1f} %,{y},{g}\n" for p, y, g in PEOPLE)
    table = evenhand.tabulate(written(tmp_path, "p,y,g\n" + percent), **ROLES)
    assert table.scores.tolist() == expected.scores.tolist()  # 12.3% is 0.123, to the last bit
    assert table.notes == ("'p' holds percentages: 45% is read as 0.45",)
    comma = written(tmp_path, ("p;y;g\n" + percent.replace(",", ";").replace(".", ",")))
    assert evenhand.tabulate(comma, **ROLES, decimal=",") == table


@pytest.mark.parametrize("text", ["p,y,g\n45%,1,a\n0.3,0,b\n", "p,y,g\n0.3,1,a\n45%,0,b\n"])
def test_percentages_beside_numbers_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(evenhand.DataError, match=r"must hold numbers, but holds '.*'"):
        evenhand.tabulate(written(tmp_path, text), **ROLES)


def test_a_weight_is_no_percentage(tmp_path: Path) -> None:
    path = written(tmp_path, "p,y,g,w\n0.4,1,a,50%\n0.3,0,b,50%\n")
    with pytest.raises(evenhand.DataError, match=r"column 'w' .*holds '50%'"):
        evenhand.tabulate(path, **ROLES, weight="w")


SPELLINGS = [
    (Spelling(), "1234.5", "1234.5"),
    (Spelling(), "1,234.5", None),
    (Spelling(), "0,5", None),
    (Spelling(), ".5", ".5"),
    (Spelling(","), "1234,5", "1234.5"),
    (Spelling(","), "1.234,5", "1234.5"),
    (Spelling(","), "-1.234.567", "-1234567"),
    (Spelling(","), "1.234", None),
    (Spelling(","), "0.75", None),
    (Spelling(","), "0.123", None),
    (Spelling(","), "12.34,5", None),
    (Spelling(","), "1,5e3", "1.5e3"),
    (Spelling(",", "."), "1.234", "1234"),
    (Spelling(",", "."), "0.123", None),
    (Spelling(",", "."), "1.23", None),
    (Spelling(".", ","), "1,234", "1234"),
    (Spelling(".", ","), "1,234.5", "1234.5"),
    (Spelling(".", ","), "12,34", None),
    (Spelling(",", " "), "1 234,5", "1234.5"),
    (Spelling(",", " "), "1\u202f234,5", "1234.5"),
    (Spelling(".", "'"), "1'234.5", "1234.5"),
    (Spelling(","), "1_0", None),
    (Spelling(","), "abc", None),
    (Spelling(","), "", None),
]


def test_spellings_mean_the_same_to_python_and_to_the_engine(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    for spelling, text, number in SPELLINGS:
        assert spelling.plain(text) == number, (spelling, text)
        found = duckdb.sql(f"SELECT {spelling.sql('x')} FROM (SELECT $1 AS x)", params=[text]).fetchall()[0][0]
        assert found == (None if number is None else float(number)), (spelling, text)


def test_separated_thousands(tmp_path: Path) -> None:
    said = {"score": "p", "group": "g"}
    path = written(tmp_path, "p;g\n1.234,5;a\n1.000.000;b\n2500;a\n")
    assert evenhand.tabulate(path, **said, decimal=",").scores.tolist() == [1234.5, 2500.0, 1e6]
    path = written(tmp_path, 'p,g\n"1,234",a\n"2,345.5",b\n')
    assert evenhand.tabulate(path, **said, thousands=",").scores.tolist() == [1234.0, 2345.5]
    path = written(tmp_path, "p;g\n1.234;a\n2.345;b\n")
    assert evenhand.tabulate(path, **said, decimal=",", thousands=".").scores.tolist() == [1234.0, 2345.0]
    with pytest.raises(evenhand.DataError, match=re.escape("it may be 1.234 or 1234: say")):  # never guessed
        evenhand.tabulate(path, **said, decimal=",")


@pytest.mark.parametrize(
    ("text", "spelling", "hint"),
    [
        ("0,75", Spelling(), "if it is 0.75, say --decimal ,"),
        ("1,234", Spelling(), "it may be 1.234 or 1234: say --decimal ,"),
        ("1,234.5", Spelling(), "if it is 1234.5, say --thousands ,"),
        ("1.234,5", Spelling(), "if it is 1234.5, say --decimal ,"),
        ("1 234,5", Spelling(), "if it is 1234.5, say --decimal , --thousands ' '"),
        ("0.75", Spelling(","), "if it is 0.75"),
        ("n/k", Spelling(","), "repair it"),
    ],
)
def test_other_spellings_are_suggested(text: str, spelling: Spelling, hint: str) -> None:
    assert way_out(text, spelling).startswith(hint)


def test_numbers_as_names_have_points(tmp_path: Path) -> None:
    """A group and a label that are numbers are the same in both twins."""
    point = written(tmp_path, "p,y,g\n0.5,1.0,0.5\n0.25,0.0,1.5\n", name="point.csv")
    comma = written(tmp_path, "p;y;g\n0,5;1,0;0,5\n0,25;0,0;1,5\n", name="comma.csv")
    assert evenhand.tabulate(comma, **ROLES, decimal=",") == evenhand.tabulate(point, **ROLES)


def test_features_are_read_alike(tmp_path: Path) -> None:
    from evenhand.ingest.people import read_people

    comma = written(tmp_path, "age;share;code\n30,5;10%;007\n41,25;5,5%;008\n")
    people = read_people(evenhand.file(comma, decimal=","), ["age", "share", "code"])
    assert people["age"].values.tolist() == [30.5, 41.25]
    assert people["share"].values.tolist() == [0.1, 0.055]
    assert people["code"].categories == ("007", "008")
    assert people.notes == ("'share' holds percentages: 45% is read as 0.45",)


# ---- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "said", "message"),
    [
        ("p,y,g\n0.1,1,a\n0.2,0,Zoé\n".encode("latin-1"), {},
         r"it is not UTF-8 text, byte 0xE9 at place 23 \(line 3\) does not fit; it may be latin-1 or cp1252"),
        ("p,y,g\n0.1,1,a\n0.2,0,“b”\n".encode("cp1252"), {}, r"byte 0x93 .*line 3.*cp1252 \(Windows"),
        (spelt().encode("utf-16-le"), {}, "may be utf-16-le: --encoding utf-16-le"),
        (spelt().encode(), {"encoding": "ascii"}, r"it is not ascii text, byte 0xC3 at place \d+ \(line 2\)"),
        (spelt().encode(), {"encoding": "utf-16"}, "it is not utf-16 text"),
        (b"p,y,g\n0.1,1,a\n", {"sheet": 2}, "is CSV, which has no sheet to state"),
        (b"Title\n\np,y,g\n0.1,1,a\n", {}, "line 1 of .* does not name the columns, but line 3 does: say --header-row"),
        (b"p,y,g\n0.1,1,a\n", {"header_row": 9}, "has 2 lines, so that line 9 names nothing"),
        (b"p,y,g\n0.1,1,a\np,y,g\n0.2,0,b\n", {}, "holds 'p': a second header"),
        (b"PK\x03\x04 and so on", {}, "is a workbook or another zip file, not CSV"),
        (b"\x1f\x8b and so on", {}, "is compressed by gzip, not CSV: let its name end in .gz"),
    ],
)  # fmt: skip
def test_bad_files(tmp_path: Path, content: bytes, said: dict[str, Any], message: str) -> None:
    with pytest.raises(evenhand.EvenhandError, match=message) as error:
        evenhand.tabulate(written(tmp_path, content), **ROLES, **said)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"encoding": "klingon"}, "there is no encoding 'klingon'"),
        ({"encoding": "base64"}, "there is no encoding 'base64'"),
        ({"encoding": "idna"}, "there is no encoding 'idna'"),
        ({"decimal": ";"}, "decimal is a point or a comma, not ';'"),
        ({"thousands": "."}, "cannot separate both thousands and decimals"),
        ({"thousands": "7"}, "thousands is a character such as"),
        ({"delimiter": ";;"}, "delimiter is one character"),
        ({"header_row": 0}, "header_row must be a whole number from 1"),
        ({"comma": ","}, "a file has no 'comma' to state"),
    ],
)
def test_bad_facts(said: dict[str, Any], message: str) -> None:
    with pytest.raises(evenhand.UsageError, match=message):
        evenhand.file("people.csv", **said)


def test_facts_are_about_files() -> None:
    with pytest.raises(evenhand.UsageError, match="is about a file, and these data are none"):
        evenhand.tabulate({"p": [0.1], "g": ["a"]}, score="p", group="g", decimal=",")


def test_functions_that_do_not_take_facts_say_where_they_go() -> None:
    with pytest.raises(evenhand.UsageError, match=r"with its path: evenhand.file\(path, decimal=','\)"):
        evenhand.thresholds("people.csv", **ROLES, decimal=",", require="disparate_impact >= 0.8")


def test_a_saved_table_has_no_format(tmp_path: Path, expected: evenhand.Table) -> None:
    expected.save(tmp_path / "people.table")
    with pytest.raises(evenhand.UsageError, match="is a saved table, which has no decimal"):
        evenhand.audit(tmp_path / "people.table", decimal=",")
