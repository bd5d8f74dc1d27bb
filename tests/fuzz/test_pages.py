"""Pages of hostile data in a real browser: nothing runs or is asked for, and what is shown is what was counted."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzzing import NAMES, amount, generators

import evenhand
from evenhand.errors import printable

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install 'evenhand[test]'")
pytest.importorskip("vl_convert")

CHROMIUM = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)
if CHROMIUM is None and not os.environ.get("EVENHAND_BROWSER"):
    pytest.skip("needs Chromium on the PATH", allow_module_level=True)

HOSTILE = [*(n for n in NAMES if n.strip() and n.casefold() not in ("nan", "none", "null")),
           "{{constructor.constructor('pwned=1')()}}", "' onfocus=pwned=1 '", "a\u2028b", "\u2066b\u2069", "length",
           "prototype", "(missing)"]  # fmt: skip
FEW = {"bootstrap": 5, "permutations": 5}
Rng = np.random.Generator


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as p:
        found = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


def names(rng: Rng, size: int) -> list[str]:
    """Different names, also after the spaces around them are gone."""
    found: dict[str, str] = {}
    for one in rng.permutation(np.array(HOSTILE, object)).tolist():
        found.setdefault(one.strip().casefold(), one)
    return list(found.values())[:size]


def column(rng: Rng, values: list[str], n: int) -> Any:
    """Each value some people have, so that no group is missing."""
    first = (
        np.arange(n) % len(values) if rng.random() < 0.5 else rng.choice(len(values), n, p=_uneven(rng, len(values)))
    )
    first[: 12 * len(values)] = np.arange(12 * len(values)) % len(values)
    return np.array(values, object)[rng.permutation(first)]


def _uneven(rng: Rng, size: int) -> Any:
    shares = rng.exponential(1, size) ** 2
    return shares / shares.sum()


def scores(rng: Rng, n: int) -> Any:
    kind = rng.integers(0, 5)
    if kind == 0:
        return rng.random(n)
    if kind == 1:
        return rng.integers(0, 11, n).astype(float)
    if kind == 2:
        return rng.normal(0, 10.0 ** rng.integers(-6, 7), n)
    if kind == 3:
        return np.where(rng.random(n) < 0.5, 0.5, rng.random(n).round(2))
    return rng.beta(0.2, 0.2, n)


def drawn(rng: Rng) -> tuple[dict[str, Any], list[str]]:
    """Columns p, y, group columns and weights under hostile names; those names."""
    n = int(rng.choice([120, 300, 900]))
    score, label, weight, first, second = names(rng, 5)
    p = scores(rng, n)
    data = {
        score: p, label: (rng.random(n) < 0.3 + 0.4 * (p > np.median(p))).astype(int),
        weight: rng.uniform(0.5, 2, n).round(2), first: column(rng, names(rng, int(rng.integers(2, 6))), n),
        second: column(rng, names(rng, 2), n),
    }  # fmt: skip
    return data, [score, label, weight, first, second]


def audit(rng: Rng) -> Any:
    data, (score, label, weight, first, second) = drawn(rng)
    words: dict[str, Any] = {"group": [first, second] if rng.random() < 0.4 else first, "risk": rng.random() < 0.3}
    words |= {"label": label} if rng.random() < 0.8 else {}
    words |= {"weight": weight, "weight_kind": "sampling"} if rng.random() < 0.2 else {}
    threshold = float(np.quantile(data[score], rng.random()))
    return evenhand.audit(data, score=score, threshold=threshold, bootstrap=5, permutations=5, **words)


def classes(rng: Rng) -> Any:
    _, (label, guess, group, *_) = drawn(rng)
    job = column(rng, names(rng, 4), 300)
    data = {
        label: job,
        guess: np.where(rng.random(300) < 0.7, job, rng.permutation(job)),
        group: column(rng, names(rng, 3), 300),
    }
    return evenhand.audit(data, label=label, prediction=guess, group=group, bootstrap=5, permutations=5)


def models(rng: Rng) -> Any:
    data, (score, label, rival, first, _) = drawn(rng)
    data[rival] = rng.permutation(data[score])
    threshold = float(np.median(data[score]))
    return evenhand.audit(
        data, score=[score, rival], label=label, group=first, threshold=threshold, **FEW,
        measures=["demographic_parity", "equal_opportunity"],
    )  # fmt: skip


def monitor(rng: Rng) -> Any:
    data, (score, label, _, first, time) = drawn(rng)
    data[time] = np.array(names(rng, 6), object)[np.arange(len(data[score])) * 6 // len(data[score])]
    return evenhand.monitor(
        data, score=score, label=label, group=first, time=time, every="value", baseline=1, small="keep", min_people=5,
        bootstrap=19,
        threshold=float(np.median(data[score])), measures=["demographic_parity", "abcc"],
    )  # fmt: skip


def thresholds(rng: Rng) -> Any:
    data, (score, label, _, first, _) = drawn(rng)
    return evenhand.thresholds(
        data, score=score, label=label, group=first, require="demographic_parity <= 0.5", bootstrap=5
    )


def check(rng: Rng) -> Any:
    data, (score, label, _, first, _) = drawn(rng)
    return evenhand.check(
        data, "demographic_parity <= 0.5", score=score, label=label, group=first, **FEW,
        threshold=float(np.median(data[score])),
    )  # fmt: skip


def compare(rng: Rng) -> Any:
    rows = [{"method": m, "performance": rng.random(), "fairness": rng.random(), "lambda": k, "seed": s}
            for m in names(rng, 5) for k in range(3) for s in range(2)]  # fmt: skip
    columns = {k: [r[k] for r in rows] for k in rows[0]}
    return evenhand.compare(columns, method="method", performance="performance", fairness="fairness")


def individual(rng: Rng) -> Any:
    data, (score, _, feature, first, second) = drawn(rng)
    return evenhand.individual_fairness(data, score=score, columns=[feature, second], group=first, k=3)


KINDS: dict[str, Callable[[Rng], Any]] = {
    "audit": audit, "classes": classes, "models": models, "monitor": monitor, "thresholds": thresholds, "check": check,
    "compare": compare, "individual": individual,
}  # fmt: skip
OFTEN = ["audit", "classes", "monitor", "audit", "models", "audit", *KINDS]


@amount(6, 300)
def test_pages(cases: int, browser: Any, tmp_path: Path) -> None:
    done: dict[str, int] = {}
    failed: list[str] = []
    for case, rng in enumerate(generators(cases, 7)):
        kind = OFTEN[case % len(OFTEN)]
        try:
            html = KINDS[kind](rng).to_html()
            opened(browser, html, tmp_path / "page.html", rng)
            done[kind] = done.get(kind, 0) + 1
        except evenhand.EvenhandError:
            done["refused"] = done.get("refused", 0) + 1  # data that are refused have no page
        except Exception as error:
            failed.append(f"{kind}, case {case}: {type(error).__name__}: {error}"[:600])
    print(done)
    assert failed == []
    assert done.get("refused", 0) <= 0.4 * cases, done


def opened(browser: Any, html: str, path: Path, rng: Rng) -> None:
    """One page: no error, no request, no element that the page did not write itself; and its explorer counts."""
    path.write_text(html, encoding="utf-8")
    heard: list[str] = []
    context = browser.new_context()
    context.set_offline(True)
    page = context.new_page()
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("request", lambda r: None if r.url == path.as_uri() else heard.append(f"asked for {r.url}"))
    page.goto(path.as_uri())
    try:
        assert page.evaluate("() => typeof window.pwned") == "undefined"
        assert page.evaluate(_STRANGE) == []
        assert page.evaluate("() => document.querySelectorAll('script:not([type])').length") == 1
        text = page.evaluate(
            "() => document.body.textContent.replace(document.querySelector('script')?.textContent, '')"
        )
        assert not re.search("[\u202a-\u202e\u2066-\u2069\u200e\u200f\x00-\x08\x0b-\x1f]", text)
        axes(page)
        if (block := page.query_selector("#counts")) is not None:
            explored(page, json.loads(block.text_content()), rng)
        assert heard == []
    finally:
        context.close()


_STRANGE = """() => {
    const ours = new Set(("a header h1 h2 h3 h4 h5 dl dt dd nav ul li main section div p strong em details summary " +
        "table caption thead tbody tr th td bdi figure figcaption label input output button footer script code pre " +
        "svg span").split(" "));
    const strange = (e) => !(ours.has(e.localName) || e.closest("svg")) ||
        e.getAttributeNames().some((a) => a.startsWith("on")) ||
        (e.hasAttribute("href") && !e.getAttribute("href").startsWith("#"));
    return Array.from(document.querySelectorAll("body *")).filter(strange).map((e) => e.outerHTML.slice(0, 200));
}"""


def axes(page: Any) -> None:
    """Every number of a drawing is one, and legends name the groups of the table beside it."""
    for svg in page.evaluate("() => Array.from(document.querySelectorAll('figure svg'), s => s.outerHTML)"):
        drawing = re.sub(r"<text.*?</text>|aria-label=\"[^\"]*\"", "", svg, flags=re.DOTALL)
        assert not re.search("NaN|undefined|Infinity", drawing)
    found = page.evaluate(
        """() => Array.from(document.querySelectorAll("figure[data-chart='cdf'], figure[data-chart='pdf']"), f =>
              [Array.from(f.querySelectorAll('th[scope=col]'), h => h.textContent),
               Array.from(f.querySelectorAll('svg text'), t => t.textContent),
               f.querySelectorAll('svg path[stroke]:not([fill])').length])"""
    )
    for heads, texts, lines in found:
        assert lines >= len(heads) - 1, "a line for each group"
        for head in heads[1:]:
            assert any(_plain(head)[:8] in _plain(t) or "…" in t for t in texts), (head, texts)


def _plain(text: str) -> str:
    return re.sub(r"\s+", "", printable(unescape(text))).replace("\\", "∖")


def explored(page: Any, counts: dict[str, Any], rng: Rng) -> None:
    """The slider's numbers, from the counts in the page alone."""
    stops = np.frombuffer(base64.b64decode(counts["stops"]))
    assert np.all(np.diff(stops) > 0)
    for stop in {0, len(stops), int(rng.integers(0, len(stops) + 1)), int(rng.integers(0, len(stops) + 1))}:
        page.evaluate(
            """stop => { const s = document.getElementById("threshold"); s.value = stop;
                         s.dispatchEvent(new Event("input")); }""",
            stop,
        )
        for place, entry in enumerate(counts["groupings"]):
            array = np.zeros((len(stops), entry["groups"], counts["labels"]))
            array.reshape(-1)[np.cumsum(entry["at"])] = entry["n"]
            above = array[stop:].sum(0)
            chosen = array.sum(0) - above if counts["risk"] else above
            told = [k is None or stop in k or stop == len(stops) for k in entry["known"]]
            with np.errstate(invalid="ignore", divide="ignore"):
                rate = np.where(told, chosen.sum(-1) / array.sum((0, 2)), np.nan)
                shown = page.evaluate(_CELLS, place)
                assert shown, "a table"
                for g, key, value in shown:
                    base = rate[entry["reference"]]
                    own: dict[str, float] = {
                        "selection_rate": rate[g], "gap": rate[g] - base,
                        "ratio": rate[g] / base if base > 0 else np.nan,
                        "selected": chosen[g].sum() if told[g] else np.nan,
                        "tp": chosen[g][-1] if told[g] else np.nan, "fp": chosen[g][0] if told[g] else np.nan,
                    }  # fmt: skip
                    if key in own:
                        assert float(value) == pytest.approx(own[key], abs=1e-6, nan_ok=True), (stop, place, g, key)


_CELLS = """i => Array.from(document.querySelectorAll(`.explorer table[data-grouping="${i}"] td[data-key]`),
                            c => [Number(c.dataset.group), c.dataset.key, c.dataset.value])"""
