"""People, plans and files of experiments: who trains knows nothing of who is tested, and no word is taken wrongly."""

from __future__ import annotations

import gzip
import itertools
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.datasets import Dataset
from evenhand.errors import DataError, UsageError
from evenhand.learn import Method, Source
from evenhand.learn.experiments.config import DATASET, EXPERIMENT, METHOD, STARTER, read_config
from evenhand.learn.experiments.plan import as_method, methods_known, model_of, plan_runs
from evenhand.learn.experiments.run import fit
from evenhand.learn.experiments.splits import People

pytest.importorskip("sklearn")

SHRUNK = "stub_methods:Shrunk"
SHARES = (0.6, 0.2, 0.2)


def toy(n: int = 300, **columns: Any) -> Dataset:
    rng = np.random.default_rng(5)
    given = {
        "income": rng.normal(1e4, 3e3, n),
        "age": np.where(rng.random(n) < 0.1, np.nan, rng.normal(40, 9, n)),
        "owner": rng.integers(0, 2, n),
        "job": np.array(["cook", "smith", "nurse"], object)[rng.integers(0, 3, n)],
    }
    sex = np.array(["f", "m"], object)[rng.integers(0, 2, n)]
    return Dataset("toy", {**given, **columns}, rng.integers(0, 2, n), "y", "1", {"sex": sex})


# ---- people -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [1e10, -1e30, 12345.678])
def test_who_is_tested_changes_nothing_for_who_trains(value: float) -> None:
    data = toy()
    people = People.of(data, "sex")
    parts = people.parts(0, SHARES, True)
    before, *_ = people.scaled(parts)
    for part in (parts.dev, parts.test):
        for name in ("income", "age", "owner"):
            values = data.columns[name].astype(np.float64)
            values[part[0]] = value
            changed = People.of(replace(data, columns={**data.columns, name: values}), "sex")
            after, *others = changed.scaled(changed.parts(0, SHARES, True))
            assert after.tobytes() == before.tobytes()
            assert any(np.abs(some).max() > 50 for some in others) or value < 1e5


def test_numbers_are_kept_as_they_are_until_somebody_trains(tmp_path: Path) -> None:
    data = toy()
    people = People.of(data, "sex")
    assert np.array_equal(people.features.numbers[:, 0], data.columns["income"])
    assert np.array_equal(people.features.numbers[:, 1], data.columns["age"], equal_nan=True)
    assert people.features.names == data.matrix()[1]
    parts = people.parts(0, SHARES, True)
    train, _, test = people.scaled(parts)
    assert train.dtype == np.float32
    expected = (data.columns["income"] - data.columns["income"][parts.train].mean()) / data.columns["income"][
        parts.train
    ].std()
    assert np.array_equal(test[:, 0], expected[parts.test].astype(np.float32))
    assert train[:, 3].mean() == pytest.approx(0, abs=1e-6)  # numbers of 0 and 1 are numbers
    assert set(np.unique(train[:, 4:]).tolist()) == {0.0, 1.0}  # and texts are not
    people.save(tmp_path)
    opened = People.opened(tmp_path)
    assert isinstance(opened.features.numbers, np.memmap)
    assert opened.fingerprint == people.fingerprint
    for one, other in zip(opened.scaled(parts), people.scaled(parts), strict=True):
        assert one.tobytes() == other.tobytes()


def test_a_fingerprint_tells_people_apart() -> None:
    data = toy()
    base = People.of(data, "sex").fingerprint
    income = data.columns["income"].copy()
    income[7] = np.nextafter(income[7], np.inf)  # float32 would not see it
    swapped = data.columns["job"].copy()
    swapped[0] = "nurse" if swapped[0] != "nurse" else "cook"
    for other in (
        toy(income=income), toy(job=swapped), toy(owner=data.columns["owner"].astype(str).astype(object)),
        replace(data, label=1 - data.label), toy(age=np.where(np.isnan(data.columns["age"]), 0, data.columns["age"])),
    ):  # fmt: skip
        assert People.of(other, "sex").fingerprint != base
    assert People.of(toy(owner=data.columns["owner"] * -0.0 + data.columns["owner"]), "sex").fingerprint == base


def test_a_constant_number_says_nothing() -> None:
    same = np.full(300, 0.1)  # the mean of which is not 0.1
    people = People.of(toy(same=same), "sex")
    train, _, _ = people.scaled(people.parts(0, SHARES, True))
    assert set(train[:, -1].tolist()) == {0.0}


