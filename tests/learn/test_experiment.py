"""An experiment ends with the same table however often it was interrupted, and every number can be had again."""

from __future__ import annotations

import doctest
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand
from conftest import called, check_schema, evenhand as run, terminal
from evenhand.datasets import Dataset
from evenhand.errors import EvenhandError, UsageError
from evenhand.learn import Method, Source, experiment
from evenhand.learn.experiments.config import DATASET, EXPERIMENT, METHOD, STARTER, read_config
from evenhand.learn.experiments.plan import methods_known, plan_runs
from evenhand.learn.experiments.records import Folder
from evenhand.learn.experiments.splits import People
from stub_methods import FITS, Shrunk

pytest.importorskip("sklearn")

SHRUNK = "stub_methods:Shrunk"
TESTS = Path(__file__).parents[1]
IMPORTED = os.pathsep.join([str(TESTS), str(TESTS / "learn"), os.environ.get("PYTHONPATH", "")])


def toy(n: int = 600, name: str = "toy", split: bool = False) -> Dataset:
    rng = np.random.default_rng(3)
    g = rng.integers(0, 2, n)
    x = rng.normal(size=(n, 2)) + 0.7 * g[:, None]
    y = (x.sum(1) + rng.normal(size=n) > 1).astype(int)
    age = np.where(rng.random(n) < 0.1, np.nan, rng.normal(40, 9, n))
    return Dataset(
        name,
        columns={
            "a": x[:, 0],
            "b": x[:, 1],
            "age": age,
            "job": np.array(["cook", "smith"], object)[rng.integers(0, 2, n)],
        },
        label=y,
        label_name="y",
        favorable="1",
        groups={"sex": np.array(["f", "m"], object)[g]},
        split=np.array(["train", "test"], object)[(np.arange(n) >= 400).astype(int)] if split else None,
    )


def done(folder: Path, **words: Any) -> Any:
    given = {"datasets": toy(), "methods": SHRUNK, "strengths": [0, 0.5], "seeds": [0, 1], "group": "sex", "jobs": 1}
    return experiment(**{**given, "folder": folder, **words})


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return done(tmp_path_factory.mktemp("runs"), splits=2)


# ---- plans --------------------------------------------------------------------------------------------------------


def plan(**words: Any) -> Any:
    method = words.pop("method", Method("shrunk", SHRUNK))
    given = {"strengths": [0, 1], "seeds": (0, 1), "splits": 2, "fractions": (0.6, 0.2, 0.2), "own_split": True}
    return plan_runs({"toy": (words.pop("data", "f00"), "sex")}, [method], **{**given, **words})


def test_ids_are_stable_and_distinct() -> None:
    ids = [r.id for r in plan()]
    assert len(set(ids)) == 8
    assert ids == [r.id for r in plan()]
    assert ids[0] == "c8ddbb40d50100cf"  # or finished runs would be done again
    assert ids == [r.id for r in plan(method=Method("renamed", SHRUNK))]
    others = (
        {"data": "other"}, {"fractions": (0.5, 0.25, 0.25)}, {"own_split": False},
        {"method": Method("s", SHRUNK, {"c": 2.0})}, {"method": Method("s", "stub_methods:ByGroup")},
    )  # fmt: skip
    for other in others:
        assert not set(ids) & {r.id for r in plan(**other)}, other


def test_people_are_split_alike_and_once() -> None:
    people = People.of(toy(split=True), "sex")
    for own in (False, True):
        parts = people.parts(0, (0.6, 0.2, 0.2), own)
        assert sorted(np.concatenate(parts).tolist()) == list(range(600))
        assert np.ptp([people.group[rows].mean() for rows in parts[:2]]) < 0.015  # one person of dev
        assert not np.array_equal(parts.train, people.parts(1, (0.6, 0.2, 0.2), own).train)
    assert parts.test.tolist() == list(range(400, 600))
    assert len(parts.dev) == pytest.approx(100, abs=2)


