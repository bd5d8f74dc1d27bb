"""What --help shows: sections, headings, summaries on one line; and old names that go on working."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from conftest import called, evenhand as process
from evenhand.cli import COMMANDS, PLACES, SECTIONS
from evenhand.files.data_file import FileFormat
from evenhand.inference.settings import Inference
from evenhand.ingest.roles import Roles

NAMES = [*COMMANDS, *PLACES, "table make", "table merge", "table info", "policy init"]
OLD = ("tabulate", "merge", "test", "bench", "policy")
HEADINGS = [
    "Columns", "Decision", "Measures", "Inference", "Rule", "Output", "To sign", "Several models only",
    "Groups as probabilities", "Multi-class only", "File", "Help",
]  # fmt: skip


def help_of(name: str) -> str:
    result = called(*name.split(), "--help", COLUMNS="80")
    assert (result.returncode, result.stderr) == (0, "")
    return str(result.stdout)


def headings(text: str) -> dict[str, str]:
    parts = re.split(r"^(\S.*):\n", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_commands_stand_in_sections() -> None:
    for arguments in ((), ("-h",), ("--help",)):
        assert process(*arguments, COLUMNS="80").stdout == help_of("")
    sections = headings(help_of(""))
    assert list(sections) == ["Options", "Audit", "Choose", "People", "Tables", "Plan", "Research"]
    for section, commands in SECTIONS.items():
        lines = [re.split(" {2,}", line.strip()) for line in sections[section].strip().splitlines()]
        assert lines == [[name, summary] for name, summary in commands.items()]  # each on one line, and whole


@pytest.mark.parametrize("name", ["", *NAMES])
def test_every_command_explains_itself(name: str) -> None:
    text = help_of(name)
    assert text.startswith(f"Usage: evenhand {name}".rstrip())
    assert max(map(len, text.splitlines())) <= 80
    assert "..." not in text.split("Options:")[-1].replace("[ARGS]...", "")  # nothing is cut
    assert not re.search(r"Of (classes|several|densities)|exchang|product of|\bwords?\b", text)


def test_old_names_are_not_shown() -> None:
    shown = {name for commands in SECTIONS.values() for name in commands}
    assert not shown & set(OLD)
    assert not [line for line in help_of("").splitlines() if line.strip().startswith(OLD)]


def test_options_of_an_audit_stand_under_headings() -> None:
    found = headings(help_of("audit"))
    assert list(found) == HEADINGS
    flags = {heading: re.findall(r"^  --([a-z-]+)", text, flags=re.M) for heading, text in found.items()}
    assert [f.name.replace("_", "-") for f in fields(Roles)] == flags["Columns"]
    assert [f.name.replace("_", "-") for f in fields(Inference)] == flags["Inference"]
    assert [f.name.replace("_", "-") for f in fields(FileFormat)] == flags["File"]
    assert flags["Several models only"] == ["performance", "fairness"]
    assert flags["Multi-class only"] == ["metric", "unit", "across-groups", "across-classes", "average", "empty"]


@pytest.mark.parametrize("name", ["demo", "check", "thresholds", "monitor", "aggregate", "compare", "counterfactual"])
def test_other_commands_have_the_same_headings(name: str) -> None:
    found = headings(help_of(name))
    assert {"Inference", "Output"} <= found.keys()
    assert "Options" not in found
    if name == "check":  # its rules say which measures, and at which level
        assert "--confidence" not in found["Inference"]
        assert "--measures" not in found["Measures"]


# ---- old names ------------------------------------------------------------------------------------------------------


@pytest.fixture
def people(tmp_path: Path) -> Path:
    rows = "".join(f"{i / 40},{i % 2},{'fm'[i % 3 == 0]}\n" for i in range(1, 40))
    (tmp_path / "people.csv").write_text("p,y,g\n" + rows)
    return tmp_path


ROLES = ("--score", "p", "--label", "y", "--group", "g")


def test_old_names_of_tables(people: Path) -> None:
    for make, merge, name in (("tabulate", "merge", "old"), ("table make", "table merge", "new")):
        assert called(*make.split(), "people.csv", *ROLES, "-o", "part", cwd=people).returncode == 0
        assert called(*merge.split(), "part", "part", "-o", name, cwd=people).returncode == 0
    assert (people / "old").read_bytes() == (people / "new").read_bytes()


def test_old_name_of_the_projection_test(people: Path) -> None:
    old, new = (called(name, "people.csv", *ROLES, "--json", "-", cwd=people) for name in ("test", "projection-test"))
    assert (old.returncode, old.stdout, old.stderr) == (0, new.stdout, new.stderr)
    assert '"schema": "evenhand/projection/1"' in old.stdout


def test_old_name_of_an_experiment(tmp_path: Path) -> None:
    for name in ("bench", "experiment"):
        assert called(name, "--init", f"{name}.toml", cwd=tmp_path).returncode == 0
        assert called(name, "absent.toml", cwd=tmp_path).returncode == 2
    assert (tmp_path / "bench.toml").read_bytes() == (tmp_path / "experiment.toml").read_bytes()


def test_a_policy_to_begin_with(people: Path) -> None:
    assert called("check", "--init", "--help", COLUMNS="80", cwd=people).stdout == help_of("check")
    assert not (people / "policy.toml").exists()
    for arguments, name in ((["--init"], "policy.toml"), (["--init", "mine.toml"], "mine.toml")):
        for _ in range(2):  # the second time it is there already
            written = called("check", *arguments, cwd=people)
        assert (written.returncode, written.stdout) == (2, "")
        assert "is there already: choose another name" in written.stderr
        assert called("check", "people.csv", *ROLES, "--policy", name, cwd=people).returncode in (0, 1)
    assert called("policy", "init", "-o", "old.toml", cwd=people).returncode == 0
    assert len({(people / name).read_bytes() for name in ("policy.toml", "mine.toml", "old.toml")}) == 1