def test_the_rarest_are_tested_too() -> None:
    n = 204
    sex = np.array(["rare"] * 4 + ["f", "m"] * 100, object)
    label = np.array([0, 1] * 2 + [0, 0, 1, 1] * 50)
    people = People.of(Dataset("toy", {"x": np.arange(n)}, label, "y", "1", {"sex": sex}), "sex")
    seen = np.zeros((3, n))
    for split in range(300):
        parts = people.parts(split, SHARES, False)
        assert sorted(np.concatenate(parts).tolist()) == list(range(n))
        assert [len(rows) for rows in parts[1:]] == pytest.approx([41, 41], abs=1)
        for i, rows in enumerate(parts):
            seen[i, rows] += 1
            for group in range(3):
                exact = SHARES[i] * (people.group == group).sum()
                assert abs((people.group[rows] == group).sum() - exact) < 2
    assert np.allclose(seen / 300, np.array(SHARES)[:, None], atol=0.13)  # whoever it is
    again = people.parts(7, SHARES, False)
    assert all(np.array_equal(a, b) for a, b in zip(again, people.parts(7, SHARES, False), strict=True))


def test_people_without_a_group_are_refused() -> None:
    data = toy()
    for nothing in ("", " ", "nan", "NaN", None, float("nan")):
        sex = data.groups["sex"].copy()
        sex[:3] = nothing
        with pytest.raises(DataError, match="3 people of toy have no group by 'sex': leave them out, or"):
            People.of(replace(data, groups={"sex": sex}), "sex")
    sex[:3] = "NA"  # perhaps North America
    assert People.of(replace(data, groups={"sex": sex}), "sex").groups == ("NA", "f", "m")


def test_features_that_no_model_can_take_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="column 'income' of toy holds an infinite number: repair it, or exclude it"):
        People.of(toy(income=np.full(300, np.inf)), "sex")
    monkeypatch.setattr("evenhand.learn.experiments.splits.MOST_CELLS", 2_000)
    with pytest.raises(DataError, match=r"at most 2,000, but toy has 300 people and 7 features: .* 'job' with 3"):
        People.of(toy(), "sex")
    assert People.of(toy(), "sex", ("job",)).features.names == ("income", "age", "age=missing", "owner")


