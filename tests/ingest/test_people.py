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
