"""Pages and Markdown of results other than an audit: the answer first, tables, nothing of a name obeyed, bounded."""

from __future__ import annotations

import csv
import json
import re
import shlex
from collections.abc import Callable
from functools import cache
from html import unescape
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_page import Outline

import evenhand
from conftest import WORDS as CLASSES, called as run, jobs, people
from evenhand.analyses.planning.catalogue import catalogue
from evenhand.measures.registry import MEASURES
from evenhand.report.contents import Contents, Name, Section, Sheet, Word, figure, joined
from evenhand.report.contents_markdown import contents_markdown
from evenhand.report.page.contents import contents_page

COLUMNS = {"score": "s", "label": "y", "group": "g"}
HOSTILE = '</script><img src=x onerror=alert(1)>|`*[a](b)"\u202e'
MOST_PAGE, MOST_COMMENT = 2_000_000, 65_536


def trade_offs(methods: int = 3) -> dict[str, list[Any]]:
    rng = np.random.default_rng(0)
    rows = [(f"method {m}", s, seed) for m in range(methods) for s in range(3) for seed in range(3)]
    performance = [0.8 - 0.03 * int(m[7:]) % 0.3 - 0.02 * s + rng.normal(0, 0.005) for m, s, _ in rows]
    fairness = [0.6 + 0.02 * int(m[7:]) % 0.3 + 0.05 * s + rng.normal(0, 0.005) for m, s, _ in rows]
    return {"method": [m for m, *_ in rows], "strength": [s for _, s, _ in rows], "acc": performance, "fair": fairness}


def compared(methods: int = 3) -> Any:
    words = {"method": "method", "settings": "strength", "performance": "acc", "fairness": "fair"}
    return evenhand.compare(trade_offs(methods), **words, random_performance=0.5, bootstrap=20)


def checked(**words: Any) -> Any:
    rules = ["disparate_impact >= 0.8", "abcc <= 0.2 at 95%", "equal_opportunity <= 0.15"]
    return evenhand.check(people(), rules, **COLUMNS, bootstrap=50, **words)


@cache
def results() -> dict[str, Any]:
    """One of every kind."""
    data = people()
    rival = {**data, "t": 1 - data["s"]}
    stream = {**data, "day": [f"2024-{1 + i // 50:02d}-05" for i in range(600)]}
    few = {"bootstrap": 20, "permutations": 20}
    found = {
        "check": checked(),
        "thresholds": evenhand.thresholds(data, **COLUMNS, bootstrap=20, require="demographic_parity <= 0.3",
                                          by_group=True, threshold=0.4),
        "compare": compared(),
        "alternatives": evenhand.alternatives(rival, **{**COLUMNS, "score": ["s", "t"]}, bootstrap=200, within_best=1),
        "classes": evenhand.audit(jobs(), **{**CLASSES, "group": ["g", "h"]}, **few),
        "aggregate": evenhand.aggregate(jobs(), **CLASSES, **few),
        "power": evenhand.power((50, 1000), base_rate=0.1),
        "guide": evenhand.guide(ground_truth=True, priority="errors"),
        "measures": catalogue(),
        "table_info": evenhand.table_info(evenhand.tabulate(data, **COLUMNS)),
        "candidates": evenhand.audit(rival, **{**COLUMNS, "score": ["s", "t"]}, **few,
                                     measures=["demographic_parity", "equalized_odds"]),
        "monitor": evenhand.monitor(stream, time="day", **COLUMNS, min_people=10, bootstrap=20, baseline=3,
                                    measures=["demographic_parity"]),
        "projection": evenhand.projection_test(data, **{**COLUMNS, "group": "h"}, criterion="equal_opportunity"),
        "projections": evenhand.projection_test(data, **COLUMNS, criterion="equal_opportunity"),
    }  # fmt: skip
    if find_spec("sklearn"):
        found["individual"] = evenhand.individual_fairness(
            {"s": data["s"], "w": data["w"], "g": data["g"]}, "s", group="g", metric="euclidean", k=3
        )
    return found


KINDS = ("check", "thresholds", "compare", "alternatives", "classes", "aggregate", "power", "guide", "measures",
         "table_info", "candidates", "monitor", "projection", "projections", "individual")  # fmt: skip
