"""Commands ended at any moment while they write: what was there stays, or the new one is there, whole."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from fuzzing import amount, generators

import evenhand

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
FORMS = {"table": ["table", "merge", "-o"], "json": ["audit", "--json"], "html": ["audit", "--html"]}
SETTINGS = """\
[experiment]
folder = "runs"
seeds = [0, 1]
jobs = 1

[[dataset]]
name = "toy"
path = "toy.csv"
label = "y"
favorable = "1"
group = "g"
exclude = ["g"]

[[method]]
name = "stub_methods:Shrunk"
label = "shrunk"
strengths = [0.0, 0.5]
"""
TESTS = str(Path(__file__).resolve().parents[1])
LOADING = ("/evenhand/__init__.py", "/evenhand/names.py", "/evenhand/__main__.py")
"""Until these are loaded nobody but Python hears a signal."""


def started(form: str, home: Path) -> subprocess.Popen[str]:
    command, *options = FORMS.get(form, ["experiment"])
    words = [command, *options[:-1], "in.table", options[-1], f"out/x.{form}"] if options else [command, "toy.toml"]
    if command == "audit":
        words += ["--bootstrap", "0", "--permutations", "0"]
    return subprocess.Popen(
        [sys.executable, "-m", "evenhand", *words],
        cwd=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={
            **os.environ,
            "PYTHONUTF8": "1",
            "PYTHONPATH": f"{Path(__file__).parents[1]}:{os.environ.get('PYTHONPATH', '')}",
        },
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kills")
    rng = np.random.default_rng(0)
    score, group = np.round(rng.random(3000), 2), np.array(["a", "b"])[rng.integers(0, 2, 3000)]
    label = (rng.random(3000) < score).astype(int)
    evenhand.tabulate(score=score, label=label, group=group).save(folder / "in.table")
    rows = "\n".join(f"{s},{y},{g}" for s, y, g in zip(score[:200], label[:200], group[:200], strict=True))
    (folder / "toy.csv").write_text(f"x,y,g\n{rows}\n")
    (folder / "toy.toml").write_text(SETTINGS)
    (folder / "out").mkdir()
    return folder


@pytest.fixture(scope="module")
def whole(home: Path) -> dict[str, tuple[bytes, float]]:
    """What each form is when nobody disturbs it, and how long that takes."""
    return _Whole(home)


class _Whole(dict[str, tuple[bytes, float]]):
    """Made when it is asked for: most forms are not, when few are tried."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def __missing__(self, form: str) -> tuple[bytes, float]:
        start = time.monotonic()
        process = started(form, self.home)
        _, said = process.communicate(timeout=100)
        assert process.returncode == 0, said
        target = result(form, self.home)
        self[form] = (target.read_bytes(), time.monotonic() - start)
        if form == "experiment":
            shutil.rmtree(target.parent)
            target.parent.mkdir()
        return self[form]


def result(form: str, home: Path) -> Path:
    return home / (f"out/x.{form}" if form in FORMS else "runs/runs.csv")


def killed(form: str, number: int, moment: float, home: Path) -> tuple[int, str]:
    process = started(form, home)
    time.sleep(moment)
    process.send_signal(number)
    said = process.communicate(timeout=60)[1]
    return process.returncode, said


def checked_ending(code: int, number: int, said: str) -> None:
    """Its own exit code and one line, unless Python itself was not there yet or all was done already."""
    if code == 0 or number == signal.SIGKILL:
        return
    if code in (-number, 1) and "evenhand: " not in said:
        ours = [line for line in said.splitlines() if "/evenhand/" in line and not any(p in line for p in LOADING)]
        assert not ours, said
        return
    assert code == 128 + number, said
    # what an experiment says of its runs and of what it imports
    lines = [line for line in said.splitlines() if not line[0].isdigit() and "runs its code" not in line]
    assert lines == ["evenhand: interrupted"], said


@amount(4, 250)
def test_what_is_written_is_old_or_whole(cases: int, home: Path, whole: dict[str, tuple[bytes, float]]) -> None:
    forms = (*FORMS, "experiment") if cases > 50 else tuple(FORMS)
    for case, rng in enumerate(generators(cases, 2)):
        form, number = forms[case % len(forms)], int(rng.choice(SIGNALS))
        content, seconds = whole[form]
        target = result(form, home)
        if form in FORMS:
            target.write_bytes(b"old")
        code, said = killed(form, number, rng.random() * 1.1 * seconds, home)
        checked_ending(code, number, said)
        there = [p.name for p in target.parent.iterdir()]
        if form in FORMS:
            assert target.read_bytes() in (b"old", content)
            assert code != 0 or target.read_bytes() == content
            left = [name for name in there if name.endswith(".part")]
            assert not left or number == signal.SIGKILL, left
            for name in left:
                (target.parent / name).unlink()
        else:
            for record in target.parent.glob("[0-9a-f]*.json"):
                json.loads(record.read_text())
            assert not target.exists() or target.read_bytes() == content
            again = started(form, home)
            said = again.communicate(timeout=100)[1]
            assert again.returncode == 0, said
            assert target.read_bytes() == content
            for path in target.parent.iterdir():
                path.unlink()
