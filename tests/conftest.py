"""What several test files need: people at random, the command line as a process, the shared data."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

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


def evenhand(*arguments: object, stdin: str | None = None, cwd: Path | None = None, **environment: str) -> Any:
    """Run the command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "evenhand", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        input=stdin,
        cwd=cwd,
        env={**os.environ, "PYTHONUTF8": "1", **environment},
        timeout=300,
    )


def check_schema(document: object, schema: object) -> None:
    """Whether a document is what its JSON Schema says."""
    pytest.importorskip("jsonschema").validate(document, schema)
