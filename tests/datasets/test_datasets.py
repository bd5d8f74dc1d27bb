"""Data sets: what a file says is what a model and an audit see; a wrong file is refused with a way out."""

from __future__ import annotations

import gzip
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand
from evenhand import datasets
from evenhand.datasets.census import ADULT, KDD
from evenhand.datasets.dataset import Dataset
from evenhand.errors import DataError, MissingLibrary, UsageError

ADULT_ROWS = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Own-child, White, Male, 2174, 0, 40, "
    "United-States, <=50K",
    "50, ?, 83311, HS-grad, 9, Divorced, ?, Unmarried, Black, Female, 0, 0, 13, United-States, >50K",
    "28, Private, 338409, Bachelors, 13, Divorced, Sales, Wife, Other, Female, 0, 1902, 45, Cuba, >50K",
)
KDD_ROW = (
    "73, Not in universe, 0, 0, High school graduate, 0, Not in universe, Widowed, Not in universe or children, "
    "Not in universe, White, All other, Female, Not in universe, Not in universe, Not in labor force, 0, 0, 0, "
    "Nonfiler, Not in universe, Not in universe, Householder, Householder, 1700.09, ?, ?, ?, "
    "Not in universe under 1 year old, ?, 0, Not in universe, United-States, United-States, United-States, "
    "Native- Born in the United States, 0, Not in universe, 2, 0, 95, - 50000."
)
COMPAS_HEADER = (
    "id,name,sex,age,age_cat,race,juv_fel_count,decile_score,juv_misd_count,juv_other_count,priors_count,"
    "days_b_screening_arrest,c_charge_degree,is_recid,decile_score,score_text,priors_count,two_year_recid"
)
UCI_CREDIT = (
    "A11 6 A34 A43 1169 A65 A75 4 A93 A101 4 A121 67 A143 A152 2 A173 1 A192 A201 1 ",
    "A12 48 A32 A43 5951 A61 A73 2 A92 A101 2 A121 22 A143 A152 1 A173 1 A191 A201 2",
)


def write(path: Path, lines: Any) -> Path:
    text = "\n".join(lines) + "\n"
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.fixture
def adult_folder(tmp_path: Path) -> Path:
    write(tmp_path / "adult.data", [*ADULT_ROWS, ""])
    write(tmp_path / "adult.test", ["|1x3 Cross validator", *(f"{row}." for row in ADULT_ROWS[2:]), ""])
    return tmp_path


def rates(people: Dataset, group: str) -> dict[str, tuple[int, float]]:
    """Size and base rate of each group."""
    of = people.groups[group]
    return {name: (int((of == name).sum()), round(float(people.label[of == name].mean()), 4)) for name in set(of)}


# ---- what a data set is -------------------------------------------------------------------------------------


def toy(**other: Any) -> Dataset:
    return Dataset(**{
        "name": "toy",
        "columns": {"age": np.array([20.0, 40.0, np.nan]), "job": np.array(["b", "a", "b"], object),
                    "weight": np.array([1.0, 2.0, 3.0])},
        "label": np.array([0, 1, 1]), "label_name": "hired", "favorable": "was hired",
        "groups": {"sex": np.array(["f", "m", "f"], object)}, "aside": ("weight",), **other,
    })  # fmt: skip


def test_a_matrix_is_standardised_and_one_hot_in_a_fixed_order() -> None:
    matrix, names = toy().matrix()
    assert names == ("age", "age=missing", "job=a", "job=b")
    assert matrix.dtype == np.float32
    assert matrix.tolist() == [[-1, 0, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1]]
    assert toy().matrix(exclude=["age"])[1] == toy().matrix(exclude="age")[1] == ("job=a", "job=b")
    shuffled, again = toy().take([2, 0, 1]).matrix()
    assert again == names
    assert np.array_equal(shuffled, matrix[[2, 0, 1]])
    constant = toy(columns={"one": np.array([5, 5, 5])}, aside=()).matrix()
    assert constant[0].tolist() == [[0], [0], [0]]
    with pytest.raises(UsageError, match=r"no column 'jib' to exclude .* did you mean 'job'"):
        toy().matrix(exclude=["jib"])


