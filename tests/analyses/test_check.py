"""The gate: every exit code through a real process, verdicts, what would settle them, and how pipelines show them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import evenhand
from conftest import called as run, check_schema, evenhand as process, people
from evenhand.analyses.check.check import Verdict
from evenhand.errors import UsageError
from evenhand.measures.measure import sized
from evenhand.measures.registry import MEASURES

COLUMNS = ["--score", "s", "--label", "y", "--group", "g"]
WORDS: dict[str, Any] = {"score": "s", "label": "y", "group": "g"}
FAST = ["--bootstrap", 100, "--permutations", 100]


def write(path: Path, columns: dict[str, Any]) -> Path:
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    return write(tmp_path / "scores.csv", people(300))


@pytest.fixture
def compas(tmp_path: Path) -> Path:
    evenhand.compas().save(tmp_path / "compas.table")
    return tmp_path / "compas.table"


def toml(folder: Path, text: str, name: str = "policy.toml") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def refused(result: subprocess.CompletedProcess[str], *words: str) -> None:
    assert result.returncode == 2, result
    assert result.stdout == ""
    assert result.stderr.startswith("evenhand: ")
    assert result.stderr.count("\n") == 1
    for word in words:
        assert word in result.stderr


def ended(result: subprocess.CompletedProcess[str], code: int, *words: str) -> None:
    assert (result.returncode, result.stderr) == (code, ""), result
    assert result.stdout.startswith("FAIL: " if code else "PASS: ")
    shown = " ".join(result.stdout.split())
    for word in words:
        assert word in shown, shown


# ---- exit codes: each by a real process first -------------------------------------------------------------------


def test_rules_on_the_command_line(compas: Path) -> None:
    ended(process("check", compas, "--require", "abcc <= 0.99"), 0, "1 of 1 rules met in 1 comparison.")
    ended(
        process("check", compas, "--require", "abcc <= 0.01"), 1, "violated race",
        "0.182 is 0.172 above the limit of 0.01",
    )  # fmt: skip
    ended(run("check", compas, "--require", "abcc <= 0.19"), 0, "1 of them not for certain", "reaches across the limit")
    ended(
        run("check", compas, "--require", "abcc <= 0.19 at 95%"), 1, "not shown", "itself keeps to the limit",
        "reaches 0.0074 above", "times as many people",
    )  # fmt: skip
    ended(run("check", compas, "--require", "abcc <= 0.2 at 95%"), 0, "all of its 95% interval")
    ended(run("check", compas, "--require", "roc <= 0.01"), 1)
    ended(run("check", compas, "--require", "roc <= 0.01 above chance"), 0, "chance alone shows")
    ended(run("check", compas, "--require", "abcc <= 0.1 above chance"), 1, "above chance is", "above the limit")
    both = run("check", compas, "--require", "abcc <= 0.99", "--require", "abcc <= 0.1 at 95%")
    ended(both, 1, "1 of 2 rules not met", "NOT MET", "met abcc <= 0.99")


def test_misuse_on_the_command_line(compas: Path, scores: Path) -> None:
    refused(process("check", compas), "nothing to check")
    refused(run("check"), "DATA")
    refused(run("check", compas, "--require", "nonsense <= 1"), "no measure 'nonsense'")
    refused(run("check", compas, "--require", "abcc <= x"), "is a number")
    refused(run("check", compas, "--require", "abcc <= 0.1 for sex"), "'sex' is not an attribute", "'race'")
    refused(run("check", compas, "--require", "abcc <= 0.1", "--reference", "Causasian"), "did you mean 'Caucasian'")
    refused(run("check", compas, "--require", "abcc <= 0.1", "--undefined", "pass"), "'fail', 'skip'")
    refused(run("check", compas, "--require", "abcc <= 0.1", "--min-group-size", "-1"), "whole number")
    refused(run("check", compas, "--require", "abcc <= 0.1", "--min-group-size", "x"), "--min-group-size")
    refused(run("check", compas, "--require", "abcc <= 0.1", "--measures", "abcc"), "--measures")
    refused(run("check", compas, "--require", "abcc <= 0.1", "--threshold", "1,2"), "one threshold")
    refused(run("check", compas, "--require", "abcc <= 0.1", "--json", "-", "--github"), "standard output")
    refused(run("check", "nothing.csv", *COLUMNS, "--require", "abcc <= 0.1"), "nothing.csv")
    refused(run("check", scores, "--require", "abcc <= 0.1"), "--group")
    refused(run("check", scores, "--score", "nope", "--group", "g", "--require", "abcc <= 0.1"), "nope")
    refused(run("check", scores, "--score", "s", "--group", "g", "--require", "equal_opportunity <= 0.1"), "--label")
    refused(run("check", scores, "--prediction", "d", "--group", "g", "--require", "abcc <= 0.1"), "--score")
    refused(run("check", scores, "--score", "s,w", "--group", "g", "--require", "abcc <= 0.1"), "one score")


def test_a_policy_passes_and_fails(compas: Path) -> None:
    folder = compas.parent
    rule = '[[rule]]\nmeasure = "abcc"\nat_most = 0.3\n'
    ended(process("check", compas, "--policy", toml(folder, rule)), 0)
    strict = toml(folder, rule.replace("0.3", "0.1") + 'reason = "board, 3 May"\n', "strict.toml")
    ended(process("check", compas, "--policy", strict), 1, "(line 1)", "Reason for the rule: board, 3 May")
    ended(run("check", compas, "--policy", toml(folder, rule), "--require", "abcc <= 0.1"), 1, "1 of 2 rules not met")
    ended(run("check", compas, "--policy", strict, "--require", "disparate_impact >= 0.1"), 1, "1 of 2 rules not met")
    interval = toml(folder, rule.replace("0.3", "0.19") + 'judge = "interval"\nconfidence = 0.95\n')
    ended(run("check", compas, "--policy", interval), 1, "not shown")
    loose = toml(folder, rule.replace("0.3", "0.19") + 'judge = "interval"\nconfidence = 0.5\n')
    ended(run("check", compas, "--policy", loose), 0, "50% interval")
    chance = toml(folder, rule.replace("0.3", "0.1") + 'judge = "excess"\n')
    ended(run("check", compas, "--policy", chance), 1, "above chance")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[[rule]]\nmeasure = "abcc"\nat_most = 0.1\n[[rule]]\nmeasure = "no"\nat_most = 1', ("line 5", "'no'")),
        ('[[rule]]\nmeasure = "abcc"\nat_most = 0,1', ("line 3", "TOML")),
        ('[[rule]]\nmeasure = "abcc"\nat_most = nan', ("line 3", "a number")),
        ('[[rule]]\nmeasure = "abcc"\nat_most = 0.1\ngroups = ["Causasian"]', ("line 4", "did you mean 'Caucasian'")),
        (
            '[[rule]]\nmeasure = "abcc"\nat_most = 0.1\nattribute = "race"\n\ngroups = ["African-American"]',
            ("line 6", "is the reference"),
        ),
        ('[[rule]]\nmeasure = "abcc"\nat_most = 0.1\nattribute = "rase"', ("line 4", "did you mean 'race'")),
        ('[[rule]]\nmeasure = "abcc"\nat_most = 0.1\nlevel = 3', ("line 4", "unknown key 'level'")),
        ('[audit]\nreference = "Causasian"\n[[rule]]\nmeasure = "abcc"\nat_most = 0.1', ("line 2", "Caucasian")),
        ('[audit]\nscore = "p"\n[[rule]]\nmeasure = "abcc"\nat_most = 0.1', ("'decile_score'",)),
        ('[audit]\ngroup = "sex"\n[[rule]]\nmeasure = "abcc"\nat_most = 0.1', ("'race'",)),
        ("", ("has no rules",)),
        ("x = [", ("TOML",)),
        ("\0\1\2", ("line 1",)),
    ],
)  # fmt: skip
def test_policies_that_make_no_sense(compas: Path, text: str, words: tuple[str, ...]) -> None:
    refused(
        run("check", compas, "--policy", toml(compas.parent, text)), "policy.toml" if "line" in words[0] else "", *words
    )


def test_policies_that_are_no_policies(compas: Path) -> None:
    folder = compas.parent
    refused(process("check", compas, "--policy", folder / "none.toml"), "none.toml", "No such file")
    refused(run("check", compas, "--policy", folder), "cannot read the policy")
    refused(run("check", compas, "--policy", compas), "compas.table")
    (folder / "huge.toml").write_text("#" * 1_000_000)
    refused(run("check", compas, "--policy", folder / "huge.toml"), "more than 256 kB")
    refused(run("check", compas, "--policy", ""), "policy")


def test_undefined_measures(tmp_path: Path) -> None:
    columns = {"s": [0.1, 0.9, 0.3, 0.8, 0.7, 0.2], "y": [0, 1, 0, 1, 0, 0], "g": list("mmmmff")}
    data = write(tmp_path / "few.csv", columns)
    rule = ["--require", "equal_opportunity <= 0.99"]
    ended(run("check", data, *COLUMNS, *rule), 1, "1 undefined", "undefined g: f against m: because group f has no row")
    alone = run("check", data, *COLUMNS, *rule, "--undefined", "skip")
    ended(alone, 1, "nothing was judged", "skipped g: f against m: because group f")
    further = ["--require", "demographic_parity <= 0.99"]
    ended(
        run("check", data, *COLUMNS, *rule, *further, "--undefined", "skip"),
        0,
        "1 of 2 rules met",
        "1 comparison skipped",
    )
    text = '[[rule]]\nmeasure = "equal_opportunity"\nat_most = 0.99\nundefined = "skip"\n'
    text += '[[rule]]\nmeasure = "demographic_parity"\nat_most = 0.99\n'
    ended(run("check", data, *COLUMNS, "--policy", toml(tmp_path, text)), 0, "1 comparison skipped")
    ended(run("check", data, "--score", "s", "--group", "g", *rule, *further, "--undefined", "skip"), 0, "no labels")


def test_small_groups(tmp_path: Path) -> None:
    columns = people(300)
    columns["g"] = np.array(["a"] * 150 + ["b"] * 140 + ["c"] * 10)
    data = write(tmp_path / "groups.csv", columns)
    rule = ["--require", "demographic_parity <= 0.99", "--min-group-size", 20]
    ended(run("check", data, *COLUMNS, *rule), 1, "1 too small", "'c' has 10 people, fewer than the 20 required")
    ended(run("check", data, *COLUMNS, *rule, "--small-groups", "skip"), 0, "1 comparison skipped", "c against a")
    ended(run("check", data, *COLUMNS, *rule, "--reference", "c"), 1, "2 too small")
    ended(run("check", data, *COLUMNS, *rule[:2], "--min-group-size", 10), 0)


def test_what_is_written(compas: Path) -> None:
    folder = compas.parent
    words = ["check", compas, "--require", "abcc <= 0.1", "--require", "abcc <= 0.19 at 95%"]
    out, junit = folder / "out.json", folder / "out.xml"
    result = run(*words, "--json", out, "--junit", junit, "--github")
    assert (result.returncode, result.stderr) == (1, f"wrote {out}\nwrote {junit}\n")
    document = json.loads(out.read_text(encoding="utf-8"))
    check_schema(document, evenhand.schema("check"))
    piped = run(*words, "--json", "-")
    assert (piped.returncode, json.loads(piped.stdout)) == (1, document)
    python = evenhand.check(compas, require=["abcc <= 0.1", "abcc <= 0.19 at 95%"])
    assert python.to_dict() == document
    assert python.to_junit() == junit.read_text(encoding="utf-8")
    assert result.stdout == f"{python!r}\n{python.to_annotations()}"
    assert run(*words[:4], "--json", "-").returncode == 1
    passing = run(*words[:2], "--require", "abcc <= 0.3", "--json", "-")
    assert passing.returncode == 0
    assert json.loads(passing.stdout)["passed"] is True


def test_results_that_cannot_be_written(compas: Path) -> None:
    folder = compas.parent
    rule = ["check", compas, "--require", "abcc <= 0.3"]
    refused(run(*rule, "--junit", folder / "no" / "out.xml"), "no folder")
    refused(run(*rule, "--junit", folder), "a folder")
    refused(run(*rule, "--json", folder / "no" / "out.json"), "no folder")
    assert {p.name for p in folder.iterdir()} == {"compas.table"}
    if Path("/dev/full").exists():
        with open("/dev/full", "w") as full:
            command = [sys.executable, "-m", "evenhand", *map(str, rule)]
            assert subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=120).returncode == 2


def test_a_reader_who_goes_does_not_change_the_verdict(compas: Path) -> None:
    for limit, code in (("0.01", 1), ("0.3", 0)):
        read, write_end = os.pipe()
        os.close(read)
        command = [sys.executable, "-m", "evenhand", "check", str(compas), "--require", f"abcc <= {limit}"]
        result = subprocess.run(command, stdout=write_end, stderr=subprocess.PIPE, text=True, timeout=120)
        os.close(write_end)
        assert (result.returncode, result.stderr) == (code, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk that is always full")
def test_standard_error_that_cannot_be_written_does_not_change_the_exit_code(compas: Path) -> None:
    start = "import evenhand.analyses.check.check as g, evenhand.cli as c\n"
    raising = "def judge(*a): raise {}\ng.judge = judge\n"
    for body, limit, redirected, code in (
        ("", "x", "2>/dev/full", 2),
        ("", "x", "2>&-", 2),
        ("", "0.01", ">&- 2>&-", 1),
        ("", "0.3", ">&- 2>&-", 0),
        (raising.format("KeyError"), "0.3", "2>/dev/full", 2),
        (raising.format("KeyboardInterrupt"), "0.3", "2>/dev/full", 130),
    ):
        script = f"{start}{body}c.main(['check', {str(compas)!r}, '--require', 'abcc <= {limit}'])"
        command = ["sh", "-c", f'"$0" -c "$1" {redirected}', sys.executable, script]
        result = subprocess.run(command, env={**os.environ, "EVENHAND_DEBUG": "1"}, timeout=120)
        assert result.returncode == code, (body, limit, redirected)


@pytest.mark.parametrize("debug", ["", "1"])
def test_a_bug_is_no_verdict(compas: Path, debug: str) -> None:
    code = "import evenhand.analyses.check.check as g, evenhand.cli as c\n"
    code += "def judge(*a): raise KeyError('x')\ng.judge = judge\n"
    code += f"c.main(['check', {str(compas)!r}, '--require', 'abcc <= 0.3'])"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "EVENHAND_DEBUG": debug}
    )
    assert (result.returncode, result.stdout) == (2, "")
    assert "unexpected KeyError" in result.stderr
    assert ("Traceback" in result.stderr) == bool(debug)


def test_the_starter_policy(compas: Path, scores: Path) -> None:
    folder = compas.parent
    result = process("policy", "init", cwd=folder)
    assert (result.returncode, result.stdout) == (0, "")
    assert "wrote policy.toml" in result.stderr
    refused(run("policy", "init", cwd=folder), "there already", "--force")
    assert run("policy", "init", "--force", cwd=folder).returncode == 0
    assert run("policy", "init", "-o", folder / "other.toml").returncode == 0
    refused(run("policy", "init", "-o", folder / "no" / "policy.toml"), "no folder")
    ended(
        run("check", compas, "--policy", "policy.toml", "--threshold", 5, cwd=folder), 1, "policy my model, policy.toml"
    )
    ended(run("check", compas, "--policy", "policy.toml", "--threshold", 10, cwd=folder), 0)
    data = write(folder / "even.csv", {"d": [0, 1] * 500, "g": ["a"] * 500 + ["b"] * 500})
    ended(run("check", data, "--prediction", "d", "--group", "g", "--policy", folder / "policy.toml"), 0)


def test_a_policy_that_says_how_to_read_the_data(scores: Path) -> None:
    text = """
