"""The command line as a user meets it: real processes, real files, exit codes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import evenhand
from conftest import IMPATIENT, evenhand as run, people, terminal


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    """A CSV file of people."""
    columns = people(300)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    (tmp_path / "scores.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "scores.csv"


COLUMNS = ["--score", "s", "--label", "y", "--group", "g"]


def refused(result: subprocess.CompletedProcess[str], *words: str) -> None:
    assert result.returncode == 2, result
    assert result.stdout == ""
    assert result.stderr.startswith("evenhand: ")
    assert result.stderr.count("\n") == 1
    for word in words:
        assert word in result.stderr


def test_demo() -> None:
    result = run("demo")
    assert result.returncode == 0
    assert result.stderr == ""
    assert "African-American against Caucasian" in result.stdout
    assert "-0.214 -0.245, -0.182" in result.stdout
    assert "-0.240 -0.265, -0.215" in run("demo", "--full").stdout
    assert run("demo").stdout == result.stdout


def test_chosen_measures_and_conventions(scores: Path) -> None:
    out = scores.parent / "out.json"
    words = ["--measures", "abcc, equal_opportunity_uniform_w2,", "--ranks", "mid", "--calibration-bins", "10"]
    result = run(
        "audit", scores, *COLUMNS, *words, "--bandwidth", "0.1", "--bootstrap", 50, "--permutations", 50, "--json", out
    )
    assert (result.returncode, result.stderr) == (0, f"wrote {out}\n")
    assert "equal opport. (scores, W2)" in result.stdout
    assert "disparate impact" not in result.stdout
    document = json.loads(out.read_text(encoding="utf-8"))
    pytest.importorskip("jsonschema").validate(document, evenhand.schema("audit"))
    assert {m["id"] for m in document["attributes"][0]["measures"]} == {"abcc", "equal_opportunity_uniform_w2"}
    options = document["options"]
    assert (options["ranks"], options["calibration_bins"], options["bandwidth"]) == ("mid", 10, 0.1)


def test_audit_prints_and_writes(scores: Path) -> None:
    out = scores.parent / "out.json"
    result = run("audit", scores, *COLUMNS, "--bootstrap", 50, "--permutations", 50, "--json", out)
    assert (result.returncode, result.stderr) == (0, f"wrote {out}\n")
    assert "300 people · score s, 0 to 1 · label y, favourable 1" in result.stdout
    document = json.loads(out.read_text(encoding="utf-8"))
    pytest.importorskip("jsonschema").validate(document, evenhand.schema("audit"))
    python = evenhand.audit(scores, score="s", label="y", group="g", bootstrap=50, permutations=50, rng=0)
    assert document == json.loads(python.to_json())
    assert repr(python) + "\n" == result.stdout
    piped = run("audit", scores, *COLUMNS, "--bootstrap", 50, "--permutations", 50, "--json", "-")
    assert json.loads(piped.stdout) == document


def test_several_groups_references_and_ranges(scores: Path) -> None:
    words = [
        "--score",
        "s",
        "--label",
        "y",
        "--group",
        "g,h",
        "--score-range",
        "0,2",
        "--threshold",
        "0.4",
        "--bootstrap",
        0,
        "--permutations",
        0,
    ]
    result = run("audit", scores, *words, "--reference", "g=g1", "--reference", "h=x", "--json", "-")
    document = json.loads(result.stdout)
    assert [a["reference"] for a in document["attributes"]] == ["g1", "x", "g1 × x"]
    assert document["data"]["score_range"] == [0, 2]
    assert document["data"]["threshold"] == 0.4
    one = json.loads(run("audit", scores, *words, "--reference", "x", "--json", "-").stdout)
    assert one["attributes"][1]["reference"] == "x"


def test_names_with_commas(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text('s,"a,b",c\n0.1,x,"p=q"\n0.9,y,r\n')
    result = run(
        "audit",
        tmp_path / "d.csv",
        "--score",
        "s",
        "--group",
        '"a,b",c',
        "--reference",
        "p=q",
        "--json",
        "-",
        "--bootstrap",
        0,
    )
    assert [a["name"] for a in json.loads(result.stdout)["attributes"]] == ["a,b", "c", "a,b × c"]
    assert json.loads(result.stdout)["attributes"][1]["reference"] == "p=q"


def test_tabulate_audit_merge(scores: Path) -> None:
    folder = scores.parent
    lines = scores.read_text().splitlines()
    for i, part in enumerate((lines[1:120], lines[120:])):
        (folder / f"{i}.csv").write_text("\n".join([lines[0], *part]) + "\n")
        counted = run("tabulate", folder / f"{i}.csv", *COLUMNS, "-o", folder / f"{i}.table")
        assert counted.returncode == 0
        assert counted.stdout == ""
    assert run("merge", folder / "0.table", folder / "1.table", "-o", folder / "all.table").returncode == 0
    few = ("--bootstrap", 20, "--permutations", 20, "--json", "-")
    assert run("audit", folder / "all.table", *few).stdout == run("audit", scores, *COLUMNS, *few).stdout
    assert sorted(p.suffix for p in folder.iterdir()) == [".csv"] * 3 + [".table"] * 3


def test_missing_rows(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("s,y,g\nnan,1,f\n0.1,0,f\n0.9,1,m\n0.4,1,\n")
    refused(run("audit", tmp_path / "d.csv", *COLUMNS), "1 rows without a finite score 's'", "--missing drop")
    result = run("audit", tmp_path / "d.csv", *COLUMNS, "--missing", "drop")
    assert result.returncode == 0
    assert "Left out: 1 rows without a group 'g'" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["audit"], ["Missing argument 'DATA'"]),
        (["audit", "absent.csv", *COLUMNS], ["there is no file 'absent.csv'"]),
        (["audit", "scores.csv", "--score", "s"], ["--group"]),
        (["audit", "scores.csv", "--score", "p", "--group", "g"], ["no column 'p'", "it has: 's', 'y', 'g'"]),
        (["audit", "scores.csv", *COLUMNS, "--favorable", "yes"], ["favourable value 'yes'", "'0', '1'"]),
        (["audit", "scores.csv", *COLUMNS, "--reference", "G1"], ["reference 'G1'", "did you mean 'g1'"]),
        (["audit", "scores.csv", *COLUMNS, "--reference", "g1", "--reference", "g2"], ["COL=V"]),
        (["audit", "scores.csv", *COLUMNS, "--threshold", "abc"], ["--threshold takes numbers"]),
        (["audit", "scores.csv", *COLUMNS, "--threshold", "nan"], ["finite number"]),
        (["audit", "scores.csv", *COLUMNS, "--confidence", "95"], ["from 0.5 to below 1"]),
        (["audit", "scores.csv", *COLUMNS, "--bootstrap", "-5"], ["whole number from 0"]),
        (["audit", "scores.csv", *COLUMNS, "--seed", "-1"], ["whole number from 0"]),
        (["audit", "scores.csv", *COLUMNS, "--score-range", "1"], ["--score-range takes two numbers"]),
        (["audit", "scores.csv", *COLUMNS, "--score-range", "0.9,0.1"], ["lower first"]),
        (["audit", "scores.csv", *COLUMNS, "--missing", "guess"], ["'guess' is not one of"]),
        (["audit", "scores.csv", *COLUMNS, "--json", "no/such/folder.json"], ["cannot write"]),
        (["audit", "scores.csv", *COLUMNS, "--prediction", "d", "--threshold", "0.5"], ["decides already"]),
        (["audit", "scores.csv", *COLUMNS, "--nonsense"], ["No such option"]),
        (["audit", "scores.csv", *COLUMNS, "--measures", "abccc"], ["no measure 'abccc'", "did you mean 'abcc'"]),
        (["audit", "scores.csv", *COLUMNS, "--measures", ","], ["name at least one measure"]),
        (["audit", "scores.csv", *COLUMNS, "--measures", "abcc\nroc"], ["no list of names between commas"]),
        (["audit", "scores.csv", *COLUMNS, "--ranks", "dense"], ["'dense' is not one of"]),
        (["audit", "scores.csv", *COLUMNS, "--calibration-bins", "1"], ["calibration_bins must be"]),
        (["audit", "scores.csv", *COLUMNS, "--bandwidth", "wide"], ["bandwidth must be 'scott'"]),
        (["audit", "scores.csv", *COLUMNS, "--bandwidth", "nan"], ["bandwidth is a share"]),
        (["tabulate", "scores.csv", *COLUMNS], ["Missing option '-o'"]),
        (["tabulate", "scores.csv", "--score", "s", "-o", "t"], ["--group"]),
        (["tabulate", "scores.csv", *COLUMNS, "-o", "."], ["it is a folder"]),
        (["merge", "scores.csv", "-o", "t"], ["not a table saved by evenhand"]),
        (["merge", "absent", "-o", "t"], ["no table to load"]),
        (["nonsense"], ["No such command"]),
        (["guide"], ["--ground-truth or --no-ground-truth"]),
        (["guide", "--ground-truth"], ["--priority: opportunity, errors"]),
        (["guide", "--priority", "money"], ["priority is one of"]),
    ],
)
def test_misuse_is_one_sentence_and_exit_code_2(scores: Path, arguments: list[str], words: list[str]) -> None:
    result = run(*arguments, cwd=scores.parent, stdin="")
    refused(result, *words)
    assert [p.name for p in scores.parent.iterdir()] == ["scores.csv"]


def test_a_table_takes_no_columns(tmp_path: Path) -> None:
    evenhand.compas().save(tmp_path / "t")
    refused(run("audit", tmp_path / "t", "--score", "s"), "a table knows its columns already")
    refused(run("audit", tmp_path / "t", "--risk"), "a table knows its columns already")


def test_incompatible_tables_are_named(tmp_path: Path, scores: Path) -> None:
    evenhand.compas().save(tmp_path / "a")
    evenhand.tabulate(scores, score="s", group="g").save(tmp_path / "b")
    refused(run("merge", tmp_path / "a", tmp_path / "b", "-o", tmp_path / "c"), "cannot add 'b'")
    assert not (tmp_path / "c").exists()


def test_guide_by_flags() -> None:
    result = run("guide", "--ground-truth", "--priority", "errors", "--legal")
    assert result.returncode == 0
    assert result.stdout.startswith("Look at: equalized_odds, disparate_impact\n")


def test_a_reader_that_leaves_is_no_error(scores: Path) -> None:
    options = "--score s --label y --group g,h --bootstrap 0 --permutations 0 --json -"
    command = f"{sys.executable} -m evenhand audit {scores} {options} | head -1"
    result = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert result.stdout == "{\n"
    assert result.stderr == ""


def test_nothing_is_printed_at_exit(scores: Path) -> None:
    code = f"import evenhand; evenhand.audit({str(scores)!r}, score='s', group='g')"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_version_and_help() -> None:
    assert run("--version").stdout == f"evenhand, version {evenhand.__version__}\n"
    for command in ([], ["audit"], ["demo"], ["tabulate"], ["merge"], ["guide"]):
        result = run(*command, "--help")
        assert result.returncode == 0
        assert result.stdout.startswith("Usage: evenhand")


# ---- a terminal -------------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
class TestTerminal:
    def test_colour_on_a_terminal_only(self) -> None:
        code, text = terminal("demo", NO_COLOR="")
        assert code == 0
        assert "\x1b[1;31mUNEQUAL" in text
        assert "\x1b" not in run("demo").stdout

    def test_no_color_is_honoured(self) -> None:
        _, text = terminal("demo", NO_COLOR="1")
        assert "\x1b[1;31m" not in text
        assert "31m" not in text
        assert "UNEQUAL" in text

    def test_long_work_shows_a_bar(self) -> None:
        code, text = terminal("demo", start=IMPATIENT)
        assert code == 0
        assert "comparing the groups of race" in text
        assert text.rindex("comparing the groups of race") < text.index("6,150 people")

    def test_the_guide_asks(self) -> None:
        code, text = terminal("guide", type_in=b"y\nmeaning\nn\n")
        assert code == 0
        assert "Do you know the true outcome" in text
        assert "Look at: predictive_parity" in text
        code, text = terminal("guide", type_in=b"n\nshape\ny\n")
        assert code == 0
        assert "Look at: demographic_parity, abcc, abpc, disparate_impact" in text

    def test_escapes_in_names_do_not_reach_the_terminal(self, tmp_path: Path) -> None:
        (tmp_path / "d.csv").write_text("s,g\n0.1,\x1b[41mred\n0.9,b\n")
        _, text = terminal("audit", tmp_path / "d.csv", "--score", "s", "--group", "g")
        assert "\x1b[41m" not in text
        assert "\\x1b[41mred" in text

    def test_interrupting(self, tmp_path: Path) -> None:
        """Ctrl-C: exit code 130, one line, nothing left behind."""
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "evenhand",
                "demo",
                "--bootstrap",
                "1000000",
                "--permutations",
                "1000000",
                "--json",
                str(tmp_path / "out.json"),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            time.sleep(1.5)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
        finally:
            process.kill()  # else one that does not notice keeps a core busy for long
        assert (process.returncode, out, err) == (130, "", "evenhand: interrupted\n")
        assert list(tmp_path.iterdir()) == []


def test_embed_says_what_a_page_holds(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    few = ("--bootstrap", "0", "--permutations", "0")
    assert run("demo", *few, "--html", str(page), "--embed", "none").returncode == 0
    assert "Try another threshold" not in page.read_text(encoding="utf-8")
    refused = run("demo", *few, "--embed", "exact")
    assert refused.returncode == 2
    assert "say --html FILE too" in refused.stderr


def test_lists_of_names_add_up(scores: Path) -> None:
    ids = ["--bootstrap", 0, "--permutations", 0, "--measures", "abcc"]
    once = run("audit", scores, *COLUMNS, *ids[:-1], "abcc,disparate_impact")
    twice = run("audit", scores, *COLUMNS, *ids, "--measures", "disparate_impact")
    assert once.returncode == 0
    assert once.stdout == twice.stdout
    refused(run("audit", scores, "--score", "s", "--group", "g", "--group", "zz"), "no column 'zz'")
    refused(run("audit", scores, "--score", "s", "--score", "zz", "--group", "g"), "no column 'zz'")


@pytest.mark.parametrize("command", ["check", "monitor"])
@pytest.mark.parametrize("option", ["--within", "--group-probability"])
def test_what_only_an_audit_takes_is_said(scores: Path, command: str, option: str) -> None:
    refused(run(command, scores, option, "sex"), option, "is for an audit")
