"""Model files from strangers: nothing beside them is run, and they neither fill memory nor read other files."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import evenhand as process
from evenhand.errors import DataError, MissingLibrary, UsageError
from evenhand.ingest import model_files
from evenhand.ingest.engines.addresses import extensions
from evenhand.ingest.model_files import load_model

LIBRARIES = ("skops", "numpy", "sklearn", "onnxruntime", "pandas", "joblib", "duckdb", "click", "scipy", "rich")
STARTS = [("-m", "evenhand"), ("-P", "-c", "from evenhand.__main__ import main; main()")]
"""As a module, for which Python puts the current folder first; and as the installed command, for which it does not."""


@pytest.fixture
def stranger(tmp_path: Path) -> Path:
    """A folder that came by mail: a model, people, and files called like the libraries that would read them."""
    io = pytest.importorskip("skops.io")
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    x, g = rng.normal(size=(60, 1)), rng.integers(0, 2, 60)
    y = (x[:, 0] + rng.normal(size=60) > 0).astype(int)
    io.dump(LogisticRegression().fit(np.column_stack([x, g]), y), tmp_path / "model.skops")
    lines = [f"{a:.4f},{b},{c}" for a, b, c in zip(x[:, 0], g, y, strict=True)]
    (tmp_path / "people.csv").write_text("\n".join(["x,g,y", *lines]) + "\n")
    for name in LIBRARIES:
        (tmp_path / f"{name}.py").write_text(f"open('ran', 'a').write('{name} ')\nraise SystemExit('{name} ran')\n")
    return tmp_path


WORDS = ("--attribute", "g", "--features", "x,g", "--bootstrap", 0)


@pytest.mark.parametrize("start", STARTS)
def test_no_file_beside_a_model_is_run(stranger: Path, start: tuple[str, ...]) -> None:
    done = process("counterfactual", "people.csv", "--model", "model.skops", *WORDS, cwd=stranger, start=start)
    assert not (stranger / "ran").exists(), (stranger / "ran").read_text()
    assert done.returncode == 0, done.stderr
    assert "runs its code" not in done.stderr


def test_an_import_path_runs_code_of_the_folder_and_says_so(stranger: Path) -> None:
    (stranger / "mine.py").write_text("import numpy as np\nscore = lambda people: np.asarray(people['x']) * 0\n")
    done = process("counterfactual", "people.csv", "--model", "mine:score", *WORDS, cwd=stranger, start=STARTS[0])
    assert done.returncode == 0, done.stderr
    assert "importing mine, from the current folder if it is there, runs its code" in done.stderr
    assert not (stranger / "ran").exists()  # what is installed comes first


def test_the_path_is_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a_model_of_mine.py").write_text("score = len\n")
    (tmp_path / "a_broken_model.py").write_text("1 / 0\n")
    monkeypatch.chdir(tmp_path)
    before = list(sys.path)
    assert load_model("a_model_of_mine:score") is len
    with pytest.raises(DataError, match="ZeroDivisionError"):
        load_model("a_broken_model:score")
    assert sys.path == before


def test_versions_that_trust_strangers_are_refused(stranger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skops, onnxruntime = pytest.importorskip("skops"), pytest.importorskip("onnxruntime")
    for library, old in ((skops, "0.11.0"), (onnxruntime, "1.23.2")):
        monkeypatch.setattr(library, "__version__", old)
    (stranger / "model.onnx").write_bytes(b"")
    for name in ("model.skops", "model.onnx"):
        with pytest.raises(MissingLibrary, match="trusts a hostile model file"):
            load_model(stranger / name)


def test_a_file_that_unpacks_to_far_more_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("skops")
    monkeypatch.setattr(model_files, "MOST_UNPACKED", 1 << 20)
    with zipfile.ZipFile(tmp_path / "bomb.skops", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", bytes(3 << 20))
    with pytest.raises(DataError, match=r"would unpack to 3,145,728 bytes, over 100 times its size"):
        load_model(tmp_path / "bomb.skops")


def test_types_are_not_loaded_unless_they_are_named(tmp_path: Path) -> None:
    io = pytest.importorskip("skops.io")
    import os

    io.dump({"f": os.getcwd}, tmp_path / "own.skops")
    with pytest.raises(UsageError, match=r"does not know to be harmless.*getcwd"):
        load_model(tmp_path / "own.skops")


@pytest.mark.parametrize("where", ["../secret.bin", "{folder}/secret.bin", "link.bin"])
def test_an_onnx_model_reads_no_other_folder(tmp_path: Path, where: str) -> None:
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    (tmp_path / "model").mkdir()
    (tmp_path / "secret.bin").write_bytes(np.array([1, 2], np.float32).tobytes())
    (tmp_path / "model" / "link.bin").symlink_to(tmp_path / "secret.bin")
    (tmp_path / "model" / "model.onnx").write_bytes(_graph(onnx, where.format(folder=tmp_path)))
    with pytest.raises(DataError, match="cannot load the model"):
        load_model(tmp_path / "model" / "model.onnx")


def _graph(onnx: Any, where: str) -> bytes:
    """A model of one matrix, whose weights lie in another file."""
    made, kind = onnx.helper, onnx.TensorProto.FLOAT
    weights = onnx.TensorProto(name="w", data_type=kind, dims=[2, 1], data_location=onnx.TensorProto.EXTERNAL)
    for key, value in (("location", where), ("offset", "0"), ("length", "8")):
        entry = weights.external_data.add()
        entry.key, entry.value = key, value
    ends = [made.make_tensor_value_info(name, kind, [None, width]) for name, width in (("x", 2), ("o", 1))]
    graph = made.make_graph([made.make_node("MatMul", ["x", "w"], ["o"])], "g", ends[:1], ends[1:], [weights])
    found: bytes = made.make_model(graph, opset_imports=[made.make_opsetid("", 17)], ir_version=8).SerializeToString()
    return found


def test_only_an_address_may_load_an_extension() -> None:
    assert set(extensions(["data.csv", "https.parquet"]).values()) == {"false"}
    assert set(extensions(["https://example.org/data.parquet"]).values()) == {"true"}


def test_an_experiment_names_the_modules_it_imports(tmp_path: Path) -> None:
    config = pytest.importorskip("evenhand.learn.experiments.config")
    (tmp_path / "own.toml").write_text('[[method]]\nname = "mine:Fairer"\n[[method]]\nname = "reg"\n')
    (tmp_path / "plain.toml").write_text('[[method]]\nname = "reg"\n')
    assert config.own_methods(tmp_path / "own.toml") == ["mine"]
    assert config.own_methods(tmp_path / "plain.toml") == []
