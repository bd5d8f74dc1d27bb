"""The page in a real browser: it computes what Python computes, asks no network, and everybody can use it."""

from __future__ import annotations

import base64
import json
import os
import shutil
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_contents import compared

import evenhand
from evenhand.analyses.audit.explorer import outcomes
from evenhand.analyses.audit.verdict import WORDS

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install 'evenhand[test]'")

CHROMIUM = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)
if CHROMIUM is None and not os.environ.get("EVENHAND_BROWSER"):
    pytest.skip("needs Chromium on the PATH", allow_module_level=True)
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run",
]  # fmt: skip
PHONE = {"width": 390, "height": 844}
HOSTILE = (
    "</script><script>window.pwned=1</script>", '"><img src=x onerror="window.pwned=1">', "\u202etxet sdrawkcab",
    "👩🏽‍⚕️ emoji", "{{constructor.constructor('window.pwned=1')()}}", "a\u0000b\u2028c", "' onfocus=window.pwned=1 '",
)  # fmt: skip


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as p:
        found = p.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


Opened = Callable[..., Any]


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Opened]:
    """Opens a page without any network; a request, an error or a word on the console fails the test."""
    contexts, heard = [], []

    def open_(html: str, **how: Any) -> Any:
        path = tmp_path / "report page.html"
        path.write_text(html, encoding="utf-8")
        context = browser.new_context(**how)
        contexts.append(context)
        context.set_offline(True)
        page = context.new_page()
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("request", lambda r: None if r.url == path.as_uri() else heard.append(f"asked for {r.url}"))
        page.goto(path.as_uri())
        return page

    yield open_
    for context in contexts:
        context.close()
    assert heard == []


def keep(page: Any, name: str) -> None:
    """A screenshot for the eye, where one is wanted."""
    if folder := os.environ.get("EVENHAND_SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def people(n: int = 900, groups: tuple[str, ...] = ("f", "m", "x"), seed: int = 1, decimals: int = 6) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    group = rng.integers(0, len(groups), n)
    score = np.clip(rng.normal(0.45 + 0.05 * group, 0.2), 0, 1).round(decimals)
    return {
        "p": score, "y": (rng.random(n) < score).astype(int), "sex": np.array(groups, object)[group],
        "w": rng.uniform(0.5, 3, n).round(3),
    }  # fmt: skip


def quick(data: Any, **words: Any) -> Any:
    return evenhand.audit(data, bootstrap=20, permutations=20, **words)


@lru_cache
def usual() -> tuple[Any, str]:
    """An audit and its page, for whoever only reads them."""
    audit = quick(people(), score="p", label="y", group="sex")
    return audit, audit.to_html()


@lru_cache
def quick_compas() -> Any:
    return quick(evenhand.compas(), threshold=5, reference="Caucasian")


@pytest.fixture(scope="module")
def compas() -> str:
    audit = evenhand.audit(evenhand.compas(), threshold=5, reference="Caucasian")
    return audit.to_html()


def numbers(page: Any, table: int = 0) -> dict[tuple[int, str], float]:
    """What the explorer shows, to the last digit."""
    found = page.evaluate(
        """i => Array.from(document.querySelectorAll(`.explorer table[data-grouping="${i}"] td[data-key]`),
                 c => [Number(c.dataset.group), c.dataset.key, c.dataset.value])""",
        table,
    )
    return {(g, key): float(value) for g, key, value in found}


def move(page: Any, stop: int) -> None:
    page.evaluate(
        """stop => { const s = document.getElementById("threshold"); s.value = stop;
                     s.dispatchEvent(new Event("input")); }""",
        stop,
    )


WEIGHTED = {"score": "p", "label": "y", "group": "sex", "weight": "w"}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (evenhand.compas(), {"threshold": 5}),
        (people(), {"score": "p", "label": "y", "group": "sex"}),
        (people(decimals=2), {"score": "p", "label": "y", "group": "sex", "risk": True}),
        (people(), {"score": "p", "group": "sex"}),
        (people(), WEIGHTED),
    ],
    ids=["compas", "continuous", "risk", "no label", "weights"],
)
def test_the_explorer_agrees_with_python(opened: Opened, data: Any, words: dict[str, Any]) -> None:
    audit = quick(data, **words)
    page = opened(audit.to_html(embed="exact"))
    table, (grouping, *_) = audit.table, audit.table.groupings
    rng = np.random.default_rng(0)
    for stop in [0, len(table.scores), *rng.integers(0, len(table.scores) + 1, 50).tolist()]:
        move(page, stop)
        threshold = table.scores[stop] if stop < len(table.scores) else np.inf
        expected = outcomes(table, grouping, float(threshold))
        base = expected[grouping.groups.index(audit.attributes[0].reference)]["selection_rate"]
        shown = numbers(page)
        assert {g for g, _ in shown} == set(range(len(grouping.groups)))
        for (g, key), value in shown.items():
            rate = expected[g]["selection_rate"]
            own = {**expected[g], "gap": rate - base, "ratio": rate / base if base else np.nan}
            assert value == pytest.approx(own[key], rel=1e-9, abs=1e-12, nan_ok=True), (stop, g, key)


