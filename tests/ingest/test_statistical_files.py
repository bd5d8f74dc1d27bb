"""Files of SAS, SPSS, Stata and R: values, labels, dates, and what is refused."""

from __future__ import annotations

import base64
import datetime as dt
import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand
from evenhand.errors import EvenhandError
from evenhand.files.data_file import FileFormat
from evenhand.ingest.engines.r_files import read_r
from evenhand.ingest.engines.sources import column_names
from evenhand.ingest.rows import read_rows

ROLES: dict[str, Any] = dict(score="p", label="y", group="g")


@pytest.fixture
def stat() -> Any:
    return pytest.importorskip("pyreadstat")


@pytest.fixture
def pd() -> Any:
    return pytest.importorskip("pandas")


def write(stat: Any, path: Path, frame: Any, **how: Any) -> Path:
    {"sav": stat.write_sav, "dta": stat.write_dta, "xpt": stat.write_xport}[path.suffix[1:]](frame, path, **how)
    return path


@pytest.fixture
def frame(pd: Any) -> Any:
    return pd.DataFrame(
        {
            "p": [0.1, 0.25, 0.9, 0.4],
            "y": [1.0, 0.0, 1.0, 0.0],
            "g": [1.0, 2.0, 2.0, 1.0],
            "t": ["Zoé", "b", "", "b"],
            "d": [dt.date(2024, 5, 1), dt.date(2024, 5, 2), None, dt.date(2024, 5, 1)],
        }
    )


@pytest.mark.parametrize("kind", ["sav", "dta", "xpt"])
def test_values_are_what_they_are(tmp_path: Path, stat: Any, frame: Any, kind: str) -> None:
    path = write(stat, tmp_path / f"a.{kind}", frame)
    assert column_names(path) == list(frame)
    rows = read_rows(path, {"score": "p"}, ["t"], ["g", "d"])
    assert rows.numbers["p"].tolist() == [0.1, 0.25, 0.9, 0.4]
    d, g = (rows.values[name] for name in "dg")
    assert [d.distinct[c] for c in d.codes] == ["2024-05-01", "2024-05-02", None, "2024-05-01"]
    assert [g.distinct[c] for c in g.codes] == [1, 2, 2, 1]
    table = evenhand.tabulate(path, **ROLES)  # 1.0 is the favourable 1
    assert (table.rows, table.attributes[0].groups, table.notes) == (4, ("1", "2"), ())
    with pytest.raises(evenhand.DataError, match="without a group 't'"):
        evenhand.tabulate(path, score="p", group="t")


@pytest.mark.parametrize("kind", ["sav", "dta"])
def test_labels_of_values_are_names(tmp_path: Path, stat: Any, frame: Any, kind: str) -> None:
    labels = {"g": {1: "women", 2: "men"}, "y": {0: "no", 1: "yes"}}
    path = write(stat, tmp_path / f"a.{kind}", frame, variable_value_labels=labels)
    table = evenhand.tabulate(path, **ROLES, favorable="yes")
    assert table.attributes[0].groups == ("men", "women")
    assert table.meaning.favorable == "yes"
    assert table.notes == (
        "'y' is named by the labels that the file has: 0 is 'no', 1 is 'yes'",
        "'g' is named by the labels that the file has: 1 is 'women', 2 is 'men'",
    )
    assert evenhand.tabulate(path, score="g", group="y").scores.tolist() == [1, 2]  # a score stays a number
    with pytest.raises(evenhand.DataError, match=r"favourable value 1 is not in label .*'no', 'yes'"):
        evenhand.tabulate(path, **ROLES)


@pytest.mark.parametrize(
    ("labels", "why"),
    [({1: "women"}, "some of its values have none"), ({1: "same", 2: "same"}, "several values have the same one")],
)
def test_labels_that_do_not_tell_values_apart_are_left(
    tmp_path: Path, stat: Any, frame: Any, labels: dict[int, str], why: str
) -> None:
    path = write(stat, tmp_path / "a.sav", frame, variable_value_labels={"g": labels})
    table = evenhand.tabulate(path, **ROLES)
    assert table.attributes[0].groups == ("1", "2")
    assert table.notes == (f"'g' keeps its values as names, and not the labels that the file has: {why}",)


