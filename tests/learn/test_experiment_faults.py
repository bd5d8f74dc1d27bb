"""What methods, files and machines do to an experiment: the others go on, nothing damaged is believed, nothing of
others is lost."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from test_experiment import CONFIG, IMPORTED, SHRUNK, done, home, toy

import evenhand
from conftest import check_schema, evenhand as run
from evenhand.cli import experiment as bench
from evenhand.errors import DataError, UsageError
from evenhand.learn import Method
from evenhand.learn.experiments.experiment import Step
from evenhand.learn.experiments.plan import plan_runs
from evenhand.learn.experiments.records import Folder
from stub_methods import FITS

__all__ = ["home"]  # a fixture

DIED = "its process died: it was killed, perhaps because memory ran out, or crashed"


def fitted_again(folder: Path, **words: Any) -> list[str]:
    """The ids of the runs that are done, as they were not there."""
    steps: list[Any] = []
    done(folder, **words, progress=steps.append)
    return [s.run.id for s in steps if s.run and not s.repeated]


# ---- methods ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_method_that_exits_stops_nobody(tmp_path: Path, jobs: int) -> None:
    found = done(tmp_path, methods=["stub_methods:Quits", SHRUNK], seeds=0, jobs=jobs)
    assert list(found.failed.values()) == ["SystemExit: "]
    assert len(found.runs["run"]) == 3


def test_ctrl_c_stops_everything(tmp_path: Path, monkeypatch: Any) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("stub_methods.Shrunk.fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        done(tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {"lock"}


def test_one_run_that_is_left_dies_alone(tmp_path: Path) -> None:
    found = done(tmp_path, methods="stub_methods:Dies", strengths=[1.0], seeds=0, jobs=2)
    assert list(found.failed.values()) == [DIED]


def test_in_one_process_a_run_that_kills_it_is_tried_twice(tmp_path: Path, monkeypatch: Any) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, pathlib, test_experiment\n"
        "test_experiment.done(pathlib.Path('runs'), methods=['stub_methods:Dies', 'stub_methods:Shrunk'], seeds=0,\n"
        "                     retry='retry' in sys.argv)\n"
    )
    environment = {**os.environ, "PYTHONPATH": IMPORTED, FITS: str(tmp_path / "fits")}

    def ends(*words: str) -> int:
        return subprocess.run([sys.executable, script, *words], cwd=tmp_path, env=environment, check=False).returncode

    assert [ends(), ends(), ends(), ends()] == [9, 9, 0, 0]
    records = [json.loads(file.read_text()) for file in (tmp_path / "runs").glob("*.json")]
    assert sorted(r["error"] or "" for r in records) == ["", "", "", DIED]
    assert len((tmp_path / "fits").read_text().splitlines()) == 3
    assert not list((tmp_path / "runs").glob(".*"))
    assert ends("retry") == 9


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_methods_say_is_no_result(tmp_path: Path, jobs: int, capfd: Any) -> None:
    found = done(tmp_path, methods="stub_methods:Chatty", seeds=0, jobs=jobs)
    out, err = capfd.readouterr()
    assert out == ("from another process\n" * 2 if jobs == 1 else "")
    assert err.count("fitting") == 2
    assert list(found.failed.values()) == ["ValueError: half \\ud800 of a pair\nand \x1b[31mred"]
    assert found.to_dict()["warnings"] == [{"text": "UserWarning: a name \\udc80", "runs": 2}]
    found.to_json(tmp_path / "found.json")
    assert "\x1b" not in repr(found)


def test_one_thread_also_for_what_is_imported_late(tmp_path: Path, monkeypatch: Any) -> None:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    assert not done(tmp_path, methods="stub_methods:OneThread", seeds=0).failed
    assert "OMP_NUM_THREADS" not in os.environ


def test_an_infinite_loss_is_the_worst_and_not_left_out(tmp_path: Path) -> None:
    found = done(tmp_path, methods="stub_methods:Certain", strengths=0, performance="log_loss")
    assert 0 < found.runs["performance"][0] < 1
    assert found.runs["performance"][1] == 0.0
    assert f"{found.runs['performance'][0] / 2:.3f}".removeprefix("0") in repr(found)


# ---- files --------------------------------------------------------------------------------------------------------


def changed(change: Any) -> Any:
    """A way to damage the record of a run."""

    def damage(folder: Path, id_: str) -> None:
        file = folder / f"{id_}.json"
        record = json.loads(file.read_text())
        change(record)
        file.write_text(json.dumps(record))

    return damage


def cut(folder: Path, id_: str) -> None:
    file = folder / f"{id_}.test.table"
    file.write_bytes(file.read_bytes()[:-1])


def flipped(folder: Path, id_: str) -> None:
    file = folder / f"{id_}.dev.table"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def nested(folder: Path, id_: str) -> None:
    (folder / f"{id_}.json").write_text("[" * 100_000)


@pytest.mark.parametrize(
    "damage",
    [
        cut, flipped, nested,
        *(changed(lambda r, key=key: r.pop(key)) for key in ("error", "parts", "versions", "device", "warnings")),
        changed(lambda r: r.update(error=5)),
        changed(lambda r: r.update(error="")),
        changed(lambda r: r.update(versions=[])),
        changed(lambda r: r.update(seconds="long")),
        changed(lambda r: r["parts"].pop("dev")),
        changed(lambda r: r["parts"]["test"].pop("table")),
        changed(lambda r: r["parts"]["test"].update(majority=None)),
        *(changed(lambda r, v=v: r["parts"]["test"]["performance"].update(accuracy=v)) for v in ("x", 7, True, np.nan)),
    ],
)  # fmt: skip
def test_what_is_damaged_is_done_again(kept: Any, damage: Any) -> None:
    folder, ids, text = kept
    damage(folder, ids[1])
    assert fitted_again(folder) == [ids[1]]
    assert (folder / "runs.csv").read_text() == text


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("kept")
    found = done(folder)
    return folder, found.runs["run"], found.to_csv()


def test_files_of_others_stay(tmp_path: Path) -> None:
    (tmp_path / ".draft.part").write_text("mine")
    (tmp_path / ".people").mkdir()
    (tmp_path / ".people/ann").write_text("mine")
    done(tmp_path, seeds=0)
    assert {file.name for file in tmp_path.glob(".*")} == {".draft.part", ".people"}
    assert (tmp_path / ".people/ann").read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "content"),
    [("runs.csv", "run,km\n1,10\n"), ("lock", "my words"), (".people", ""), ("runs.csv", None), ("lock", None)],
)
def test_what_is_in_the_way_is_refused_and_left_alone(tmp_path: Path, name: str, content: str | None) -> None:
    mine = tmp_path / name
    mine.mkdir() if content is None else mine.write_text(content)
    with pytest.raises(UsageError, match=f"its {name} is none that an experiment has written: name another folder"):
        done(tmp_path)
    assert mine.is_dir() if content is None else mine.read_text() == content
    assert not list(tmp_path.glob("*.table"))


def test_a_lock_and_runs_of_ours_are_taken(tmp_path: Path) -> None:
    Folder.at(tmp_path).check_free("dataset")
    done(tmp_path, seeds=0)
    (tmp_path / "lock").write_text("12345\n")
    assert fitted_again(tmp_path, seeds=0) == []


# ---- people -------------------------------------------------------------------------------------------------------


def test_too_few_people_are_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"toy: .*too few for three parts"):
        done(tmp_path / "runs", datasets=toy(600).take(range(3)), fractions=(0.98, 0.01, 0.01))
    assert not (tmp_path / "runs").exists()


def test_schema(kept: Any) -> None:
    check_schema(done(kept[0]).to_dict(), evenhand.schema("experiment"))


def test_the_result_says_whom_it_is_about(tmp_path: Path) -> None:
    data = replace(toy(), notes=("12 people were left out",))
    document = done(tmp_path, datasets=data, seeds=0).to_dict()
    about = document["datasets"]["toy"]
    assert about["attribute"] == "sex"
    assert sum(about["people"].values()) == 600
    assert {part: sum(g[part] for g in about["groups"]) for part in about["people"]} == about["people"]
    assert about["notes"] == ["12 people were left out"]
    found = done(tmp_path, datasets=data, seeds=0)
    said = " ".join(repr(found).split())
    train, dev, test = about["people"].values()
    assert f"toy, 600 people by sex: {train} train, {dev} select, {test} test" in said
    assert " · ".join(f"{g['name']} {g['train']} + {g['dev']} + {g['test']}" for g in about["groups"]) in said
    assert "12 people were left out" in said
    assert "P, performance: accuracy · F, fairness: 1 − abcc" in said
    assert "1 − abcc" in json.dumps(found.plot().spec, ensure_ascii=False)


def test_a_comparison_that_cannot_be_says_why(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("evenhand.learn.experiments.run.fairness_of", lambda table, axes: None)
    found = done(tmp_path, seeds=0)
    reason = found.to_dict()["datasets"]["toy"]["not_compared"]
    assert "no runs to compare" in reason
    assert reason in " ".join(repr(found).split())
    assert "no runs to compare" in found.to_html()


def test_a_mean_of_fewer_runs_says_so(tmp_path: Path, monkeypatch: Any) -> None:
    values = iter([0.5, 0.5, 0.5, None])
    monkeypatch.setattr("evenhand.learn.experiments.run.performance_of", lambda table, axes: next(values))
    said = repr(done(tmp_path, strengths=0))
    assert ".500 (1)" in said
    assert "the mean of n runs only" in said


# ---- the command --------------------------------------------------------------------------------------------------


def config(home: Path, *methods: str) -> None:
    (home / "experiment.toml").write_text(
        CONFIG.split("[[method]]")[0].replace("[0, 1, 2]", "[0]") + "\n".join(methods)
    )


def method(maker: str, label: str = "", strengths: str = "[0.0, 0.5]") -> str:
    named = f"label = {json.dumps(label)}\n" if label else ""
    return f'[[method]]\nname = "{maker}"\nstrengths = {strengths}\n{named}'


def test_if_no_run_finished_the_command_says_so(home: Path) -> None:
    config(home, method("stub_methods:Fails", strengths="[1.0]"))
    found = run("bench", "experiment.toml", "--json", "-", cwd=home)
    assert found.returncode == 2
    assert found.stdout == ""
    last = found.stderr.splitlines()[-1]
    assert last.startswith(
        "evenhand: none of the 1 runs has finished; the first failed: ZeroDivisionError: nothing left"
    )


@pytest.mark.parametrize("jobs", [1, 2])
def test_lines_and_results_are_clean(home: Path, jobs: int) -> None:
    config(home, method("stub_methods:Chatty", "a\nb\u001b[31m" + "c" * 3000))
    found = run("bench", "experiment.toml", "--json", "-", "--jobs", jobs, cwd=home)
    assert found.returncode == 0, found.stderr
    check_schema(json.loads(found.stdout), evenhand.schema("experiment"))
    told = [line for line in found.stderr.splitlines() if line.startswith(("1/2", "2/2"))]
    assert len(told) == 2
    assert "\x1b" not in found.stderr
    assert max(map(len, told)) < 400
    again = run("bench", "experiment.toml", cwd=home)
    assert again.stderr.count("(kept)") == 2
    text = (home / "experiment.toml").read_text().replace("jobs = 2", 'jobs = 2\nperformance = "auroc"')
    (home / "experiment.toml").write_text(text)
    other = run("bench", "experiment.toml", cwd=home).stderr
    assert "auroc 0." in other
    assert "accuracy" not in other


def told(board: Any, height: int, width: int) -> list[str]:
    console = Console(width=width, height=height, file=io.StringIO(), force_terminal=False)
    with console.capture() as capture:
        console.print(board)
    return capture.get().splitlines()


def test_the_live_table_fits(tmp_path: Path) -> None:
    board = bench._Board()
    methods = {f"method with a long name {i:02}": Method(f"m{i}", SHRUNK, {"c": i + 1.0}) for i in range(30)}
    data = replace(toy(), name="a data set with a long name")
    plan = plan_runs({data.name: ("f00", "sex")}, [Method(n, m.maker, m.options) for n, m in methods.items()],
                   [0.0, 1.0], (0,), 1, (0.6, 0.2, 0.2), True)  # fmt: skip
    board.told(Step(0, len(plan), plan))
    ended = {"error": None, "parts": {"test": {"performance": {"accuracy": 0.8}, "fairness": {"abcc": 0.9}}}}
    for i, one in enumerate((*plan[:20], plan[58]), start=1):
        board.told(Step(i, len(plan), plan, one, ended))
    lines = told(board, height=24, width=60)
    assert len(lines) <= 24
    assert lines[0].startswith("21/60 runs in")
    assert all(head in lines[1] for head in bench.HEADS)
    assert lines[-1] == "… 9 more"
    assert any("1/2" in line and "accuracy 0" in line for line in lines)  # method 29, far below
    assert max(map(len, lines)) <= 60
