"""Models from files and import paths. What could run any code when it is opened is refused unless it is asked for.

Only an import path may import from the current folder: whoever gets a model file gets its neighbours too, and a file
called like a library must not be taken for it.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.errors import DataError, EvenhandError, MissingLibrary, UsageError, listed, nearest, shown
from evenhand.files.paths import as_path, naming, shown_path

PICKLES = (".pkl", ".pickle", ".joblib")
_IMPORT = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
SOUND_SKOPS, SOUND_ONNXRUNTIME = (0, 12), (1, 24, 1)
"""Before, a .skops file could hide what it runs, and an .onnx file could read files of any folder as its weights."""
MOST_UNPACKED, MOST_TIMES = 1 << 28, 100
"""A file that unpacks to more bytes than that, and than so many times its own size, is no model."""


def is_import(model: object) -> bool:
    """Whether a model is named by what to import.

    >>> is_import("package.module:name"), is_import("model.onnx")
    (True, False)
    """
    return isinstance(model, str) and _IMPORT.fullmatch(model) is not None and not os.path.exists(model)


def load_model(model: str | os.PathLike[str], *, trust: Sequence[str] = (), unsafe_pickle: bool = False) -> Any:
    """The model at a path (.skops, .onnx) or at 'package.module:name'."""
    if is_import(model):
        return _imported(str(model))
    path = as_path(model)
    suffix = path.suffix.lower()
    if suffix not in (".skops", ".onnx", ".pt", ".pth", *PICKLES):
        raise UsageError(
            f"a model is a file .skops or .onnx, or an import path 'package.module:name', not {shown(str(model))}"
        )
    if suffix in (".pt", ".pth") or (suffix in PICKLES and not unsafe_pickle):
        raise UsageError(_refusal(path, suffix))
    if not path.is_file():
        raise UsageError(f"there is no model {shown_path(path)}")
    try:
        with naming(model):
            if suffix == ".skops":
                return _skops(path, trust)
            return OnnxModel(path) if suffix == ".onnx" else _pickle(path)
    except EvenhandError:
        raise
    except Exception as error:  # a damaged file fails in whatever way its reader does
        told = " ".join(str(error).split())[:300]
        raise DataError(f"cannot load the model {shown_path(path)}: {type(error).__name__}: {told}") from error


def _refusal(path: Path, suffix: str) -> str:
    if suffix in (".pt", ".pth"):
        return f"{shown_path(path)} can run any code when it is loaded: export it to ONNX, or name a Python import path"
    return (
        f"{shown_path(path)} is a pickle, and a pickle can run any code when it is loaded: convert it with skops "
        f"(skops.io.dump(model, 'model.skops')), or name a Python import path; if you trust whoever made it, say so "
        "(unsafe_pickle=True, --unsafe-pickle)"
    )


def _imported(path: str) -> Any:
    module, _, name = path.partition(":")
    try:
        with _current_folder():
            target: Any = import_module(module)
    except ModuleNotFoundError as error:
        raise UsageError(
            f"cannot import {shown(module)}: there is no module {shown(error.name)}; it must be installed, or lie in "
            "the current directory"
        ) from None
    except Exception as error:  # whatever the module does when it is imported
        raise DataError(f"importing {shown(module)} fails: {type(error).__name__}: {error}") from error
    for part in name.split("."):
        if not hasattr(target, part):
            raise UsageError(f"{shown(module)} has no {shown(part)}{nearest(part, dir(target))}")
        target = getattr(target, part)
    return target


@contextmanager
def _current_folder() -> Iterator[None]:
    """Modules of the current folder can be imported, after everything that is installed; only as long as this lasts."""
    before = list(sys.path)
    sys.path.append(os.getcwd())
    try:
        yield
    finally:
        sys.path[:] = before


def _skops(path: Path, trust: Sequence[str]) -> Any:
    try:
        import skops
        from skops import io
    except ImportError:
        raise MissingLibrary("a .skops model needs skops: pip install 'evenhand[models]'") from None
    _refuse_old("skops", skops.__version__, SOUND_SKOPS)
    _refuse_bomb(path)
    unknown = [t for t in io.get_untrusted_types(file=path) if t not in trust]
    if unknown:
        raise UsageError(
            f"{shown_path(path)} holds types that skops does not know to be harmless: {listed(unknown)}; if you know "
            f"them, name each (trust={unknown!r}, {' '.join(f'--trust {shlex.quote(t)}' for t in unknown)})"
        )
    return io.load(path, trusted=list(trust))


def _refuse_old(library: str, version: str, sound: tuple[int, ...]) -> None:
    if tuple(int(part) for part in re.findall(r"\d+", version)[:3]) < sound:
        raise MissingLibrary(
            f"{library} {version} trusts a hostile model file, {'.'.join(map(str, sound))} and later do not: "
            "pip install --upgrade 'evenhand[models]'"
        )


def _refuse_bomb(path: Path) -> None:
    """A .skops file is a zip: what it unpacks to must fit its size."""
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
    if unpacked > max(MOST_UNPACKED, MOST_TIMES * path.stat().st_size):
        raise DataError(
            f"{shown_path(path)} would unpack to {unpacked:,} bytes, over {MOST_TIMES} times its size: no model does"
        )


def _pickle(path: Path) -> Any:
    if path.suffix.lower() == ".joblib":
        try:
            import joblib
        except ImportError:
            raise MissingLibrary("a .joblib model needs joblib: pip install joblib") from None
        return joblib.load(path)
    import pickle

    with open(path, "rb") as file:
        return pickle.load(file)


_KINDS = {
    "tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(int64)": np.int64, "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_, "tensor(string)": object,
}  # fmt: skip


class OnnxModel:
    """An ONNX graph that takes one matrix, or one input for each column.

    Its last output is read: probabilities by class (a matrix, or a dict for each person), or one score.
    """

    def __init__(self, path: Path) -> None:
        try:
            import onnxruntime
        except ImportError:
            raise MissingLibrary("an .onnx model needs onnxruntime: pip install 'evenhand[models]'") from None
        _refuse_old("onnxruntime", onnxruntime.__version__, SOUND_ONNXRUNTIME)
        self.session = onnxruntime.InferenceSession(os.fspath(path), providers=["CPUExecutionProvider"])
        self.inputs = self.session.get_inputs()
        odd = [i.type for i in self.inputs if i.type not in _KINDS]
        if odd:
            raise UsageError(
                f"an ONNX model of people takes numbers, truth values or text, but this one takes {odd[0]}"
            )
        if len(self.inputs) > 1:
            self.feature_names_in_ = [i.name for i in self.inputs]
        else:
            self.n_features_in_ = (self.inputs[0].shape or [None])[-1]
        self.classes_ = self._classes()

    def _classes(self) -> list[Any] | None:
        """Names of classes, if the last output has them: of a matrix of two columns they are 0 and 1."""
        last = self.session.get_outputs()[-1]
        if last.type.startswith("seq(map(int64"):
            return None  # each person's dict names them
        width = (last.shape or [None])[-1]
        several = isinstance(width, int) and width > 1 and last.type in ("tensor(float)", "tensor(double)")
        return list(range(width)) if several and len(last.shape) == 2 else None

    def predict_proba(self, rows: Any) -> Any:
        if len(self.inputs) == 1:
            fed = {self.inputs[0].name: _typed(np.asarray(rows), self.inputs[0].type)}
        else:
            fed = {i.name: _typed(_column(rows[i.name]), i.type).reshape(-1, 1) for i in self.inputs}
        output = self.session.run(None, fed)[-1]
        if isinstance(output, list) and output and isinstance(output[0], dict):
            self.classes_ = list(output[0])
            return np.array([list(one.values()) for one in output])
        return np.asarray(output)


def _column(column: Any) -> Any:
    return column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)


def _typed(values: Any, kind: str) -> Any:
    if _KINDS[kind] is object:
        return np.array([str(v) for v in values.ravel()], object).reshape(values.shape)
    return values.astype(_KINDS[kind])
