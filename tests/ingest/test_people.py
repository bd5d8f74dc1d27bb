"""People from any data: the same columns, whoever holds them."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.errors import DataError, UsageError
from evenhand.ingest.engines import names_of
from evenhand.ingest.people import chosen_columns, read_people

COLUMNS = {
    "age": [30, 41, 30],
    "income": [1.5, 2.25, -3.0],
    "job": ["cook", "smith", "cook"],
    "member": [True, False, True],
}


def _held_by(library: str):
    if library == "dict":
        return COLUMNS
    if library == "arrays":
        return {name: np.array(values) for name, values in COLUMNS.items()}
    if library == "record array":
        return np.rec.fromarrays([np.array(v) for v in COLUMNS.values()], names=list(COLUMNS))
    module = pytest.importorskip(library)
    if library == "duckdb":
        pytest.importorskip("pandas")
        frame = __import__("pandas").DataFrame(COLUMNS)
        return module.from_df(frame)
    if library == "pyarrow":
        return module.table(COLUMNS)
    return module.DataFrame(COLUMNS)


@pytest.mark.parametrize("library", ["dict", "arrays", "record array", "pandas", "polars", "pyarrow", "duckdb"])
def test_every_library_gives_the_same_people(library):
    data = _held_by(library)
    people = read_people(data, names_of(data))
    assert people.names == ("age", "income", "job", "member")
    assert people["age"].numeric
    assert people["income"].numeric
    assert people["age"].values.tolist() == [30.0, 41.0, 30.0]
    assert people["income"].values.tolist() == [1.5, 2.25, -3.0]
    assert people["job"].plain() == ["cook", "smith", "cook"]
    assert not people["member"].numeric
    assert [bool(v) for v in people["member"].plain()] == [True, False, True]


def test_lazy_polars_and_files():
    polars = pytest.importorskip("polars")
    lazy = polars.LazyFrame(COLUMNS)
    assert read_people(lazy, names_of(lazy))["job"].plain() == ["cook", "smith", "cook"]


def test_a_file_of_text_holds_numbers_where_all_are(tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("age,zip,job\n30,007,cook\n41,123,smith\n")
    people = read_people(file, names_of(file))
    assert people["age"].plain() == [30, 41]
    assert people["zip"].plain() == ["007", "123"]
    assert people["job"].plain() == ["cook", "smith"]


def test_pandas_categories_lose_those_that_nobody_has():
    pandas = pytest.importorskip("pandas")
    data = pandas.DataFrame({"job": pandas.Categorical(["b", "a", "b"], categories=["a", "b", "c"])})
    assert read_people(data, ["job"])["job"].categories == ("b", "a")


@pytest.mark.parametrize("hole", [None, float("nan")])
def test_incomplete_people_are_refused_or_counted(hole):
    data = {"age": [30.0, hole, 50.0], "job": ["cook", "cook", None]}
    with pytest.raises(DataError, match=r"1 of 3 rows have none in 'age' \(and 1 more columns\).*missing='drop'"):
        read_people(data, ["age", "job"])
    people = read_people(data, ["age", "job"], missing="drop")
    assert people.n == 1
    assert people.kept.tolist() == [0]
    assert people.left_out == {"age": 1, "job": 1}


def test_nullable_pandas_columns():
    pandas = pytest.importorskip("pandas")
    data = pandas.DataFrame(
        {"a": pandas.array([1, None, 3], dtype="Int64"), "b": pandas.array(["x", "y", None], dtype="string")}
    )
    people = read_people(data, ["a", "b"], missing="drop")
    assert people["a"].plain() == [1]
    assert people["b"].plain() == ["x"]


def test_numbers_as_categories_when_said():
    people = read_people({"code": [3, 1, 3]}, ["code"], categories=["code"])
    assert people["code"].categories == (3, 1) or people["code"].plain() == [3, 1, 3]
    assert not people["code"].numeric


def test_a_matrix_has_columns_x0_x1():
    people = read_people(np.arange(6.0).reshape(3, 2), ["x0", "x1"])
    assert people["x1"].values.tolist() == [1, 3, 5]
    assert read_people([[1, 2], [3, 4]], ["x0"])["x0"].values.tolist() == [1, 3]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"a": [1.0, float("inf")]}, "'a' holds an infinite number"),
        ({"a": [1, 2], "b": [1]}, "same length"),
        ({"a": []}, "nobody in the data"),
        ({"a": [None, None]}, "2 of 2 rows have none in 'a'"),
        ({"a": [[1], [2, 3]]}, "plain value"),
        ({"a": 5}, "one value per row"),
        (np.zeros((2, 2, 2)), "two dimensions"),
        (np.zeros(3), "two dimensions"),
        ([[1, 2], [3]], "equal length"),
        (42, "data must be"),
    ],
)
def test_what_are_no_people(data, message):
    names = names_of(data) if isinstance(data, dict) else ["x0"]
    with pytest.raises((DataError, UsageError), match=message):
        read_people(data, names)


def test_columns_are_chosen_by_name():
    assert chosen_columns(["a", "b", "c"], None, ["b"]) == ["a", "c"]
    assert chosen_columns(["a", "b", "c"], ["c", "a"], []) == ["c", "a"]
    with pytest.raises(DataError, match=r"no column 'aeg'.*did you mean 'age'"):
        chosen_columns(["age", "job"], None, ["aeg"])
    with pytest.raises(UsageError, match="named in columns= and in exclude="):
        chosen_columns(["a", "b"], ["a"], ["a"])


STRAYS = {
    "text": (["x"], "1 of 41 rows hold 'x'"),
    "infinite": (["inf"], "1 of 41 rows hold 'inf'"),
    "thousands": (["1,200", "12,5"], "2 of 42 rows hold '1,200', '12,5'"),
    "a word for nothing": (["?", "NULL"], r"2 of 42 rows hold '\?', 'NULL'"),
}


def _text_column(library, values, folder):
    if library == "csv":
        (folder / "c.csv").write_text("\n".join(["c", *(f'"{v}"' for v in values)]))
        return folder / "c.csv"
    if library == "dict":
        return {"c": values}
    if library == "objects":  # numbers beside text, as pandas keeps them
        return {"c": [float(v) if v.isdigit() else v for v in values]}
    module = pytest.importorskip(library)
    return module.table({"c": values}) if library == "pyarrow" else module.DataFrame({"c": values})


@pytest.mark.parametrize("library", ["csv", "dict", "objects", "pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("strays", STRAYS)
def test_numbers_with_strays_are_refused_and_never_names(library, strays, tmp_path):
    odd, said = STRAYS[strays]
    data = _text_column(library, [*odd, *map(str, range(40))], tmp_path)
    with pytest.raises(DataError, match=rf"column 'c' must hold numbers, but {said}.*missing='drop'.*categories="):
        read_people(data, ["c"])
    assert read_people(data, ["c"], categories=["c"])["c"].plain()[0] == odd[0]


@pytest.mark.parametrize("values", [[True, 1, 2.5, 3], ["true", "1", "0", "1"], np.array([True, 2, 3], object)])
def test_truth_values_beside_numbers_are_refused(values):
    with pytest.raises(DataError, match="column 'c' holds both truth values and numbers"):
        read_people({"c": values}, ["c"])


def test_what_a_file_means_can_be_said(tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("zip,code,pay\n007,1, 2.5\n123,2,+3\n")
    plain = read_people(file, ["zip", "code", "pay"])
    assert [plain[c].plain() for c in plain.names] == [["007", "123"], [1, 2], [2.5, 3]]
    said = read_people(file, ["zip", "code"], numbers=["zip"], text=["code"])
    assert [said[c].plain() for c in said.names] == [[7, 123], ["1", "2"]]
    file.write_text("pay\n1\nx\n")
    with pytest.raises(DataError, match="'pay' must hold numbers, but 1 of 2 rows hold 'x'"):
        read_people(file, ["pay"], numbers=["pay"])


def test_names_stay_names_and_dates_are_told():
    people = read_people({"size": ["1", "2", "XL"], "day": ["2024-05-01", "2024-05-02", "2024-05-02"]}, ["size", "day"])
    assert people["size"].categories == ("1", "2", "XL")
    assert "'day': dates, taken as names" in people.notes[0]
    assert not read_people({"day": ["2024-05-01"]}, ["day"], categories=["day"]).notes