@pytest.mark.parametrize("words", [{}, {"risk": True}, {"weight": "w"}], ids=["score", "risk", "weights"])
def test_steps_agree_with_python_where_the_slider_stops(opened: Opened, words: dict[str, Any]) -> None:
    audit = quick(people(groups=("f", "m", "x", "few") * 2), score="p", label="y", group="sex", **words)
    page = opened(audit.to_html())
    counts = json.loads(page.text_content("#counts"))
    stops = [*np.frombuffer(base64.b64decode(counts["stops"])).tolist(), np.inf]
    assert 8 < len(stops) < 200
    grouping, dashes = audit.table.groupings[0], 0
    for stop in range(0, len(stops), 3):
        move(page, stop)
        expected = outcomes(audit.table, grouping, stops[stop])
        for (g, key), value in numbers(page).items():
            if key not in ("gap", "ratio"):
                known = counts["groupings"][0]["known"][g]
                told = known is None or stop in known or stop == len(stops) - 1
                close = (
                    {"abs": 0.02 if key.isupper() or len(key) == 2 else 1e-3} if words.get("weight") else {"abs": 1e-9}
                )
                assert value == pytest.approx(expected[g][key] if told else np.nan, **close, nan_ok=True), (
                    stop,
                    g,
                    key,
                )
                dashes += not told
    assert "there is nobody, or at least 5 people" in page.text_content(".explorer")


def test_the_explorer_starts_at_the_audited_decision(opened: Opened) -> None:
    audit = quick_compas()
    page = opened(audit.to_html())
    assert "decile_score < 5 (the audited one)" in page.text_content(".explorer output")
    rates = {g.name: g.rates["selection_rate"].value for g in audit.attributes[0].groups}
    for g, name in enumerate(rates):
        assert numbers(page)[g, "selection_rate"] == pytest.approx(rates[name], abs=1e-12)
    page.press("#threshold", "ArrowRight")
    assert "decile_score < 6" in page.text_content(".explorer output")
    page.click("text=Back to the audited decision")
    assert "decile_score < 5" in page.text_content(".explorer output")


def test_browser_and_python_write_the_same_digits(opened: Opened) -> None:
    """1/16 lies exactly between two numbers of three digits."""
    data = {"p": [0.9] + [0.1] * 15 + [0.9] * 20 + [0.1] * 44, "g": ["a"] * 16 + ["b"] * 64}
    html = quick(data, score="p", group="g", threshold=0.5, reference="b").to_html()
    page, before = opened(html), opened(html, java_script_enabled=False)
    cells = ".explorer td[data-key]"
    assert page.locator(cells).all_inner_texts() == before.locator(cells).all_inner_texts()
    assert page.locator(cells).first.inner_text().strip() == "6.2%"


def test_a_decision_that_is_no_threshold_stays_until_the_slider_moves(opened: Opened) -> None:
    data = people()
    data["d"] = (data["w"] > 1.7).astype(int)
    audit = quick(data, score="p", label="y", group="sex", prediction="d")
    page = opened(audit.to_html())
    rate = audit.attributes[0].groups[0].rates["selection_rate"].value
    first = page.locator(".explorer td[data-key=selection_rate]").first
    assert first.inner_text().strip() == f"{100 * rate:.1f}%"
    assert "d is 1" in page.text_content(".explorer output")
    move(page, 5)
    assert first.inner_text().strip() != f"{100 * rate:.1f}%"
    page.click("text=Back to the audited decision")
    assert first.inner_text().strip() == f"{100 * rate:.1f}%"