def test_a_matrix_agrees_with_scikit_learn(adult_folder: Path) -> None:
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    people = datasets.adult(adult_folder, complete=False)
    matrix, names = people.matrix()
    for name, values in people.columns.items():
        if name in people.aside:
            continue
        places = [i for i, n in enumerate(names) if n.split("=")[0] == name]
        encoder = (
            preprocessing.OneHotEncoder(sparse_output=False)
            if values.dtype == object
            else preprocessing.StandardScaler()
        )
        assert np.allclose(matrix[:, places], encoder.fit_transform(values[:, None]), atol=1e-6), name


def test_taking_people_takes_everything_about_them() -> None:
    people = toy(split=np.array(["train", "test", "test"], object))
    some = people.take(people.split == "test")
    assert len(some) == 2
    assert some.label.tolist() == [1, 1]
    assert some.columns["job"].tolist() == ["a", "b"]
    assert some.groups["sex"].tolist() == ["m", "f"]
    assert some.split is not None
    assert some.split.tolist() == ["test", "test"]
    assert len(people.take([])) == 0
    for rows, message in (([True], "a mask of 3"), ([[0]], "one-dimensional"), ([7], "from 0 to 2")):
        with pytest.raises(UsageError, match=message):
            people.take(rows)


def test_a_data_set_keeps_its_promises() -> None:
    with pytest.raises(DataError, match="one value per label, 3, but 'group sex' has 1"):
        toy(groups={"sex": np.array(["f"], object)})
    with pytest.raises(DataError, match="a label is 0 or 1"):
        toy(label=np.array([0, 1, 2]))


@pytest.mark.parametrize("library", ["duckdb", "pandas", "polars", "pyarrow"])
def test_a_frame_can_be_audited(adult_folder: Path, library: str) -> None:
    pytest.importorskip(library)
    people = datasets.adult(adult_folder, complete=False)
    frame = people.frame(library)
    audit = evenhand.audit(frame, prediction="income", label="income", group=["sex", "race_white"], bootstrap=0)
    assert isinstance(audit, evenhand.Audit)
    assert [a.name for a in audit.attributes[:2]] == ["sex", "race_white"]
    with pytest.raises(UsageError, match="library must be one of"):
        people.frame("excel")


# ---- files --------------------------------------------------------------------------------------------------


def test_adult_from_two_files(adult_folder: Path) -> None:
    people = datasets.adult(adult_folder, complete=False)
    assert people.label.tolist() == [0, 1, 1, 1]  # the label of a test ends with a full stop
    assert people.split is not None
    assert people.split.tolist() == ["train"] * 3 + ["test"]
    assert people.groups["race_white"].tolist() == ["White", *["Non-white"] * 3]
    assert people.columns["age"].tolist() == [39, 50, 28, 28]
    assert people.columns["workclass"].tolist()[:2] == ["State-gov", "?"]
    assert "income" not in people.columns
    assert not any(name.startswith("fnlwgt") for name in people.matrix()[1])
    complete = datasets.adult(adult_folder)
    assert len(complete) == 3
    assert complete.notes == ("left out 1 of 4 people with an unknown value (workclass 1, occupation 1)",)
    alone = datasets.adult(adult_folder / "adult.test")
    assert alone.split is not None
    assert alone.split.tolist() == ["test"]


def test_adult_has_the_groups_of_the_published_table_under_names_of_their_own(adult_folder: Path) -> None:
    people = datasets.adult(adult_folder, complete=False, published_groups=True)
    assert people.groups["relationship_own_child"].tolist() == ["Own-child", *["not Own-child"] * 3]
    assert people.groups["relationship_unmarried"].tolist()[:2] == ["not Unmarried", "Unmarried"]
    assert people.groups["sex"].tolist() == ["Male", "Female", "Female", "Female"]
    assert "calls gender" in people.notes[0]
    assert "calls race" in people.notes[1]


