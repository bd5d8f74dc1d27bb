"""Policies as text: what is read, what is refused, and on which line."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import evenhand
from conftest import people
from evenhand.analyses.check.policy_file import rulebook
from evenhand.analyses.check.rule import rules_of
from evenhand.analyses.check.template import STARTER
from evenhand.analyses.requirement import required
from evenhand.errors import UsageError
from evenhand.files.toml_lines import lines_of

RULE = '[[rule]]\nmeasure = "abcc"\nat_most = 0.1\n'


# ---- lines --------------------------------------------------------------------------------------------------------


def paths(value: Any, path: tuple[str | int, ...] = ()) -> set[tuple[str | int, ...]]:
    """Every key and place that leads somewhere."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return {path, *(found for key, inner in inside for found in paths(inner, (*path, key)))}


def test_lines_of_a_text_with_everything() -> None:
    text = '''# [[rule]] in a comment
title = "a # no comment" # x = 1
[policy]
name = """many
lines = 1
[[rule]] \\""" still
"""
other = \'\'\'
raw = "x"
\'\'\'
"quoted key" = 1
'literal.key' = { inner = [1, 2], deep = { a = "}" } }
a.b."c.d" = 1979-05-27 07:32:00
[audit] # a comment ]
group = [ # why
  "one", # "two",
  'three',
  { x = 1, y = "," },
]
[[rule]]
measure = "abcc"
[rule.sub]
x = 1
  [[rule]]
  at_most=0.1
[[rule.deep]]
y = 2
[[rule.deep]]
y = 3
'''
    for ending in ("\n", "\r\n"):
        found = lines_of(text.replace("\n", ending))
        assert found[("title",)] == 2
        assert found[("policy", "name")] == 4
        assert found[("policy", "other")] == 8
        assert found[("policy", "quoted key")] == 11
        assert found[("policy", "literal.key", "deep", "a")] == 12
        assert found[("policy", "a", "b", "c.d")] == 13
        assert found[("audit", "group", 1)] == 17
        assert found[("audit", "group", 2, "y")] == 18
        assert found[("rule", 0, "measure")] == 21
        assert found[("rule", 0, "sub", "x")] == 23
        assert found[("rule", 1, "at_most")] == 25
        assert found[("rule", 1, "deep", 1, "y")] == 29
        known = {p for p in paths(tomllib.loads(text)) if p}
        assert set(found) <= known
        assert {p for p in known - set(found)} == {("rule",), ("rule", 1, "deep")}  # they stand for their members


KEYS = st.one_of(
    st.from_regex(r"[a-z0-9_-]{1,6}", fullmatch=True),
    st.text('ab.#="[]{}\n\\', min_size=1, max_size=5).map(lambda s: '"' + re.sub(r'(["\\])', r"\\\1", s) + '"').map(
        lambda s: s.replace("\n", "\\n")
    ),
    st.text('ab.#="[]{}', min_size=1, max_size=5).map(lambda s: f"'{s}'"),
)  # fmt: skip
SCALARS = st.sampled_from(
    ["1", "-0.5e3", "true", "1979-05-27T07:32:00Z", '"a # b"', '"\\""', "'[['", '"""\n[[x]]\n"" # y\n"""', "''''x''''",
     "'''\nk = 1\n'''", '""""quoted""""', "inf"]
)  # fmt: skip


@st.composite
def values(draw: Any, depth: int = 2) -> str:
    if depth == 0 or draw(st.booleans()):
        return str(draw(SCALARS))
    inner = draw(st.lists(values(depth - 1), max_size=3))
    if draw(st.booleans()):
        joint = draw(st.sampled_from([", ", ",\n  ", ", # ]\n"]))
        return "[" + joint.join(inner) + "]"
    keys = draw(st.lists(KEYS, min_size=len(inner), max_size=len(inner), unique=True))
    return "{" + ", ".join(f"{k} = {v}" for k, v in zip(keys, inner, strict=True)) + "}"


