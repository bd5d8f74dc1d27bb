"""What a page holds of people: no set that it tells apart, by itself or by subtraction, is one of few people."""

from __future__ import annotations

import base64
import json
import re
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

import evenhand

LEAST = 5
ROLES = {"score": "p", "label": "y", "group": "sex"}
BOTH = {**ROLES, "group": ["sex", "race"]}


def people(n: int, seed: int = 0, decimals: int | None = None) -> dict[str, Any]:
    rng = np.random.default_rng([n, seed])
    sex, race = rng.choice(4, n, p=[0.5, 0.4, 0.08, 0.02]), rng.choice(3, n, p=[0.6, 0.36, 0.04])
    score = np.clip(rng.normal(0.4 + 0.05 * sex, 0.2), 0.001, 0.999)
    return {
        "p": score if decimals is None else score.round(decimals), "y": (rng.random(n) < score).astype(int),
        "sex": np.array(["f", "m", "x", "other"], object)[sex], "race": np.array(["a", "b", "c"], object)[race],
        "w": rng.uniform(0.5, 3, n).round(3), "id": rng.integers(0, n // 3 + 1, n), "d": rng.integers(0, 2, n),
    }  # fmt: skip


def embedded(html: str) -> dict[str, Any] | None:
    found = re.search(r'<script type="application/json" id="counts">(.*?)</script>', html)
    return json.loads(found[1]) if found else None


def stops_of(counts: dict[str, Any]) -> np.ndarray[Any, Any]:
    return np.frombuffer(base64.b64decode(counts["stops"]))


def dense(counts: dict[str, Any], entry: dict[str, Any]) -> np.ndarray[Any, Any]:
    """Axes (stop, group, label), as the page's script reads them."""
    found = np.zeros((counts["places"], entry["groups"], counts["labels"]))
    found.reshape(-1)[np.cumsum(entry["at"])] = entry["n"]
    return found


CASES = {
    "few": (people(60), ROLES), "continuous": (people(900), ROLES), "many": (people(20_000), ROLES),
    "discrete": (people(2_000, decimals=1), ROLES), "hundredths": (people(3_000, decimals=2), ROLES),
    "risk": (people(900), {**ROLES, "risk": True}), "no label": (people(500), {"score": "p", "group": "sex"}),
    "two": (people(900), BOTH), "two, many": (people(20_000), BOTH),
    "decisions": (people(900), {**ROLES, "prediction": "d"}), "clusters": (people(1500), {**ROLES, "cluster": "id"}),
    "rare": ({**people(4_000), "y": (people(4_000)["p"] > 0.48).astype(int)}, ROLES),
    "weights": (people(1500), {**ROLES, "weight": "w"}), "high": (people(900), {**ROLES, "threshold": 0.9}),
}  # fmt: skip


def quick(data: Any, **words: Any) -> Any:
    return evenhand.audit(data, **words, measures=["demographic_parity", "abcc"], bootstrap=0, permutations=0)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages without charts, which take most of the time."""
    monkeypatch.setattr("evenhand.report.page.figures.Room.figure", lambda *args: None)


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("name", CASES)
def test_nobody_stands_in_a_small_cell(name: str) -> None:
    data, roles = CASES[name]
    audit = quick(data, **roles)
    counts = embedded(audit.to_html())
    if counts is None:
        assert name == "few"
        return
    stops = stops_of(counts)
    assert np.all(np.diff(stops) > 0)
    sides = np.array([0, *([counts["policy"]] if counts["policy"] else []), len(stops)])
    who = [_shown(audit, counts, i, entry, data) for i, entry in enumerate(counts["groupings"])]
    label = np.zeros(len(data["p"]), int) if counts["labels"] == 1 else data["y"]
    step = np.searchsorted(stops, data["p"], side="right") - 1
    person = data["id"] if "cluster" in roles else np.arange(len(label))
    checked = 0
    for first, last, members in _sets(who, len(stops)):
        for y in range(counts["labels"]):
            inside = members & (label == y) & (step >= first) & (step < last)
            there = len(np.unique(person[inside]))
            if there >= LEAST or not there:
                checked += 1
                continue
            side = int(np.searchsorted(sides, first, side="right")) - 1
            whole = members & (label == y) & (step >= sides[side]) & (step < sides[side + 1])
            assert last <= sides[side + 1], (first, last)
            assert np.array_equal(inside, whole), (name, first, last, y, there)  # which tables of the report tell
    assert checked > 5


def _shown(audit: Any, counts: dict[str, Any], place: int, entry: dict[str, Any], data: dict[str, Any]) -> list[Any]:
    """Of each group in the page: its people, and the thresholds at which it is known. Their counts are checked."""
    names = [a.name for a in audit.attributes][place]
    groups = [g.name for g in next(a for a in audit.attributes if a.name == names).groups]
    column = (
        data[names]
        if names in data
        else np.array([f"{a} × {b}" for a, b in zip(data["sex"], data["race"], strict=True)], object)
    )
    found, array = [], dense(counts, entry)
    step = np.searchsorted(stops_of(counts), data["p"], side="right") - 1
    for g in range(entry["groups"]):
        members = column == groups[g]
        known = range(counts["places"]) if entry["known"][g] is None else entry["known"][g]
        if audit.table.weight is None:
            own = np.bincount(
                np.array(known)[np.searchsorted(known, step[members], side="right") - 1], minlength=len(array)
            )
            assert np.array_equal(array[:, g].sum(-1), own)
        found.append((members, set(known)))
    return found


def _sets(who: list[list[Any]], stops: int) -> Any:
    """Every group between two thresholds of its own, and every set that adding and subtracting groups gives."""
    for groups in who:
        for members, known in groups:
            ends = [*sorted(known), stops]
            yield from ((a, b, members) for a, b in pairwise(ends))
    if len(who) == 1:
        return
    every = [members for groups in who for members, known in groups if len(known) == stops]
    told = np.array(every[:9])
    atoms, place = np.unique(told, axis=1, return_inverse=True)
    for signs in product((-1, 0, 1), repeat=len(told)):
        mixed = np.array(signs) @ atoms
        if set(mixed.tolist()) == {0, 1}:
            members = (mixed == 1)[place.reshape(-1)]
            yield from ((i, i + 1, members) for i in range(stops))


@pytest.mark.parametrize("name", ["few", "continuous", "two", "risk"])
def test_drawings_tell_nobodys_score(name: str) -> None:
    """No point of a curve lies where one person's score is, and the numbers beside a chart are those of the curve."""
    pytest.importorskip("vl_convert")
    data, roles = CASES[name]
    audit = quick(data, **roles)
    html, exact = audit.to_html(), audit.to_html(embed="exact")
    scores = data["p"]
    for chart, expected in (("cdf", 40), ("c_bias", 40)):
        assert len(_met(exact, chart, scores)) >= min(expected, len(scores) // 6), (
            "scores are seen where they are drawn"
        )
    for chart in ("cdf", "c_bias"):
        x = _drawn(html, chart)
        by_chance = len(x) * len(scores) * 2 * 0.009 / 560  # drawings are as fine as a hundredth of a pixel
        assert len(_met(html, chart, scores)) <= 3 + 2 * by_chance


def _drawn(html: str, chart: str) -> np.ndarray[Any, Any]:
    figures = re.findall(rf'<figure data-chart="{chart}".*?</figure>', html, re.DOTALL)
    points = [re.findall(r"[MLH](-?[\d.]+)", d) for f in figures for d in re.findall(r'<path d="([^"]*)"', f)]
    return np.unique([float(x) / 560 for own in points if len(own) > 4 for x in own])


def _met(html: str, chart: str, scores: Any) -> list[float]:
    x = _drawn(html, chart)
    return [s for s in scores.tolist() if len(x) and np.abs(x - s).min() < 0.009 / 560]


@pytest.mark.usefixtures("undrawn")
def test_the_audited_threshold_is_a_stop() -> None:
    for threshold in (0.2, 0.4567, 0.8):
        counts = embedded(quick(people(900), **ROLES, threshold=threshold).to_html())
        assert counts is not None
        assert stops_of(counts)[counts["policy"]] == threshold


@pytest.mark.usefixtures("undrawn")
def test_exact_and_none() -> None:
    audit = quick(people(900), **ROLES)
    counts = embedded(audit.to_html(embed="exact"))
    assert counts is not None
    assert np.array_equal(stops_of(counts), audit.table.scores)
    assert embedded(audit.to_html(embed="none")) is None
    assert "Try another threshold" not in audit.to_html(embed="none")
    with pytest.raises(evenhand.UsageError, match="'coarse', 'exact', 'none'"):
        audit.to_html(embed="all")


@pytest.mark.usefixtures("undrawn")
def test_shared_tables_stay_as_they_are() -> None:
    table = evenhand.suppressed(evenhand.tabulate(people(3000), **ROLES), below=10, keep_thresholds=[0.5])
    audit = quick(table)
    counts = embedded(audit.to_html())
    assert counts is not None
    assert set(stops_of(counts)[1:].tolist()) <= set(table.cutoffs.tolist())
    array = dense(counts, counts["groupings"][0])
    assert array[array > 0].min() >= 10
