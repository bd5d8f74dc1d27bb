"""Densities and CDFs of several models side by side."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pytest

import evenhand
from evenhand.analyses.audit.explorer import steps_of
from evenhand.analyses.models.models import CandidateAudit
from evenhand.analyses.models.page import _in_steps
from evenhand.report.page.figures import Room

IDS = ["abpc", "abcc", "delta_dp_c", "delta_dp_b"]


def people(models: int, groups: int = 2, n: int = 400) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    g = rng.integers(0, groups, n)
    scores = {f"m{i}": rng.beta(2 + i * (g == 1), 3) for i in range(models)}
    return {**scores, "y": rng.integers(0, 2, n), "g": np.array([f"group {k}" for k in range(groups)])[g]}


@cache
def audited(models: int = 3, groups: int = 2, n: int = 400) -> CandidateAudit:
    found = evenhand.audit(
        people(models, groups, n), score=[f"m{i}" for i in range(models)], label="y", group="g", reference="group 0",
        measures=IDS, score_range=(0, 1), fairness="abcc", bootstrap=0, permutations=0,
    )  # fmt: skip
    assert isinstance(found, CandidateAudit)
    return found


def lines(panel: dict[str, Any], group: str, field: str) -> tuple[Any, Any]:
    rows = [row for x in panel["layer"] if x["mark"]["type"] == "line" for row in x["data"]["values"]]
    own = [row for row in rows if row["group"] == group]
    return np.array([row["score"] for row in own]), np.array([row[field] for row in own])


def test_every_model_has_a_panel_with_its_gaps_on_shared_axes() -> None:
    found, data = audited(), people(3)
    for kind, field in (("pdf", "density"), ("cdf", "share")):
        panels = found.plot(kind).spec["concat"]
        assert [p["title"]["text"] for p in panels] == ["m0", "m1", "m2"]
        axes = [(line["encoding"]["x"]["scale"], line["encoding"]["y"]["scale"]) for p in panels
                for line in p["layer"] if line["mark"]["type"] == "line"]  # fmt: skip
        assert all(one == axes[0] for one in axes)
        for panel in panels:
            name = panel["title"]["text"]
            for id_, word in (("abpc", "ABPC"), ("abcc", "ABCC")):
                assert f"{word} {found[name].measure(id_).value:.3f}" in panel["title"]["subtitle"]
            for group in ("group 0", "group 1"):
                x, y = lines(panel, group, field)
                own = np.sort(data[name][data["g"] == group])
                if kind == "cdf":
                    there = np.searchsorted(own, x[1:-1], side="right") / len(own)
                    assert y[1:-1] == pytest.approx(there, abs=2 / len(own))
                else:
                    assert np.trapezoid(y, x) == pytest.approx(1, abs=0.1)  # some of it is beyond the score range


def test_the_description_and_the_table_say_what_is_drawn() -> None:
    found, data = audited(), people(3)
    chart = found.plot("cdf")
    for name in found:
        assert f"{name}: ABPC {found[name].measure('abpc').value:.3f}" in chart.description
    at = [i for i, pair in enumerate(zip(chart.columns["model"], chart.columns["group"], strict=True))
          if pair == ("m2", "group 1")]  # fmt: skip
    assert chart.columns["median"][at[0]] == pytest.approx(np.median(data["m2"][data["g"] == "group 1"]), abs=0.02)
    assert chart.columns["ABCC"][at[0]] == pytest.approx(found["m2"].measure("abcc").value, abs=1e-4)


def test_many_models_and_groups_are_bounded_and_said() -> None:
    chart = audited(8, 12).plot("pdf")
    assert len(chart.spec["concat"]) == 6
    assert chart.note is not None
    assert "of 8 models the first 6 are drawn" in chart.note
    assert "of 12 groups" in chart.note
    names = [{row["group"] for x in p["layer"] if x["mark"]["type"] == "line" for row in x["data"]["values"]}
             for p in chart.spec["concat"]]  # fmt: skip
    assert all(one == names[0] and len(one) == 8 for one in names)  # the same groups in every panel
    mean = next(g.mean for g in audited(8, 12)["m0"].attributes[0].largest if g.id == "abcc")
    assert f"ABCC {mean:.3f}" in chart.spec["concat"][0]["title"]["subtitle"][-1]


def test_a_group_can_be_named_and_a_wrong_one_is_refused() -> None:
    found = audited(2, 4)
    assert "between group 3 and group 0" in found.plot("cdf", group="group 3").description
    with pytest.raises(evenhand.UsageError, match="group 9"):
        found.plot("cdf", group="group 9")


def test_a_model_without_a_density_is_left_out_and_said() -> None:
    data = {**people(2), "flat": np.full(400, 0.5)}
    found = evenhand.audit(data, score=["m0", "m1", "flat"], label="y", group="g", bootstrap=0, permutations=0,
                           score_range=(0, 1), measures=IDS, fairness="abcc")  # fmt: skip
    chart = found.plot("pdf")
    assert len(chart.spec["concat"]) == 2
    assert "not drawn, for lack of a curve: flat" in (chart.note or "")
    assert len(found.plot("cdf").spec["concat"]) == 3


def test_a_page_tells_nobody_alone() -> None:
    found = audited()
    html = found.to_html()
    for kind in ("pdf", "cdf"):
        assert html.count(f'data-chart="{kind}"') == 1
    tables = {name: found[name].table for name in found}
    steps = {name: steps_of(t, {"g": "group 0"}, 0.5, Room(), "coarse")[0] for name, t in tables.items()}
    for name, subject in _in_steps(found.charts().subject.panels, tables, steps):
        t = subject.table
        assert t.score is not None
        assert t.label is not None
        kinds = np.unique(np.c_[t.score, t.codes[0], t.label], axis=0, return_inverse=True)[1]
        assert np.bincount(kinds.reshape(-1), t.n).min() >= 5, name
    numbers = set(re.findall(r"0\.\d{5,}", html))
    assert not numbers & {f"{score:.5f}" for score in people(3)["m0"]}


def test_too_few_people_are_not_drawn_on_a_page() -> None:
    html = audited(2, 2, 40).to_html()
    assert 'data-chart="cdf"' not in html
    assert "would have too few points" in html
    assert len(audited(2, 2, 40).plot("cdf").spec["concat"]) == 2


def test_a_model_of_hardly_any_spread_does_not_flatten_the_others() -> None:
    rng = np.random.default_rng(1)
    data = {**people(2), "peak": rng.normal(0.3, 0.001, 400)}
    found = evenhand.audit(data, score=["m0", "m1", "peak"], label="y", group="g", bootstrap=0, permutations=0,
                           score_range=(0, 1), measures=IDS, fairness="abcc")  # fmt: skip
    chart = found.plot("pdf")
    assert "are cut off: peak" in (chart.note or "")
    top = max(lines(chart.spec["concat"][2], "group 1", "density")[1])
    own = max(max(lines(chart.spec["concat"][i], f"group {k}", "density")[1]) for i in (0, 1) for k in (0, 1))
    assert own < top < 3 * own
    assert max(chart.columns["density there"]) > 100  # the table has it as it is
