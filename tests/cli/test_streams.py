"""What commands write, where it goes, and how they end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import evenhand
from conftest import called
from evenhand.errors import harmless

UNIX = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
HOSTILE = [
    "::stop-commands::x", "##[error]y", "a##vso[task.complete]", "\x1b[31mred", "\u202eabc", "\u2066b\u2069", "\u200bz",
    "c\u2028::error::d", "e\x85", "\ud800", "a::b",
]  # fmt: skip


def process(*words: object, cwd: Path, **environment: str) -> Any:
    command = [sys.executable, "-m", "evenhand", *map(str, words)]
    return subprocess.run(command, cwd=cwd, capture_output=True, env={**os.environ, **environment}, timeout=100)


def hostile() -> dict[str, Any]:
    n = 20 * len(HOSTILE)
    rng = np.random.default_rng(0)
    names = np.array(HOSTILE, object)[np.arange(n) % len(HOSTILE)]
    return {"s": rng.random(n), "y": rng.integers(0, 2, n), "::g": names, "p": names[rng.permutation(n)]}


def obeyed(text: str) -> list[str]:
    """Lines that GitHub, Azure or TeamCity would take for commands, or that do something to a terminal."""
    return [
        line
        for line in text.split("\n")
        if line.lstrip().startswith("::") or "##[" in line or "##vso[" in line or not line.isprintable()
    ]


RESULTS = {
    "audit": lambda d: evenhand.audit(d, score="s", label="y", group="::g", bootstrap=0, permutations=0),
    "classes": lambda d: evenhand.audit(d, label="::g", prediction="p", group="y", bootstrap=0, permutations=0),
    "check": lambda d: evenhand.check(
        d, "abcc <= 0.01", score="s", label="y", group="::g", bootstrap=0, permutations=0
    ),
    "thresholds": lambda d: evenhand.thresholds(d, score="s", label="y", group="::g", bootstrap=0),
    "table": lambda d: evenhand.table_info(evenhand.tabulate(d, score="s", label="y", group="::g")),
    "individual": lambda d: evenhand.individual_fairness(d, "s", group="::g", columns=["y"], k=3),
    "compare": lambda d: evenhand.compare(d, method="::g", performance="s", fairness="y", bootstrap=0),
}


@pytest.mark.parametrize("kind", RESULTS)
def test_names_are_no_commands(kind: str) -> None:
    found = RESULTS[kind](hostile())
    assert obeyed(repr(found)) == []
    assert obeyed(found.to_markdown()) == []
    text = found.to_json()
    assert obeyed(text) == []
    assert json.loads(text) == found.to_dict()  # the names themselves are as they were
    assert "##[" not in found.to_html()
    found.to_html().encode()


def test_ordinary_names_stay() -> None:
    assert harmless("a::b, # 1 [x], ## y") == "a::b, # 1 [x], ## y"


def test_junit_is_xml_of_the_same_names() -> None:
    xml = RESULTS["check"](hostile()).to_junit()
    assert "##[" not in xml
    ElementTree.fromstring(xml)


def test_an_error_is_no_command(tmp_path: Path) -> None:
    result = called("audit", "x.csv", "--score", "##[error]s", "--group", "::g", cwd=tmp_path)
    assert (result.returncode, obeyed(result.stderr[:-1])) == (2, [])
    (tmp_path / "d.csv").write_text("s,g\n0.1,a\n0.9,b\n")
    result = called("audit", "d.csv", "--score", "##[error]s", "--group", "g", cwd=tmp_path)
    assert "'# #[error]s'" in result.stderr


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "cp1252"])
def test_documents_are_utf8_whatever_the_locale(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("s,g\n" + "0.1,日本\n0.9,é\n" * 5, encoding="utf-8")
    words = ["audit", "d.csv", "--score", "s", "--group", "g", "--bootstrap", 0, "--permutations", 0]
    form = {"latin-1": "html", "ascii": "json", "cp1252": "markdown"}[encoding]
    here = process(*words, f"--{form}", "-", cwd=tmp_path, PYTHONUTF8="0", PYTHONIOENCODING=encoding)
    there = process(*words, f"--{form}", "file", cwd=tmp_path)
    assert (here.returncode, there.returncode) == (0, 0), here.stderr
    assert here.stdout == (tmp_path / "file").read_bytes()
    assert "日本".encode() in here.stdout
    assert b"\r" not in here.stdout
    assert process(*words, cwd=tmp_path, PYTHONUTF8="0", PYTHONIOENCODING=encoding).returncode == 0


def test_starters_go_to_standard_output_too(tmp_path: Path) -> None:
    for words in (["check", "--init", "-"], ["policy", "init", "-o", "-"], ["experiment", "-", "--init"]):
        result = called(*words, cwd=tmp_path)
        assert (result.returncode, result.stderr) == (0, "")
        assert "=" in result.stdout
    assert list(tmp_path.iterdir()) == []
    evenhand.compas().save(tmp_path / "t.table")
    result = called("table", "merge", "t.table", "-o", "-", cwd=tmp_path)
    assert result.returncode == 2
    assert "saves to a file" in result.stderr
    checked = ["check", "t.table", "--require", "abcc <= 0.9", "--bootstrap", "0", "--junit", "-"]
    assert called(*checked, cwd=tmp_path).stdout.startswith("<?xml")


@UNIX
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_line_while_libraries_are_loaded(number: int, tmp_path: Path) -> None:
    """A library that is interrupted while it is loaded may print a traceback, or go on without a part of itself."""
    (tmp_path / "slow.py").write_text("import time\nprint(end='.', flush=True)\ntime.sleep(0.3)\nprint('loaded')\n")
    code = "import evenhand.cli as c, evenhand.__main__ as m\nimport time\n"
    code += "c.main = lambda: __import__('slow') and time.sleep(9)\nm.main()"
    started = subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert started.stdout is not None
    assert started.stdout.read(1) == "."
    time.sleep(0.05)
    started.send_signal(number)
    out, err = started.communicate(timeout=20)
    assert (started.returncode, out, err) == (128 + number, "loaded\n", "evenhand: interrupted\n")


@UNIX
def test_who_ignores_ctrl_c_goes_on(tmp_path: Path) -> None:
    code = "import os, signal, evenhand.cli as c, evenhand.__main__ as m\n"
    code += "c.main = lambda: (os.kill(os.getpid(), signal.SIGINT), print('done'))\nm.main()"
    command = ["sh", "-c", 'trap "" INT; "$0" -c "$1"', sys.executable, code]
    result = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert (result.returncode, result.stdout, result.stderr) == (0, "done\n", "")


@UNIX
def test_the_exit_code_is_that_of_the_signal_whatever_an_engine_makes_of_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """DuckDB raises an error of its own when it is interrupted, which does not know by what."""
    from evenhand.__main__ import _Ending
    from evenhand.cli import cli, main

    def counting(*_: object, **__: object) -> None:
        raise RuntimeError("Query interrupted")

    ending = _Ending()
    ending.code = 128 + signal.SIGTERM
    before = signal.signal(signal.SIGTERM, ending)
    monkeypatch.setattr(cli, "main", counting)
    try:
        with pytest.raises(SystemExit) as end:
            main([])
    finally:
        signal.signal(signal.SIGTERM, before)
    assert end.value.code == 143
    assert capsys.readouterr().err == "evenhand: interrupted\n"