def test_kdd_census(tmp_path: Path) -> None:
    rich = KDD_ROW.replace("Female", "Male").replace("- 50000.", "50000+.").replace("Black", "White")
    unknown = KDD_ROW.replace("All other", "NA").replace("White", "Black")
    write(tmp_path / "kdd_census_train.csv.gz", [KDD_ROW, rich, unknown, KDD_ROW])
    write(tmp_path / "kdd_census_test.csv.gz", [KDD_ROW])
    people = datasets.kdd_census(tmp_path)
    assert len(KDD.columns) == 42
    assert people.label.tolist() == [0, 1, 0, 0, 0]
    assert people.groups["sex"].tolist() == ["Female", "Male", "Female", "Female", "Female"]
    assert people.groups["race"].tolist() == ["White", "White", "Black", "White", "White"]
    assert people.columns["instance_weight"].tolist() == [1700.09] * 5
    assert people.columns["industry_code"].tolist() == ["0"] * 5  # a code, not an amount
    assert people.columns["citizenship"][0] == "Native- Born in the United States"
    assert not any(name.startswith("instance_weight") for name in people.matrix()[1])
    assert len(datasets.kdd_census(tmp_path, distinct=True)) == 3
    complete = datasets.kdd_census(tmp_path, complete=True)
    assert len(complete) == 4
    assert "migration_from_sunbelt" not in complete.columns
    assert "left out 1 of 5 people" in complete.notes[-1]


def test_compas_and_its_filter(tmp_path: Path) -> None:
    def row(days: str = "1", degree: str = "F", known: str = "0", text: str = "Low", recid: str = "0") -> str:
        return f'1,"doe, jan",Male,69,Greater than 45,Other,0,1,0,0,2,{days},{degree},{known},1,{text},2,{recid}'

    rows = [row(), row(recid="1"), row(days="31"), row(days=""), row(degree="O"), row(known="-1"), row(text="N/A")]
    write(tmp_path / "compas-scores-two-years.csv", [COMPAS_HEADER, *rows])
    people = datasets.compas(tmp_path)
    assert people.label.tolist() == [1, 0, 1, 1, 1, 1, 1]
    assert set(people.columns) & {"name", "is_recid", "two_year_recid"} == set()
    assert not any("score" in name for name in people.matrix()[1])
    kept = datasets.compas(tmp_path / "compas-scores-two-years.csv", filtered=True)
    assert len(kept) == 2
    assert "as ProPublica does" in kept.notes[0]
    assert isinstance(evenhand.compas(), evenhand.Table)  # the built-in counts are something else


def test_german_credit_of_both_kinds(tmp_path: Path) -> None:
    header = ",Age,Sex,Job,Housing,Saving accounts,Checking account,Credit amount,Duration,Purpose,Risk"
    table = write(
        tmp_path / "german_credit_data.csv",
        [header, "0,67,male,2,own,,little,1169,6,radio/TV,good", "1,25,female,2,own,NA,NA,5951,48,radio/TV,bad"],
    )
    people = datasets.german(tmp_path)
    assert people.label.tolist() == [1, 0]
    assert people.columns["saving_accounts"].tolist() == ["none", "none"]
    assert people.groups["age_group"].tolist() == ["over 25", "25 or younger"]
    table.unlink()
    original = datasets.german(write(tmp_path / "german.data", UCI_CREDIT))
    assert original.label.tolist() == [1, 0]
    assert original.groups["sex"].tolist() == ["male", "female"]
    assert original.columns["age"].tolist() == [67, 22]
    with pytest.raises(DataError, match=r"personal status of German credit must be one of .*'A99'"):
        datasets.german(write(tmp_path / "german.data", [UCI_CREDIT[0].replace("A93", "A99")]))


