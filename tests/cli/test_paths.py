"""Where results go and where data come from: nothing that is read is overwritten, and no part of the data is missed."""

from __future__ import annotations

import itertools
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.types import StringParamType

import evenhand
from evenhand.cli import COMMANDS, PLACES, cli, main
from evenhand.cli.files import MAPPED, Read, Written
from evenhand.files.paths import write_text

UNIX = pytest.mark.skipif(sys.platform == "win32", reason="needs links, pipes and modes of Unix")
WORDS = ["--score", "s", "--label", "y", "--group", "g"]
ROWS = "s,y,g,t\n" + "0.2,0,a,2024-01-01\n0.8,1,b,2024-01-02\n" * 20

EXPERIMENT = """
[experiment]
folder = "kept"
[[dataset]]
name = "people"
path = "rows/1.csv"
label = "y"
group = "g"
[[method]]
name = "plain_method:F"
"""

METHOD = """
class F:
    def __init__(self, strength=0.0, random_state=0): ...
    def fit(self, rows, label, group): ...
    def predict_proba(self, rows): ...
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with rows, tables and links to them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for folder in ("rows", "months", "kept"):
        Path(folder).mkdir()
    Path("plain_method.py").write_text(METHOD)
    Path("kept/0123456789abcdef.json").write_text("{}")
    Path("e.toml").write_text(EXPERIMENT)
    Path("runs.csv").write_text("m,p,f\na,0.5,0.5\nb,0.6,0.4\n")
    Path("policy.toml").write_text('[[rule]]\nmeasure = "disparate_impact"\nat_least = 0.8\n')
    for name in ("people.csv", "rows/1.csv", "rows/2.csv"):
        Path(name).write_text(ROWS)
    table = evenhand.tabulate("people.csv", score="s", label="y", group="g")
    for name in ("a.table", "months/2024-01.table", "months/2024-02.table"):
        table.save(name)
    if sys.platform != "win32":
        Path("link.out").symlink_to("people.csv")
        os.link("a.table", "hard.out")
    return tmp_path


def refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2, words
    return capsys.readouterr().err


OVERWRITING = [
    "tabulate people.csv {words} -o people.csv",
    "tabulate people.csv {words} -o ./rows/../people.csv",
    "tabulate people.csv {words} -o link.out",
    "tabulate link.out {words} -o people.csv",
    "tabulate rows {words} -o rows/2.csv",
    "tabulate rows/*.csv {words} -o rows/1.csv",
    "tabulate a.table --suppress-below 10 -o a.table",
    "tabulate a.table --suppress-below 10 -o hard.out",
    "merge a.table a.table -o a.table",
    "merge months/2024-01.table a.table -o hard.out",
    "audit rows {words} --html rows/1.csv",
    "audit people.csv {words} --json=hard.out --markdown people.csv",
    "aggregate people.csv --label y --prediction y --group g --json people.csv",
    "check people.csv --policy policy.toml --junit policy.toml",
    "check rows --policy policy.toml --junit rows/1.csv",
    "thresholds people.csv {words} --json people.csv",
    "compare runs.csv --method m --performance p --fairness f --json runs.csv",
    "monitor months --json months/2024-01.table",
    "monitor months --baseline a.table --html hard.out",
    "monitor rows {words} --time t --json rows/1.csv",
    "test people.csv {words} --json people.csv",
    "table info a.table --json hard.out",
    "tabulate people.csv {words} --grid a.table -o a.table",
    "tabulate people.csv {words} --grid ~/a.table -o hard.out",
    "tabulate people.csv {words} --suppress-below 5 --like a.table -o months/../hard.out",
    "audit people.csv {words} --html page.html --also ./runs.csv --json runs.csv",
    "check people.csv --policy policy.toml --html ~/policy.toml",
    "counterfactual people.csv --model plain_method:F --attribute g --json plain_method.py",
    "counterfactual people.csv --model plain_method:F --attribute g --graph runs.csv --json runs.csv",
    "experiment e.toml --json e.toml",
    "bench e.toml --json rows/1.csv",
    "experiment e.toml --json kept/0123456789abcdef.json",
    "experiment e.toml --folder months --markdown plain_method.py",
]


def marked(command: click.Command, kind: type[StringParamType]) -> list[click.Parameter]:
    return [param for param in command.params if isinstance(param.type, kind)]


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command, by old names too, and what stands below it."""
    context = click.Context(cli)
    for name in (*COMMANDS, *PLACES):
        command = cli.get_command(context, name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {below}", one) for below, one in command.commands.items())


NAME_NO_FILE = {
    "across_classes", "across_groups", "along", "attribute", "author", "average", "bands", "bandwidth", "baseline",
    "categories", "cells", "class_weights", "classes_matter", "cluster", "columns", "compare", "confounding", "cost",
    "cut", "date", "decimal", "delimiter", "dev_fairness", "dev_performance", "edges", "encoding", "every", "exclude",
    "exclude_below", "facts", "fairness", "fairness_floor", "favorable", "favorable_prediction", "features", "focus",
    "folder", "group", "group_probability", "groups", "groups_matter", "ids", "init", "keep_threshold", "label",
    "logit", "loss", "lower_is_better", "margins", "measures", "method", "metric", "n", "normalize", "numbers",
    "organisation", "performance", "performance_floor", "positive", "prediction", "priority", "proxy_cell", "reference",
    "require", "runs", "scale", "score", "score_range", "settings", "sheet", "small_groups", "source", "split", "text",
    "thousands", "threshold", "time", "title", "tolerance", "top", "trust", "undefined", "unit", "utopia", "weight",
    "weights", "where", "which", "why", "within",
}  # fmt: skip
"""Options of text, such as names of columns: a new one stands here, or its type says that it names a file."""


@pytest.mark.parametrize(
    ("name", "command"), list(commands()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_option_says_whether_it_names_a_file(name: str, command: click.Command) -> None:
    for param in command.params:
        if param.name in ("help", "version") or isinstance(param.type, Read | Written | click.Choice):
            continue
        text = isinstance(param.type, StringParamType)
        assert not text or param.name in NAME_NO_FILE, (name, param.name)
        assert "FILE" not in (param.metavar or "") or param.name == "init"


@pytest.mark.parametrize(
    ("name", "command"), list(commands()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_no_output_is_an_input(name: str, command: click.Command, capsys: pytest.CaptureFixture[str]) -> None:
    reads, writes = marked(command, Read), marked(command, Written)
    if not isinstance(command, click.Group) and name != "verify":  # which only says yes or no
        assert writes, name
    for read, write in itertools.product(reads, writes):
        words = name.split()
        for param in command.params:
            if param is write or (param is not read and not param.required):
                continue
            value = (
                "a.table" if param is read else "people.csv" if param in reads else "other" if param in writes else "0"
            )
            value = f"x={value}" if param.type is MAPPED else value
            words += [value] if isinstance(param, click.Argument) else [param.opts[0], value]
        words += ["hard.out"] if isinstance(write, click.Argument) else [write.opts[0], "hard.out"]
        said = refused(words, capsys)
        assert "would overwrite 'hard.out', which is read: name another file" in said, (words, said)


@UNIX
def test_no_command_overwrites_what_it_reads(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {p: p.read_bytes() for p in here.rglob("*") if p.is_file()}
    for line in OVERWRITING:
        words = [part for word in line.split() for part in (WORDS if word == "{words}" else [word])]
        assert "which is read: name another file" in refused(words, capsys), line
        assert {p: p.read_bytes() for p in here.rglob("*") if p.is_file()} == before, line


def test_a_result_may_lie_beside_the_data() -> None:
    for _ in range(2):  # the second time it is there already
        main(["tabulate", "rows", *WORDS, "-o", "rows/all.table"])
        main(["table", "info", "rows/all.table", "--json", "rows/info.txt.bak"])
        main(["monitor", "months", "--bootstrap", "0", "--json", "months/watch.json"])
    assert evenhand.load("rows/all.table").rows == 80


@UNIX
def test_a_link_to_nothing_is_a_missing_part() -> None:
    words = {"score": "s", "label": "y", "group": "g"}
    Path("rows/3.csv").symlink_to("nowhere.csv")
    for data in ("rows", "rows/*.csv", "rows/3.csv"):
        with pytest.raises(evenhand.DataError, match=r"cannot read 'rows/3\.csv': it is a link to 'nowhere\.csv'"):
            evenhand.tabulate(data, **words)
    Path("months/2024-03.table").symlink_to("nowhere.table")
    for data in ("months", "months/*.table"):
        with pytest.raises(evenhand.DataError, match=r"2024-03\.table': it is a link to 'nowhere\.table'"):
            evenhand.monitor(data)


@UNIX
def test_pipes_and_devices_are_no_files() -> None:
    os.mkfifo("rows/pipe.csv")
    for data in ("rows", "rows/pipe.csv", "/dev/null"):
        with pytest.raises(evenhand.DataError, match=r"is no regular file but a pipe or a device") as caught:
            evenhand.tabulate(data, score="s", group="g")
        assert "did you mean" not in str(caught.value)


@UNIX
def test_a_file_that_is_replaced_keeps_its_mode() -> None:
    umask = os.umask(0o027)
    try:
        for mode in (0o600, 0o664, 0o440):
            write_text("report.json", "before")
            os.chmod("report.json", mode)
            write_text("report.json", "after")
            assert stat.S_IMODE(os.stat("report.json").st_mode) == mode
            Path("report.json").unlink()
        write_text("new.json", "new")
        evenhand.compas().save("new.table")
        assert {stat.S_IMODE(os.stat(f"new.{kind}").st_mode) for kind in ("json", "table")} == {0o640}
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(umask)
    assert not list(Path().glob(".*.part"))


# ---- what commands take -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("written", ["1_0", "٥", "１０", "1e1", "ten", ""])
def test_whole_numbers_are_written_in_plain_digits(written: str, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (
        ["demo", "--bootstrap", written],
        ["monitor", "months", "--looks", written],
        ["tabulate", "a.table", "-o", "x.table", "--suppress-below", written],
        ["power", "--base-rate", "0.5", "--n", written],
    ):
        assert "whole number" in refused(words, capsys), words


@pytest.mark.parametrize("written", ["0_5", "٠.٥", "half"])
def test_numbers_are_written_in_plain_digits(written: str, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["demo", "--confidence", written], ["demo", "--threshold", written]):
        assert "number" in refused(words, capsys), words


def test_interrupting_while_the_command_is_loaded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from evenhand.__main__ import main as started

    class Interrupting:
        def find_spec(self, *_: object) -> None:
            raise KeyboardInterrupt

    monkeypatch.setattr("signal.signal", lambda number, handler: None)  # the command listens for good
    monkeypatch.delitem(sys.modules, "evenhand.cli")
    monkeypatch.setattr(sys, "meta_path", [Interrupting()])
    with pytest.raises(SystemExit) as caught:
        started()
    assert caught.value.code == 130
    assert capsys.readouterr() == ("", "evenhand: interrupted\n")
