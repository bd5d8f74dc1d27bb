"""Accuracy against ABCC: Figure 6 of Han, Jiang et al. 2023, and what they left open, a network that pays for ABCC."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenhand.measures.pareto import pareto
from evenhand.published.item import Claim, Outcome, Setting, Value
from evenhand.published.table_one import ADV_SHARES, ALONE, GAME, SHARES, SPLITS, Case, kept, trained
from evenhand.report.charts import theme
from evenhand.report.charts.chart import Chart
from evenhand.report.charts.layers import Spec, chart, coloured, inline, quantitative, rows

if TYPE_CHECKING:
    from evenhand.learn import Experiment

Runs = NDArray[np.float64]
"""Splits × strengths × (dev accuracy, dev fairness, accuracy, fairness)."""
RESULTS = ("dev_performance", "dev_fairness", "performance", "fairness")
GIVEN_UP = (0.005, 0.01, 0.015, 0.02, 0.03)


@dataclass(frozen=True)
class Line:
    """A method with the strengths at which it is tried: in full, and by default."""

    name: str
    maker: str
    options: Mapping[str, Any]
    shares: tuple[float, float, float]
    strengths: tuple[float, ...]
    few: tuple[float, ...]


FIGURE_6 = (
    Line("REG", "reg", {**ALONE, "loss": "mean_gap"}, SHARES,
         (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0), (0.0, 1.0)),
    Line("ADV", "adv", GAME, ADV_SHARES,
         (10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 80.0, 100.0, 120.0, 140.0, 160.0, 180.0), (60.0, 180.0)),
)  # fmt: skip
"""REG with strengths of 0 to 1 and ADV of 10 to 180, as section 6.4 says."""
_STRENGTHS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0)
PAID = (
    Line("REG with ΔDP_c", "reg", {**ALONE, "loss": "mean_gap"}, SHARES, _STRENGTHS, (0.0, 1.0)),
    Line("REG with ABCC", "reg", {**ALONE, "loss": "abcc"}, SHARES, _STRENGTHS, (0.0, 1.0)),
)


def runs_of(found: Experiment, strengths: Sequence[float]) -> Runs:
    """The results of one method."""
    splits = max(found.runs["split"]) + 1
    table = np.empty((splits, len(strengths), len(RESULTS)))
    places = zip(*(found.runs[key] for key in ("split", "strength", *RESULTS)), strict=True)
    for split, strength, *results in places:
        table[split, list(strengths).index(strength)] = results
    return table


def tried(case: Case, lines: Sequence[Line], setting: Setting, told: tuple[float, float]) -> dict[str, Runs]:
    """The results of all methods, by name."""
    from evenhand.learn import Method

    start, step = told[0], (told[1] - told[0]) / len(lines)
    found = {}
    with kept(setting, f"fronts-{'-'.join(case.rows).replace(' ', '-')}") as folder:
        for place, line in enumerate(lines):
            strengths = line.strengths if setting.full else line.few
            ended = trained(
                case, [Method(line.name, line.maker, line.options, strengths)], line.shares, setting, folder,
                SPLITS if setting.full else 1, (start + place * step, start + (place + 1) * step),
            )  # fmt: skip
            found[line.name] = runs_of(ended, strengths)
    return found


def front(runs: Runs) -> NDArray[np.float64]:
    """Accuracy and ABCC at every strength, means over splits."""
    mean = runs.mean(0)
    return np.stack([mean[:, 2], 1 - mean[:, 3]], axis=1)


def chosen(runs: Runs, given_up: float) -> NDArray[np.float64]:
    """Accuracy and ABCC on the people who test, by split: strengths are chosen on the people who select."""
    within = runs[:, :, 0] >= runs[:, :1, 0] - given_up
    best = np.where(within, runs[:, :, 1], -1).argmax(1)
    each = np.arange(len(runs))
    return np.stack([runs[each, best, 2], 1 - runs[each, best, 3]], axis=1)


def _all(
    setting: Setting, cases: Callable[[Path], Iterator[Case]], lines: Sequence[Line]
) -> tuple[dict[str, dict[str, Runs]], tuple[Value, ...]]:
    """By attribute the results of all methods, and each of them as a value."""
    assert setting.data is not None
    every = list(cases(setting.data))
    found = {}
    for place, case in enumerate(every):
        plain = replace(case, corrected=True)  # scores without noise
        found[case.rows[1]] = tried(plain, lines, setting, (place / len(every), (place + 1) / len(every)))
    values = [
        Value(f"{attribute}: {line.name}, strength {strength:g}", title, None, value)
        for attribute, by in found.items()
        for line in lines
        for strength, point in zip(line.strengths if setting.full else line.few, front(by[line.name]), strict=True)
        for title, value in zip(("accuracy", "ABCC"), point.tolist(), strict=True)
    ]
    return found, tuple(values)


def figure_6(setting: Setting, cases: Callable[[Path], Iterator[Case]]) -> Outcome:
    """The fronts of REG and ADV, and the observations of section 6.4."""
    found, values = _all(setting, cases, FIGURE_6)
    fronts = {attribute: {name: front(runs) for name, runs in by.items()} for attribute, by in found.items()}
    best = {a: {n: points[:, 0].max() for n, points in by.items()} for a, by in fronts.items()}
    least = {a: {n: points[:, 1].min() for n, points in by.items()} for a, by in fronts.items()}
    pays = {a: best[a]["REG"] - by["ADV"][by["ADV"][:, 1].argmin(), 0] for a, by in fronts.items()}
    claims = (
        Claim("Observation 1: the front of REG reaches a higher accuracy than that of ADV",
              all(b["REG"] > b["ADV"] for b in best.values()), _seen(best)),
        Claim("Observation 1: the front of ADV reaches a lower ABCC than that of REG",
              all(low["ADV"] < low["REG"] for low in least.values()), _seen(least)),
        Claim("Observation 2: where ADV has its lowest ABCC, more than 2 points of accuracy are gone",
              all(lost > 0.02 for lost in pays.values()),
              "; ".join(f"{a} {100 * lost:.1f} points" for a, lost in pays.items())),
    )  # fmt: skip
    return Outcome(values, claims, (drawn(found, "Accuracy against ABCC of REG and ADV"),), _notes(setting))


def paying_for_abcc(setting: Setting, cases: Callable[[Path], Iterator[Case]]) -> Outcome:
    """REG that pays for ABCC against REG that pays for ΔDP_c, at equal accuracy."""
    found, values = _all(setting, cases, PAID)
    one, other = (line.name for line in PAID)
    more = [
        Value(f"{attribute}: {100 * share:g} points given up, {name}", title, None, value)
        for attribute, by in found.items()
        for share in GIVEN_UP
        for name, runs in by.items()
        for title, value in zip(("accuracy", "ABCC"), chosen(runs, share).mean(0).tolist(), strict=True)
    ]
    wins = {
        attribute: [bool(b <= a) for a, b in zip(*(chosen(by[n], 0.02)[:, 1] for n in (one, other)), strict=True)]
        for attribute, by in found.items()
    }
    claim = Claim(
        "ABCC can be paid for directly: for up to 2 points of accuracy, its network has no higher ABCC on most splits",
        all(sum(won) > len(won) / 2 for won in wins.values()),
        "; ".join(f"{attribute} {sum(won)} of {len(won)}" for attribute, won in wins.items()),
    )
    title = "What a lower ABCC costs in accuracy, by what a network pays for"
    return Outcome((*values, *more), (claim,), (drawn(found, title),), _notes(setting))


def _seen(by: Mapping[str, Mapping[str, float]]) -> str:
    return "; ".join(f"{a} {', '.join(f'{n} {v:.3f}' for n, v in of.items())}" for a, of in by.items())


def _notes(setting: Setting) -> tuple[str, ...]:
    return () if setting.full else (f"few strengths and one split; with --full all and {SPLITS}",)


def drawn(found: Mapping[str, Mapping[str, Runs]], title: str) -> Chart:
    """Mean accuracy and ABCC at every strength, a panel for each attribute; who is on the front is joined by a line."""
    names = list(next(iter(found.values())))
    x, y = quantitative("abcc", "ABCC", format="~%"), quantitative("accuracy", "accuracy", format="~%")
    y["scale"] = {"zero": False}
    colour = coloured(names, theme.GROUPS[: len(names)])
    panels: list[Spec] = []
    for attribute, by in found.items():
        points = []
        for name, runs in by.items():
            at = front(runs)
            on = pareto(at[:, 0], 1 - at[:, 1])
            points += rows(accuracy=at[:, 0], abcc=at[:, 1], front=["yes" if o else "no" for o in on], group=name)
        ax = {"x": x, "y": y, "color": colour}
        panels.append({
            "width": 260, "height": 240, "title": {"text": attribute, "fontSize": 12, "fontWeight": "normal"},
            "data": inline(points),
            "layer": [
                {"mark": {"type": "circle", "size": 50, "opacity": 1}, "encoding": ax},
                {"transform": [{"filter": {"field": "front", "equal": "yes"}}],
                 "mark": {"type": "line"}, "encoding": {**ax, "order": {"field": "abcc", "type": "quantitative"}}},
            ],
        })  # fmt: skip
    subtitle = "Means over splits; a point for each strength, those that no other is better than joined."
    return chart("fronts", title, subtitle, title, {"hconcat": panels}, {})