@st.composite
def documents(draw: Any) -> tuple[str, list[tuple[int, str]]]:
    """A text, and on which line each of its statements begins."""
    text, starts = "", []
    for table in range(draw(st.integers(0, 3))):
        header = draw(st.sampled_from([f"[t{table}]", "[[many]]", f"[[many]] # [x]\n\n# {table}", f"[ 'u.{table}' ]"]))
        text += header + "\n"
        for key in draw(st.lists(KEYS, max_size=3, unique=True)):
            text += draw(st.sampled_from(["", "\n", "  # c = 1\n", "\t"]))
            starts.append((text.count("\n") + 1, key))
            text += f"{key} = {draw(values())}\n"
    return text, starts


@given(documents())
@settings(max_examples=200, deadline=None)
def test_every_key_is_found_on_its_line(document: tuple[str, list[tuple[int, str]]]) -> None:
    text, starts = document
    try:
        parsed = tomllib.loads(text)
    except tomllib.TOMLDecodeError:  # two keys that are the same, spelt differently
        return
    found = lines_of(text)
    known = {p for p in paths(parsed) if p}
    assert set(found) <= known
    assert {p for p in known - set(found)} <= {("many",)}
    lines = {}
    for line, key in starts:
        lines.setdefault(tomllib.loads(f"{key} = 1").popitem()[0], []).append(line)
    for path, line in found.items():
        if len(path) == (3 if path[0] == "many" else 2):
            assert line in lines[path[-1]]


# ---- what is read -------------------------------------------------------------------------------------------------


def policy(tmp_path: Path, text: str, name: str = "policy.toml") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return path


def test_a_whole_policy(tmp_path: Path) -> None:
    text = """
[policy]
name = "lending"
undefined = "skip"
min_group_size = 50
small_groups = "skip"
confidence = 0.9
[audit]
score = "p"
group = ["sex", "region"]
favorable = 1
threshold = 0.5
reference = { sex = "m" }
seed = 3
[[rule]]
measure = "disparate_impact"
at_least = 0.8
attribute = "sex"
groups = ["f", 1, true]
reason = "four fifths"
[[rule]]
measure = "abcc"
at_most = 0
judge = "interval"
pairs = "all"
undefined = "fail"
[[rule]]
measure = "abcc"
at_most = 0.05
judge = "excess"
attribute = ["sex", "region"]
"""
    book = rulebook(policy(tmp_path, text))
    assert (book.name, book.undefined, book.min_group_size, book.small_groups) == ("lending", "skip", 50, "skip")
    assert [str(rule) for rule in book.rules] == [
        "disparate_impact >= 0.8 for sex: f, 1, True",
        "abcc <= 0 at 90%, any two groups",
        "abcc <= 0.05 above chance for sex, region",
    ]
    assert [rule.line for rule in book.rules] == [15, 21, 27]
    assert (book.rules[0].reason, book.rules[1].undefined) == ("four fifths", "fail")
    assert book.audit["reference"] == {"sex": "m"}
    again = rulebook(policy(tmp_path, "\ufeff" + text.replace("\n", "\r\n"), "windows.toml"))
    assert again.rules == book.rules
    assert [rule.line for rule in again.rules] == [15, 21, 27]
    assert rulebook(tomllib.loads(text)).rules == book.rules
    words = rulebook(policy(tmp_path, text), undefined="fail", min_group_size=10, options={"threshold": 0.3})
    assert (words.undefined, words.min_group_size, words.audit["threshold"], words.audit["score"]) == (
        "fail", 10, 0.3, "p")  # fmt: skip