def test_wrong_files_are_refused_with_a_way_out(adult_folder: Path) -> None:
    file = adult_folder / "adult.data"
    for lines, message in (
        ([], "adult.data' is empty: get it again from the UCI"),
        (["|only a remark"], "is empty"),
        ([ADULT_ROWS[0], ADULT_ROWS[1][:20]], "needs 15 values, but line 2 has 4"),
        ([ADULT_ROWS[0] + ", 1"], "needs 15 values, but line 1 has 16"),
        ([ADULT_ROWS[0].replace("<=50K", "50K")], "must be one of '>50K', '<=50K', but there is also '50K'"),
        ([ADULT_ROWS[0].replace("39", "old")], "column 'age' of .* must hold numbers, but holds 'old'"),
        ([ADULT_ROWS[0].replace("39", "inf")], "infinite number"),
    ):
        file.write_text("\n".join(lines))
        with pytest.raises(DataError, match=message):
            datasets.adult(file)
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="cannot read"):
        datasets.adult(file)


def test_missing_files_are_named(adult_folder: Path, tmp_path: Path) -> None:
    (adult_folder / "adult.test").unlink()
    with pytest.raises(DataError, match=r"holds 'adult.data' without 'adult.test': .* or name the one file"):
        datasets.adult(adult_folder)
    with pytest.raises(DataError, match=r"does not hold kdd_census_train.csv.gz and .*Census-Income \(KDD\)"):
        datasets.kdd_census(tmp_path)
    with pytest.raises(DataError, match=r"there is no file .*nowhere.csv.* ProPublica"):
        datasets.compas(tmp_path / "nowhere.csv")
    with pytest.raises(DataError, match=r"holds no file 'german_credit_data.csv' or 'german.data'"):
        datasets.german(tmp_path)
    with pytest.raises(DataError, match="there is no file"):
        datasets.german("x" * 5000)
    with pytest.raises(UsageError, match="a path must be a text or a Path"):
        datasets.compas(3)


def test_a_copy_is_no_test(adult_folder: Path) -> None:
    (adult_folder / "adult.test").write_bytes((adult_folder / "adult.data").read_bytes())
    with pytest.raises(DataError, match=r"adult.data' and .*adult.test' hold the same people: one is a copy, get the"):
        datasets.adult(adult_folder)
    for name in ("kdd_census_train.csv.gz", "kdd_census_test.csv.gz"):
        write(adult_folder / name, [KDD_ROW.replace("73,", ",")])  # a gap equals a gap
    with pytest.raises(DataError, match="hold the same people"):
        datasets.kdd_census(adult_folder)


def test_remarks_are_those_of_adult_alone(adult_folder: Path) -> None:
    write(adult_folder / "kdd_census_train.csv.gz", [KDD_ROW, "|a remark"])
    with pytest.raises(DataError, match="needs 42 values, but line 2 has 1"):
        datasets.kdd_census(adult_folder / "kdd_census_train.csv.gz")