[audit]
score = "s"
label = "y"
group = ["g", "h"]
threshold = 0.4
reference = { g = "g1" }
bootstrap = 50
[[rule]]
measure = "demographic_parity"
at_most = 0.9
attribute = ["g", "h"]
"""
    path = toml(scores.parent, text)
    result = run("check", scores, "--policy", path, "--json", "-")
    document = json.loads(result.stdout)
    assert {(f["attribute"], f["group"], f["reference"]) for f in document["findings"]} == {
        ("g", "g0", "g1"), ("g", "g2", "g1"), ("h", "x", "y")}  # fmt: skip
    assert document["data"]["threshold"] == 0.4
    other = run(
        "check", scores, "--policy", path, "--threshold", 0.6, "--reference", "g=g0", "--group", "g", "--json", "-"
    )
    refused(other, "line 12", "'h' is not an attribute")
    other = run("check", scores, "--policy", path, "--threshold", 0.6, "--reference", "g=g0", "--json", "-")
    document = json.loads(other.stdout)
    assert (document["data"]["threshold"], document["findings"][0]["reference"]) == (0.6, "g0")
    assert (
        run("tabulate", scores, "--score", "s", "--label", "y", "--group", "g,h", "-o", scores.parent / "t").returncode
        == 0
    )
    table = run("check", scores.parent / "t", "--policy", path, "--json", "-")
    assert json.loads(table.stdout) == json.loads(result.stdout)
    refused(run("check", scores.parent / "t", "--policy", path, "--favorable", "0"), "favorable is said to be '0'")


@pytest.mark.parametrize("favorable", [True, False, 0, "false"])
@pytest.mark.parametrize("way", ["word", "policy"])
def test_false_may_be_the_favourable_value(favorable: Any, way: str) -> None:
    rng = np.random.default_rng(0)
    g = rng.integers(0, 2, 400)
    data = {"g": np.array(["a", "b"])[g], "d": rng.random(400) < np.where(g, 0.9, 0.6), "y": rng.random(400) < 0.5}
    words: dict[str, Any] = {"prediction": "d", "label": "y", "group": "g", "bootstrap": 0}
    said = {"favorable": favorable}
    policy = {"audit": said if way == "policy" else {}, "rule": [{"measure": "disparate_impact", "at_least": 0.5}]}
    verdict = evenhand.check(data, **words, policy=policy, **(said if way == "word" else {}))
    gap = evenhand.audit(data, **words, **said, permutations=0).measure("disparate_impact")
    assert verdict.findings[0].value == float(sized(MEASURES["disparate_impact"], gap.value))
    assert verdict.passed == (favorable is True)


@pytest.mark.parametrize(
    ("counted", "said", "agrees"),
    [
        ({"risk": True}, {"risk": False}, False),
        ({}, {"risk": False}, True),
        ({}, {"risk": True}, False),
        ({}, {"favorable": False}, False),
        ({}, {"favorable": True}, True),
        ({"favorable": 0}, {"favorable": False}, True),
        ({"missing": "drop"}, {"missing": "refuse"}, False),
        ({"missing": "drop"}, {"missing": "drop"}, True),
        ({}, {"missing": "drop"}, True),
        ({}, {"missing": "refuse"}, True),
        ({}, {"weight_kind": "auto"}, True),
        ({}, {"weight_kind": "frequency"}, True),
        ({}, {"weight_kind": "sampling"}, False),
        ({}, {"score": "auto"}, False),
        ({}, {"weight": "w"}, False),
        ({}, {"score_range": [0, 2]}, False),
        ({"score_range": (0, 2)}, {"score_range": [0, 2]}, True),
        ({}, {"where": {"g": "g0"}}, False),
    ],
)
def test_a_saved_table_is_held_to_every_word(
    tmp_path: Path, counted: dict[str, Any], said: dict[str, Any], agrees: bool
) -> None:
    data: dict[str, Any] = people(100)
    if counted.get("missing") == "drop":
        data["s"][0] = np.nan
    evenhand.tabulate(data, **WORDS, **counted).save(tmp_path / "t.table")
    policy = {"audit": said, "rule": [{"measure": "abcc", "at_most": 0.99}]}
    if agrees:
        assert evenhand.check(tmp_path / "t.table", policy=policy, bootstrap=0).passed
    else:
        with pytest.raises(UsageError, match=next(iter(said))):
            evenhand.check(tmp_path / "t.table", policy=policy, bootstrap=0)


# ---- verdicts -----------------------------------------------------------------------------------------------------


def test_numbers_are_those_of_the_audit() -> None:
    data = people(500)
    rules = [f"{m.id} {'>=' if m.scale == 'ratio' else '<='} 0.1 at 90%" for m in MEASURES.values()]
    words = {**WORDS, "group": ["g", "h"], "bootstrap": 60, "rng": 3}
    verdict = evenhand.check(data, require=rules, **words)
    audit = evenhand.audit(data, **words, confidence=0.9, permutations=0)
    assert len(verdict.findings) == sum(len(a.measures) for a in audit.attributes)
    for f in verdict.findings:
        m = f.rule.measure
        gap = audit.measure(m.id, f.group, f.attribute)
        if gap.undefined:
            assert (f.status, f.because) == ("undefined", gap.undefined)
            continue
        assert f.value == float(sized(m, gap.value))
        ends = [] if gap.ci is None else [float(sized(m, end)) for end in gap.ci]
        assert (f.judged in ends) if ends else np.isnan(f.judged)
        assert f.passes == f.rule.requirement.settled(gap) or (f.passes is False and not ends)


def test_a_rule_for_one_attribute_has_the_numbers_it_has_among_all() -> None:
    data, words = people(400), {**WORDS, "group": ["g", "h"], "bootstrap": 60}
    some = evenhand.check(data, require=["abcc <= 0.1 at 95% for h", "abcc <= 0.5 above chance for g × h"], **words)
    every = evenhand.check(data, require=["abcc <= 0.1 at 95%", "abcc <= 0.5 above chance"], **words)
    known = {(str(f.rule.judge), f.attribute, f.group): (f.value, f.ci, f.null_mean) for f in every.findings}
    assert {f.attribute for f in some.findings} == {"h", "g × h"}
    for f in some.findings:
        assert known[(f.rule.judge, f.attribute, f.group)] == (f.value, f.ci, f.null_mean)


def test_excess_is_what_an_audit_calls_so() -> None:
    audit = evenhand.audit(evenhand.compas(), threshold=5)
    verdict = evenhand.check(
        evenhand.compas(), require=["abcc <= 0.1 above chance", "disparate_impact >= 0.8 above chance"], threshold=5
    )
    abcc, ratio = verdict.findings
    assert abcc.judged == audit.measure("abcc").excess
    assert ratio.judged == pytest.approx(1 + audit.measure("disparate_impact").excess)
    assert 0.632 < ratio.judged < 0.69


def test_only_what_rules_ask_for_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    from evenhand.analyses.check import check as judging

    asked: list[tuple[float, int, dict[str, list[str]]]] = []
    real = judging.audit_table

    def spied(table: Any, options: Any, measures: Any, *rest: Any) -> Any:
        asked.append((options.confidence, options.permutations, {k: [m.id for m in v] for k, v in measures.items()}))
        return real(table, options, measures, *rest)

    monkeypatch.setattr(judging, "audit_table", spied)
    rules = ["abcc <= 0.5 for g", "demographic_parity <= 0.5 at 95% for g", "abcc <= 0.5 at 99% for g",
             "disparate_impact >= 0.1 above chance for h"]  # fmt: skip
    evenhand.check(people(200), require=rules, **{**WORDS, "group": ["g", "h"]}, bootstrap=200, permutations=100)
    assert asked == [
        (0.95, 0, {"g": ["abcc", "demographic_parity"]}),
        (0.99, 0, {"g": ["abcc"]}),
        (0.95, 100, {"h": ["disparate_impact"]}),
    ]


def test_groups_pairs_and_products() -> None:
    data = people(600, groups=4)
    rule = {"measure": "demographic_parity", "at_most": 0.05}

    def found(**words: Any) -> Verdict:
        return evenhand.check(data, policy={"rule": [{**rule, **words}]}, **WORDS, reference="g1", bootstrap=50)

    assert [f.group for f in found().findings] == ["g0", "g2", "g3"]
    assert [f.group for f in found(groups=["g3"]).findings] == ["g3"]
    (pair,) = found(pairs="all").findings
    largest = evenhand.audit(data, **WORDS, reference="g1", bootstrap=50, permutations=0).attributes[0].largest
    gap = next(g for g in largest if g.id == "demographic_parity")
    assert ((pair.group, pair.reference), pair.value, pair.ci) == (gap.pair, gap.value, gap.ci)
    assert pair.value > max(f.value for f in found().findings)
    assert "than g0" in pair.interpretation
    two = evenhand.check(evenhand.compas(), policy={"rule": [{**rule, "pairs": "all"}]}, threshold=5)
    assert len(two.findings) == 1
    with pytest.raises(UsageError, match="rule 1: say of which attribute"):
        evenhand.check(data, policy={"rule": [{**rule, "groups": ["g3"]}]}, **{**WORDS, "group": ["g", "h"]})


@pytest.mark.parametrize("words", [{}, {"weight": "w"}, {"cluster": "c"}], ids=["plain", "weights", "clusters"])
def test_the_most_different_pair_without_small_groups(words: dict[str, str]) -> None:
    data: dict[str, Any] = people(600, groups=3)
    data["c"] = np.arange(600) // 2
    odd = {k: v[:12].copy() for k, v in data.items()}
    odd["g"], odd["s"] = np.array(["odd"] * 12), np.ones(12)
    both = {k: np.concatenate([data[k], odd[k]]) for k in data}
    both["c"] = np.arange(612) // 2
    rules = {"rule": [{"measure": id_, "at_most": 0.5, "pairs": "all"} for id_ in ("demographic_parity", "abcc")]}
    how = {**WORDS, **words, "policy": rules, "bootstrap": 60, "min_group_size": 50}
    skipped = evenhand.check(both, **how, small_groups="skip")
    alone = evenhand.check(data, **how)
    pairs = [f for f in skipped.findings if f.status != "skipped"]
    assert [f.group for f in skipped.findings if f.status == "skipped"] == ["odd", "odd"]
    assert [(f.group, f.reference) for f in pairs] == [(f.group, f.reference) for f in alone.findings]
    assert [f.value for f in pairs] == pytest.approx([f.value for f in alone.findings])
    failing = evenhand.check(both, **how, small_groups="fail")
    assert [f.status for f in failing.findings].count("too small") == 2
    assert {f.group for f in failing.findings if f.status != "too small"} == {"odd"}
    nobody = evenhand.check(both, **{**how, "min_group_size": 10_000}, small_groups="skip")
    assert not nobody.passed
    assert {f.status for f in nobody.findings} == {"skipped"}


def test_groups_without_the_measure_stand_beside_the_most_different_pair() -> None:
    data: dict[str, Any] = people(300, groups=3)
    data["y"] = np.where(data["g"] == "g2", 0, data["y"])
    for id_ in ("equal_opportunity", "equal_opportunity_uniform"):
        policy = {"rule": [{"measure": id_, "at_most": 0.99, "pairs": "all"}]}
        found = evenhand.check(data, **WORDS, policy=policy, bootstrap=50)
        assert [(f.group, f.status) for f in found.findings if f.status != "satisfied"] == [("g2", "undefined")]
        assert not found.passed
        assert evenhand.check(data, **WORDS, policy=policy, bootstrap=50, undefined="skip").passed


def apart(*places: float) -> dict[str, Any]:
    """Groups a, b, … of forty people, whose scores lie near these places."""
    near = np.linspace(-0.04, 0.04, 40)
    return {
        "g": np.repeat(list("abcdef")[: len(places)], 40),
        "s": np.concatenate([place + near for place in places]),
        "y": np.tile([0, 1], 20 * len(places)),
    }


@pytest.mark.parametrize("id_", ["calibration_gap", "calibration_uniform"])
def test_pairs_that_cannot_be_compared_are_not_passed_over(id_: str) -> None:
    policy = {"rule": [{"measure": id_, "at_most": 0.99, "pairs": "all"}]}
    how: dict[str, Any] = {**WORDS, "policy": policy, "threshold": 0.5, "score_range": (0, 1), "bootstrap": 0}
    alone = evenhand.check(apart(0.15, 0.15, 0.95), **how)
    both = apart(0.15, 0.95, 0.15)
    both["s"][80::2] = 0.95  # c, the reference, shares scores with both strangers
    strange = evenhand.check(both, **how, reference="c")
    for verdict, pairs in ((alone, [{"a", "c"}, {"b", "c"}]), (strange, [{"a", "b"}])):
        undefined = [{f.group, f.reference} for f in verdict.findings if f.status == "undefined"]
        assert not verdict.passed
        if (
            id_ == "calibration_gap" and verdict is strange
        ):  # half of c are where a, or b, has nobody: not judged either
            assert undefined.pop() != pairs[0]
        assert undefined == pairs or undefined == [{"c", None}]
    judged = id_ != "calibration_gap"
    assert evenhand.check(both, **how, reference="c", undefined="skip").passed == judged


def test_the_most_different_pair_of_groups_that_are_alike_is_two_groups_without_direction() -> None:
    data = {"g": list("aabbcc"), "d": [1, 0] * 3, "w": [50] * 6}
    policy = {"rule": [{"measure": "demographic_parity", "at_most": 0.1, "pairs": "all"}]}
    (f,) = evenhand.check(data, policy=policy, **{**HOW, "reference": "a"}).findings
    assert (f.status, f.value, f.direction) == ("satisfied", 0.0, None)
    assert f.group != f.reference


def test_a_gap_that_goes_both_ways_has_no_direction() -> None:
    middle, ends = np.linspace(0.4, 0.6, 40), np.r_[np.linspace(0.0, 0.2, 20), np.linspace(0.8, 1.0, 20)]
    data = {"g": np.repeat(list("abc"), 40), "s": np.r_[middle, ends, middle], "y": np.tile([0, 1], 60)}
    for pairs in ("all", "reference"):
        policy = {"rule": [{"measure": "abcc", "at_most": 0.99, "pairs": pairs}]}
        found = evenhand.check(data, **WORDS, policy=policy, bootstrap=0, reference="b").findings
        assert found
        assert all(f.direction is None for f in found)


@pytest.mark.parametrize("pairs", ["reference", "all"])
def test_rows_of_one_person_do_not_make_a_group_large(pairs: str) -> None:
    data: dict[str, Any] = people(300, groups=3)
    data["c"] = np.where(data["g"] == "g2", np.arange(300) % 5, np.arange(300) + 5)
    policy = {"rule": [{"measure": "demographic_parity", "at_most": 0.99, "pairs": pairs}]}
    how: dict[str, Any] = {**WORDS, "policy": policy, "bootstrap": 0, "reference": "g0", "min_group_size": 20}
    assert evenhand.check(data, **how).passed
    verdict = evenhand.check(data, **how, cluster="c")
    (small,) = verdict.failing
    assert (small.group, small.status) == ("g2", "too small")
    assert "'g2' has 5 people by 'c', fewer than the 20 required" in small.interpretation
    assert evenhand.check(data, **how, cluster="c", small_groups="skip").passed


def test_without_intervals_nothing_is_shown() -> None:
    rule = "abcc <= 0.99 at 95%"
    verdict = evenhand.check(evenhand.compas(), require=rule, bootstrap=0)
    (f,) = verdict.findings
    assert (f.status, verdict.passed, f.ci) == ("not shown", False, None)
    assert "no interval" in f.interpretation
    assert evenhand.check(evenhand.compas(), require="abcc <= 0.99", bootstrap=0).passed


@pytest.mark.parametrize("how", ["option", "policy"])
def test_without_resamples_no_view_looks_certain(compas: Path, how: str) -> None:
    options: dict[str, Any] = {"bootstrap": 0, "require": ["abcc <= 0.2", "equal_opportunity <= 0.3"]}
    if how == "policy":
        rules = [{"measure": "abcc", "at_most": 0.2}, {"measure": "equal_opportunity", "at_most": 0.3}]
        options = {"policy": {"audit": {"bootstrap": 0}, "rule": rules}}
    verdict = evenhand.check(compas, threshold=5, **options)
    document = verdict.to_dict()
    assert [f["without_interval"] for f in document["findings"]] == [True, False]
    assert "without interval" in document["findings"][0]["interpretation"]
    assert document["interpretation"].endswith("2 comparisons, 1 of them without interval.")
    assert "satisfied, without interval" in verdict.to_markdown()
    assert verdict.to_annotations().count("::warning ") == 1
    assert "(without interval)" in verdict.to_annotations()
    assert "(without interval)" in verdict.to_junit()
    assert "satisfied race" in str(verdict)
    check_schema(document, evenhand.schema("check"))


def test_without_resamples_the_reason_is_said(compas: Path) -> None:
    at_95 = run("check", compas, "--require", "abcc <= 0.2 at 95%", "--bootstrap", 0)
    ended(at_95, 1, "1 not shown", "no interval to judge by: no resamples are drawn (bootstrap = 0)")
    ended(
        run("check", compas, "--require", "abcc <= 0.1", "--bootstrap", 0), 1, "violated race", "(without interval)",
    )  # fmt: skip


@pytest.mark.parametrize("threshold", [-1.0, 2.0])
def test_a_decision_that_is_the_same_for_all_is_no_reason_to_pass(threshold: float) -> None:
    rule = ["demographic_parity <= 0.1", "abcc <= 0.99"]
    verdict = evenhand.check(people(300), require=rule, **WORDS, threshold=threshold, bootstrap=50)
    assert [f.status for f in verdict.findings] == ["undefined"] * 2 + ["satisfied"] * 2
    assert "receives the favourable decision" in verdict.findings[0].interpretation
    constant = {**people(300), "s": np.full(300, 0.5)}
    verdict = evenhand.check(constant, require="abcc <= 0.1", **WORDS, score_range=(0, 1), bootstrap=50)
    assert not verdict.passed
    assert "the same for everybody" in verdict.findings[0].interpretation


def test_a_group_that_missing_values_took_away() -> None:
    data: dict[str, Any] = people(300)
    data["y"] = np.where(data["g"] == "g2", np.nan, data["y"])
    how = {**WORDS, "require": "equal_opportunity <= 0.9", "missing": "drop", "bootstrap": 50}
    verdict = evenhand.check(data, **how)
    assert {f.group: f.status for f in verdict.findings} == {"g2": "undefined", "g0": "satisfied"}
    assert evenhand.check(data, **how, undefined="skip").passed


@pytest.mark.parametrize("also", ["", " × z"])
def test_a_product_that_was_taken_away_is_called_as_the_others(also: str) -> None:
    """In quotes only where the others are; who has no group at all is none of them."""
    data: dict[str, Any] = people(600, groups=2)
    data["g"] = np.where(data["g"] == "g0", "it's", "b" + also).astype(object)
    data["h"] = np.where(data["h"] == "x", "z × x" if also else "x", "x").astype(object)
    if also:  # 'b × z' × 'x' and 'b' × 'z × x' would be called alike
        data["g"][:150] = "b"
    else:
        data["h"] = people(600)["h"].astype(object)
    gone = (data["g"] == "it's") & (data["h"] == "x")
    data["y"] = np.where(gone, np.nan, data["y"])
    data["h"][0] = None
    how: dict[str, Any] = {**WORDS, "group": ["g", "h"], "require": "demographic_parity <= 0.99 for g × h"}
    verdict = evenhand.check(data, **how, missing="drop", bootstrap=0)
    lost = [f.group for f in verdict.findings if f.status == "undefined"]
    assert lost == ["\"it's\" × 'x'" if also else "it's × x"]


def test_small_groups_are_noted_once() -> None:
    """Audits at several levels find several groups too small."""
    data: dict[str, Any] = people(800)
    data["g"] = np.repeat(list("abcdefgh"), [540, 5, 10, 20, 30, 45, 60, 90])
    levels = ("80%", "95%", "99.9%")
    found = [
        evenhand.check(data, require=[f"demographic_parity <= 0.9 at {at}" for at in chosen], **WORDS, bootstrap=0)
        for chosen in (levels[:1], levels[1:2], levels[2:], levels)
    ]
    notes = [[note for note in verdict.notes if note.startswith("too small")] for verdict in found]
    assert len({note for told in notes[:3] for note in told}) > 1
    assert notes[3] == ["too small to conclude anything, by 'g': 'b', 'c', 'd', 'e', 'f'"]


@pytest.mark.parametrize("judge", ["value", "interval"])
@pytest.mark.parametrize("pairs", ["reference", "all"])
def test_some_against_none_is_the_worst_ratio(judge: str, pairs: str) -> None:
    """An audit cannot divide by the reference; skipping what is undefined must not let that pass."""
    data = {"g": list("ffm"), "d": [1, 0, 0], "w": [50, 50, 200]}
    ratio = {"measure": "disparate_impact", "at_least": 0.8, "pairs": pairs, "judge": judge}
    policy = {"rule": [{"measure": "demographic_parity", "at_most": 0.99}, ratio]}
    verdict = evenhand.check(data, policy=policy, **HOW, undefined="skip")
    assert [f.status for f in verdict.findings] == ["satisfied", "violated"]
    assert verdict.findings[1].value == 0.0


def test_what_could_not_be_compared_is_said() -> None:
    data = people(400, groups=2)
    data["s"] = np.where(data["g"] == "g0", data["s"] / 2, data["s"])
    (f,) = evenhand.check(data, require="calibration_uniform <= 0.9", **WORDS, bootstrap=50).findings
    assert "left out of this" in f.interpretation


def test_arrays_instead_of_columns() -> None:
    data = people(300)
    arrays = {"score": data["s"], "label": data["y"], "group": data["g"]}
    how: dict[str, Any] = {"require": ["abcc <= 0.2 at 95%"], "bootstrap": 50}
    one, two = evenhand.check(**arrays, **how), evenhand.check(data, **WORDS, **how)
    assert [(f.group, f.value, f.ci) for f in one.findings] == [(f.group, f.value, f.ci) for f in two.findings]
    decided = evenhand.check(prediction=data["d"], group=data["g"], require="disparate_impact >= 0.01")
    assert decided.passed


def test_verdicts_repeat_themselves() -> None:
    how: dict[str, Any] = {"require": ["abcc <= 0.1 at 95%", "roc <= 0.1 above chance"], "bootstrap": 50}
    how |= {**WORDS, "permutations": 99}
    one, two = (evenhand.check(people(200), **how, rng=5).to_json() for _ in range(2))
    assert one == two
    generators = [evenhand.check(people(200), **how, rng=np.random.default_rng(5)) for _ in range(2)]
    assert generators[0].to_json() == generators[1].to_json()
    assert generators[0].findings[0].ci == evenhand.check(people(200), **how, rng=5).findings[0].ci


def test_many_classes_and_several_models_are_refused() -> None:
    data = {"y": list("abcabc"), "p": list("abccba"), "g": list("ffmmfm"), "s": [0.1] * 6, "t": [0.2] * 6}
    with pytest.raises(UsageError, match="two values"):
        evenhand.check(data, label="y", prediction="p", group="g", require="abcc <= 0.1")
    with pytest.raises(UsageError, match="one score"):
        evenhand.check(data, score=["s", "t"], group="g", require="abcc <= 0.1")


def test_too_many_groups_are_never_passed_over() -> None:
    n = 200
    rng = np.random.default_rng(0)
    data = {"s": rng.random(n * 150), "a": np.arange(n * 150) % 150, "b": np.arange(n * 150) // 150}
    words: dict[str, Any] = {"score": "s", "group": ["a", "b"], "bands": "none", "bootstrap": 0}
    verdict = evenhand.check(data, **words, require="demographic_parity <= 0.99 for a")
    assert verdict.passed
    with pytest.raises(UsageError, match="too many to compare"):
        evenhand.check(data, **words, require="demographic_parity <= 0.99")


# ---- what would settle it -----------------------------------------------------------------------------------------


def drawn(rng: np.random.Generator, n: tuple[int, int], rates: tuple[float, float]) -> dict[str, Any]:
    hits = [rng.binomial(size, rate) for size, rate in zip(n, rates, strict=True)]
    rows = [("f", 1, hits[0]), ("f", 0, n[0] - hits[0]), ("m", 1, hits[1]), ("m", 0, n[1] - hits[1])]
    g, d, w = zip(*rows, strict=True)
    return {"g": list(g), "d": list(d), "w": list(w)}


HOW: dict[str, Any] = {"prediction": "d", "group": "g", "weight": "w", "bootstrap": 0, "reference": "m"}


@pytest.mark.parametrize(
    ("rule", "rates", "beyond"),
    [
        ("demographic_parity <= 0.1 at 95%", (0.44, 0.5), False),
        ("demographic_parity <= 0.1 at 90%", (0.955, 0.87), False),
        ("disparate_impact >= 0.8 at 95%", (0.45, 0.5), False),
        ("demographic_parity <= 0.1 at 95%", (0.35, 0.5), True),
        ("disparate_impact >= 0.8 at 95%", (0.35, 0.5), True),
        ("demographic_parity <= 0.05, of few people", (5 / 12, 0.5), True),
        ("disparate_impact >= 0.95, of few people", (13 / 30, 0.5), True),
        ("demographic_parity <= 0.1 at 95%, of few people", (7 / 15, 0.5), False),
        ("demographic_parity <= 0.1 at 95%, of few people", (0.5, 0.5), False),
    ],
)
def test_the_sample_that_is_named_settles_it_four_times_of_five(
    rule: str, rates: tuple[float, float], beyond: bool
) -> None:
    rule, few, _ = rule.partition(", of few people")  # whose interval holds parity
    n = (60, 300) if few else (400, 800)
    hits = [round(size * rate) for size, rate in zip(n, rates, strict=True)]
    first = {"g": list("ffmm"), "d": [1, 0, 1, 0], "w": [hits[0], n[0] - hits[0], hits[1], n[1] - hits[1]]}
    (f,) = evenhand.check(first, require=rule, **HOW).findings
    if f.conclusive:  # as the rule was met by all of the interval, or by none
        pytest.fail("the example settles itself")
    assert f.needed is not None
    assert f.ci is not None
    assert not few or f.ci[0] == 0 or f.ci[1] == 1
    assert f.status == ("violated" if beyond else "not shown")
    rng = np.random.default_rng(1)
    settled = 0
    for _ in range(200):
        (again,) = evenhand.check(drawn(rng, (f.needed.n, f.needed.n_reference), rates), require=rule, **HOW).findings
        settled += again.conclusive is True and again.status == ("violated" if beyond else "satisfied")
    assert 0.71 <= settled / 200 <= 0.89


def test_wrong_passes_are_as_rare_as_the_level_says() -> None:
    """Two groups are on the limit and one within: at 95% all three must show it, which no correction is needed for."""
    rng = np.random.default_rng(2)
    passed = 0
    for _ in range(400):
        w = [rng.binomial(500, p) for p in (0.5, 0.4, 0.4, 0.5)]
        data = {"g": list("aabbccdd"), "d": [1, 0] * 4, "w": [n for x in w for n in (x, 500 - x)]}
        passed += evenhand.check(data, require="demographic_parity <= 0.1 at 95%", **{**HOW, "reference": "a"}).passed
    assert passed / 400 <= 0.05


def test_less_than_chance_shows_has_a_sample_too() -> None:
    """Information is the square of a distance; what is below chance has no root."""
    found = [
        evenhand.check(
            {**people(60, 2, seed), "g": people(60, 2, seed + 99)["g"]}, **WORDS, bootstrap=50,
            require="mutual_information <= 0.1 above chance",
        )
        for seed in range(4)
    ]  # fmt: skip
    below = [f for verdict in found for f in verdict.findings if f.judged < 0 and f.conclusive is False]
    assert below
    assert all(f.needed is not None and f.needed.factor > 1 for f in below)


def test_no_sample_settles_what_lies_on_the_limit() -> None:
    data = {"g": list("ffmm"), "d": [1, 0, 1, 0], "w": [40, 60, 50, 50]}
    (f,) = evenhand.check(data, require="demographic_parity <= 0.1", **HOW).findings
    assert (f.status, f.conclusive, f.needed) == ("satisfied", False, None)
    assert "no sample would settle it" in f.interpretation


def test_of_a_ratio_of_nothing_no_sample_is_told() -> None:
    """It has no logarithm, and is nowhere near the limit."""
    data = {"g": list("ffmm"), "d": [1, 0, 1, 0], "w": [0, 2, 50, 50]}
    (f,) = evenhand.check(data, require="disparate_impact >= 0.8", **HOW).findings
    assert (f.status, f.value, f.conclusive, f.needed, f.on_limit) == ("violated", 0.0, False, None, False)
    assert f.interpretation.endswith("The interval reaches across the limit.")


@pytest.mark.parametrize("words", [" at 95%", " above chance"])
def test_a_ratio_to_nothing_says_why_there_is_no_interval(words: str) -> None:
    data = {"g": list("ffm"), "d": [1, 0, 0], "w": [50, 50, 200]}
    (f,) = evenhand.check(data, require="disparate_impact >= 0.8" + words, permutations=99, **HOW).findings
    assert not f.passes
    assert "to judge by: the selection rate of m is 0." in f.interpretation


@pytest.mark.parametrize("id_", ["abcc", "demographic_parity"])
def test_above_chance_the_interval_is_above_chance_too(id_: str) -> None:
    how: dict[str, Any] = {**WORDS, "threshold": 0.5, "bootstrap": 50, "permutations": 99}
    data = people(120, groups=2)
    (f,) = evenhand.check(data, require=f"{id_} <= 0.69 above chance", **how).findings
    assert f.ci is not None
    assert f.null_mean is not None
    between = f.ci[1] - f.null_mean / 2
    (f,) = evenhand.check(data, require=f"{id_} <= {between} above chance", **how).findings
    assert (f.status, f.conclusive) == ("satisfied", True)
    assert f"{f.ci[1] - f.null_mean:.3f})" in f.interpretation


# ---- pipelines ----------------------------------------------------------------------------------------------------

HOSTILE = [
    "::error::x",
    "a\nb,c:d%0A",
    "</testcase>]]><x>&\"'",
    "\x00\x0b\x1b[31m\ud800",
    "##[set-env]\r::stop-commands::t",
    "é漢",
]


@pytest.fixture
def hostile() -> Verdict:
    n = 40 * len(HOSTILE)
    rng = np.random.default_rng(0)
    names = np.array(HOSTILE, object)[np.arange(n) % len(HOSTILE)]
    data = {"s": rng.random(n), "y": rng.integers(0, 2, n), "g": names}
    policy = {
        "policy": {"name": "<name> & \x01 ::x::"},
        "rule": [{"measure": "demographic_parity", "at_most": 0.01, "reason": "because\n::error::\x02 <b>"}],
    }
    return evenhand.check(data, **WORDS, policy=policy, require=["abcc <= 0.9 at 95%", "abcc <= 0.08"], bootstrap=50)


def test_junit_of_hostile_names(hostile: Verdict, tmp_path: Path) -> None:
    path = tmp_path / "out.xml"
    assert hostile.to_junit(path) == path.read_text(encoding="utf-8")
    root = ElementTree.parse(path).getroot()
    cases = list(root.iter("testcase"))
    assert len(cases) == len(hostile.findings)
    assert len({(c.get("classname"), c.get("name")) for c in cases}) == len(cases)
    failures = [c.find("failure") for c in cases if c.find("failure") is not None]
    assert str(len(failures)) == root.get("failures") == root[0].get("failures")
    assert {f.get("type") for f in failures if f is not None} == {f.status for f in hostile.failing}


def test_annotations_of_hostile_names(hostile: Verdict) -> None:
    lines = hostile.to_annotations().split("\n")
    assert lines.pop() == ""
    assert "".join(hostile.to_annotations().splitlines()) == "".join(lines)
    errors = [line for line in lines if line.startswith("::error ")]
    assert errors[0].startswith("::error title=evenhand check::FAIL: ")
    assert len(errors) <= 10
    for line in lines:
        command, properties, message = line[2:].partition("::")[0], *line[2:].split("::", 1)
        assert command.split(" ", 1)[0] in ("error", "warning", "notice")
        assert properties.count("=") >= 1
        assert "\r" not in message


def test_the_text_holds_no_commands(hostile: Verdict) -> None:
    text = repr(hostile)
    assert not re.search(r"^\s*::", text, re.MULTILINE)
    assert "##[" not in text
    assert all(line.isprintable() for line in text.splitlines())
    check_schema(hostile.to_dict(), evenhand.schema("check"))


def test_markdown_of_hostile_names(hostile: Verdict, tmp_path: Path) -> None:
    text = hostile.to_markdown(tmp_path / "out.md")
    assert (tmp_path / "out.md").read_text(encoding="utf-8") == text
    assert all(line.isprintable() for line in text.splitlines())
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    assert lines[0] == "| rule | comparison | status | value | limit | interval | verdict |"
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines[1:]]
    assert len(cells) == len(hostile.findings)
    assert {len(row) for row in cells} == {7}
    failing = ["**" in row[2] for row in cells]
    assert failing == sorted(failing, reverse=True)
    assert sum(failing) == len(hostile.failing)
    assert "<b>" not in text
    assert "<name>" not in text
    assert "<x>" not in text
    assert "demographic\\_parity &lt;= 0.01" in text


def test_markdown_fits_a_comment() -> None:
    data = people(6000, groups=150)
    verdict = evenhand.check(data, require="demographic_parity <= 0.001", **WORDS, bootstrap=0)
    text = verdict.to_markdown()
    assert len(text) < 65_536
    assert "49 more are not shown" in text


def test_annotations_name_the_line_of_the_policy(tmp_path: Path) -> None:
    path = toml(tmp_path, '\n[[rule]]\nmeasure = "abcc"\nat_most = 0.1\n', "my, policy: 50%.toml")
    lines = evenhand.check(evenhand.compas(), policy=path).to_annotations().splitlines()
    assert lines[1].startswith("::error file=")
    assert "my%2C policy%3A 50%25.toml,line=2,title=violated%3A abcc <= 0.1::race: " in lines[1]
    passed = evenhand.check(evenhand.compas(), require="abcc <= 0.9").to_annotations()
    assert passed == "::notice title=evenhand check::PASS: 1 of 1 rules met in 1 comparison.\n"


def test_many_findings_are_told_in_few_lines() -> None:
    data = people(4000, groups=40)
    verdict = evenhand.check(data, require="demographic_parity <= 0.001", **WORDS, bootstrap=0)
    assert len(verdict.failing) > 30
    lines = verdict.to_annotations().splitlines()
    assert sum(line.startswith("::error ") for line in lines) == 10
    assert "more: see the log" in lines[-1]
    assert "more (--json has them)" in repr(verdict)
    assert len(verdict.to_dict()["findings"]) == 39


def test_skipped_and_nothing_judged_in_junit() -> None:
    verdict = evenhand.check(evenhand.compas(), require="abcc <= 0.9", min_group_size=10**6, small_groups="skip")
    root = ElementTree.fromstring(verdict.to_junit().encode())
    assert (root.get("tests"), root.get("skipped"), root.get("failures")) == ("2", "1", "1")
    assert verdict.exit_code == 1
    assert "nothing was judged" in verdict.to_annotations()


# ---- real data ------------------------------------------------------------------------------------------------------


def test_compas_with_all_races(data_folder: Path, tmp_path: Path) -> None:
    text = """
[policy]
min_group_size = 40
small_groups = "skip"
[audit]
score = "decile_score"
label = "two_year_recid"
favorable = 0
risk = true
group = "race"
threshold = 5
reference = "Caucasian"
[[rule]]
measure = "disparate_impact"
at_least = 0.8
"""
    path = data_folder / "compas-scores-two-years.csv"
    result = run("check", path, "--policy", toml(tmp_path, text), "--json", "-")
    document = json.loads(result.stdout)
    assert result.returncode == 1
    assert {f["group"]: f["status"] for f in document["findings"]} == {
        "African-American": "violated", "Hispanic": "satisfied", "Other": "satisfied", "Asian": "skipped",
        "Native American": "skipped",
    }  # fmt: skip
    by = {f["group"]: f["by"] for f in document["findings"]}
    assert by["African-American"] == pytest.approx(0.168, abs=5e-4)
