"""Policies and experiments with mistakes of every kind: understood, or refused in one sentence that names the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzzing import NAMES, NUMBERS, amount, generators

import evenhand
from evenhand.analyses.check.policy_file import rulebook
from evenhand.analyses.check.template import STARTER as POLICY
from evenhand.learn.experiments.config import STARTER as EXPERIMENT, read_config

POLICIES = [
    POLICY,
    """
[policy]
name = "credit"
confidence = 0.9
[audit]
score = "p"
group = ["sex", "region"]
threshold = 0.5
reference = { sex = "m" }
bootstrap = 100
tolerance = { abcc = 0.05 }
[[rule]]
measure = "disparate_impact"
at_least = 0.8
judge = "interval"
groups = ["f"]
attribute = "sex"
[[rule]]
measure = "abcc"
at_most = 0.1
pairs = "all"
undefined = "skip"
reason = '''two
lines'''
""",
]
VALUES = [
    "nan", "inf", "-inf", "1e400", "-0.0", "0x7fffffffffffffff", "1979-05-27", "07:32:00", "1979-05-27T07:32:00Z",
    "[]", "{}", "[[]]", "[{}]", "{a = 1}", "true", '""', "''", '"""\n\n"""', "[" * 50 + "]" * 50,
    "{a = " * 50 + "1" + "}" * 50,
    "1" + "0" * 400, "9" * 5000, "[1, 'a', nan]", *(json.dumps(name) for name in NAMES),
    *(str(number).lower() for number in NUMBERS if number is not None),
]  # fmt: skip
PIECES = [
    "\x00", "\ufeff", "\r", "\r\n", "\t", "=", "[", "]", "[[", "]]", '"', "'''", "#", ".", "a.b.c = 1\n", "[rule]\n",
    "[[policy]]\n", "[[rule]]\n", "[audit]\n", ".".join("a" * 500) + " = 1\n", "é", "\U0001f388", "\u202e", "\\",
]  # fmt: skip


def mutated(text: str, rng: np.random.Generator) -> bytes:
    lines = text.splitlines(keepends=True)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(lines)))
        if rng.random() < 0.6:  # a line that says something
            at = int(rng.choice([i for i, line in enumerate(lines) if "=" in line] or [at]))
        key, equals, _old = lines[at].lstrip("# ").partition("=")
        match rng.integers(8):
            case 0 | 1 | 2 if equals:
                lines[at] = f"{key}= {rng.choice(VALUES)}\n"
            case 3 if equals:
                name = str(rng.choice(NAMES))
                lines[at] = f"{json.dumps(name)} = {rng.choice(VALUES)}\n"
            case 4:
                lines.insert(at, lines[int(rng.integers(len(lines)))].lstrip("# "))
            case 5 if len(lines) > 1:
                del lines[at]
            case 6:
                lines[at] = lines[at].lstrip("# ")
            case _:
                place = int(rng.integers(len(lines[at]) + 1))
                lines[at] = lines[at][:place] + str(rng.choice(PIECES)) + lines[at][place:]
    content = "".join(lines).encode()
    if rng.random() < 0.1:
        place = int(rng.integers(len(content) + 1))
        content = content[:place] + rng.bytes(3) + content[place + 3 :]
    return content


@pytest.mark.parametrize(("texts", "read"), [(POLICIES, rulebook), ([EXPERIMENT], read_config)])
@amount(300, 20_000)
def test_mistakes_are_named(
    texts: list[str], read: Callable[[Any], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cases: int
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "written.toml"
    for rng in generators(cases, 3):
        file.write_bytes(mutated(texts[rng.integers(len(texts))], rng))
        try:
            read(file)
        except evenhand.EvenhandError as error:
            said = str(error)
        else:
            continue
        assert "\n" not in said
        assert len(said) < 2000


@pytest.mark.parametrize("read", [rulebook, read_config])
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xff\xfe[\x00", "line 1: .* UTF-8"),
        (b"[policy]\nname = 'a\x00b'\n", "line 2: no valid TOML"),
        (b"a = 1\n" + b"[" * 100_000, "TOML|too deep"),
        (b"a = " + b"[" * 60 + b"]" * 60, "too deeply"),
        (b"\n" + b".".join([b"a"] * 100_000) + b" = 1", "line 2: a key of more than"),
        (b"\n" + b".".join([b'"\\""'] * 30_000) + b" = 1", "line 2: a key of more than"),
        (b"a = " + b"1" * 5000, "4300 digits"),
        (b"x" * 300_000, "more than 256 kB"),
        (b"[audit]\n[audit]\n", "line 2: no valid TOML"),
    ],
)
def test_hostile_files_are_refused_at_once(
    read: Callable[[Any], Any], content: bytes, reason: str, tmp_path: Path
) -> None:
    file = tmp_path / "hostile.toml"
    file.write_bytes(content)
    with pytest.raises(evenhand.UsageError, match=reason) as found:
        read(file)
    assert "hostile.toml" in str(found.value)


@pytest.mark.parametrize("key", ["strengths = [KEY]", "epochs = KEY", "batch_size = KEY", "learning_rate = KEY"])
def test_numbers_that_no_float_holds_are_refused(key: str, tmp_path: Path) -> None:
    file = tmp_path / "huge.toml"
    method = f"[[method]]\nname = 'mlp'\n{key.replace('KEY', '1' + '0' * 400)}\n"
    file.write_text(f"[[dataset]]\nname = 'adult'\npath = 'data'\ngroup = 'sex'\n{method}")
    with pytest.raises(evenhand.UsageError, match=r"huge\.toml, line"):
        read_config(file)