def test_features_are_scaled_by_those_who_train() -> None:
    people = People.of(toy(), "sex")
    parts = people.parts(0, (0.6, 0.2, 0.2), True)
    train, dev, _ = people.scaled(parts)
    hole = next(i for i, name in enumerate(people.features.names) if name.endswith("=missing"))
    age = hole - 1
    known = train[:, hole] == 0
    assert train[known, age].mean() == pytest.approx(0, abs=1e-5)
    assert train[known, age].std() == pytest.approx(1, abs=1e-5)
    assert set(dev[dev[:, hole] == 1, age].tolist()) == {0.0}
    assert set(np.unique(train[:, -2:]).tolist()) == {0.0, 1.0}


# ---- runs ---------------------------------------------------------------------------------------------------------


def test_runs_have_their_order_and_go_through_compare(found: Any, tmp_path: Path) -> None:
    runs = found.runs
    assert runs["strength"] == [0.0] * 4 + [0.5] * 4
    assert runs["seed"] == [0, 0, 1, 1] * 2
    assert runs["split"] == [0, 1] * 4
    compared = found.compare()
    assert compared.methods == ("Shrunk",)
    assert compared.runs.means.shape == (4, 2)
    said = evenhand.compare(
        found.folder.path / "runs.csv", method="method", performance="performance", fairness="fairness",
        dev_performance="dev_performance", dev_fairness="dev_fairness", settings="strength",
        random_performance=compared.to_dict()["options"]["random_performance"],
    )  # fmt: skip
    assert said.to_dict()["methods"] == compared.to_dict()["methods"]
    frame = found.to_frame("pandas")
    assert list(frame.columns) == list(runs)
    assert len(frame) == 8


def test_tables_give_what_was_recorded(found: Any) -> None:
    for i in (0, 5):
        for part, prefix in (("dev", "dev_"), ("test", "")):
            table = found.table(found.runs["run"][i], part)
            audit = evenhand.audit(table, measures=["abcc"], bootstrap=0, permutations=0)
            value = audit.attributes[0].measures[0].value
            assert found.runs[f"{prefix}fairness"][i] == pytest.approx(1 - value, abs=1e-12)
            right = table.n[(table.score >= 0.5) == table.label].sum()
            assert found.runs[f"{prefix}performance"][i] == pytest.approx(right / table.rows, abs=1e-12)
    with pytest.raises(UsageError, match="no finished run 'nonsense'"):
        found.table("nonsense")