def test_the_starter_is_valid_also_with_all_that_is_commented_out(tmp_path: Path) -> None:
    assert len(rulebook(policy(tmp_path, STARTER)).rules) == 2
    everything = re.sub(r"(?m)^# (?=\[\[rule\]\]|\w+ = )", "", STARTER)
    everything = re.sub(r'(?m)^judge = "\w+"  .*$', "", everything)
    assert len(rulebook(policy(tmp_path, everything, "all.toml")).rules) == 5


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('[[rule]]\nmeasure = "abccc"\nat_most = 0.1', 2, "no measure 'abccc'.*did you mean 'abcc'"),
        ('[[rule]]\nmeasure = 3\nat_most = 0.1', 2, "measure is a text"),
        ('[[rule]]\nat_most = 0.1', 1, "names its measure"),
        ('[[rule]]\nmeasure = "abcc"', 2, "no limit.*at_most = 0.1"),
        ('[[rule]]\nmeasure = "abcc"\nat_most = "0.1"', 3, "is a number"),
        ('[[rule]]\nmeasure = "abcc"\nat_most = nan', 3, "is a number"),
        ('[[rule]]\nmeasure = "abcc"\n\nat_most = -inf', 4, "is a number"),
        ('[[rule]]\nmeasure = "abcc"\nat_most = true', 3, "is a number"),
        ('[[rule]]\nmeasure = "abcc"\nat_most = -0.1', 3, "not below 0"),
        ('[[rule]]\nmeasure = "abcc"\nat_most = 10', 3, "never above 1"),
        (f'[[rule]]\nmeasure = "abcc"\nat_most = 1{"0" * 400}', 3, "at_most is a number"),
        ('[[rule]]\nmeasure = "disparate_impact"\nat_least = 80', 3, "between 0 and 1"),
        ('[[rule]]\nmeasure = "disparate_impact"\nat_most = 0.8', 3, "a ratio.*at_least"),
        ('[[rule]]\nmeasure = "abcc"\nat_least = 0.8', 3, "a gap.*at_most"),
        (RULE + "limit = 3", 4, "unknown key 'limit'"),
        (RULE + "jugde = 'value'", 4, "did you mean 'judge'"),
        (RULE + "judge = 'intervall'", 4, "did you mean 'interval'"),
        (RULE + "judge = 1", 4, "judge is one of"),
        (RULE + "confidence = 0.95", 4, "level of an interval"),
        (RULE + "judge = 'interval'\nconfidence = 95", 5, "confidence must be"),
        (RULE + "judge = 'interval'\nconfidence = '95%'", 5, "confidence must be"),
        (RULE + "pairs = 'any'", 4, "pairs is one of"),
        (RULE + "groups = 'f'", 4, "a list of names"),
        (RULE + "groups = []", 4, "a list of names"),
        (RULE + "groups = ['f', 'f']", 4, "names one twice"),
        (RULE + "groups = [inf]", 4, "a list of names"),
        (RULE + "groups = ['f']\npairs = 'all'", 4, "compared with the reference"),
        (RULE + "attribute = []", 4, "a name, or a list"),
        (RULE + "attribute = 3", 4, "a name, or a list"),
        (RULE + "attribute = ['a', 'b']\ngroups = ['f']", 5, "of one attribute"),
        (RULE + "undefined = 'pass'", 4, "'fail', 'skip'"),
        (RULE + "reason = 3", 4, "reason is a text"),
        (RULE + "\n" + RULE, 5, "rule 1 is about the same"),
        (RULE + "\n" + RULE.replace("0.1", "0.2"), 5, "rule 1 is about the same"),
        ("[rule]\nmeasure = 'abcc'", 1, "two brackets"),
        ("rule = 3", 1, "write \\[\\[rule\\]\\]"),
        ("rule = [3]", 1, "write \\[\\[rule\\]\\]"),
        ("rules = 3", 1, "unknown key 'rules'.*did you mean 'rule'"),
        ("[rules.x]\n" + RULE, 1, "unknown key 'rules'"),
        ("policy = 1\n" + RULE, 1, "is a table"),
        ("[policy]\nmin_group_size = 1.5\n" + RULE, 2, "whole number"),
        ("[policy]\nmin_group_size = -1\n" + RULE, 2, "whole number"),
        ("[policy]\nmin_group_size = true\n" + RULE, 2, "whole number"),
        ("[policy]\nundefined = 'ignore'\n" + RULE, 2, "'fail', 'skip'"),
        ("[policy]\nsmall_groups = false\n" + RULE, 2, "'fail', 'skip'"),
        ("[policy]\nname = ''\n" + RULE, 2, "name is a text"),
        ("[policy]\nconfidence = 0.2\n" + RULE, 2, "confidence must be"),
        ("[policy]\nnmae = 'x'\n" + RULE, 2, "did you mean 'name'"),
        ("[audit]\nscores = 'p'\n" + RULE, 2, "did you mean 'score'"),
        ("[audit]\nscore = 3\n" + RULE, 2, "score is a text"),
        ("[audit]\nscore = ['a', 'b']\n" + RULE, 2, "score is a text"),
        ("[audit]\ngroup = [1]\n" + RULE, 2, "group is the name"),
        ("[audit]\nthreshold = nan\n" + RULE, 2, "threshold must be"),
        ("[audit]\nthreshold = '5'\n" + RULE, 2, "threshold must be"),
        ("[audit]\nbootstrap = -1\n" + RULE, 2, "bootstrap must be"),
        ("[audit]\nseed = 'x'\n" + RULE, 2, "rng"),
        ("[audit]\nrisk = 1\n" + RULE, 2, "true or false"),
        ("[audit]\nmissing = 'ignore'\n" + RULE, 2, "'refuse', 'drop'"),
        ("[audit]\nscore_range = [0, 1, 2]\n" + RULE, 2, "two numbers"),
        ("[audit]\nscore_range = [0, inf]\n" + RULE, 2, "two numbers"),
        ("[audit]\nwhere = 'x'\n" + RULE, 2, "where is a table"),
        ("[audit]\nfavorable = [1]\n" + RULE, 2, "favorable is one value"),
        ("[audit]\nreference = ['m']\n" + RULE, 2, "reference is a group"),
        ("[audit]\nweight_kind = 'w'\n" + RULE, 2, "weight_kind is one of"),
        ("[audit]\npermutations = 0\n" + RULE + "judge = 'excess'", 6, "permuted group labels"),
        (
            "[audit]\npermutations = 98\n" + RULE + "judge = 'excess'",
            6,
            "at least 99 tables with permuted group labels",
        ),
        ("[audit]\nbootstrap = 38\n" + RULE + "judge = 'interval'", 6, "at least 39 resamples"),
        (RULE + "judge = 'interval'\nconfidence = 0.999", 4, "at least 1,999 resamples"),
        ('[[rule]]\nmeasure = "abcc"\nat_most = 1', 3, "never above 1"),
        (RULE + "groups = [\n'f', # x\n'f']", 6, "names one twice"),
        (RULE + "groups = [\n'f',\ninf]", 6, "a list of names"),
        (RULE + "judge = ", 4, "no valid TOML"),
        (RULE + "judge = 'value", 4, "no valid TOML"),
        (RULE + "at_most = 0.1", 4, "no valid TOML"),
        ("[policy]\nname = '''never ends\n\n", 2, "no valid TOML"),
        (RULE + "reason = '\udcff\udcfe'", 4, "UTF-8"),
        ("\udcff\udcfe[\0r\0u\0l\0e\0", 1, "UTF-8"),
        ("PAR1\0\0\0", 1, "no valid TOML"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    with pytest.raises(UsageError, match=message) as error:
        rulebook(policy(tmp_path, text))
    found = re.search(r"policy\.toml, line (\d+): ", str(error.value))
    assert found is not None, error.value
    assert int(found[1]) == line


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('group = [\n"g",\n"regoin"]\nscore = "s"', 4, "no column 'regoin'"),
        ('group = "gg"\nscore = "s"', 2, "no column 'gg'"),
        ('group = "g"\nscore = "pp"', 3, "no column 'pp'"),
        ('group = "g"\nscore = "s"\n\nlabel = "yy"', 5, "no column 'yy'"),
        ('group = "g"\nscore = "s"\nwhere = { gg = "g1" }', 4, "no column 'gg'"),
        ('group = "g"\nscore = "s"\nwhere = { g = "g7" }', 4, "no row has 'g7'"),
        ('group = "g"\nscore = "s"\n[audit.reference]\ng = "g7"', 5, "g7"),
        ('group = "g"\nscore = "s"\n[[rule]]\nmeasure = "abcc"\nat_most = 0.2\ngroups = [\n"g0",\n\n"g7"]', 10, "'g7'"),
        ('group = "g"\nscore = "s"\n[[rule]]\nmeasure = "abcc"\nat_most = 0.2\nattribute = [\n"g",\n"k"]', 9, "'k'"),
    ],
)
@pytest.mark.parametrize("kind", ["file", "dict"])
def test_names_that_the_data_do_not_have_are_told_with_their_line(
    tmp_path: Path, text: str, line: int, message: str, kind: str
) -> None:
    data: Any = people(30)
    if kind == "file":
        rows = ["s,y,g", *(f"{s},{y},{g}" for s, y, g in zip(data["s"], data["y"], data["g"], strict=True))]
        data = policy(tmp_path, "\n".join(rows) + "\n", "rows.csv")
    with pytest.raises(UsageError, match=message) as error:
        evenhand.check(data, policy=policy(tmp_path, f"[audit]\n{text}\n{RULE}"), bootstrap=0)
    assert f"policy.toml, line {line}: " in str(error.value)