def test_no_is_not_true(tmp_path: Path) -> None:
    for call, word in (
        (datasets.adult, "complete"), (datasets.adult, "published_groups"), (datasets.kdd_census, "complete"),
        (datasets.kdd_census, "distinct"), (datasets.compas, "filtered"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=f"{word} is true or false, not 'no'"):
            call(tmp_path, **{word: "no"})


def test_damaged_and_foreign_files_are_refused(tmp_path: Path) -> None:
    whole = gzip.compress(("\n".join([KDD_ROW] * 500)).encode())
    cut = tmp_path / "kdd_census_train.csv.gz"
    for content in (whole[: len(whole) // 2], whole[:-4], b"plain text, not packed"):
        cut.write_bytes(content)
        with pytest.raises(DataError, match=r"cannot read .*get it again from"):
            datasets.kdd_census(cut)
    foreign = write(tmp_path / "other.csv", ["sex,age,races", "Male,3,x"])
    with pytest.raises(DataError, match="no column 'age_cat'"):
        datasets.compas(foreign)
    with pytest.raises(DataError, match=r"no column 'Age' .*did you mean 'age'"):
        datasets.german(foreign)


# ---- other sources ------------------------------------------------------------------------------------------


@pytest.fixture
def openml(monkeypatch: pytest.MonkeyPatch) -> dict[int, Any]:
    """What the network would answer, by number."""
    sklearn = pytest.importorskip("sklearn.datasets")
    pytest.importorskip("pandas")
    answers: dict[int, Any] = {}

    def fetch(data_id: int, **_: Any) -> Any:
        if data_id not in answers:
            raise OSError("no route to host")
        return types.SimpleNamespace(frame=answers[data_id])

    monkeypatch.setattr(sklearn, "fetch_openml", fetch)
    return answers


def test_openml_gives_what_files_give(openml: dict[int, Any], adult_folder: Path) -> None:
    import pandas as pd

    rows = [[v.strip() for v in row.split(",")] for row in ADULT_ROWS]
    frame = pd.DataFrame(rows, columns=[name.replace("_", "-") for name in ADULT.columns])
    for place, name in enumerate(ADULT.columns):
        if name in ADULT.numbers:
            frame.isetitem(place, frame.iloc[:, place].astype(int))
    openml[1590] = frame.replace("?", np.nan)
    fetched, read = datasets.adult(None, complete=False), datasets.adult(adult_folder / "adult.data", complete=False)
    assert fetched.split is None
    assert fetched.label.tolist() == read.label.tolist()
    for name in read.columns:
        assert fetched.columns[name].tolist() == read.columns[name].tolist(), name
    openml[1590] = frame.iloc[:, 1:]
    with pytest.raises(DataError, match="should have 15 columns, but has 14"):
        datasets.adult()


def test_german_credit_of_openml_has_words(openml: dict[int, Any]) -> None:
    import pandas as pd

    rows = [row.split() for row in UCI_CREDIT]
    for row, status, risk in zip(rows, ("male single", "female div/dep/mar"), ("good", "bad"), strict=True):
        row[8], row[20] = status, risk
    openml[31] = pd.DataFrame(rows)
    people = datasets.german()
    assert people.groups["sex"].tolist() == ["male", "female"]
    assert people.label.tolist() == [1, 0]


def test_without_a_network_a_file_is_asked_for(openml: dict[int, Any]) -> None:
    with pytest.raises(DataError, match=r"no route to host.*: without a network, name a file instead"):
        datasets.kdd_census()


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenhand.datasets.openml.find_spec", lambda name: None)
    monkeypatch.setattr("evenhand.datasets.survey.find_spec", lambda name: None)
    with pytest.raises(MissingLibrary, match="pip install scikit-learn pandas; or name a file"):
        datasets.adult()
    with pytest.raises(MissingLibrary, match="evenhand\\[acs\\]"):
        datasets.acs()


def test_acs_through_folktables(monkeypatch: pytest.MonkeyPatch) -> None:
    pd = pytest.importorskip("pandas")
    asked: dict[str, Any] = {}
    people = pd.DataFrame({"AGEP": [30.0, 41.0], "SCHL": [21.0, -1.0], "SEX": [1.0, 2.0], "RAC1P": [1.0, 6.0]})

    class Source:
        def __init__(self, **words: Any) -> None:
            asked.update(words)

        def get_data(self, states: list[str], download: bool) -> Any:
            if states == ["XX"]:
                raise FileNotFoundError("no such file")
            asked.update(states=states, download=download)
            return people

    class Problem:
        @staticmethod
        def df_to_pandas(data: Any) -> Any:
            return data, pd.DataFrame({"y": [True, False]}), data["SEX"]

    fake = types.ModuleType("folktables")
    fake.__dict__.update(ACSDataSource=Source, ACSIncome=Problem, ACSTravelTime=Problem)
    fake.__spec__ = types.SimpleNamespace(name="folktables")  # type: ignore[assignment]
    monkeypatch.setitem(sys.modules, "folktables", fake)
    found = datasets.acs("income", "NV", folder="here")
    assert asked == {"survey_year": "2018", "horizon": "1-Year", "survey": "person", "root_dir": "here",
                     "states": ["NV"], "download": False}  # fmt: skip
    assert found.label.tolist() == [1, 0]
    assert found.groups["sex"].tolist() == ["Male", "Female"]
    assert found.groups["race"].tolist() == ["White", "Asian"]
    assert found.columns["AGEP"].tolist() == [30, 41]
    assert found.columns["SCHL"].tolist() == ["21", "-1"]  # a code
    assert datasets.acs("travel_time").label.tolist() == [0, 1]  # a long way to work is not favourable
    with pytest.raises(DataError, match=r"no such file.*download=True"):
        datasets.acs("income", ["XX"])
    with pytest.raises(UsageError, match="did you mean 'income'"):
        datasets.acs("incom")
    for words, message in (
        ({"task": ["a"]}, "task must be one of"), ({"states": 3}, "states are two letters each"),
        ({"states": [3]}, "states are two letters each"), ({"year": "x"}, "year is a whole number"),
        ({"download": "no"}, "download is true or false"), ({"folder": 3}, "a path must be a text"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=message):
            datasets.acs(**words)


def test_the_names_are_there_and_light() -> None:
    assert datasets.__all__ == dir(datasets)
    for name in datasets.__all__:
        assert getattr(datasets, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        datasets.nonsense  # noqa: B018
    code = "import sys, evenhand; evenhand.datasets; print('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


# ---- synthetic ----------------------------------------------------------------------------------------------


def test_generators_draw_what_they_say() -> None:
    people = datasets.two_normals(200_001, (0.2, 0.4), 0.1, squash=False, rng=0)
    for group, mean in (("a", 0.2), ("b", 0.4)):
        score = people["score"][people["group"] == group]
        assert np.isclose(score.mean(), mean, atol=0.002)
        assert np.isclose(score.std(), 0.1, atol=0.002)
    squashed = datasets.two_normals(200_001, (0.2, 0.4), 0.1, rng=0)["score"]
    assert np.allclose(np.log(squashed / (1 - squashed)), people["score"])
    people = datasets.four_normals(400_000, r=4, rng=0)
    for group, label, mean, variance in (
        ("a", 1, 4, 1.44),
        ("a", 0, -1, 0.5),
        ("b", 1, 4.8, 2.25),
        ("b", 0, -1.3, 0.6),
    ):
        score = people["score"][(people["group"] == group) & (people["label"] == label)]
        assert len(score) == 100_000
        assert np.isclose(score.mean(), mean, atol=0.02)
        assert np.isclose(score.var(), variance, rtol=0.02)


def test_generators_repeat_themselves_and_refuse_nonsense() -> None:
    for draw in (datasets.two_normals, datasets.four_normals):
        assert np.array_equal(draw(100, rng=3)["score"], draw(100, rng=np.random.default_rng(3))["score"])
        assert not np.array_equal(draw(100, rng=3)["score"], draw(100, rng=4)["score"])
        with pytest.raises(UsageError, match="n must be a whole number"):
            draw(1)
        for seed in (-1, 1.5, "x", True):
            with pytest.raises(UsageError, match="rng is a seed, a whole number from 0"):
                draw(10, rng=seed)
    for sd in (0, "x", np.inf, np.nan, None):
        with pytest.raises(UsageError, match="standard deviation is positive and finite"):
            datasets.two_normals(10, sd=sd)  # type: ignore[arg-type]
    for means in ((0.3,), (0.3, np.nan), (0.3, "x"), 0.3, np.nan, (1, 2, 3), (0, 10**400)):
        with pytest.raises(UsageError, match="means are two finite numbers, one for each group"):
            datasets.two_normals(10, means)  # type: ignore[arg-type]
    for r in (-1, np.inf, np.nan, "x"):
        with pytest.raises(UsageError, match="scaling factor r is positive and finite"):
            datasets.four_normals(10, r=r)  # type: ignore[arg-type]
    assert len(datasets.two_normals(10, np.array([0.1, 0.2]), np.float32(0.1), rng=np.int64(3))["score"]) == 10  # type: ignore[arg-type]


def test_a_column_that_is_unfit_has_to_be_excluded() -> None:
    people = toy(unfit={"job": "job is an id: exclude it"})
    with pytest.raises(DataError, match="job is an id: exclude it"):
        people.take([0, 1]).matrix()
    assert people.matrix(exclude="job")[1] == ("age", "age=missing")


# ---- the real files -----------------------------------------------------------------------------------------


def test_the_real_adult(data_folder: Path) -> None:
    people = datasets.adult(data_folder)
    assert len(people) == 45_222
    assert people.split is not None
    assert int((people.split == "train").sum()) == 30_162
    assert rates(people, "sex") == {"Male": (30_527, 0.3125), "Female": (14_695, 0.1136)}
    assert rates(people, "race_white") == {"White": (38_903, 0.2624), "Non-white": (6_319, 0.1584)}
    assert people.matrix(exclude=["sex", "race"])[0].shape == (45_222, 96)
    everybody = datasets.adult(data_folder, complete=False, published_groups=True)
    assert len(everybody) == 48_842
    assert rates(everybody, "relationship_own_child")["Own-child"] == (7_581, 0.0146)
    assert rates(everybody, "relationship_unmarried")["Unmarried"] == (5_125, 0.0603)


def test_the_real_kdd_census(data_folder: Path) -> None:
    people = datasets.kdd_census(data_folder)
    assert people.split is not None
    assert [int((people.split == part).sum()) for part in ("train", "test")] == [199_523, 99_762]
    assert rates(people, "sex") == {"Female": (155_775, 0.0255), "Male": (143_510, 0.1017)}
    race = rates(people, "race")
    assert (race["White"], race["Black"]) == ((250_978, 0.0674), (30_539, 0.0268))
    # columns are where the description has them: only married people are spouses, only veterans' forms are answered …
    assert set(people.columns["year"]) == {"94", "95"}
    assert people.columns["weeks_worked"].max() == 52
    assert people.columns["age"].max() == 90
    assert set(people.columns["country_of_birth"]) >= {"United-States", "Mexico"}
    born = people.columns["citizenship"] == "Native- Born in the United States"
    assert (people.columns["country_of_birth"][born] == "United-States").mean() > 0.99
    assert len(datasets.kdd_census(data_folder, complete=True)) == 284_556  # Han, Jiang et al. 2023's number


@pytest.mark.full
def test_distinct_rows_of_the_real_kdd_census(data_folder: Path) -> None:
    assert len(datasets.kdd_census(data_folder, distinct=True)) == 292_550


def test_the_real_compas_is_what_is_built_in(data_folder: Path) -> None:
    people = datasets.compas(data_folder)
    assert len(people) == 7_214
    assert len(datasets.compas(data_folder, filtered=True)) == 6_172
    two = people.take(np.isin(people.groups["race"], ["African-American", "Caucasian"]))
    table = evenhand.tabulate(
        {**two.columns, "two_year_recid": 1 - two.label}, score="decile_score", label="two_year_recid", group="race",
        favorable=0, risk=True,
    )  # fmt: skip
    assert table == evenhand.compas()


def test_the_real_german_credit(data_folder: Path) -> None:
    people = datasets.german(data_folder)
    assert rates(people, "sex") == {"male": (690, 0.7232), "female": (310, 0.6484)}
    assert people.matrix()[0].shape == (1000, 29)
