"""The page and the Markdown of results: one file, complete, escaped, small, the same every time."""

from __future__ import annotations

import json
import re
from html import escape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import evenhand
from conftest import called as run, evenhand as process, people
from evenhand.analyses.audit import explorer
from evenhand.analyses.audit.page import in_steps
from evenhand.errors import UsageError
from evenhand.measures.registry import MEASURES, find
from evenhand.report.markdown import escaped, preformatted
from evenhand.report.page.figures import Room, histogram
from evenhand.report.page.markup import Markup, data_block, join, tag

HOSTILE = "</script><script>alert(1)</script>"
MOST = 2_000_000


class Outline(HTMLParser):
    """What is in a page, as a browser without scripts would list it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "input", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def of(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag == name]


def quick(data: Any, **words: Any) -> Any:
    return evenhand.audit(data, bootstrap=20, permutations=20, **words)


SCORED = {"score": "s", "label": "y", "group": "g"}
CASES = {
    "scores": SCORED,
    "risk": {**SCORED, "risk": True},
    "no label": {"score": "s", "group": "g"},
    "decisions": {"prediction": "d", "label": "y", "group": "g"},
    "decisions without labels": {"prediction": "d", "group": "g"},
    "both": {**SCORED, "prediction": "d"},
    "two attributes": {**SCORED, "group": ["g", "h"]},
    "weights": {**SCORED, "weight": "w"},
}


@pytest.mark.parametrize("words", CASES.values(), ids=CASES)
def test_every_audit_has_a_page(words: dict[str, Any]) -> None:
    audit = quick(people(), **words)
    html = audit.to_html()
    outline = Outline(html)
    assert outline.open == []
    assert 10_000 < len(html.encode()) < MOST
    ids = [a["id"] for _, a in outline.tags if "id" in a]
    assert len(ids) == len(set(ids))
    targets = {(a["href"] or "")[1:] for a in outline.of("a")}
    assert targets <= set(ids)
    for attributes in (a for _, a in outline.tags):
        assert not {"style", "onclick", "onload", "onerror", "src"} & set(attributes)
    levels = [int(t[1]) for t, _ in outline.tags if re.fullmatch("h[1-6]", t)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))
    assert re.search(r'id="document">(.*?)</script>', html)[1].count("<") == 0  # type: ignore[index]


def test_the_json_of_the_page_is_the_json() -> None:
    audit = quick(people(), **SCORED)
    text = re.search(r'<script type="application/json" id="document">(.*?)</script>', audit.to_html())
    assert text is not None
    assert json.loads(text[1]) == audit.to_dict()


def test_no_word_of_the_data_becomes_markup() -> None:
    data = people()
    names = np.array([HOSTILE, '"><img src=x onerror=alert(1)>', "\u202e<b>"], object)
    data["g"] = names[[int(g[1]) for g in data["g"]]]
    named = {HOSTILE: data["s"], "<y>": data["y"], "&g": data["g"]}
    audit = quick(named, score=HOSTILE, label="<y>", group="&g")
    outline = Outline(audit.to_html())
    assert outline.open == []
    assert len([a for a in outline.of("script") if a.get("type") is None]) == 1
    assert not outline.of("img")
    assert not outline.of("b")
    text = audit.to_markdown()
    assert "<script" not in text
    assert "<img" not in text


def test_a_page_does_not_grow_with_the_data() -> None:
    rng = np.random.default_rng(0)
    n = 150_000
    many = {
        "s": rng.random(n), "y": rng.integers(0, 2, n), "g": rng.integers(0, 3, n).astype(str),
        "h": rng.integers(0, 4, n).astype(str), "w": rng.random(n),
    }  # fmt: skip
    for words in ({"group": ["g", "h"]}, {"group": "g", "weight": "w"}):
        audit = evenhand.audit(many, score="s", label="y", **words, bootstrap=0, permutations=0)
        html = audit.to_html()
        assert len(html.encode()) < MOST
        assert "between two of them are at most" in html


def test_very_many_groups_fit() -> None:
    rng = np.random.default_rng(0)
    data = {"s": rng.random(6000).round(2), "y": rng.integers(0, 2, 6000)}
    data["g"] = np.array([f"g{i}" for i in range(600)])[rng.integers(0, 600, 6000)]
    html = quick(data, **SCORED).to_html()
    assert len(html.encode()) < MOST
    assert "does not fit into this page" in html
    assert "smaller groups are not shown" in html


def test_names_of_a_megabyte_are_shortened() -> None:
    data = people()
    data["g"] = np.array(["x" * 10**6, "y" * 10**6, "z"], object)[[int(g[1]) for g in data["g"]]]
    html = quick(data, **SCORED).to_html()
    assert len(html.encode()) < MOST


def test_the_same_seed_gives_the_same_page() -> None:
    assert quick(people(), **SCORED, rng=3).to_html() == quick(people(), **SCORED, rng=3).to_html()
    assert quick(people(), **SCORED).to_markdown() == quick(people(), **SCORED).to_markdown()


def test_the_page_begins_with_the_verdict_of_the_document() -> None:
    audit = evenhand.audit(evenhand.compas(), threshold=5, reference="Caucasian")
    html, verdict = audit.to_html(), audit.to_dict()["verdict"]
    first = html[html.index("<main") : html.index("<nav")]
    assert "Unequal</span>" in first
    assert escape(verdict["sentence"]) in first
    assert [rate in first for rate in (">41%<", ">65%<", ">0.63<")] == [True] * 3
    assert "fairness score" not in html.lower()
    read_first = re.sub("<[^>]*>", "", html[html.index("<header") : html.index('id="everything"')])
    folded = html[html.index("<details") : html.index("</details>")]  # the notes that do not change the reading
    read_first = read_first.replace(re.sub("<[^>]*>", "", folded), "")
    for programmers in ("plot(", "undefined because", "disparate_impact", "None", "nan", "score_range="):
        assert programmers not in read_first


def test_markdown_begins_with_the_verdict_and_holds_every_measure() -> None:
    audit = evenhand.audit(evenhand.compas(), threshold=5, reference="Caucasian")
    text = audit.to_markdown()
    lines = text.splitlines()
    assert lines[0] == "## Fairness of decile\\_score by race"
    assert lines[2].startswith("**UNEQUAL.** 41% of African-American and 65% of Caucasian get")
    assert "| African-American | 3,696 | 41% | 0.63 | 55% | 28% | 65% | unequal |" in lines
    assert "| disparate impact | ×0.632 | 0.602 to 0.663 | 0.8 to 1.25 | <.001 | unequal |" in lines
    folded = text[text.index("<details>") :]
    for gap in audit.attributes[0].measures:
        assert f"| {MEASURES[gap.id].title} |" in folded
    assert preformatted(audit.to_dict()["command"]) in folded
    tables = [[line.count("|") for line in part.splitlines()] for part in re.findall(r"(?:^\|.*\n)+", text, re.M)]
    assert len(tables) == 3
    assert all(len(set(bars)) == 1 for bars in tables)


@pytest.mark.parametrize(
    "name", ["a|b", "*a* _b_ `c`", "[x](javascript:alert(1))", "<img>", "@all", "#1", "https://x.y"]
)
def test_markdown_takes_names_as_they_are(name: str) -> None:
    text = escaped(name)
    assert not re.search(r"(?<!\\)(?<!&)[|*_`\[\]@#]", text)
    assert "<" not in text
    assert "https://" not in text


def test_markup_escapes() -> None:
    assert tag("a", "<", href='"') == '<a href="&quot;">&lt;</a>'
    assert join("&", Markup("<b>"), None, ["x", 1]) == "&amp;<b>x1"
    assert "</script>" not in data_block("d", {"</script>": "<!--"})[:-9]


def test_other_results_have_pages_too() -> None:
    data = people()
    jobs = {"job": list("nnnnppppdd"), "guess": list("nnnnppnndd"), "sex": list("ffmmffmmfm")}
    for result in (
        evenhand.audit(jobs, label="job", prediction="guess", group="sex", bootstrap=20, permutations=20),
        evenhand.thresholds(data, score="s", label="y", group="g", bootstrap=20),
        evenhand.audit(
            {**data, "t": 1 - data["s"]}, score=["s", "t"], label="y", group="g", bootstrap=20, permutations=20
        ),
    ):
        outline = Outline(result.to_html())
        assert outline.open == []
        assert result.to_markdown()


def test_a_notebook_shows_a_glance_in_a_frame() -> None:
    audit = quick(people(), **{**SCORED, "group": ["g", "h"]})
    shown = audit._repr_html_()
    assert len(shown.encode()) < 200_000 < len(audit.to_html().encode())
    (frame,) = Outline(shown).of("iframe")
    inside = Outline(frame["srcdoc"] or "")
    assert inside.open == []
    assert len([a for a in inside.of("table") if a.get("class") == "matrix"]) >= 3
    assert escape(audit.to_dict()["verdict"]["word"].capitalize()) in (frame["srcdoc"] or "")
    ids = {a["id"] for _, a in inside.tags if "id" in a}
    assert {(a["href"] or "")[1:] for a in inside.of("a")} <= ids
    assert not {"document", "counts", "explorer"} & ids
    assert "<figure" not in (frame["srcdoc"] or "")
    assert frame["sandbox"] == "allow-scripts allow-downloads"
    assert (frame["srcdoc"] or "").startswith("<!DOCTYPE html>")


def test_the_command_line_writes_pages(tmp_path: Path) -> None:
    page, text, data = tmp_path / "a.html", tmp_path / "a.md", tmp_path / "a.json"
    done = process("demo", "--bootstrap", 20, "--permutations", 20, "--html", page, "--markdown", text, "--json", data)
    assert done.returncode == 0, done.stderr
    assert "UNEQUAL" in done.stdout
    assert done.stderr.splitlines() == [f"wrote {path}" for path in (page, text, data)]
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert text.read_text().startswith("## Fairness")
    assert json.loads(data.read_text())["schema"] == "evenhand/audit/1"


def test_the_command_line_refuses_pages_it_cannot_write(tmp_path: Path) -> None:
    assert run("demo", "--markdown", "-", "--bootstrap", 0, "--permutations", 0).stdout.startswith("## Fairness")
    for words in (("--html", tmp_path), ("--html", tmp_path / "no" / "a.html"), ("--html", "-", "--json", "-")):
        done = run("demo", *words)
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_without_the_library_the_page_still_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "vl_convert", None)
    html = quick(people(), **SCORED).to_html()
    assert "pip install &#x27;evenhand[charts]&#x27;" in html
    assert "<svg class" in html
    assert Outline(html).open == []


# ---- what a hostile reader found ------------------------------------------------------------------------------------


def test_risk_scores_are_not_told_the_wrong_way_round() -> None:
    """A high risk score is no low score: it is a less favourable one."""
    data = people(groups=2)
    worse = {**data, "s": np.clip(data["s"] + 0.3 * (data["g"] == "g1"), 0, 1)}
    audit = evenhand.audit(worse, **SCORED, risk=True, reference="g0", bootstrap=200, permutations=200)
    html = audit.to_html()
    rates = {g["name"]: g["rates"]["selection_rate"]["value"] for g in audit.to_dict()["attributes"][0]["groups"]}
    assert rates["g1"] < rates["g0"]
    assert re.search(r"[\d.]+% of g1 and [\d.]+% of g0 get the favourable decision \(s &lt; 0\.5\)", html)
    assert "scored lower" not in html


FEW = {
    "one person": ({"s": [0.2, 0.8, 0.5] * 40 + [0.9], "y": [0, 1, 1] * 40 + [1], "g": ["a", "b", "b"] * 40 + ["c"]}),
    "no negatives": ({"s": [0.2, 0.8, 0.5] * 40, "y": [1, 1, 0] * 40, "g": ["a", "b", "b"] * 40}),
    "no positives": ({"s": [0.2, 0.8, 0.5] * 40, "y": [0, 0, 0] * 40, "g": ["a", "b", "b"] * 40}),
    "two rows": ({"s": [0.2, 0.8], "y": [0, 1], "g": ["a", "b"]}),
    "one label each": ({"s": [0.2, 0.8] * 20, "y": [0, 1] * 20, "g": ["a", "b"] * 20}),
    "constant score": ({"s": [0.5] * 40, "y": [0, 1] * 20, "g": ["a", "a", "b", "b"] * 10}),
}


@pytest.mark.parametrize("data", FEW.values(), ids=FEW)
def test_what_an_audit_can_do_its_page_can_show(data: dict[str, Any]) -> None:
    assert Outline(quick(data, **SCORED).to_html()).open == []
    rival = {**data, "t": data["s"][::-1]}
    assert Outline(quick(rival, score=["s", "t"], label="y", group="g").to_html()).open == []


@pytest.mark.full
def test_many_attributes_fit() -> None:
    rng = np.random.default_rng(0)
    n = 4000
    data: dict[str, Any] = {"s": rng.random(n), "y": rng.integers(0, 2, n)}
    names = [f"a{i}" for i in range(4)]
    data |= {name: rng.integers(0, 30, n).astype(str) for name in names}
    html = evenhand.audit(data, score="s", label="y", group=names, bootstrap=0, permutations=20).to_html()
    assert len(html.encode()) < MOST
    assert "left out" in html


def test_a_page_that_grows_too_large_is_made_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    audit = quick(people(), **SCORED)
    large = len(audit.to_html())
    monkeypatch.setattr("evenhand.report.page.shell.MOST_PAGE", 60_000)
    small = audit.to_html()
    assert len(small) < large / 2
    assert "does not fit into this page" in small


def test_chance_is_not_said_to_show_what_was_observed() -> None:
    html = evenhand.audit(evenhand.compas(), threshold=5, reference="Caucasian").to_html()
    assert "Parity alone shows 0.632" not in html
    assert "observed 0.632" in html


def test_few_people_are_told_beside_the_verdict() -> None:
    rng = np.random.default_rng(0)
    big = {"s": rng.random(1000), "y": rng.integers(0, 2, 1000), "g": np.repeat("big", 1000)}
    data = {"s": [*big["s"], *[0.4, 0.6] * 4], "y": [*big["y"], *[0, 1] * 4], "g": [*big["g"], *["tiny"] * 8]}
    audit = evenhand.audit(data, **SCORED, bootstrap=200, permutations=200)
    html = audit.to_html()
    assert escape("too small to conclude anything, by 'g': 'tiny'") in html[: html.index("<nav")]


def test_the_name_of_a_column_is_no_markdown() -> None:
    data = people()
    hostile = "<img src=x onerror=alert(1)>[x](HTTP://evil.example) $x$"
    audit = quick({**data, hostile: data["g"]}, score="s", label="y", group=hostile)
    text = audit.to_markdown()
    assert "<img" not in text
    assert "](HTTP:" not in text
    assert not re.search(r"(?<!\\)\$", text)


def test_long_names_keep_what_tells_them_apart() -> None:
    data = people(groups=2)
    data["g"] = np.array([f"{'x' * 100}1", f"{'x' * 100}2"], object)[[int(g[1]) for g in data["g"]]]
    audit = quick(data, **SCORED)
    first = audit.to_html().partition("<nav")[0]
    assert {"xxx1", "xxx2"} <= {text[-4:] for text in re.findall("<bdi>([^<]*)</bdi>", first)}


def test_results_do_not_overwrite_what_is_read(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("s,y,g\n" + "0.2,0,a\n0.8,1,b\n" * 20)
    before = rows.read_bytes()
    words = ("--score", "s", "--label", "y", "--group", "g", "--bootstrap", 0, "--permutations", 0)
    for more in (
        ("--html", rows), ("--html", tmp_path / "." / "rows.csv"),
        ("--html", tmp_path / "r.out", "--json", f"{tmp_path}/./r.out"), ("--html", ""),
    ):  # fmt: skip
        done = run("audit", rows, *words, *more)
        assert done.returncode == 2, more
    assert rows.read_bytes() == before


def test_scores_far_from_zero_keep_their_axis() -> None:
    data = people()
    far = {**data, "s": 1.7e9 + np.round(100 * data["s"])}
    audit = quick(far, **SCORED)
    chart = audit.plot("cdf")
    assert chart.marker is not None
    assert chart.marker["hi"] - chart.marker["lo"] == pytest.approx(np.ptp(far["s"]))
    assert "e+09" not in audit.to_html().split("<main")[0]


def test_the_same_for_everybody_is_no_praise() -> None:
    nobody = {"d": [0] * 400, "g": ["a", "b"] * 200}
    audit = quick(nobody, prediction="d", group="g")
    assert "Cannot be computed</span>" in audit.to_html()
    assert "gaps between rates of a constant decision say nothing" in audit.to_html().partition("<nav")[0]
    rng = np.random.default_rng(0)
    bad = {"d": rng.integers(0, 2, 8000), "y": np.zeros(8000, int), "g": ["a", "b"] * 4000}
    assert "No relevant gap" not in quick(bad, prediction="d", label="y", group="g", favorable=1).to_html()


def test_a_small_reference_is_named() -> None:
    rng = np.random.default_rng(0)
    data = {"d": rng.integers(0, 2, 1505), "g": ["a"] * 1500 + ["b"] * 5}
    audit = quick(data, prediction="d", group="g", reference="b")
    assert any("the reference of 'g' is itself small" in note for note in audit.caveats)
    assert "is itself small" in audit.to_html().partition("<nav")[0]
    assert not any("permutations" in note for note in audit.notes)  # exact tests need none


@pytest.mark.parametrize("name", ['\\", x: alert(1), "', "😀" * 20, "x" * 300 + "\u202e😀", "🏳️‍🌈" * 9])
def test_emoji_do_not_cost_a_chart(name: str) -> None:
    pytest.importorskip("vl_convert")
    data = people(groups=2)
    data["g"] = np.where(data["g"] == "g0", name, "b").astype(object)
    assert Outline(quick(data, **SCORED).to_html()).open == []


def test_a_null_of_nearly_one_value_is_drawn() -> None:
    class Null:
        sample, chance, high = np.array([1.0, np.nextafter(1.0, 2.0)]), None, 1.0

    assert "<svg" in str(histogram(Null(), 1.0))


def test_names_of_every_object_have_their_lines() -> None:
    pytest.importorskip("vl_convert")
    names = ["__proto__", "constructor", "hasOwnProperty", "valueOf"]
    data = people(groups=4)
    data["g"] = np.array(names, object)[[int(g[1]) for g in data["g"]]]
    svg = quick(data, **SCORED).plot("cdf").to_svg()
    assert all(f">{name}<" in svg or f">{name} <" in svg for name in names)
    assert len(re.findall(r'<path(?=[^>]*stroke=")(?![^>]*fill=")[^>]*>', svg)) >= 4


def test_weighted_people_do_not_exchange_groups() -> None:
    html = evenhand.audit(people(groups=2), **SCORED, weight="w", bootstrap=100, permutations=150).to_html()
    assert "permutations as much" not in html


def test_the_glossary_has_the_measures_shown_and_no_others() -> None:
    shown = ("demographic_parity", "equal_opportunity_uniform_w2")
    audit = evenhand.audit(
        evenhand.compas(), threshold=5, reference="Caucasian", bootstrap=0, permutations=0, measures=list(shown)
    )
    page = audit.to_html()
    assert re.findall('id="about-([^"]+)"', page) == list(shown)
    for id_ in shown:
        measure = find(id_)
        assert measure is not None
        assert escape(measure.use) in page
        assert escape(measure.limits) in page
        assert escape(measure.formula) in page
    assert "a random decision satisfies it" in page


def test_a_page_says_how_far_off_its_densities_are() -> None:
    rng = np.random.default_rng(0)
    score, group = rng.beta(4, 2, 600), np.repeat(["f", "m"], 300)
    words: dict[str, Any] = {"bootstrap": 0, "permutations": 0}
    audit = evenhand.audit(score=score, group=group, reference="m", score_range=(0, 1), **words)
    coarse, exact = (audit.to_html(embed=embed) for embed in ("coarse", "exact"))
    (told,) = re.findall(r"off by up to ([\d.]+) from the densities of the scores themselves", coarse)
    steps, _ = explorer.steps_of(audit.table, {"group": "m"}, 0.5, Room(), "coarse")
    subject = in_steps(audit.charts().subject, audit.table, steps, frozenset(["f", "m"]))
    assert subject is not None
    off = [
        np.abs(stats.gaussian_kde(score[group == g])(x) - y).max()
        for g, (x, y) in subject.lines("pdf", "score", "density").items()
    ]
    assert len(off) == 2
    assert float(told) == pytest.approx(max(off), abs=0.1)
    assert "this page tells scores in steps" in coarse
    assert "the widest gap between steps is" in coarse
    assert "the widest gap is" in exact
    assert "this page tells scores in steps" not in exact
    assert "this page tells scores in steps" not in evenhand.audit(evenhand.compas(), **words).to_html()


def test_no_view_lists_undefined_measures_row_by_row() -> None:
    audit = evenhand.audit({"d": [1, 0] * 20, "g": ["a", "a", "b", "b"] * 10}, prediction="d", group="g", bootstrap=0)
    views = audit.summary(full=True), audit.to_markdown(), audit.to_html()
    for view in views:
        assert "there are no labels" in view
    rows = [line for line in views[0].splitlines() if line.strip().startswith("equal opportunity")]
    assert not any("undefined" in row for row in rows)
    assert "| equal opportunity |" not in views[1]
    assert 'href="#about-equal_opportunity">equal opportunity</a></th>' not in views[2]  # the chart's numbers have it
    assert "| demographic parity |" in views[1]


def test_densities_with_peaks_that_are_none_are_left_out() -> None:
    rng = np.random.default_rng(3)
    words: dict[str, Any] = {"group": ["f", "m"] * 2000, "bootstrap": 0, "permutations": 0, "threshold": 0.5}
    smooth = rng.beta(3, 3, 4000)
    stars = evenhand.audit(score=np.ceil(5 * smooth), **words)
    assert "cdf" in stars.plots()
    assert not {"pdf", "pdf_by_outcome"} & {*stars.plots()}
    with pytest.raises(UsageError, match="too few to smooth"):
        stars.plot("pdf")
    for score in (
        smooth,
        smooth.round(2),
        np.where(smooth > 0.5, 0.9, 0.1) + 0.05 * smooth,
        np.ceil(10 * smooth[:4000]),
    ):
        assert "pdf" in evenhand.audit(score=score, **words).plots()
    # the steps of a page about twelve groups are wide, and people in the middle of theirs would be peaks
    rng = np.random.default_rng(9)
    group = rng.choice(12, 4000, p=rng.dirichlet(np.full(12, 2.0)))
    score = np.clip(rng.normal(0.55, 0.18, 4000) + rng.normal(0, 0.08, 12)[group], 0, 1).round(2)
    many = evenhand.audit(
        score=score, label=(rng.random(4000) < score).astype(int), **words | {"group": group.astype(str)}
    )
    assert "pdf" in many.plots()
    page = many.to_html()
    assert 'data-chart="cdf"' in page
    assert 'data-chart="pdf"' not in page


def test_one_group_that_is_not_drawn_is_one() -> None:
    score, group = np.random.default_rng(0).random(640), np.repeat(["a", "b", "c"], [300, 300, 40])
    audit = evenhand.audit(score=score, group=group, bootstrap=0, permutations=0)
    assert "1 group has too few people to be drawn here" in audit.to_html()