def test_a_typed_threshold_between_scores_is_exact(opened: Opened) -> None:
    audit = usual()[0]
    page = opened(audit.to_html(embed="exact"))
    page.fill(".explorer input[type=number]", "0.47771")
    page.press(".explorer input[type=number]", "Enter")
    expected = outcomes(audit.table, audit.table.groupings[0], 0.47771)
    for g, row in enumerate(expected):
        assert numbers(page)[g, "tpr"] == pytest.approx(row["tpr"], abs=1e-12)
    assert "≥ 0.47771" in page.text_content(".explorer output")


def test_thinned_counts_are_exact_where_the_slider_stops(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenhand.analyses.audit.explorer.MOST_STOPS", 50)
    audit = quick(people(3000), score="p", label="y", group="sex", threshold=0.6)
    page = opened(audit.to_html())
    packed = json.loads(page.text_content("#counts"))["stops"]
    stops = np.frombuffer(base64.b64decode(packed)).tolist()
    assert len(stops) <= 51
    assert "between two of them are at most" in page.text_content(".explorer")
    assert numbers(page)[0, "tp"] == outcomes(audit.table, audit.table.groupings[0], 0.6)[0]["tp"]
    for stop in range(0, len(stops), 7):
        move(page, stop)
        expected = outcomes(audit.table, audit.table.groupings[0], stops[stop])
        assert numbers(page)[1, "fp"] == expected[1]["fp"]


def test_every_chart_is_there_and_shows_something(opened: Opened, compas: str) -> None:
    pytest.importorskip("vl_convert")
    audit = quick_compas()
    page = opened(compas)
    page.click("#charts > summary")
    found = page.evaluate(
        """() => Array.from(document.querySelectorAll("figure[data-chart]"), f => {
              const svg = f.querySelector("svg"), box = svg.getBoundingClientRect();
              const inked = Array.from(svg.querySelectorAll("path, line, rect, text")).filter(
                  e => e.getBoundingClientRect().width + e.getBoundingClientRect().height > 0);
              return [f.dataset.chart, box.width, box.height, inked.length,
                      f.querySelectorAll("details tbody tr").length, f.querySelector("figcaption").textContent.length];
           })"""
    )
    assert [name for name, *_ in found] == [c for c in dict.fromkeys(n for n, *_ in found)]
    assert {name for name, *_ in found} == set(audit.plots()) - {"null"}
    for name, width, height, inked, rows, words in found:
        assert min(width / 250, height / 100, inked / 10, rows, words / 40) >= 1, name


def test_the_threshold_moves_in_the_charts(opened: Opened, compas: str) -> None:
    pytest.importorskip("vl_convert")
    page = opened(compas)
    page.click("#charts > summary")
    where = "() => document.querySelector('figure[data-chart=cdf] .threshold line').getBoundingClientRect().x"
    before = page.evaluate(where)
    move(page, 8)
    assert page.evaluate(where) > before + 20


def test_the_keyboard_reaches_everything(opened: Opened, compas: str) -> None:
    page = opened(compas)
    wanted = page.evaluate(
        """() => Array.from(document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']"))
                  .filter(e => e.offsetParent !== null || e.getClientRects().length)
                  .filter(e => e.checkVisibility()).map((e, i) => { e.dataset.order = i; return i; })"""
    )
    reached = set()
    for _ in range(3 * len(wanted)):
        page.keyboard.press("Tab")
        order = page.evaluate("() => document.activeElement.dataset.order ?? null")
        if order is None and reached:
            break
        reached.add(order)
    assert {int(o) for o in reached if o is not None} >= set(wanted)
    page.press("#all > summary", "Enter")
    page.focus("td summary")
    page.keyboard.press("Enter")
    assert page.is_visible("td details[open] svg.null")


def test_groups_are_sorted_on_request(opened: Opened) -> None:
    page = opened(usual()[1])
    page.press("#rates > summary", "Enter")
    heads = page.locator("table.sortable thead button")
    heads.nth(1).press("Enter")
    sizes = page.evaluate(
        "() => Array.from(document.querySelectorAll('table.sortable tbody tr'), r => +r.cells[1].dataset.value)"
    )
    assert sizes == sorted(sizes, reverse=True)
    assert page.get_attribute("table.sortable thead th:nth-child(2)", "aria-sort") == "descending"
    heads.nth(1).press("Enter")
    assert page.get_attribute("table.sortable thead th:nth-child(2)", "aria-sort") == "ascending"


def test_hostile_names_do_nothing(opened: Opened) -> None:
    data = people(groups=HOSTILE)
    score, label, group = "</title><script>window.pwned=1</script>", '"><svg onload=window.pwned=1>', HOSTILE[1]
    named = {score: data["p"], label: data["y"], group: data["sex"]}
    audit = quick(named, score=score, label=label, group=group)
    page = opened(audit.to_html())
    page.wait_for_timeout(100)
    assert page.evaluate("() => window.pwned") is None
    assert page.evaluate("() => document.querySelectorAll('img, svg[onload], [onfocus]').length") == 0
    assert page.evaluate("() => document.querySelectorAll('script:not([type])').length") == 1
    assert HOSTILE[0] in page.inner_text("main")
    document = page.evaluate("() => JSON.parse(document.getElementById('document').textContent)")
    assert document == json.loads(audit.to_json())


def test_the_policy_refuses_what_it_did_not_write(browser: Any, compas: str, tmp_path: Path) -> None:
    """Even if something got past the escaping, it would not run."""
    path = tmp_path / "injected.html"
    path.write_text(
        compas.replace("</main>", "<script>window.pwned=1</script><img src=x onerror='window.pwned=1'></main>")
    )
    context = browser.new_context()
    page = context.new_page()
    page.goto(path.as_uri())
    page.wait_for_timeout(100)
    assert page.evaluate("() => window.pwned") is None
    assert page.evaluate("() => document.querySelector('.explorer output').textContent").endswith("(the audited one)")
    context.close()


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("light", {"viewport": {"width": 1100, "height": 900}}),
        ("dark", {"viewport": {"width": 1100, "height": 900}, "color_scheme": "dark"}),
        ("phone", {"viewport": PHONE}),
    ],
)
def test_everybody_can_read_it(opened: Opened, compas: str, name: str, how: dict[str, Any]) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = opened(compas, bypass_csp=True, **how)  # axe is put into the page, which its policy would refuse
    page.evaluate("() => document.querySelectorAll('details').forEach(d => { d.open = true; })")
    found = axe.Axe().run(page).response["violations"]
    grave = [(v["id"], v["nodes"][0]["html"][:200]) for v in found if v["impact"] in ("serious", "critical")]
    assert grave == []
    page.evaluate("() => document.querySelectorAll('details').forEach(d => { d.open = false; })")
    keep(page, f"compas-{name}")