def test_another_measure_is_computed_from_the_tables(found: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(Shrunk, "fit", None)  # nothing is fitted again
    again = done(found.folder.path, splits=2, performance="auroc", fairness="disparate_impact")
    assert again.runs["run"] == found.runs["run"]
    assert again.runs["performance"] != found.runs["performance"]
    table = again.table(again.runs["run"][0])
    value = evenhand.audit(table, measures=["disparate_impact"], bootstrap=0).attributes[0].measures[0].value
    assert again.runs["fairness"][0] == pytest.approx(min(value, 1 / value))
    done(found.folder.path, splits=2)  # runs.csv as it was


def test_views_agree(found: Any) -> None:
    document = json.loads(found.to_json())
    check_schema(document, evenhand.schema("experiment"))
    assert document["planned"] == 8
    assert "Comparison of methods" in repr(found)
    assert found.plots() == ("tradeoff", "dto", "area", "settings")
    page = found.to_html()
    assert "<svg" in page
    assert "<h1>Experiment</h1>" in page
    assert found.to_json() == done(found.folder.path, splits=2).to_json()


def test_processes_find_what_one_finds(found: Any, tmp_path: Path) -> None:
    steps: list[Any] = []
    parallel = done(tmp_path, splits=2, jobs=2, progress=steps.append)
    assert parallel.to_csv() == found.to_csv()
    assert [s.done for s in steps] == list(range(9))
    assert not list(tmp_path.glob(".*"))


def test_several_data_sets_are_compared_one_by_one(tmp_path: Path) -> None:
    two = done(tmp_path, datasets=[toy(), toy(300, "other")], seeds=0, methods=[SHRUNK, "stub_methods:ByGroup"])
    assert two.datasets == ("toy", "other")
    assert two.plots()[0] == "tradeoff on toy"
    assert two.plot("dto on other").title
    assert two.compare("other").methods
    with pytest.raises(UsageError, match="one data set at a time"):
        two.compare()
    assert repr(two).count("Comparison of methods") == 2


# ---- what goes wrong ----------------------------------------------------------------------------------------------


def test_a_failing_method_stops_nobody(tmp_path: Path, monkeypatch: Any) -> None:
    words: dict[str, Any] = {"methods": [SHRUNK, "stub_methods:Fails"], "seeds": 0}
    monkeypatch.setenv(FITS, str(tmp_path / "fits"))
    first = done(tmp_path / "runs", **words)
    assert list(first.failed.values()) == ["ZeroDivisionError: nothing left"]
    assert first.runs["method"] == ["Shrunk", "Shrunk", "Fails"]
    assert "1 of 4 runs failed" in first.notes[0]
    assert "nothing left" in repr(first)
    check_schema(first.to_dict(), evenhand.schema("experiment"))
    with pytest.raises(UsageError, match="it failed, ZeroDivisionError"):
        first.table(next(iter(first.failed)))
    monkeypatch.setenv("EVENHAND_TEST_REPAIRED", "1")
    assert done(tmp_path / "runs", **words).failed == first.failed
    again = done(tmp_path / "runs", **words, retry=True)
    assert not again.failed
    assert len((tmp_path / "fits").read_text().splitlines()) == 4


def test_a_run_that_kills_its_process_fails_alone(tmp_path: Path) -> None:
    found = done(tmp_path, methods=["stub_methods:Dies", SHRUNK], jobs=2)
    assert len(found.runs["run"]) == 6
    assert set(found.failed.values()) == {"its process died: it was killed, perhaps because memory ran out, or crashed"}
    assert not list(tmp_path.glob(".*"))


def test_a_script_that_starts_on_import_is_told_so(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import test_experiment\nfrom pathlib import Path\ntest_experiment.done(Path('runs'), jobs=2)\n")
    words = {"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": IMPORTED}, "capture_output": True, "text": True}
    said = subprocess.run([sys.executable, script], **words)  # type: ignore[call-overload]
    assert said.returncode == 1
    assert "put it under if __name__ == '__main__':" in said.stderr


def test_examples() -> None:
    modules = ["sources", *(["experiment"] if methods_known() else [])]
    for name in modules:
        assert doctest.testmod(import_module(f"evenhand.learn.experiments.{name}")).failed == 0


def test_what_is_half_written_has_not_happened(tmp_path: Path) -> None:
    first = done(tmp_path)
    ids = first.runs["run"]
    (tmp_path / f"{ids[0]}.json").write_text('{"format": "evenhand/ru')
    (tmp_path / f"{ids[1]}.test.table").unlink()
    (tmp_path / f".{ids[2]}.json.1234.part").write_text("{")
    steps: list[Any] = []
    again = done(tmp_path, progress=steps.append)
    assert [s.run.id for s in steps if s.run and not s.repeated] == ids[:2]
    assert again.to_csv() == first.to_csv()
    assert not list(tmp_path.glob(".*"))


def test_another_plan_adds_runs_and_mixes_nothing(tmp_path: Path) -> None:
    done(tmp_path, seeds=0)
    other = done(tmp_path, datasets=toy(500), seeds=0)
    assert len(other.runs["run"]) == 2
    assert other.notes == ("the folder holds 2 finished runs of another plan, which are not shown",)


def test_one_experiment_at_a_time(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text("1\n")  # left by a process that was killed
    with Folder.at(tmp_path).locked(), pytest.raises(UsageError, match=f"process {os.getpid()} is running"):
        done(tmp_path)
    assert len(done(tmp_path, seeds=0).runs["run"]) == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"methods": "stub_methods:Shrnk"}, "cannot find method 'stub_methods:Shrnk'"),
        ({"methods": "nonsense"}, "there is no method 'nonsense'"),
        ({"methods": []}, "at least one data set and one method"),
        ({"methods": [SHRUNK, SHRUNK]}, "method 'Shrunk' is there twice"),
        ({"methods": {"a": SHRUNK, "b": SHRUNK}}, "two runs are the same"),
        ({"strengths": []}, "has no strength"),
        ({"strengths": ["x"]}, "a strength is a finite number, not 'x'"),
        ({"seeds": [0, 0]}, "seed 0 is there twice"),
        ({"seeds": [-1]}, "seeds are whole numbers from 0"),
        ({"splits": 0}, "from 1 to 1000, not 0"),
        ({"fractions": (0.5, 0.5)}, "together 1"),
        ({"group": "sx"}, "toy has no group 'sx'.*did you mean 'sex'"),
        ({"group": None}, "say whose treatment is compared on toy"),
        ({"performance": "acc"}, "performance must be one of"),
        ({"fairness": "abccc"}, "did you mean 'abcc'"),
        ({"jobs": 0}, "jobs is a number of processes"),
        ({"device": "tpu"}, "device is 'auto', 'cpu' or 'cuda'"),
        ({"datasets": "adlt"}, "there is no data set 'adlt'.*did you mean 'adult'"),
        ({"exclude": ["nope"]}, "no column 'nope' to exclude"),
    ],
)
def test_what_makes_no_sense_is_refused(words: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(EvenhandError, match=message):
        done(tmp_path, **words)


def test_options_of_methods_are_checked() -> None:
    with pytest.raises(UsageError, match=r"no option 'slwo'.*did you mean 'slow'"):
        Method("s", SHRUNK, {"slwo": 1})
    with pytest.raises(UsageError, match="plain values"):
        Method("s", SHRUNK, {"c": {1, 2}})


# ---- the command --------------------------------------------------------------------------------------------------

CONFIG = """\
[experiment]
folder = "runs"
seeds = [0, 1, 2]
jobs = 2

[[dataset]]
name = "loans"
path = "loans.csv"
label = "repaid"
favorable = "yes"
group = "sex"
exclude = ["sex"]

[[method]]
name = "stub_methods:Shrunk"
label = "shrunk"
strengths = [0.0, 0.5]
slow = 0.4
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    data = toy(400)
    rows = zip(data.columns["a"], data.columns["b"], data.columns["job"], data.groups["sex"], data.label, strict=True)
    lines = [f"{a:.6f},{b:.6f},{job},{sex},{'yes' if y else 'no'}" for a, b, job, sex, y in rows]
    (tmp_path / "loans.csv").write_text("\n".join(["a,b,job,sex,repaid", *lines]) + "\n")
    (tmp_path / "experiment.toml").write_text(CONFIG)
    (tmp_path / "stub_methods.py").write_text((TESTS / "stub_methods.py").read_text())
    return tmp_path


def ended(session: int) -> bool:
    """Whether all processes of a session end soon; one that nobody has buried yet has ended."""
    limit = time.monotonic() + 15
    while time.monotonic() < limit:
        listed = subprocess.run(["ps", "-A", "-o", "sess=,stat="], capture_output=True, text=True, check=True).stdout
        states = [state for sess, state in map(str.split, listed.splitlines()) if sess == str(session)]
        if all(state.startswith("Z") for state in states):
            return True
        time.sleep(0.05)
    return False


def test_a_killed_experiment_goes_on_where_it_was(home: Path) -> None:
    fits = home / "fits"
    command = [sys.executable, "-m", "evenhand", "bench", "experiment.toml"]
    started = subprocess.Popen(
        command,
        cwd=home,
        env={**os.environ, FITS: str(fits)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        limit = time.monotonic() + 60
        while not list((home / "runs").glob("*.json")) and time.monotonic() < limit:
            time.sleep(0.02)
    finally:
        started.send_signal(signal.SIGKILL)
        started.wait()
    assert ended(started.pid)  # its workers too
    kept = [json.loads(file.read_text())["run"] for file in (home / "runs").glob("*.json")]
    assert 0 < len(kept) < 6
    seen = Counter(fits.read_text().splitlines())
    again = run("bench", "experiment.toml", cwd=home, **{FITS: str(fits)})
    assert again.returncode == 0, again.stderr
    assert again.stderr.count("(kept)") == len(kept)
    later = Counter(fits.read_text().splitlines()) - seen
    repeated = {f"{r['strength']} {r['seed']}" for r in kept} & set(later)
    assert not repeated
    assert sum(later.values()) == 6 - len(kept)
    whole = run("bench", "experiment.toml", "--folder", "whole", "--jobs", 1, cwd=home)
    assert (home / "whole/runs.csv").read_bytes() == (home / "runs/runs.csv").read_bytes()
    assert whole.stdout == again.stdout


def test_an_interrupted_experiment_leaves_nobody_behind(home: Path) -> None:
    (home / "experiment.toml").write_text(CONFIG.replace("slow = 0.4", "slow = 20"))
    command = [sys.executable, "-m", "evenhand", "bench", "experiment.toml"]
    fits = home / "fits"
    started = subprocess.Popen(
        command,
        cwd=home,
        env={**os.environ, FITS: str(fits)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    limit = time.monotonic() + 60
    while not fits.exists() and time.monotonic() < limit:
        time.sleep(0.05)
    os.killpg(started.pid, signal.SIGINT)  # as a terminal does
    _, said = started.communicate(timeout=15)
    assert started.returncode == 130
    assert [line for line in said.splitlines() if "runs its code" not in line] == ["evenhand: interrupted"]
    assert ended(started.pid)
    assert {file.name for file in (home / "runs").iterdir()} == {"lock"}


def test_a_live_table_on_a_terminal(home: Path) -> None:
    (home / "experiment.toml").write_text(CONFIG.replace("slow = 0.4", "").replace("[0, 1, 2]", "[0]"))
    code, said = terminal("bench", home / "experiment.toml")
    assert code == 0
    assert "data set" in said
    assert "runs in" in said
    assert "Comparison of methods" in said


def test_the_command_ends_in_the_comparison_and_the_page(home: Path) -> None:
    (home / "experiment.toml").write_text(CONFIG.replace("slow = 0.4", "").replace("[0, 1, 2]", "[0, 1]"))
    found = run("bench", "experiment.toml", "--html", "page.html", "--json", "found.json", cwd=home)
    assert found.returncode == 0, found.stderr
    assert "4 of 4 runs" in found.stdout
    assert "Comparison of methods" in found.stdout
    assert "4/4 loans shrunk" in found.stderr
    check_schema(json.loads((home / "found.json").read_text()), evenhand.schema("experiment"))
    assert "<svg" in (home / "page.html").read_text()
    said = run("bench", "experiment.toml", "--markdown", "-", cwd=home)
    assert said.stdout.startswith("```") or said.stdout.startswith("#")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seeds =", "seds =", "line 3: unknown key 'seds'"),
        ("seeds = [0, 1, 2]", "seeds = 'x'", "line 3: seeds are whole numbers"),
        ("jobs = 2", "jobs = 0", "line 4: jobs is a number"),
        ("jobs = 2", 'fairness = "abc"', "line 4: fairness must be a measure"),
        ('label = "repaid"', "", "line 7: there is no data set 'loans'"),
        ('group = "sex"', "", "line 6: a data set needs its group"),
        ("[[dataset]]", "[dataset]", "two brackets"),
        ("stub_methods:Shrunk", "regg", "line 15: there is no method 'regg'"),
        ("slow =", "slwo =", "line 18: method 'shrunk' has no option 'slwo'"),
        ("strengths =", "strenghts =", "did you mean 'strengths'?"),
        ("strengths = [0.0, 0.5]", 'strengths = ["a"]', "line 17: a strength is a finite number"),
        ("[experiment]", "[experiment", "line 1: no valid TOML"),
        ('favorable = "yes"', 'favorable = "oui"', "line 6: label 'repaid' of"),
        ('path = "loans.csv"', 'path = "lons.csv"', "line 6: there is no file"),
        ('exclude = ["sex"]', 'exclude = ["sx"]', "line 6: there is no column 'sx'"),
        ('group = "sex"', 'group = "sx"', "did you mean 'sex'?"),
        ('folder = "runs"', "", "say where runs are kept"),
    ],
)
def test_mistakes_in_the_file_are_named_with_their_line(old: str, new: str, message: str, home: Path) -> None:
    assert old in CONFIG
    (home / "experiment.toml").write_text(CONFIG.replace(old, new, 1))
    found = called("bench", "experiment.toml", cwd=home)
    assert found.returncode == 2
    assert message in found.stderr
    assert found.stdout == ""


def test_a_file_to_begin_with(tmp_path: Path) -> None:
    assert run("bench", "--init", cwd=tmp_path).returncode == 0
    assert (tmp_path / "experiment.toml").read_text() == STARTER
    assert run("bench", "--init", cwd=tmp_path).returncode == 2
    methods = STARTER.index("[[method]]")
    (tmp_path / "mine.toml").write_text(STARTER[:methods] + f'[[method]]\nname = "{SHRUNK}"\n')
    words = read_config(tmp_path / "mine.toml")
    assert words["datasets"] == [Source("adult", str(tmp_path / "data"), "sex", ("sex",))]
    assert words["seeds"] == [0, 1, 2]


def test_the_file_of_the_documentation_is_read(tmp_path: Path) -> None:
    page = (TESTS.parent / "docs/learn/experiments.md").read_text(encoding="utf-8")
    example = page.split("```toml\n")[1].split("```")[0]
    for i, text in enumerate((example, STARTER)):
        (tmp_path / f"{i}.toml").write_text(text)
        if methods_known():
            assert len(read_config(tmp_path / f"{i}.toml")["methods"]) == 2
        else:
            with pytest.raises(UsageError, match=r"there is no method 'mlp'"):
                read_config(tmp_path / f"{i}.toml")
    for key in (*EXPERIMENT, *DATASET, *METHOD):
        assert f"`{key}`" in page, key


def test_labels_and_groups_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    for rows, message in (
        ("a,yes,f\na,no,m\nb,,m\n", "one other value"),
        ("a,yes,f\nb,no,f\n", "at least two groups"),
        ("a,yes,f\nb,no,m\nb,no,\n", "1 people of loans have no group"),
    ):
        (tmp_path / "loans.csv").write_text("x,y,sex\n" + rows)
        source = Source("loans", str(tmp_path / "loans.csv"), "sex", label="y", favorable="yes")
        with pytest.raises(EvenhandError, match=message):
            done(tmp_path / "runs", datasets=source)


def test_fairness_of_many_groups_is_that_of_the_two_that_differ_most() -> None:
    from evenhand.analyses.options import checked_axes
    from evenhand.learn.experiments.run import fairness_of

    g = np.repeat(np.arange(30), 20)
    s = np.where(g == 5, 0.9, np.where(g == 9, 0.1, 0.5))
    table = evenhand.tabulate(score=s, label=(np.arange(len(g)) % 2), group=g, bands="none")
    assert fairness_of(table, checked_axes(None, "abcc")) == pytest.approx(0.2)
