"""Models of every kind give scores; what is unsafe or makes no sense is refused."""

from __future__ import annotations

import pickle
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.errors import DataError, EvenhandError, UsageError
from evenhand.ingest.model_files import load_model
from evenhand.ingest.model_inputs import Inputs
from evenhand.ingest.model_scores import scorer_of
from evenhand.ingest.people import read_people

ROWS = {"x": np.array([0.0, 1.0, 2.0])}


def raises(people: Any) -> Any:
    raise ValueError("Found unknown categories ['purple']\n in column 0")


class Chances:
    classes_ = np.array(["bad", "good"])

    def predict_proba(self, people: Any) -> Any:
        share = np.asarray(people["x"]) / 2
        return np.column_stack([1 - share, share])


class Labels:
    classes_ = np.array([0, 1])

    def predict(self, people: Any) -> Any:
        return np.asarray(people["x"] > 0.5, int)


def test_kinds_of_models() -> None:
    assert scorer_of(Chances(), favorable="good")(ROWS, 3, "them").tolist() == [0, 0.5, 1]
    assert scorer_of(Chances(), favorable="good", risk=True)(ROWS, 3, "them").tolist() == [1, 0.5, 0]
    assert scorer_of(Labels(), favorable="0")(ROWS, 3, "them").tolist() == [1, 0, 0]
    assert scorer_of(lambda p: p["x"][:, None])(ROWS, 3, "them").tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (lambda p: p["x"][:2], "3 rows, it returned numbers of shape \\(2,\\)"),
        (lambda p: np.stack([p["x"]] * 2, 1), "shape \\(3, 2\\)"),
        (lambda p: [1, None, 2], "1 of 3 are missing"),
        (lambda p: [1, float("inf"), float("nan")], "2 of 3 are missing or infinite"),
        (lambda p: ["yes", "no", "no"], "favorable="),
        (raises, "cannot score them; it says: ValueError: Found unknown categories \\['purple'\\] in column 0"),
    ],
)
def test_what_a_model_returns_is_checked(model: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        scorer_of(model)(ROWS, 3, "them")


@pytest.mark.parametrize(
    ("model", "words"), [(Chances, "a class"), (3, "predict_proba"), (Chances(), "has 'bad', 'good'")]
)
def test_what_is_no_model(model: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        scorer_of(model)


def test_import_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_model.py").write_text("class inner:\n    score = staticmethod(lambda people: people['x'])\n")
    (tmp_path / "broken_model.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert scorer_of("my_model:inner.score")(ROWS, 3, "them").tolist() == [0, 1, 2]
    for path, words in (
        ("my_model:iner", "did you mean 'inner'"), ("no_such_module_x:f", "no module 'no_such_module_x'"),
        ("broken_model:f", "ZeroDivisionError"), ("model.txt", ".skops or .onnx"), ("gone.onnx", "no model"),
    ):  # fmt: skip
        with pytest.raises(EvenhandError, match=words):
            load_model(path)


def test_pickles_are_refused_unless_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "model.pkl"
    file.write_bytes(pickle.dumps(Chances()))
    with pytest.raises(UsageError, match=r"can run any code.*skops.*import path.*--unsafe-pickle"):
        load_model(file)
    assert isinstance(load_model(file, unsafe_pickle=True), Chances)
    for name in ("model.pt", "model.joblib"):
        with pytest.raises(UsageError, match="can run any code"):
            load_model(tmp_path / name)
    file.write_bytes(b"nonsense")
    with pytest.raises(DataError, match="cannot load the model"):
        load_model(file, unsafe_pickle=True)


def fitted() -> Any:
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2))
    return LogisticRegression().fit(x, x[:, 0] + rng.normal(size=200) > 0), x


def test_skops(tmp_path: Path) -> None:
    io = pytest.importorskip("skops.io")
    model, x = fitted()
    io.dump(model, tmp_path / "model.skops")
    found = scorer_of(tmp_path / "model.skops", favorable=True)
    assert found(x, 200, "them") == pytest.approx(model.predict_proba(x)[:, 1])
    assert found.matrix
    io.dump(Chances(), tmp_path / "own.skops")
    with pytest.raises(UsageError, match=r"--trust .*Chances"):
        load_model(tmp_path / "own.skops")
    trusted = f"{Chances.__module__}.Chances"
    assert isinstance(load_model(tmp_path / "own.skops", trust=[trusted]), Chances)
    (tmp_path / "bad.skops").write_bytes(b"nonsense")
    with pytest.raises(DataError, match="cannot load"):
        load_model(tmp_path / "bad.skops")


@pytest.mark.parametrize("zipmap", [True, False])
def test_onnx(tmp_path: Path, zipmap: bool) -> None:
    pytest.importorskip("onnxruntime")
    skl2onnx = pytest.importorskip("skl2onnx")
    model, x = fitted()
    made = skl2onnx.to_onnx(model, x[:1].astype(np.float32), options={"zipmap": zipmap}, target_opset=17)
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString())
    scores = scorer_of(tmp_path / "m.onnx")(x, 200, "them")
    assert scores == pytest.approx(model.predict_proba(x)[:, 1], abs=1e-5)
    (tmp_path / "bad.onnx").write_bytes(b"nonsense")
    with pytest.raises(DataError, match="cannot load"):
        load_model(tmp_path / "bad.onnx")


