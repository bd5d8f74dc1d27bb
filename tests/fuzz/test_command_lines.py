"""Random command lines, made of the options that every command has: a result, or one sentence and exit code 2."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from fuzzing import NAMES, NUMBERS, amount, generators

import evenhand
from conftest import called, jobs, people
from evenhand.cli import SECTIONS, cli

COMMANDS = sorted({name for commands in SECTIONS.values() for name in commands})
FILES = ["people.csv", "jobs.csv", "ranges.csv", "runs.csv", "broken.csv", "people.table", "jobs.table",
         "shared.table", "rules.toml", "hostile.toml", "results.json", "folder", "*.csv",
         "missing.csv", "people.csv.gz", ""]  # fmt: skip
PLACES = ["-", "out.html", "out.json", "out.md", "nodir/x", "folder", "people.csv", "", "ä.txt"]
COLUMNS = ["s", "y", "g", "h", "d", "w", "t", "p", "m", "f", "g,h", "s,w", 'g,"h"', "", ","]
VALUES = ["0.5", "1", "0", "g0", "yes", "tpr", "gap", "score", "abcc", "equalized_odds", "auto", "mid", "published",
          "x=1", "g=g0", "abcc=0.1", "disparate_impact >= 0.8", "abcc <= 0.1 at 95%", "0,1", "1,2,3", "month",
          "fail", "skip",
          "euclidean", "accuracy", "drop", "frequency", "sampling", "scott", "max gap", "mean", "overall"]  # fmt: skip
FEW = {"bootstrap": ["0", "5", "x", "-1", "1.5"], "permutations": ["0", "5", "x", "-1"], "jobs": ["1", "0", "x"]}
"""What would take long if it were any number."""
NUMBERS_WRITTEN = [str(n)[:30] for n in NUMBERS if abs(n if isinstance(n, int | float) and n == n else 0) < 1e300]


@pytest.fixture
def here(tmp_path: Path) -> Path:
    for name, columns in {"people": people(60, levels=5), "jobs": jobs(60, 3)}.items():
        columns = {**columns, "t": np.repeat(np.arange(3), 20)}
        rows = "\n".join(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))
        (tmp_path / f"{name}.csv").write_text(f"{','.join(columns)}\n{rows}\n")
    evenhand.tabulate(people(60, levels=5), score="s", label="y", group=["g", "h"]).save(tmp_path / "people.table")
    evenhand.tabulate(jobs(60, 3), label="y", prediction="p", group="g").save(tmp_path / "jobs.table")
    hostile = np.array([name or "x" for name in NAMES[:30]] * 4, object)
    table = evenhand.tabulate(
        score=np.tile([0.2, 0.8, 0.4], 40), label=np.tile([0, 1], 60), group={"::g": hostile}, missing="drop"
    )
    table.save(tmp_path / "ranges.table")
    evenhand.suppressed(evenhand.load(tmp_path / "people.table"), below=5).save(tmp_path / "shared.table")  # type: ignore[arg-type]
    runs = "\n".join(f"{'ab'[i % 2]},{i / 20},{1 - i / 30},{i % 3}" for i in range(16))
    (tmp_path / "runs.csv").write_text(f"m,p,f,k\n{runs}\n")
    (tmp_path / "broken.csv").write_bytes(b's,y,g\n0.1,1,"\xff\x00\n')
    (tmp_path / "ranges.csv").write_text("s,y,g\n1e308,1,::error::x\n-1e308,0,=1+1\n0,1,##[group]\n" * 4)
    (tmp_path / "rules.toml").write_text('[[rule]]\nmeasure = "abcc"\nat_most = 0.1\n')
    (tmp_path / "hostile.toml").write_text('[[rule]]\nmeasure = "::error::"\nat_most = nan\n"\\u202e" = 1\n')
    (tmp_path / "results.json").write_text('{"schema": "evenhand/audit/1"}')
    (tmp_path / "folder").mkdir()
    return tmp_path


def command_of(name: str) -> click.Command:
    found: Any = cli
    for part in name.split():
        found = found.get_command(click.Context(found), part)
    assert isinstance(found, click.Command)
    return found


def value(param: click.Parameter, rng: np.random.Generator) -> str:
    """Mostly what makes sense for such an option, sometimes anything."""
    name, kind = param.name or "", rng.random()
    if name in FEW:
        return str(rng.choice(FEW[name]))
    if name in ("html", "markdown", "json", "junit", "output", "init"):
        return str(rng.choice(PLACES))
    if isinstance(param, click.Argument) or name in ("policy", "grid", "like", "baseline", "also"):
        return str(rng.choice(FILES if kind < 0.95 else NAMES))
    if isinstance(param.type, click.Choice) and kind < 0.8:
        return str(rng.choice(list(param.type.choices)))
    pools: list[list[str]] = [COLUMNS, VALUES, NUMBERS_WRITTEN, NAMES]
    chosen = pools[0] if name in evenhand.Roles.__dataclass_fields__ and kind < 0.7 else pools[rng.integers(4)]
    return str(chosen[rng.integers(len(chosen))])


SENSIBLE = {
    "audit": "people.csv --score s --label y --group g", "check": "people.table --require abcc<=0.5",
    "monitor": "people.csv --score s --label y --group g --time t",
    "aggregate": "jobs.csv --label y --prediction p --group g",
    "projection-test": "people.csv --score s --label y --group g --beta-norm 1", "thresholds": "people.table",
    "compare": "runs.csv --method m --performance p --fairness f", "individual": "people.csv --score s",
    "table make": "people.csv --score s --label y --group g -o out.table",
    "table merge": "people.table people.table -o out.table",
    "table info": "ranges.table", "power": "--base-rate 0.5 --gap 0.1", "guide": "--no-ground-truth",
}  # fmt: skip


def line(rng: np.random.Generator) -> list[str]:
    name = str(rng.choice(COMMANDS))
    command = command_of(name)
    options = [p for p in command.params if isinstance(p, click.Option) and p.name != "help"]
    words = SENSIBLE.get(name, "").split() if rng.random() < 0.6 else []
    if not words:
        for param in command.params:
            if isinstance(param, click.Argument):
                words += [value(param, rng) for _ in range(rng.integers(1, 3) if param.nargs == -1 else 1)]
    for option in rng.choice(options, rng.integers(0, 6)) if options else []:  # type: ignore[arg-type]
        words.append(str(rng.choice(option.opts + option.secondary_opts)))
        if not option.is_flag:
            words.append(value(option, rng))
    for slow in ("bootstrap", "permutations"):
        if any(p.name == slow for p in options) and f"--{slow}" not in words:
            words += [f"--{slow}", "0"]
    if rng.random() < 0.03 and words:
        words.insert(int(rng.integers(len(words))), NAMES[rng.integers(len(NAMES))])
    return [*name.split(), *words]


def files(folder: Path) -> dict[str, bytes | None]:
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in folder.rglob("*")}


def wrong(words: list[str], result: Any, before: dict[str, bytes | None], after: dict[str, bytes | None]) -> str | None:
    """What is not as it should be."""
    out, err = result.stdout, result.stderr
    if result.returncode not in (0, 1, 2) or (result.returncode == 1 and words[0] not in ("check", "monitor")):
        return f"exit code {result.returncode}: {err}"
    if result.returncode == 2:
        if not (
            err.startswith("evenhand: ") and err.count("\n") == 1 and err.endswith("\n") and err[:-1].isprintable()
        ):
            return f"not one line: {err!r}"
        if "unexpected " in err and "(a bug" in err:
            return err
        if out or before != after:
            return f"refused, and yet it wrote {out[:100]!r}, {sorted(before.items() ^ after.items(), key=str)[:2]}"[
                :500
            ]
    if "Traceback" in err + out:
        return err
    as_json = "--init" not in words and words.count("--json") == 1 and ("--json", "-") in itertools.pairwise(words)
    if result.returncode < 2 and as_json:
        try:
            json.loads(out)
        except ValueError as error:
            return f"standard output is no JSON: {error}: {out[:100]!r}"
    obeyed = re.search(r"^\s*::|##\w*\[", err + ("" if "--github" in words else out), re.MULTILINE)
    return f"a pipeline would obey {(err + out)[obeyed.start() : obeyed.start() + 80]!r}" if obeyed else None


@amount(120, 16_000)
def test_random_command_lines(cases: int, here: Path) -> None:
    found = []
    start = files(here)
    for case, rng in enumerate(generators(cases, 3)):
        words = line(rng)
        if words[0] == "experiment" and words[1:2] == ["people.csv"]:
            continue
        result = called(*words, cwd=here)
        after = files(here)
        why = wrong(words, result, start, after)
        if why:
            found.append(f"{case}: {words}: {why}")
        for name in after.keys() - start.keys():
            path = here / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        for name, content in start.items():
            if content is not None and after.get(name) != content:
                (here / name).write_bytes(content)
    assert not found, f"{len(found)} of {cases}:\n" + "\n".join(found[:25])