def test_long_files_are_read_in_parts(
    tmp_path: Path, stat: Any, frame: Any, pd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(stat, tmp_path / "a.dta", pd.concat([frame] * 5))
    whole = evenhand.tabulate(path, **ROLES)
    for rows in (1, 7, 20, 21):
        monkeypatch.setattr("evenhand.ingest.engines.statistical_files._ROWS", rows)
        assert evenhand.tabulate(path, **ROLES) == whole


def test_numbers_of_32_bits_are_the_decimals_they_stand_for(tmp_path: Path, pd: Any, stat: Any) -> None:
    frame = pd.DataFrame({"p": np.array([0.7, 0.1], np.float32), "g": ["a", "b"]})
    frame.to_stata(tmp_path / "a.dta", write_index=False)
    assert evenhand.tabulate(tmp_path / "a.dta", score="p", group="g").scores.tolist() == [0.1, 0.7]


def test_text_of_an_old_file_has_an_encoding(tmp_path: Path, pd: Any, stat: Any) -> None:
    frame = pd.DataFrame({"p": [0.2, 0.4], "g": ["Zoe", "Zo\xe9"]})
    frame.to_stata(tmp_path / "a.dta", write_index=False, version=114)
    table = evenhand.tabulate(tmp_path / "a.dta", score="p", group="g", encoding="latin-1")
    assert table.attributes[0].groups == ("Zoe", "Zo\xe9")


def test_bad_statistical_files(tmp_path: Path, stat: Any, frame: Any) -> None:
    whole = {kind: write(stat, tmp_path / f"whole.{kind}", frame).read_bytes() for kind in ("sav", "dta", "xpt")}
    cases = {
        "cut.sav": (whole["sav"][:-30], "cannot read .*cut.sav"),
        "cut.dta": (whole["dta"][: len(whole["dta"]) // 2], "cannot read .*cut.dta"),
        "empty.sav": (b"", "cannot read .*empty.sav"),
        "text.sas7bdat": (b"p,y,g\n0.1,1,a\n", "cannot read .*text.sas7bdat.*of another kind than its name says"),
        "really.csv": (whole["sav"], "is a file of SPSS, not CSV: let its name end in .sav"),
        "really.xlsx": (whole["dta"], "is a file of Stata, not a workbook: let its name end in .dta"),
        "really.sav": (b"RDX3\nX\n", "is a file of R, not a file of SAS, SPSS or Stata"),
    }
    for name, (content, message) in cases.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(EvenhandError, match=message) as error:
            evenhand.tabulate(tmp_path / name, **ROLES)
        assert "\n" not in str(error.value)
    with pytest.raises(EvenhandError, match="there is no column 'q' in "):
        evenhand.tabulate(tmp_path / "whole.sav", score="q", group="g")
    with pytest.raises(EvenhandError, match="is a file of SAS, SPSS or Stata, which has no sheet"):
        evenhand.tabulate(tmp_path / "whole.sav", **ROLES, sheet=1)
    nobody = write(stat, tmp_path / "nobody.sav", frame.iloc[:0])
    with pytest.raises(EvenhandError, match=r"nobody\.sav' has no rows"):
        evenhand.tabulate(nobody, **ROLES)


# ---- R --------------------------------------------------------------------------------------------------------------

# written by R itself
FRAME = (  # saveRDS(data.frame(int=, float=, string=, bool=, complex=)), each with an NA at the end
    "WAoAAAADAAQEAwADBQAAAAAFVVRGLTgAAAMTAAAABQAAAA0AAAAEAAAACgAAABQAAAAegAAAAAAAAA4AAAAEP/GZmZmZmZpAAZmZmZmZmkAKZmZmZmZm"
    "f/AAAAAAB6IAAAAQAAAABAAEAAkAAAABeAAEAAkAAAABeQAEAAkAAAABegAAAAn/////AAAACgAAAAQAAAABAAAAAAAAAAGAAAAAAAAADwAAAARAEAAA"
    "AAAAAEAUAAAAAAAAQBgAAAAAAABAHAAAAAAAAEAgAAAAAAAAQCIAAAAAAAB/8AAAAAAHogAAAAAAAAAAAAAEAgAAAAEABAAJAAAABW5hbWVzAAAAEAAA"
    "AAUABAAJAAAAA2ludAAEAAkAAAAFZmxvYXQABAAJAAAABnN0cmluZwAEAAkAAAAEYm9vbAAEAAkAAAAHY29tcGxleAAABAIAAAABAAQACQAAAAVjbGFz"
    "cwAAABAAAAABAAQACQAAAApkYXRhLmZyYW1lAAAEAgAAAAEABAAJAAAACXJvdy5uYW1lcwAAAA0AAAACgAAAAP////wAAAD+"
)
FACTOR = (  # save(test_dataframe), of a factor and whole numbers
    "H4sIAAAAAAAABl1PwQrCMAzNlk7YQBH8Dnfx4geIHyAKu0mc3ak6aOu8+uOuplsnrIekL+l7L8npUO2KqgAABCEQMGMI2eV83O4BRMpFAgJyfldWGnu9"
    "k6VG00OyYsNdZuBykHvmUPuYKRdKdlIZRuvhd+wmNIFbxM9qRWai/00aqm2rGfUc8UiMLZ68Yjwx+IaiI/WSowxdNKzwZ5bhzplxrtt3OZn7LdIPJ+fc"
    "N2zW/wAyn3rpUwEAAA=="
)
CODE = (  # a function
    "WAoAAAADAAQEAwADBQAAAAAFVVRGLTgAAAQDAAAA/QAAAP4AAAD+AAAA/g=="
)
SEQUENCE = (  # 1000:999, stored as its ends
    "WAoAAAADAAQEAwADBQAAAAAFVVRGLTgAAADuAAAAAgAAAAEABAAJAAAADmNvbXBhY3RfaW50c2VxAAAAAgAAAAEABAAJAAAABGJhc2UAAAACAAAADQAA"
    "AAEAAAANAAAA/gAAAA4AAAADQI9AAAAAAAAAAAAAAAAAAD/wAAAAAAAAAAAA/g=="
)


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else base64.b64decode(content))
    return path


def r_rows(path: Path, *names: str) -> list[tuple[Any, ...]]:
    return list(map(tuple, read_r(str(path), names, FileFormat()).rows))


def test_files_that_r_wrote(tmp_path: Path) -> None:
    path = put(tmp_path / "a.rds", FRAME)
    assert column_names(path) == ["int", "float", "string", "bool", "complex"]
    assert r_rows(path, "int", "float", "string", "bool") == [
        (10, 1.1, "x", True), (20, 2.2, "y", False), (30, 3.3, "z", True), (None, None, None, None)
    ]  # fmt: skip
    table = evenhand.tabulate(path, score="float", label="bool", group="string", missing="drop")
    assert (table.scores.tolist(), table.attributes[0].groups) == ([1.1, 2.2, 3.3], ("x", "y", "z"))
    packed = put(tmp_path / "b.rds", gzip.compress(path.read_bytes()))
    assert r_rows(packed, "int") == [(10,), (20,), (30,), (None,)]
    factor = put(tmp_path / "a.RData", FACTOR)
    assert r_rows(factor, "class", "value") == [("a", 1), ("b", 2), ("b", 3)]
    assert evenhand.tabulate(factor, score="value", group="class", sheet="test_dataframe").rows == 3


# R's format, as far as the tests need it
def _whole(*numbers: int) -> bytes:
    return np.array(numbers, ">i4").tobytes()


def _string(text: str) -> bytes:
    return _whole(0x40009, len(text.encode())) + text.encode()


def _attributes(of: dict[str, bytes]) -> bytes:
    return b"".join(_whole(0x402, 1) + _string(name) + item for name, item in of.items()) + _whole(254) if of else b""


def _vector(values: Any, **attributes: bytes) -> bytes:
    flag, end = 0x200 if attributes else 0, _attributes(attributes)
    if isinstance(values, np.ndarray):
        kind = 13 if values.dtype.kind == "i" else 14
        return _whole(kind | flag, len(values)) + values.astype(">i4" if kind == 13 else ">f8").tobytes() + end
    texts = all(isinstance(v, str) for v in values)
    return (
        _whole((16 if texts else 19) | flag, len(values)) + b"".join(_string(v) if texts else v for v in values) + end
    )


def _frame(**columns: bytes) -> bytes:
    of = {"names": _vector(list(columns)), "class": _vector(["data.frame"])}
    return _whole(0x313, len(columns)) + b"".join(columns.values()) + _attributes(of)


HEAD = b"X\n" + _whole(2, 0, 0)


def test_classes_of_r(tmp_path: Path) -> None:
    labels = _vector(np.array([1.0, 2.0]), names=_vector(["women", "men"]))
    frame = _frame(
        day=_vector(np.array([19844.0, np.nan]), **{"class": _vector(["Date"])}),
        moment=_vector(np.array([1714584605.5, np.nan]), **{"class": _vector(["POSIXct", "POSIXt"])}),
        g=_vector(np.array([1.0, 2.0]), **{"class": _vector(["haven_labelled"]), "labels": labels}),
        big=_vector(np.array([2**60 + 1, -(2**63)]).view("f8"), **{"class": _vector(["integer64"])}),
        p=_vector(np.array([0.25, 0.75])),
        took=_vector(np.array([1.0, 2.0]), **{"class": _vector(["difftime"])}),
    )
    path = put(tmp_path / "a.rds", HEAD + frame)
    moment = dt.datetime(2024, 5, 1, 17, 30, 5, 500000, tzinfo=dt.UTC)
    assert r_rows(path, "day", "moment", "big") == [(dt.date(2024, 5, 1), moment, 2**60 + 1), (None, None, None)]
    table = evenhand.tabulate(path, score="p", group="g")
    assert table.attributes[0].groups == ("men", "women")
    assert "named by the labels" in table.notes[0]
    with pytest.raises(evenhand.DataError, match=r"column 'took' .* holds durations"):
        evenhand.tabulate(path, score="p", group="took")


def test_data_frames_are_chosen_by_name(tmp_path: Path) -> None:
    frames = {name: _frame(p=_vector(np.array(p)), g=_vector(["a", "b"])) for name, p in
              {"may": [0.1, 0.2], "june": [0.3, 0.4]}.items()}  # fmt: skip
    frames["n"] = _vector(np.array([5]))
    path = put(tmp_path / "a.RData", b"RDX2\n" + HEAD + _attributes(frames))
    table = evenhand.tabulate(path, score="p", group="g")
    assert table.scores.tolist() == [0.1, 0.2]
    assert table.notes == ("data frame 'may' was read; the file also has 'june' (--sheet)",)
    assert evenhand.tabulate(path, score="p", group="g", sheet="june").scores.tolist() == [0.3, 0.4]
    with pytest.raises(evenhand.UsageError, match=r"has no data frame 'July' \(it has: 'may', 'june'\)"):
        evenhand.tabulate(path, score="p", group="g", sheet="July")


def test_bad_files_of_r(tmp_path: Path) -> None:
    long = base64.b64decode(SEQUENCE).replace(b"\x40\x8f\x40", b"\x7f\x8f\x40")
    deep = HEAD + _whole(19, 1) * 5000
    cases: dict[str, tuple[str | bytes, str]] = {
        "sequence.rds": (SEQUENCE, "holds no data frame"),
        "long.rds": (long, "a sequence of .* values is too long"),
        "deep.rds": (deep, "nested too deeply"),
        "code.rds": (CODE, "it holds code, such as a function"),
        "text.rds": (b"A\n3\n263168\n", "it is R's text format"),
        "words.rds": (b"p,y,g\n", "R has not written it"),
        "empty.rds": (b"", "R has not written it"),
        "cut.rds": (base64.b64decode(FRAME)[:300], "it ends too early"),
        "cut.RData": (base64.b64decode(FACTOR)[:100], "cannot read"),
    }
    for name, (content, message) in cases.items():
        with pytest.raises(EvenhandError, match=message) as error:
            evenhand.tabulate(put(tmp_path / name, content), **ROLES)
        assert "\n" not in str(error.value)


def test_spoilt_files_of_r_are_read_or_refused(tmp_path: Path) -> None:
    """Whatever byte is another one: an error of ours, or values; never one of Python's, and never for long."""
    whole = base64.b64decode(FRAME)
    for place in range(0, len(whole), 3):
        for byte in (0x7F, whole[place] ^ 0x10):
            path = put(tmp_path / "a.rds", whole[:place] + bytes([byte]) + whole[place + 1 :])
            try:
                r_rows(path, "int", "string")
            except EvenhandError:
                continue