def test_a_full_disk_is_noticed(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no device that is always full")
    people = People.of(toy(), "sex")
    for name in ("numbers.npy", "own.npy", "about.json"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / name).symlink_to("/dev/full")
        with pytest.raises(UsageError, match=r"cannot keep the people of an experiment in .*No space left"):
            people.save(folder)


# ---- methods ------------------------------------------------------------------------------------------------------


def plan(*methods: Method, **words: Any) -> Any:
    given = {"strengths": [0, 1], "seeds": (0,), "splits": 1, "fractions": SHARES, "own_split": True}
    return plan_runs({"toy": ("f00", "sex")}, methods or [Method("shrunk", SHRUNK)], **{**given, **words})


@pytest.mark.parametrize("name", ["thresholds", "barycentre", "reweighting"])
def test_a_method_around_a_network_is_set_up_like_a_network(name: str) -> None:
    if not methods_known():
        pytest.skip("the methods need PyTorch")
    (run,) = plan(Method(name, options={"epochs": 3, "hidden": [5]}), strengths=[0.5], seeds=[4])
    model = model_of(run, "cpu")
    assert (model.strength, model.random_state) == (0.5, 4)
    inside = model.estimator.get_params()
    assert {key: inside[key] for key in ("epochs", "hidden", "random_state", "device")} == {
        "epochs": 3, "hidden": [5], "random_state": 4, "device": "cpu",
    }  # fmt: skip
    with pytest.raises(UsageError, match=r"no option 'epoch' .*did you mean 'epochs'"):
        Method(name, options={"epoch": 3})
    with pytest.raises(UsageError, match="no option 'estimator'"):
        Method(name, options={"estimator": "mlp"})
    people = People.of(toy(), "sex")
    counts = fit(run, people, "cpu")
    assert sum(table.rows for table in counts.values()) == 120


def test_every_method_is_told_its_device() -> None:
    for name in methods_known():
        (run,) = plan(Method(name), strengths=[0])
        model = model_of(run, "cpu")
        assert "cpu" in (getattr(model, "device", None), getattr(getattr(model, "estimator", None), "device", None))


@pytest.mark.parametrize(
    ("maker", "text", "message"),
    [
        ("spoilt:Fairer", "class Fairer(:\n", r"cannot find method 'spoilt:Fairer': SyntaxError: .*line 1"),
        ("spoilt:Fairer", "1 / 0\n", "ZeroDivisionError: division by zero"),
        ("spoilt:Fairer", "import sys\nsys.exit(3)\n", "SystemExit: 3"),
        ("spoilt:Fairer", "import no_such_thing\n", "No module named 'no_such_thing'"),
        ("spoilt:Fairer", "Fairer = 3\n", "must be a class with fit and predict_proba, not 3"),
        ("spoilt:Fairer", "class Fairer:\n def fit(self): 1\n predict_proba = fit\n", "takes no strength"),
        ("builtins:int", "", "must be a class with fit and predict_proba"),
        ("..x:y", "", "cannot find method"),
        (":y", "", "cannot find method"),
        ("spoilt:", "", "cannot find method"),
    ],
)
def test_what_is_no_method_is_named(
    maker: str, text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spoilt.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "spoilt", raising=False)
    with pytest.raises(UsageError, match=message):
        as_method(maker)
    sys.modules.pop("spoilt", None)


def test_names_of_a_dict_are_names_of_results() -> None:
    one = as_method(Method("shrunk", SHRUNK, {"c": 2.0}, (1.0,)), "one")
    assert one == Method("one", SHRUNK, {"c": 2.0}, (1.0,))


def test_strengths_of_nobody_are_refused() -> None:
    with pytest.raises(UsageError, match=r"for 'shrnk', which is no method .*did you mean 'shrunk'"):
        plan(strengths={"shrnk": [1]})
    with pytest.raises(UsageError, match="strengths of method 's' are given twice"):
        plan(Method("s", SHRUNK, strengths=(0.0,)), strengths={"s": [1]})


@pytest.mark.parametrize(
    ("words", "strengths", "seeds"),
    [
        ({"seeds": np.arange(2)}, [0, 1], [0, 1]),
        ({"seeds": (i for i in range(2))}, [0, 1], [0, 1]),
        ({"seeds": np.int64(3)}, [0, 1], [3]),
        ({"seeds": range(2, 4)}, [0, 1], [2, 3]),
        ({"strengths": (i / 2 for i in range(2))}, [0, 0.5], [0]),
        ({"strengths": np.array([0.5, 1], np.float32)}, [0.5, 1], [0]),
        ({"strengths": [np.int64(3), np.float32(0.25)]}, [3, 0.25], [0]),
        ({"strengths": np.float32(0.5)}, [0.5], [0]),
    ],
)
def test_numbers_of_any_kind_are_numbers(words: Any, strengths: list[float], seeds: list[int]) -> None:
    runs = plan(Method("a", SHRUNK), Method("b", SHRUNK, {"c": 2.0}), **words)
    for name in "ab":
        some = [r for r in runs if r.method == name]
        assert sorted({r.strength for r in some}) == sorted(strengths)
        assert sorted({r.seed for r in some}) == seeds
        assert all(type(r.strength) is float and type(r.seed) is int for r in some)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"strengths": [10**400]}, "a strength is a finite number, not 1000"),
        ({"strengths": [True]}, "a strength is a finite number, not True"),
        ({"strengths": np.array(2)}, "a strength is a finite number, not array"),
        ({"strengths": None}, "are a list of numbers, not None"),
        ({"seeds": ""}, "seeds are whole numbers"),
        ({"seeds": 1.5}, "seeds are whole numbers"),
        ({"seeds": itertools.count(), "splits": 1000}, "at most 100,000 runs, not 200,002,000"),
        ({"strengths": itertools.count()}, "at most 100,000 runs, not 100,001"),
    ],
)
def test_plans_that_make_no_sense_are_refused(words: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        plan(**words)


# ---- CSV files ----------------------------------------------------------------------------------------------------


def loans(folder: Path, **columns: list[Any]) -> Path:
    """A file of 400 loans; columns may be added or replaced."""
    rng = np.random.default_rng(1)
    given = {
        "a": [f"{v:.4f}" for v in rng.normal(size=400)],
        "sex": ["f", "m"] * 200,
        "paid": [str(v) for v in rng.integers(0, 2, 400)],
        **columns,
    }
    rows = zip(*given.values(), strict=True)
    file = folder / "loans.csv"
    file.write_text("\n".join([",".join(given), *(",".join(map(str, row)) for row in rows)]) + "\n")
    return file


def people_of(file: Path, exclude: tuple[str, ...] = ()) -> People:
    return People.of(Source("loans", str(file), "sex", label="paid").load(), "sex", exclude)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            [*map(str, range(300)), "oops", *map(str, range(99))],
            "holds finite numbers, but 'oops' in line 302",
        ),
        (
            ["1.5"] * 200 + ["inf"] + ["1"] * 199,
            "holds finite numbers, but 'inf' in line 202: repair it",
        ),
        (["-Infinity", "1"] * 200, "holds finite numbers, but '-Infinity' in line 2"),
        (["1e999"] * 400, "but '1e999' in line 2"),
        ([""] * 300 + ["2"] * 99 + ["?"], "but '\\?' in line 401"),
        ([f"p{i}" for i in range(400)], "has 400 different texts for 400 people, as names and ids have: exclude it"),
        ([f"p{min(i, 200)}" for i in range(400)], "has 201 different texts"),
    ],
)
def test_a_spoilt_column_is_refused_unless_excluded(values: list[str], message: str, tmp_path: Path) -> None:
    file = loans(tmp_path, b=values)
    with pytest.raises(DataError, match=message):
        people_of(file)
    assert people_of(file, ("b",)).features.names == ("a", "sex=f", "sex=m")