def others() -> dict[str, Any]:
    data = people()
    rival = {**data, "q": np.clip(data["p"] + 0.1, 0, 1)}
    jobs = {"job": list("nnnnppppdd") * 20, "guess": list("nnnnppnndd") * 20, "sex": list("ffmmffmmfm") * 20}
    month = [f"2024-{1 + i // 60:02d}-05" for i in range(720)]
    stream = {**{k: v[:720] for k, v in data.items()}, "day": month}
    words = {"score": "p", "label": "y", "group": "sex"}
    few = ["demographic_parity", "abcc"]
    return {
        "models": quick(rival, **{**words, "score": ["p", "q"]}, measures=few),
        "classes": quick(jobs, label="job", prediction="guess", group="sex"),
        "thresholds": evenhand.thresholds(data, **words, bootstrap=20),
        "check": evenhand.check(data, require="abcc <= 0.1", **words),
        "compare": compared(),
        "guide": evenhand.guide(ground_truth=True, priority="errors"),
        "table": evenhand.table_info(evenhand.tabulate(data, **words)),
        "projection": evenhand.projection_test(data, **words, criterion="equalized_odds"),
        "projections": evenhand.projection_test(rival, **{**words, "score": ["p", "q"]}),
        "watch": evenhand.monitor(stream, time="day", **words, min_people=10, bootstrap=20, measures=few),
    }


def test_other_pages_are_as_good(opened: Opened) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    for name, result in others().items():
        page = opened(result.to_html(), bypass_csp=True)
        page.evaluate("() => document.querySelectorAll('details').forEach(d => { d.open = true; })")
        found = axe.Axe().run(page).response["violations"]
        grave = [(v["id"], v["nodes"][0]["html"][:200]) for v in found if v["impact"] in ("serious", "critical")]
        assert grave == [], name
        page.set_viewport_size(PHONE)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"], name
        keep(page, name)


def test_a_notebook_shows_a_page_that_works(opened: Opened, browser: Any, tmp_path: Path) -> None:
    audit = quick_compas()
    page = opened(f"<!DOCTYPE html><html lang='en'><title>notebook</title><body>{audit._repr_html_()}</body></html>")
    frame = page.frames[1]
    frame.hover(".matrix tbody td")
    assert "African-American, disparate impact: unequal" in frame.inner_text(".readout")
    assert frame.locator(".explorer").count() == 0