def test_what_the_policy_does_not_say_has_no_line(tmp_path: Path) -> None:
    path = policy(tmp_path, f'[audit]\ngroup = "g"\nscore = "pp"\n{RULE}')
    with pytest.raises(UsageError, match="no column 'sss'") as error:
        evenhand.check(people(30), policy=path, score="sss")
    assert "line" not in str(error.value)
    table = evenhand.tabulate(people(30), score="s", group="g")
    with pytest.raises(UsageError, match=r"line 3: score is said to be 'pp', but the table was counted with 's'"):
        evenhand.check(table, policy=path)


@pytest.mark.parametrize("text", ["", "\n# nothing\n", "[policy]\nname = 'x'\n", "rule = []"])
def test_a_policy_without_rules_is_none(tmp_path: Path, text: str) -> None:
    for require in ((), "abcc <= 0.1"):
        with pytest.raises(UsageError, match="has no rules"):
            rulebook(policy(tmp_path, text), require)


def test_policies_that_are_no_files(tmp_path: Path) -> None:
    for stated, message in (
        (tmp_path / "none.toml", "cannot read the policy"),
        (tmp_path, "cannot read the policy"),
        (3, "path of a TOML file"),
        ({"rule": [{"measure": "x", "at_most": 1}]}, "policy, rule 1: there is no measure"),
        ({}, "the policy has no rules"),
        ({3: 4}, "unknown key 3"),
    ):
        with pytest.raises(UsageError, match=message):
            rulebook(stated)
    with pytest.raises(UsageError, match="nothing to check"):
        rulebook()
    with pytest.raises(UsageError, match="more than 256 kB"):
        rulebook(policy(tmp_path, RULE + "#" * 300_000))
    with pytest.raises(UsageError, match=r"deep|valid TOML"):
        rulebook(policy(tmp_path, "x = " + "[" * 100_000))
    with pytest.raises(UsageError, match="valid TOML"):
        rulebook(policy(tmp_path, "x = " + "9" * 10_000))
    with pytest.raises(UsageError, match="at most 1,000 rules"):
        rulebook(policy(tmp_path, "[[rule]]\n" * 1001))