def test_columns_of_a_file_are_numbers_or_texts(tmp_path: Path) -> None:
    fine: dict[str, list[Any]] = {
        "gap": ["", "NA", "nan", "1"] * 100,
        "id": list(range(400)),
        "mixed": ["1", "2", "3+", "4"] * 100,
        "word": [f"w{i % 200}" for i in range(400)],
        "of": ["inf", "sup"] * 200,
    }
    names = people_of(loans(tmp_path, **fine)).features.names
    assert names[3:7] == ("gap", "gap=missing", "id", "mixed=1")
    assert names[-2:] == ("of=inf", "of=sup")


def test_the_line_is_right_where_values_hold_lines(tmp_path: Path) -> None:
    file = loans(tmp_path, b=["1"] * 399 + ["oops"], job=['"cook\nor smith"', *["nurse"] * 399])
    file.write_text(file.read_text().replace("\n", "\n\n", 1))  # and where lines are empty
    with pytest.raises(DataError, match="'oops' in line 403"):
        people_of(file)


def test_rows_of_a_file_are_never_dropped(tmp_path: Path) -> None:
    file = loans(tmp_path)
    file.write_text(file.read_text() + "|0.5\n")
    with pytest.raises(DataError, match="needs 3 values, but line 402 has 1"):
        people_of(file)


def test_groups_of_a_file_may_be_called_na(tmp_path: Path) -> None:
    assert people_of(loans(tmp_path, sex=["NA", "EU"] * 200)).groups == ("EU", "NA")
    for nothing in ("", "nan"):
        with pytest.raises(DataError, match="1 people of loans have no group by 'sex': leave them out, or"):
            people_of(loans(tmp_path, sex=["f", "m"] * 199 + ["f", nothing]))