def test_a_phone_does_not_scroll_sideways(opened: Opened, compas: str) -> None:
    page = opened(compas, viewport=PHONE)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]


def sheets(page: Any) -> int:
    """How many sheets of paper a page takes."""
    printed = page.pdf(format="A4")
    assert printed.startswith(b"%PDF")
    return int(printed.count(b"/Type /Page") - printed.count(b"/Type /Pages"))


def test_it_prints(opened: Opened, compas: str) -> None:
    page = opened(compas, color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.is_visible("#threshold")
    assert 1 <= sheets(page) <= 6
    assert page.locator("details[open]").count() == 0
    page.evaluate("() => { document.getElementById('charts').open = true; }")
    page.set_viewport_size({"width": 700, "height": 1000})  # A4 within its margins
    widths = page.evaluate(
        "() => Array.from(document.querySelectorAll('figure svg'), s => s.getBoundingClientRect().width)"
    )
    assert min(widths) > 300
    assert 2 <= sheets(page) <= 12
    keep(page, "compas-print")


def test_it_reads_without_scripts(opened: Opened, compas: str) -> None:
    page = opened(compas, java_script_enabled=False)
    text = page.inner_text("main")
    assert "41% of African-American and 65% of Caucasian get the favourable decision" in text
    assert "41.2%" in page.inner_text(".explorer")
    assert not page.is_visible("#threshold")


def test_the_json_can_be_taken_away(opened: Opened, tmp_path: Path) -> None:
    audit, html = usual()
    page = opened(html, accept_downloads=True)
    with page.expect_download() as got:
        page.click("button.keep")
    got.value.save_as(tmp_path / "taken.json")
    assert json.loads((tmp_path / "taken.json").read_text()) == audit.to_dict()


# ---- the glossary ---------------------------------------------------------------------------------------------------


def test_a_link_to_a_measure_unfolds_what_it_asks(opened: Opened) -> None:
    page = opened(usual()[1])
    assert page.locator(".about[open]").count() == 0
    page.click("#all > summary")
    page.click("table.measures a[href='#about-equalized_odds']")
    page.wait_for_selector("#about-equalized_odds[open]")
    assert page.locator(".about[open]").count() == 1
    assert "justice, medical diagnosis" in page.locator("#about-equalized_odds").inner_text()
    assert page.evaluate("document.activeElement.closest('details').id") == "about-equalized_odds"
    page.keyboard.press("Enter")
    assert page.locator(".about[open]").count() == 0


def test_on_paper_stands_what_belongs_there(opened: Opened) -> None:
    page = opened(usual()[1])
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("() => Array.from(document.querySelectorAll('details[open]'), d => d.id)") == [
        "rates",
        "method",
    ]
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 0


def test_without_scripts_the_glossary_unfolds_too(opened: Opened) -> None:
    page = opened(usual()[1], java_script_enabled=False)
    page.locator("#measures > summary").click()
    page.locator("#about-abcc summary").click()
    assert page.locator("#about-abcc dd").first.is_visible()


# ---- the verdict, and the groups by key measures --------------------------------------------------------------------


def invited() -> Any:
    """10,000 men invited at 8.0 %, 10,000 women at 3.5 %."""
    n = 10_000
    data = {"invited": [1] * 800 + [0] * (n - 800) + [1] * 350 + [0] * (n - 350), "sex": ["men"] * n + ["women"] * n}
    return evenhand.audit(data, prediction="invited", group="sex", reference="men")


def crowded() -> Any:
    """Forty groups by each of three attributes."""
    rng, n = np.random.default_rng(0), 6_000
    data: dict[str, Any] = {name: rng.integers(0, 40, n) for name in ("work", "county", "school")}
    data["d"] = (rng.random(n) < 0.3 + 0.01 * data["work"]).astype(int)
    data["y"] = rng.integers(0, 2, n)
    few = ["disparate_impact", "equal_opportunity"]
    return evenhand.audit(data, prediction="d", label="y", group=["work", "county", "school"], bands="none", depth=1,
                          measures=few, bootstrap=0, permutations=0)  # fmt: skip


@lru_cache
def situation(name: str) -> str:
    """The page of an audit that is hard to lay out."""
    few = {"score": "p", "label": "y", "group": "sex", "measures": ["disparate_impact", "equal_opportunity", "abcc"]}
    constant = {"d": [1, 0] * 200, "y": [1] * 200 + [0, 1] * 100, "g": ["a"] * 200 + ["b"] * 200}
    audits = {
        "invited": invited, "crowded": crowded, "hostile": lambda: quick(people(groups=HOSTILE), **few),
        "undefined": lambda: quick(constant, prediction="d", label="y", group="g"),
        "twelve": lambda: quick(people(2400, tuple(f"Region {i}" for i in range(12))), **few),
    }  # fmt: skip
    return str(audits[name]().to_html())


def in_first_view(page: Any, selector: str) -> bool:
    """Whether all of something is seen before anybody scrolls."""
    box, height = page.locator(selector).first.bounding_box(), page.viewport_size["height"]
    return box is not None and box["y"] >= 0 and box["y"] + box["height"] <= height


@pytest.mark.parametrize("size", [{"width": 1280, "height": 800}, PHONE], ids=["desktop", "phone"])
def test_the_first_view_holds_verdict_rates_and_ratio(opened: Opened, compas: str, size: dict[str, int]) -> None:
    for html, word, told in (
        (situation("invited"), "Unequal", ("8.0%", "3.5%", "0.44")),
        (compas, "Unequal", ("65%", "41%", "0.63")),
    ):
        page = opened(html, viewport=size)
        assert page.inner_text("#verdict").strip() == word
        assert in_first_view(page, "#verdict")
        for rate in told:
            assert in_first_view(page, f".bars td:text-is('{rate}')"), rate
        red, green, blue = page.evaluate(
            "getComputedStyle(document.querySelector('#verdict .word')).color.match(/\\d+/g).map(Number)"
        )
        assert red > 2 * max(green, blue)
        assert page.locator("#verdict svg path").count() == 2  # a shape beside the colour


def test_the_four_fifths_line_stands_where_it_should(opened: Opened) -> None:
    page = opened(situation("invited"))
    bars = page.evaluate(
        """() => Array.from(document.querySelectorAll(".bars .bar svg"), s => [
              +s.querySelector("rect.of").getAttribute("width"), +s.querySelector("line.limit").getAttribute("x1")])"""
    )
    assert bars == [[800, 640], [350, 640]]  # of 1000, which are 10 %


@pytest.mark.parametrize("name", ["invited", "crowded", "hostile", "undefined", "twelve"])
def test_every_situation_is_read_by_everybody(opened: Opened, name: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = opened(situation(name), bypass_csp=True, viewport=PHONE, color_scheme="dark")
    tall, wide = page.evaluate("() => [document.body.scrollHeight, document.documentElement.scrollWidth]")
    assert wide <= PHONE["width"]
    assert tall <= 12 * PHONE["height"]
    keep(page, f"{name}-phone")
    found = axe.Axe().run(page).response["violations"]
    assert [(v["id"], v["nodes"][0]["html"][:200]) for v in found] == []
    page.set_viewport_size({"width": 1280, "height": 800})
    keep(page, name)
    assert page.evaluate("() => window.pwned") is None


def test_cells_tell_their_numbers(opened: Opened, compas: str) -> None:
    page = opened(compas)
    cells = page.locator(".matrix tbody td")
    assert cells.first.get_attribute("class") == "unequal"
    assert page.locator(".matrix td[tabindex='0']").count() == 1
    cells.first.focus()
    told = page.inner_text(".readout")
    assert told.startswith(
        "African-American, disparate impact: unequal. ×0.632, 95% interval 0.602 to 0.663, tolerance"
    )
    assert "four fifths" in told
    page.keyboard.press("ArrowRight")
    assert page.inner_text(".readout").startswith("African-American, equal opportunity: unequal. -0.214")
    text = page.evaluate("document.querySelector('.matrix tbody td').textContent")
    assert "0.63×" in text
    assert "95% interval 0.602 to 0.663" in text  # for whoever listens


def test_many_groups_are_folded_the_worst_first(opened: Opened) -> None:
    page = opened(situation("crowded"))
    rows = page.evaluate(
        """() => Array.from(document.querySelectorAll("[aria-labelledby='by-0'] .matrix"),
                  t => Array.from(t.tBodies[0].rows, r => r.cells[0].querySelector(".word").textContent.trim()))"""
    )
    assert [len(one) for one in rows] == [8, 31]
    places = [WORDS.index(word) for one in rows for word in one]
    assert places == sorted(places)