# ---- rules as words -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("abcc<=.1", "abcc <= 0.1"),
        (" abcc  ≤ 0.1\tat  95% ", "abcc <= 0.1 at 95%"),
        ("abcc <= 0.1 at 99.9%", "abcc <= 0.1 at 99.9%"),
        ("abcc < 1e-1 above   chance", "abcc < 0.1 above chance"),
        ("disparate_impact >= 0.8 at 90% for age group", "disparate_impact >= 0.8 at 90% for age group"),
        ("disparate_impact > 0.8 above chance for sex", "disparate_impact > 0.8 above chance for sex"),
    ],
)
def test_rules_are_read_kindly(text: str, same: str) -> None:
    assert str(rules_of(text)[0]) == same
    assert rules_of(same) == rules_of([text, same])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("abcc <= 0.1 at 95", "from 50% to below 100%"),
        ("abcc <= 0.1 at 0.95%", "from 50% to below 100%"),
        ("abcc <= 0.1 at 100%", "from 50% to below 100%"),
        ("abcc <= 0.1 at nan%", "from 50% to below 100%"),
        ("abcc <= 0.1 at 9_5%", "from 50% to below 100%"),
        ("abcc <= 0.1 at", "from 50% to below 100%"),
        ("abcc <= 0.1 at 95% at 95%", "from 50% to below 100%"),
        ("abcc <= 0.1 at 95% above chance", "not both"),
        ("abcc <= 0.1 above chance at 95%", "not both"),
        ("abcc <= 0.1 above", "is a number.*a rule is MEASURE"),
        ("abcc <= 0.1 for ", "name the attribute"),
        ("abcc", "names a measure.*a rule is MEASURE"),
        ("abcc <= 10%", "0.8 rather than 80%"),
        ("abcc <= 10", "never above 1"),
        ("abcc <= 1", "never above 1"),
        ("abcc <= 0.1 above chance at 95% for sex", "not both"),
        ("abccc <= 0.1", "did you mean 'abcc'"),
        (7, "list of requirements"),
        ([7], "names a measure"),
    ],
)
def test_rules_that_make_no_sense(text: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        rules_of(text)


def test_two_limits_for_the_same() -> None:
    with pytest.raises(UsageError, match="two limits for the same"):
        rulebook(require=["abcc <= 0.1", "abcc <= 0.2"])
    assert len(rulebook(require=["abcc <= 0.1", "abcc <= 0.2 at 95%", "abcc <= 0.1 for sex"]).rules) == 3
    assert len(rulebook({"rule": [{"measure": "abcc", "at_most": 0.1, "reason": "x"}]}, "abcc <= 0.1").rules) == 1


def test_the_stricter_counts_about_what_is_undefined() -> None:
    lax = {"rule": [{"measure": "abcc", "at_most": 0.1, "undefined": "skip"}]}
    strict = {"rule": [{"measure": "abcc", "at_most": 0.1, "undefined": "fail"}]}

    def meanings(*args: Any, **words: Any) -> list[str]:
        book = rulebook(*args, **words)
        return [book.undefined_for(rule) for rule in book.rules]

    assert meanings(lax) == ["skip"]
    assert meanings(lax, "abcc <= 0.1") == ["skip", "fail"]
    assert meanings(lax, "abcc <= 0.1", undefined="skip") == ["skip"]
    assert meanings(lax, "abcc <= 0.1", undefined="fail") == ["fail"]
    assert meanings(strict, "abcc <= 0.1") == ["fail"]
    assert meanings(strict, undefined="skip") == ["fail"]
    assert meanings({**lax, "policy": {"undefined": "skip"}}, undefined="fail") == ["fail"]


def test_closed_forms_need_no_resamples() -> None:
    assert rulebook(require="demographic_parity <= 0.1 at 99.9%", options={"bootstrap": 20}).rules
    assert rulebook(require=["abcc <= 0.1 at 95%", "roc < 1"], options={"bootstrap": 0}).rules
    with pytest.raises(UsageError, match="at least 39 resamples"):
        rulebook(require="demographic_parity <= 0.1 at 95%", options={"bootstrap": 20, "interval": "bca"})


@pytest.mark.parametrize("words", ["at 95%", "above chance", "for race"])
def test_thresholds_refuse_what_they_cannot_honour(words: str) -> None:
    with pytest.raises(UsageError, match=f"leave out '{words}'"):
        required(f"disparate_impact >= 0.8 {words}")
    with pytest.raises(UsageError, match="evenhand check"):
        evenhand.thresholds(evenhand.compas(), require=f"disparate_impact >= 0.8 {words}")


def test_words_that_check_does_not_know() -> None:
    with pytest.raises(UsageError, match="did you mean 'threshold'"):
        evenhand.check(evenhand.compas(), require="abcc <= 0.1", treshold=5)
    with pytest.raises(UsageError, match="bootstrap must be"):
        evenhand.check(evenhand.compas(), require="abcc <= 0.1", bootstrap=-5)
    with pytest.raises(UsageError, match="'fail', 'skip'"):
        evenhand.check(evenhand.compas(), require="abcc <= 0.1", undefined="pass")
