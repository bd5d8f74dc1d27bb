"""What several test files need: random people, the command line as a process or a terminal, real data, benchmarks."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from unittest import mock

# Before numpy is loaded: tests run in several processes, whose threads would spin while they wait for one another.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pytest

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture
def data_folder() -> Path:
    """Real data that lie beside the project on some machines; never needed elsewhere."""
    if not DATA.is_dir():
        pytest.skip(f"the folder {DATA.name} with real data is not beside the project")
    return DATA


def people(n: int = 600, groups: int = 3, seed: int = 0, levels: int | None = 20) -> dict[str, np.ndarray]:
    """Columns s (score), y (label), g (group), h (a second group), d (decision), w (weight)."""
    rng = np.random.default_rng(seed)
    g = rng.integers(0, groups, n)
    s = np.clip(rng.beta(2 + g, 3, n), 0, 1)
    if levels:
        s = np.round(s * levels) / levels
    return {
        "s": s,
        "y": (rng.random(n) < s).astype(int),
        "g": np.array([f"g{i}" for i in range(groups)])[g],
        "h": np.array(["x", "y"])[rng.integers(0, 2, n)],
        "d": (rng.random(n) < s).astype(int),
        "w": rng.random(n) + 0.5,
    }


WORDS: dict[str, Any] = {"label": "y", "prediction": "p", "group": "g"}


def jobs(n: int = 400, classes: int = 5, groups: int = 3, seed: int = 0) -> dict[str, np.ndarray]:
    """Columns y (class), p (predicted class), g and h (groups), w (weight), k (whole weight)."""
    rng = np.random.default_rng(seed)
    names = np.array([f"class {i}" for i in range(classes)])
    y = rng.integers(0, classes, n)
    p = np.where(rng.random(n) < 0.7, y, rng.integers(0, classes, n))
    return {
        "y": names[y], "p": names[p], "g": np.array([f"g{i}" for i in range(groups)])[rng.integers(0, groups, n)],
        "h": np.array(["x", "z"])[rng.integers(0, 2, n)], "w": rng.random(n) + 0.5, "k": rng.integers(1, 4, n),
    }  # fmt: skip


COMMAND = ("-m", "evenhand")
IMPATIENT = ("-c", "from evenhand.cli import main, output; output.PATIENCE = 0; main()")
"""Who shows a bar at once need not be given work for a while."""


def evenhand(
    *arguments: object,
    stdin: str | None = None,
    cwd: Path | None = None,
    start: tuple[str, ...] = COMMAND,
    **environment: str,
) -> Any:
    """Run the command line in a process of its own."""
    return subprocess.run(
        [sys.executable, *start, *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        input=stdin,
        cwd=cwd,
        env={**os.environ, "PYTHONUTF8": "1", **environment},
        timeout=300,
    )


def called(*arguments: object, stdin: str = "", cwd: Path | None = None, **environment: str) -> Any:
    """What the command line writes and how it ends, without a process of its own; test_cli.py has the processes."""
    from evenhand.cli import main

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    code: Any = 0
    with (
        mock.patch.dict(os.environ, environment),
        mock.patch("sys.stdin", io.StringIO(stdin)),
        contextlib.chdir(cwd or "."),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main([str(a) for a in arguments])
        except SystemExit as end:
            code = end.code
    stdout, stderr = (stream.buffer.getvalue().decode() for stream in (out, err))  # type: ignore[attr-defined]
    return subprocess.CompletedProcess(arguments, code, stdout, stderr)


def terminal(
    *arguments: object, type_in: bytes = b"", start: tuple[str, ...] = COMMAND, **environment: str
) -> tuple[int, str]:
    """Run with standard input, output and error on a pseudo-terminal of 80 columns."""
    import pty  # not on Windows

    master, slave = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", "PYTHONUTF8": "1", **environment}
    env = {k: v for k, v in env.items() if v != ""}
    process = subprocess.Popen(
        [sys.executable, *start, *map(str, arguments)],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=env,
        close_fds=True,
    )
    os.close(slave)
    os.write(master, type_in)
    shown = b""
    deadline = time.time() + 60
    while time.time() < deadline:
        ready, _, _ = select.select([master], [], [], 0.1)
        if ready:
            try:
                piece = os.read(master, 65536)
            except OSError:
                break
            if not piece:
                break
            shown += piece
        elif process.poll() is not None:
            break
    code = process.wait(timeout=10)
    os.close(master)
    return code, shown.decode()


def check_schema(document: object, schema: object) -> None:
    """Whether a document is what its JSON Schema says."""
    pytest.importorskip("jsonschema").validate(document, schema)


def benchmark_of(name: str) -> Any:
    """A script of the folder benchmarks as a module, so that a test runs what its page shows."""
    path = Path(__file__).resolve().parents[1] / "benchmarks" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"benchmark_of_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