OWN_PAGE = ("candidates", "monitor", "projection", "projections", "individual")


def result(kind: str) -> Any:
    if kind not in results():
        pytest.skip(f"{kind} needs a library that is not installed")
    return results()[kind]


def words_of(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def cells_of(text: str) -> list[list[str]]:
    """The tables of a Markdown text, row by row."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def whole(text: str) -> bool:
    """Whether all rows of every table have as many cells as its head."""
    widths = [{len(row) for row in cells_of(part)} for part in re.split(r"\n(?!\|)", text)]
    return all(len(width) <= 1 for width in widths) and sum(map(len, widths)) > 0


@pytest.mark.parametrize("kind", KINDS)
def test_markdown_has_the_answer_and_whole_tables(kind: str) -> None:
    found = result(kind)
    contents: Contents = found._contents(found.to_dict())
    text = found.to_markdown()
    assert len(text) < MOST_COMMENT
    plain = re.sub(r"\\(.)", r"\1", text)
    first = next(line for line in plain.splitlines() if line.startswith("**"))
    assert unescape(first) == f"**{contents.answer}**"
    assert len(re.findall("^```", text, re.MULTILINE)) == (2 if kind == "guide" else 0)  # commands, and nothing else
    assert whole(text)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in OWN_PAGE])
def test_a_page_has_the_answer_first_and_no_text_of_a_terminal(kind: str) -> None:
    found = result(kind)
    html = found.to_html()
    outline = Outline(html)
    assert outline.open == []
    assert {a.get("class") for a in outline.of("pre")} <= {"command"}
    ids = [a["id"] for _, a in outline.tags if "id" in a]
    assert len(ids) == len(set(ids))
    contents = found._contents(found.to_dict())
    first, *others = re.findall(r"<h2[^>]*>(.*?)</h2>", html)
    assert words_of(first) == " ".join(contents.answer.split())
    assert len(others) == len(set(others))
    captions = re.findall(r"<caption>(.*?)</caption>", html)
    assert len(captions) == len(set(captions)) > 0
    assert re.search(r'<th scope="col">', html)
    assert json.loads(re.search(r'id="document">(.*?)</script>', html)[1]) == found.to_dict()  # type: ignore[index]
    table_text = words_of(html)
    for section in contents.sections:
        for sheet in (part for part in section.parts if isinstance(part, Sheet)):
            assert sheet.caption in table_text
            assert len(sheet.rows) >= 1


# ---- documents → numbers ---------------------------------------------------------------------------------------------


def both(kind: str) -> tuple[dict[str, Any], str, str]:
    found = result(kind)
    return found.to_dict(), words_of(found.to_html()), re.sub(r"\\(.)", r"\1", unescape(found.to_markdown()))


def test_a_check_says_what_fails_for_whom_by_how_much() -> None:
    document, page, text = both("check")
    worst = document["verdict"]
    assert not document["passed"]
    assert document["interpretation"] in page
    assert worst["sentence"] in page
    assert worst["sentence"] in text
    finding = next(f for f in document["findings"] if all(f[k] == v for k, v in worst["worst"].items()))
    assert finding["status"] == "violated"
    assert f"{finding['by']:.3f}" in worst["sentence"]
    rows = [row for row in cells_of(text) if re.match(r"\**(violated|not shown|satisfied)", row[2])]
    assert len(rows) == len(document["findings"])
    failing = [row[2].startswith("**") for row in rows]
    assert failing == sorted(failing, reverse=True)
    assert sum(failing) == sum(f["passes"] is False for f in document["findings"])
    for f in document["findings"]:
        row = next(r for r in rows if r[0] == document["rules"][f["rule"]]["rule"] and f" {f['group']} " in f"{r[1]} ")
        assert (row[3], row[6]) == (f"{f['value']:.3f}", f["word"])
        assert f["passes"] or f["interpretation"] in page


def test_a_check_that_passes_says_so_first() -> None:
    passed = evenhand.check(people(), "abcc <= 0.9", **COLUMNS, bootstrap=50)
    document = passed.to_dict()
    assert re.findall(r"<h2[^>]*>(.*?)</h2>", passed.to_html())[0].startswith("PASS: 1 of 1 rules met")
    assert document["verdict"]["sentence"].startswith("Nearest to its limit: abcc <= 0.9, g: ")
    assert 'class="finding good"' in passed.to_html()


@pytest.mark.parametrize(("id_", "limit"), [("disparate_impact", 0.8), ("equal_opportunity", 0.15), ("abcc", 0.2)])
def test_the_word_of_a_rule_is_that_of_an_audit_with_its_limit_as_tolerance(id_: str, limit: float) -> None:
    sign = ">=" if MEASURES[id_].scale == "ratio" else "<="
    data = people(n=300, seed=2)
    verdict = evenhand.check(data, f"{id_} {sign} {limit}", **COLUMNS, bootstrap=50).to_dict()
    words = {"measures": [id_], "tolerance": {id_: limit}, "bootstrap": 50, "permutations": 0}
    (attribute,) = evenhand.audit(data, **COLUMNS, **words).to_dict()["attributes"]
    assert {f["group"]: f["word"] for f in verdict["findings"]} == attribute["verdict"]["groups"]
    assert verdict["verdict"]["word"] == attribute["verdict"]["word"]


def test_thresholds_say_which_one_at_what_cost_and_for_whom() -> None:
    document, page, text = both("thresholds")
    chosen = document["policy"]["chosen"]
    assert f"s ≥ {chosen['threshold']:g} meets the policy" in page
    assert f"{document['policy']['lost']:.3f} less than the best" in page
    row = next(row for row in cells_of(text) if "chosen" in row[1])
    assert row[3:5] == [f"{chosen['performance']:.3f}", f"{chosen['value']:.3f}"]
    for group, rate in chosen["selection_rates"].items():
        assert any(r[0] == group and f"{100 * rate:.1f}%" in r for r in cells_of(text)), group
    for check in document["policy"]["checks"]:
        assert f"{check['signed']:.3f}" in page


def test_a_comparison_says_who_wins_by_what_and_how_sure() -> None:
    document, page, text = both("compare")
    first, second = document["methods"][:2]
    assert first["rank"] == 1
    assert f"{first['name']} trades best" in page
    assert f"{first['auc_pfc'] - second['auc_pfc']:.3f} more than that of {second['name']}" in page
    rows = {row[0]: row for row in cells_of(text.partition("### Selected models")[0]) if row[0].startswith("method ")}
    for m in document["methods"]:
        assert rows[m["name"]][2].rstrip("*") == f"{m['auc_pfc']:.3f}"
        assert rows[m["name"]][4] == f"{100 * m['first_share']:.0f}%"
    assert 'data-chart="tradeoff"' in result("compare").to_html()


@pytest.mark.parametrize(
    "words",
    [
        {"performance": "error", "lower_is_better": "performance", "baseline": "method 0", "margins": [0.02]},
        {"dev_performance": "dev, acc", "dev_fairness": "dev fair", "front": "published", "utopia": (1, 0.9),
         "dto_to": 0.5, "fairness_floor": [0.65], "normalize": "range", "confidence": 0.9},
    ],
)  # fmt: skip
def test_the_command_of_a_comparison_gives_it_again(words: dict[str, Any], tmp_path: Path) -> None:
    rows = trade_offs()
    rows |= {"dev, acc": rows["acc"], "dev fair": rows["fair"], "error": [1 - x for x in rows["acc"]]}
    with (tmp_path / "runs.csv").open("w", newline="") as file:
        csv.writer(file).writerows([list(rows), *zip(*rows.values(), strict=True)])
    usual = {"method": "method", "settings": "strength", "performance": "acc", "fairness": "fair", "bootstrap": 20}
    found = evenhand.compare(tmp_path / "runs.csv", **{**usual, **words})
    line = re.search(r'<pre class="command"[^>]*><code>(.*?)</code>', found.to_html())
    assert line is not None
    _, *command = shlex.split(unescape(line[1]).replace("RUNS", str(tmp_path / "runs.csv")))
    again = run(*command, "--json", "-")
    assert json.loads(again.stdout) == found.to_dict()


def test_classes_say_who_is_farthest_and_every_rate() -> None:
    document, page, text = both("classes")
    for attribute in document["attributes"]:
        tested = [(cell["p_value"], c, cell) for c in attribute["classes"] for cell in c["cells"]]
        _, c, cell = min(tested, key=lambda one: (one[0], -abs(one[2]["difference"])))
        assert f"Farthest from its class is {cell['group']} in {c['name']}: {cell['value']:.3f}" in page
        rows = [row for row in cells_of(text) if row[0] == c["name"] and len(row) == len(attribute["groups"]) + 4]
        assert any(f"{cell['value']:.3f}" in row for row in rows)
        for group in attribute["groups"]:
            assert any(row[:2] == [group["name"], f"{group['n']:,}"] for row in cells_of(text))


def test_untested_a_group_of_few_people_is_not_called_the_farthest() -> None:
    data = jobs(300)
    few = {
        **data,
        "g": np.where(np.arange(300) < 3, "few", data["g"]),
        "p": np.where(np.arange(300) < 3, "-", data["p"]),
    }
    page = words_of(evenhand.aggregate(few, **CLASSES, bootstrap=0, permutations=0).to_html())
    assert "compared and not tested" in page
    assert "Farthest from its class is g" in page
    (told,) = re.findall(r"Farthest from its class is [^.]*\.\d+ \((\d+) people\)", page)
    assert int(told) >= 10


def test_plans_tables_and_measures_hold_their_numbers() -> None:
    document, page, text = both("power")
    assert f"| people of the reference | {document['n_reference']:,} |" in text
    assert f"{document['above']:.3f}" in page
    document, page, text = both("table_info")
    for group in document["attributes"][0]["groups"]:
        assert f"| {group['name']} | {group['n']:,} |" in text
    assert f"{document['disclosure']['alone']:,} p" in page
    document, page, _ = both("measures")
    assert all(m["formula"] in page for m in document["measures"])


def experiment(datasets: int = 2) -> dict[str, Any]:
    """The document of an experiment in which a method failed and another collapsed; nothing is trained."""
    one = compared().to_dict()
    names = [f"data {i}" for i in range(datasets)]
    runs = [
        {"dataset": name, "method": method, "strength": 1.0, "seed": seed, "split": 0, "dev_performance": 0.7,
         "dev_fairness": 0.8, "performance": 0.5 + 0.1 * seed, "fairness": 1.0 if method == "flat" else 0.8, "run": "r"}
        for name in names for method in ("flat", "mlp") for seed in (0, 1)
    ]  # fmt: skip
    failed = [{"run": "f", "dataset": "data 0", "method": "mlp", "strength": 2.0, "seed": 0, "split": 0,
               "reason": "ValueError: nothing left"}]  # fmt: skip
    about = {"attribute": "sex", "people": {"train": 60, "dev": 20, "test": 1234}, "notes": [], "not_compared": None,
             "groups": [{"name": "f", "train": 60, "dev": 20, "test": 1234}]}  # fmt: skip
    return {
        "schema": "evenhand/experiment/1", "version": "0", "planned": len(runs) + 1,
        "options": {"performance": "accuracy", "fairness": "abcc"}, "datasets": dict.fromkeys(names, about),
        "runs": runs, "failed": failed, "warnings": [{"text": "slow", "runs": 3}],
        "comparisons": dict.fromkeys(names, one), "notes": [],
    }  # fmt: skip


def shown(document: dict[str, Any]) -> tuple[str, str]:
    """Page and Markdown of a document, without its charts."""
    module = {"experiment": "learn.experiments", "check": "analyses.check", "compare": "analyses.compare",
              "classes": "analyses.classes", "thresholds": "analyses.thresholds", "table_info": "analyses.disclosure",
              "candidates": "analyses.models"}[document["schema"].split("/")[1]]  # fmt: skip
    told = import_module(f"evenhand.{module}.contents").contents(document)

    def nothing(name: str) -> Any:
        raise AssertionError(name)

    return contents_page(told, document, (), nothing), contents_markdown(told, document)


def test_an_experiment_says_who_wins_where_and_which_runs_failed_or_collapsed() -> None:
    document = experiment()
    html, text = shown(document)
    page = words_of(html)
    assert "method 0 trades best" in page
    assert page.count("on data 1") >= 2
    assert "1 run failed (mlp 1)." in page
    assert "4 runs (flat 4) have a fairness of exactly 1" in page
    assert "| data 0 | flat | 1 | 2 | 0.550 | 1.000 |" in text
    assert "| mlp | data 0 | ValueError: nothing left | 1 |" in text
    assert "| f | 60 | 20 | 1,234 |" in text
    alone, _ = shown(experiment(1))
    assert "Every trade-off on the fronts" in alone
    document["comparisons"] = {}
    assert "Methods are not compared" in shown(document)[0]


# ---- hostile names, large results ------------------------------------------------------------------------------------


def renamed(document: dict[str, Any], *names: str) -> dict[str, Any]:
    """The same of data whose names are hostile."""
    text = json.dumps(document)
    for i, name in enumerate(names):
        text = text.replace(json.dumps(name), json.dumps(f"{HOSTILE}{i}"))
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("check", ("g", "g0", "g1", "g2", "s")), ("thresholds", ("g", "g0", "g1", "g2")),
        ("compare", ("method 0", "method 1", "strength", "acc")), ("classes", ("class 0", "class 1", "p", "x", "z")),
        ("table_info", ("g", "g0", "s", "y")), ("candidates", ("g0", "g1", "s", "t")),
        ("experiment", ("data 0", "data 1", "method 0", "mlp", "sex", "ValueError: nothing left")),
    ],
)  # fmt: skip
def test_no_name_becomes_markup(kind: str, names: tuple[str, ...]) -> None:
    document = experiment() if kind == "experiment" else result(kind).to_dict()
    html, text = shown(renamed(document, *names))
    outline = Outline(html)
    assert outline.open == []
    assert not outline.of("img")
    assert len([a for a in outline.of("script") if a.get("type") is None]) == 1
    assert "onerror=alert(1)" in html  # it is there, as a text
    assert "<img" not in text
    assert "\u202e" not in text + html.partition('id="document"')[0]
    assert whole(text)
    assert not re.search(r"(?<!\\)\[a\]", text)


def many_rules() -> dict[str, Any]:
    document = checked().to_dict()
    document["rules"] = [{**document["rules"][i % 3], "line": i, "reason": "x" * 200} for i in range(1000)]
    document["findings"] = [{**f, "rule": i} for i in range(1000) for f in document["findings"][:2]]
    document["notes"] = ["a note " * 40] * 200
    return document


def many_classes() -> dict[str, Any]:
    data = jobs(6000, classes=400, groups=30)
    return evenhand.audit(data, **CLASSES, bootstrap=0, permutations=0).to_dict()  # type: ignore[no-any-return]


def many_methods() -> dict[str, Any]:
    return compared(150).to_dict()  # type: ignore[no-any-return]


@pytest.mark.parametrize("make", [many_rules, many_classes, many_methods])
def test_large_results_fit(make: Callable[[], dict[str, Any]]) -> None:
    html, text = shown(make())
    assert len(html.encode()) < MOST_PAGE
    assert len(text) < MOST_COMMENT
    assert "more are in the JSON" in html or "in the JSON." in html
    assert "not shown (the JSON has them)" in text or "in the JSON." in text


def test_a_row_of_one_cell_is_a_heading_and_what_is_cut_is_counted() -> None:
    rows = [["part"], *([Name("a|b"), figure(0.5), Word("no", "bad")] for _ in range(400))]
    sheet = Sheet("caption", ("name", "n", "word"), rows, ("word",), sortable=True)
    contents = Contents(
        "t", ["who"], "yes", sections=[Section("s", "S", [sheet]), Section("m", "M", ["m"], minor=True)]
    )
    document = {"version": "0"}
    text = contents_markdown(contents, document)
    assert "| *part* |  |  |" in text
    assert "| a\\|b | 0.500 | **no** |" in text
    assert "301 more are not shown" in text
    assert "### M" not in text
    html = contents_page(contents, document, (), lambda name: None)  # type: ignore[arg-type, return-value]
    assert '<th scope="rowgroup" colspan="3">part</th>' in html
    assert '<td class="words"><span class="bad">no</span></td>' in html
    assert 'data-value="0.5"' in html
    assert "251 more are in the JSON." in html
    assert "<details><summary>Show</summary><p>m</p></details>" in html


def test_names_in_a_sentence() -> None:
    assert joined(["one"]) == "one"
    assert joined([]) == ""
    assert joined(["a\u202e", "b"]) == "a\\u202e and b"