def test_onnx_with_an_input_for_each_column(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    onnx = pytest.importorskip("onnx")
    helper, kinds = onnx.helper, onnx.TensorProto
    inputs = [helper.make_tensor_value_info(n, kinds.DOUBLE, [None, 1]) for n in ("a", "b")]
    output = helper.make_tensor_value_info("score", kinds.DOUBLE, [None, 1])
    graph = helper.make_graph([helper.make_node("Sub", ["a", "b"], ["score"])], "g", inputs, [output])
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=9), tmp_path / "m.onnx")
    found = scorer_of(tmp_path / "m.onnx")
    assert found.expects == ["a", "b"]
    assert found({"a": np.array([3, 1]), "b": np.array([1, 1])}, 2, "them").tolist() == [2, 0]


PEOPLE = {"sex": ["f", "m", "f"], "age": [30, 41, 52], "vet": [True, False, False], "pay": [1.5, 2.5, 3.5]}


def made(library: str) -> Any:
    if library == "dict":
        return PEOPLE
    module = pytest.importorskip(library)
    if library == "pandas":
        return module.DataFrame(PEOPLE, index=[7, 7, 9]).astype({"sex": "category"})
    return module.table(PEOPLE) if library == "pyarrow" else module.DataFrame(PEOPLE)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "dict"])
def test_models_get_the_users_own_types(library: str) -> None:
    data = made(library)
    people = read_people(data, ["sex", "vet", "pay"])
    rows = Inputs(data, people, ["age", "sex", "vet", "pay"]).rows(
        np.array([2, 0, 1]), {"sex": np.array([1, 1, 0]), "pay": np.array([0.1, 0.2, 0.3])}
    )
    theirs = {"dict": "pandas" if find_spec("pandas") else "builtins"}.get(library, library)
    assert type(rows).__module__.split(".")[0] == theirs
    plain = {name: [getattr(v, "as_py", lambda v=v: v)() for v in rows[name]] for name in ("age", "sex", "vet", "pay")}
    assert plain == {"age": [52, 30, 41], "sex": ["m", "m", "f"], "vet": [False, True, False], "pay": [0.1, 0.2, 0.3]}
    if library == "pandas":
        assert str(rows["sex"].dtype) == "category"
        assert rows["age"].dtype == int
        assert rows["vet"].dtype == bool


def test_matrices_stay_matrices() -> None:
    x = np.array([[1, 30], [0, 41], [1, 52]])
    people = read_people(x, ["x0", "x1"], categories=["x0"])
    inputs = Inputs(x, people, ["x0", "x1"])
    assert inputs.rows(np.arange(3)).dtype == x.dtype
    found = inputs.rows(np.arange(3), {"x0": 1 - people["x0"].values, "x1": np.array([0.5, 1, 2])})
    assert found.tolist() == [[0, 0.5], [1, 1], [0, 2]]
    assert x[0, 0] == 1


def test_files_become_frames(tmp_path: Path) -> None:
    file = tmp_path / "p.csv"
    file.write_text("sex,age,pay\nf,30,1.5\nm,,2.5\n")
    people = read_people(file, ["sex"])
    rows = Inputs(file, people, ["age", "pay", "sex"]).rows(np.array([1, 0]))
    assert list(rows["sex"]) == ["m", "f"]
    assert np.isnan(rows["age"][0])
    assert rows["pay"].tolist() == [2.5, 1.5]