def test_spoilt_packed_files_are_refused(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(loans(tmp_path).read_bytes()))
    for place in (12, len(packed) // 2):
        spoilt = packed.copy()
        spoilt[place : place + 8] = b"\xff" * 8
        file = tmp_path / "loans.csv.gz"
        file.write_bytes(spoilt)
        with pytest.raises(DataError, match=r"cannot read .*loans.csv.gz"):
            people_of(file)


# ---- words --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"name": "adult", "favorable": 1}, "'adult' has its own label, so favorable means nothing: leave it out"),
        ({"name": "adult", "label": "income"}, "'adult' has its own label, so label means nothing"),
        ({"name": "x", "reader": "adult", "label": "income"}, "so label means nothing"),
        ({"name": "x", "path": "x.csv", "group": "g", "label": "y", "options": {"complete": True}}, "has no options"),
        ({"name": "compas"}, "data set 'compas' needs its path"),
        ({"name": "acs", "path": "here", "options": {"folder": "there"}}, "no option 'folder' .*; say path"),
        ({"name": "adult", "options": {"path": "there"}}, "no option 'path' .*; say path"),
        ({"name": "adult", "options": {"complet": True}}, "did you mean 'complete'"),
    ],
)
def test_words_that_would_change_nothing_are_refused(words: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Source(**words)


def test_a_file_may_be_called_like_a_data_set(tmp_path: Path) -> None:
    source = Source("adult", str(loans(tmp_path)), "sex", label="paid", favorable=0, reader="csv")
    assert source.load().favorable == "paid is 0"


CONFIG = """\
[experiment]
folder = "runs"
device = "cuda"

[[dataset]]
name = "adult"
path = "data"
group = "sex"

[[method]]
name = "stub_methods:Shrunk"
"""


def test_only_the_word_of_a_device_is_checked(tmp_path: Path) -> None:
    file = tmp_path / "experiment.toml"
    file.write_text(CONFIG)
    assert read_config(file)["device"] == "cuda"  # --device may say another one
    file.write_text(CONFIG.replace("cuda", "tpu"))
    with pytest.raises(UsageError, match="line 3: device is 'auto', 'cpu' or 'cuda', not 'tpu'"):
        read_config(file)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('path = "data"', "favorable = 1", "line 6: data set 'adult' has its own label"),
        ('name = "adult"\npath = "data"', 'name = "compas"', "line 6: data set 'compas' needs its path"),
        ("stub_methods:Shrunk", "builtins:int", "line 11: method 'builtins:int' must be a class"),
        ("stub_methods:Shrunk", "..x:y", "line 11: cannot find method '..x:y'"),
        ("Shrunk\"", "Shrunk\"\nstrengths = [1" + "0" * 400 + "]", "line 12: a strength is a finite number"),
    ],
)  # fmt: skip
def test_ordinary_mistakes_have_their_line(old: str, new: str, message: str, tmp_path: Path) -> None:
    assert old in CONFIG
    (tmp_path / "experiment.toml").write_text(CONFIG.replace(old, new, 1))
    with pytest.raises(UsageError, match=re.escape(message)):
        read_config(tmp_path / "experiment.toml")


def test_without_a_file_the_way_to_one_is_shown(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no file .*none.toml': evenhand experiment --init writes one"):
        read_config(tmp_path / "none.toml")


def test_the_file_to_begin_with_has_every_key(tmp_path: Path) -> None:
    for key in (*EXPERIMENT, *DATASET, *METHOD):
        assert re.search(rf"^(# )?{key} = ", STARTER, re.MULTILINE), key
    whole = re.sub(r"^# (?=\[\[|\w+ = )", "", STARTER, flags=re.MULTILINE)
    (tmp_path / "experiment.toml").write_text(whole.replace("my_methods:Fairer", "stub_methods:ByGroup"))
    if not methods_known():
        pytest.skip("its methods need PyTorch")
    words = read_config(tmp_path / "experiment.toml")
    assert [source.name for source in words["datasets"]] == ["adult", "adult by race", "loans"]
    assert [method.name for method in words["methods"]] == ["mlp", "reg", "reg with abpc", "ByGroup"]


# ---- values with which no method can learn ------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "sentence"), [
    ('name = "reg"\nepochs = -1', "epochs is a whole number from 1, but it is -1"),
    ('name = "reg"\nloss = "abc"', "there is no loss 'abc'"),
    ('name = "reg"\nstrengths = [1, -1]', "strength is a number from 0, but it is -1.0"),
    ('name = "adv"\nadversary_steps = "epochs"', "adversary_steps, unless it is 'epoch', is a whole number"),
    ('name = "inlp"\nstrengths = [0.5]', "a number of projections, is a whole number from 0, but it is 0.5"),
    ('name = "thresholds"\nstrengths = [3]', "strength is a number between 0 and 1, but it is 3.0"),
    ('name = "thresholds"\nepochs = "x"', "epochs is a whole number from 1, but it is 'x'"),
    ('name = "thresholds"\ncriterion = "odds"', "criterion is one of"),
])  # fmt: skip
def test_values_are_refused_with_their_line_before_anything_is_read(method: str, sentence: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    file = tmp_path / "experiment.toml"
    file.write_text(f'[[dataset]]\nname = "adult"\npath = "nowhere"\ngroup = "sex"\n\n[[method]]\n{method}\n')
    with pytest.raises(UsageError, match=f"line 8: .*{re.escape(sentence)}"):
        read_config(file)
