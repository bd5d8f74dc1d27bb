"""Charts show what was computed, draw whatever the data are called, and say why where there is none."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import evenhand
from conftest import people
from evenhand.analyses.audit.charts import CHARTS
from evenhand.measures.registry import find
from evenhand.report.charts import theme
from evenhand.report.charts.chart import Chart
from evenhand.report.charts.layers import labels
from evenhand.report.charts.registry import Kind
from evenhand.report.charts.render import NEEDED, drawable
from evenhand.report.format import percent

QUICK = {"bootstrap": 100, "permutations": 100}
NOTHING = {"bootstrap": 0, "permutations": 0}


@lru_cache
def compas(**words: Any) -> evenhand.Audit:
    return evenhand.audit(evenhand.compas(), threshold=5, reference="Caucasian", **QUICK, **words)


@lru_cache
def five() -> evenhand.Audit:
    """Five groups, every score of its own."""
    data = people(3000, groups=5, levels=None)
    return evenhand.audit(data, score="s", label="y", group="g", threshold=0.6, **QUICK)


@lru_cache
def decisions() -> evenhand.Audit:
    return evenhand.audit(people(500), prediction="d", group="g", **QUICK)


@lru_cache
def twelve() -> evenhand.Audit:
    """A product of two attributes with twelve groups."""
    return evenhand.audit(people(3000, groups=6), score="s", label="y", group=["g", "h"], **NOTHING)


@lru_cache
def models() -> Any:
    data = people(600)
    data["t"] = np.round(np.clip(data["s"] + 0.2 * (data["g"] == "g0"), 0, 1), 3)
    return evenhand.audit(data, score=["s", "t"], label="y", group=["g", "h"], bootstrap=60, permutations=0)


@lru_cache
def methods(**words: Any) -> Any:
    rng = np.random.default_rng(0)
    strength = np.tile(np.repeat(np.linspace(0, 1, 6), 3), 2)
    better = np.repeat([0.0, 0.04], 18)
    runs = {
        "method": np.repeat(["one", "two"], 18).tolist(),
        "strength": strength.tolist(),
        "acc": (0.9 - 0.3 * strength + better + rng.normal(0, 0.01, 36)).clip(0, 1).tolist(),
        "fair": (0.5 + 0.4 * strength + better + rng.normal(0, 0.01, 36)).clip(0, 1).tolist(),
    }
    return evenhand.compare(
        runs, method="method", performance="acc", fairness="fair", settings="strength", random_performance=0.5,
        bootstrap=50, **words,
    )  # fmt: skip


@lru_cache
def classes() -> Any:
    rng = np.random.default_rng(0)
    true = rng.integers(0, 4, 800)
    guess = np.where(rng.random(800) < 0.7, true, rng.integers(0, 4, 800))
    sex = rng.integers(0, 3, 800)
    data = {"y": [f"class {i}" for i in true], "p": [f"class {i}" for i in guess], "g": [f"group {i}" for i in sex]}
    return evenhand.audit(data, label="y", prediction="p", group="g", bootstrap=50, permutations=50)


@lru_cache
def projection() -> evenhand.ProjectionTest:
    rng = np.random.default_rng(0)
    sex = np.repeat([0, 1], [200, 150])
    return evenhand.projection_test(logit=rng.normal(sex, 1.0), label=rng.integers(0, 2, 350), group=sex)


@lru_cache
def all_charts() -> list[Chart]:
    found = [a.plot(name) for a in (compas(), five(), decisions()) for name in a.plots()]
    found += [twelve().plot(name, attribute="g × h") for name in twelve().plots("g × h")]
    found += [models().plot(attribute=a) for a in ("g", "h")]
    found += [methods().plot(name) for name in methods().plots()]
    found += [projection().plot(name) for name in projection().plots()]
    found += [methods(performance_from=0.6, dto_to=0.45).plot("area", method="two")]
    found += [classes().plot(name) for name in classes().plots()]
    return found


def layers(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Every layer of a specification, with its own data or those of the view around it."""
    found: list[dict[str, Any]] = []
    for key in ("layer", "vconcat", "hconcat", "concat"):
        for part in spec.get(key, ()):
            part = {"data": spec["data"], **part} if "data" in spec else part
            found += layers(part) or [part]
    return found


def values(spec: dict[str, Any], mark: str, number: int = 0) -> dict[str, np.ndarray]:
    """The data of the layer of that mark, as columns."""
    rows = [x["data"]["values"] for x in layers(spec) if x["mark"]["type"] == mark][number]
    return {k: np.array([row[k] for row in rows]) for k in rows[0]}


def steps(x: np.ndarray, y: np.ndarray) -> float:
    """The area under what is drawn as steps to the right."""
    return float((np.diff(x) * y[:-1]).sum())


# ---- what is drawn is what was computed -----------------------------------------------------------------------


def test_the_area_between_cdfs_is_abcc() -> None:
    area = values(compas().plot("cdf").spec, "area")
    found = steps(area["score"], np.abs(area["a"] - area["b"])) / 9
    assert found == pytest.approx(compas().measure("abcc").value, abs=1e-5)
    thin = values(five().plot("cdf", group="g0").spec, "area")
    assert np.trapezoid(np.abs(thin["a"] - thin["b"]), thin["score"]) == pytest.approx(
        five().measure("abcc", "g0").value, abs=2e-3
    )


def test_the_area_between_pdfs_is_abpc() -> None:
    for audit, group in ((compas(), "African-American"), (five(), "g0")):
        area = values(audit.plot("pdf", group=group).spec, "area")
        found = np.trapezoid(np.abs(area["a"] - area["b"]), area["score"])
        assert found == pytest.approx(audit.measure("abpc", group).value, abs=3e-3)


def test_densities_by_outcome_are_those_of_people_with_one_label() -> None:
    from scipy import stats

    data = people(400, groups=2, seed=5, levels=None)
    audit = evenhand.audit(data, score="s", label="y", group="g", score_range=(0, 1), **NOTHING)
    chart = audit.plot("pdf_by_outcome")
    assert [panel["title"]["text"].split(",")[0] for panel in chart.spec["vconcat"]] == [
        "Actual positives", "Actual negatives"
    ]  # fmt: skip
    for panel, label in zip(chart.spec["vconcat"], (1, 0), strict=True):
        (lines,) = (one["data"]["values"] for one in panel["layer"] if one["mark"]["type"] == "line")
        for group in ("g0", "g1"):
            own = [row for row in lines if row["group"] == group]
            scores = data["s"][(data["g"] == group) & (data["y"] == label)]
            at = np.array([row["score"] for row in own])
            assert [row["density"] for row in own] == pytest.approx(stats.gaussian_kde(scores)(at), abs=1e-3)
    assert "equal opportunity (scores)" in chart.description
    assert sorted(chart.columns) == sorted(
        ["s", *(f"{g}, {y}" for g in ("g0", "g1") for y in ("favourable", "unfavourable"))]
    )
    assert 'data-chart="pdf_by_outcome"' in compas().to_html()
    unlabelled = evenhand.audit(data, score="s", group="g", **NOTHING)
    with pytest.raises(evenhand.EvenhandError, match="needs a label"):
        unlabelled.plot("pdf_by_outcome")


def score(risk: bool, levels: int | None) -> evenhand.Audit:
    data = people(400, groups=2, seed=5, levels=levels)
    return evenhand.audit(data, score="s", label="y", group="g", risk=risk, favorable=0 if risk else 1, **NOTHING)


@pytest.mark.parametrize("risk", [False, True])
@pytest.mark.parametrize("levels", [10, None])
@pytest.mark.parametrize(("name", "weighting"), [("c_bias", "uniform"), ("c_bias_ranks", "standardized")])
def test_coloured_areas_are_the_biases(risk: bool, levels: int | None, name: str, weighting: str) -> None:
    audit = score(risk, levels)
    spec = audit.plot(name).spec
    assert len(spec["vconcat"]) == 3
    concepts = ("independence", "equal_opportunity", "predictive_equality")
    for concept, panel in zip(concepts, spec["vconcat"], strict=True):
        area = values(panel, "area")
        above, below = (float(np.trapezoid(area[part], area["score"])) for part in ("above", "below"))
        gap = audit.measure(f"{concept}_{weighting}")
        exact = 3e-5 if levels else 4e-3  # 400 scores are drawn at 200
        assert above - below == pytest.approx(gap.value, abs=exact)
        assert above == pytest.approx(gap.positive, abs=exact)
        assert below == pytest.approx(-gap.negative, abs=exact)
        assert f"{gap.value:.3f}" in " ".join(panel["title"]["text"])
        assert percent(gap.positive_share) in " ".join(panel["title"]["text"])


@pytest.mark.parametrize(("name", "id"), [("roc", "roc"), ("cross_roc", "xroc")])
def test_the_area_between_roc_curves(name: str, id: str) -> None:
    spec = compas().plot(name).spec
    way = values(spec, "line")
    x, y = way["fpr"], way["tpr"]
    half = len(x) // 2
    grid = np.linspace(0, 1, 20_001)
    gap = np.interp(grid, x[:half], y[:half]) - np.interp(grid, x[half:][::-1], y[half:][::-1])
    assert np.abs(gap).mean() == pytest.approx(compas().measure(id).value, abs=1e-4)


def test_calibration_is_that_of_the_curves() -> None:
    found = values(compas().plot("calibration").spec, "circle")
    curves = evenhand.curves(evenhand.compas(), reference="Caucasian", calibration_bins=10).columns("calibration")
    for group in ("Caucasian", "African-American"):
        own, there = found["group"] == group, curves["group"] == group
        for mine, theirs in (("rate", "rate"), ("low", "ci_low"), ("high", "ci_high"), ("people", "people")):
            assert found[mine][own].tolist() == pytest.approx(curves[theirs][there].tolist(), abs=1e-4)
    diagonal = [x for x in layers(five().plot("calibration").spec) if x["data"]["values"][0] == {"score": 0, "rate": 0}]
    assert len(diagonal) == 1
    assert not [x for x in layers(compas().plot("calibration").spec) if x["data"]["values"][0].get("rate") == 0]


def test_bias_density_couples_everybody_once() -> None:
    chart = compas().plot("bias_density")
    above, body = chart.spec["vconcat"]
    heat, side = body["hconcat"]
    cells = values(heat, "rect")
    assert cells["share"].sum() == pytest.approx(1, abs=1e-4)
    favoured = cells["share"][cells["kind"] == "Caucasian is favoured"].sum()
    assert favoured == pytest.approx(0.87, abs=0.005)
    assert "87%" in chart.description
    abcc = compas().measure("abcc").value
    assert cells["density"].sum() == pytest.approx(abcc, abs=1e-4)
    assert f"Σρ = {abcc:.3f}" in chart.description
    drawn = [row["density"] for x in heat["layer"][2:] for row in x["data"]["values"]]
    assert sum(drawn) == pytest.approx(abcc, abs=1e-4)  # grey cells beneath hold people who do not move
    for panel, whose in ((above, "reference"), (side, "group")):
        own = values(panel, "rect")
        ends, low = ("x", "y")[whose == "group"], own["low"]
        expected = [cells["share"][np.isclose(cells[ends], at)].sum() for at in low]
        assert own["share"] == pytest.approx(expected, abs=1e-4)


def test_the_forest_shows_every_measure() -> None:
    audit = compas()
    chart = audit.plot("forest")
    points: dict[str, Any] = {}
    for panel in chart.spec["vconcat"]:
        for row in panel["layer"][-1]["data"]["values"]:
            points[row["measure"]] = row
    gaps = {find(g.id).title: g for g in audit.attributes[0].measures}
    assert set(points) == set(gaps)
    assert len(chart.columns["measure"]) == len(gaps)
    for title, row in points.items():
        gap = gaps[title]
        signed = find(gap.id).signed
        if gap.id != "treatment_equality":
            assert row["value"] == pytest.approx(gap.signed if signed else gap.value, abs=1e-5), title
    assert points["treatment equality"]["shape"] == "further right"  # 1.1 among 0.1: at the edge, with an arrow
    assert any("+1.111" in row["number"] for p in chart.spec["vconcat"] for row in values_of(p, "text"))
    assert "arrow" in (chart.note or "")
    domain = chart.spec["vconcat"][0]["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert domain[0] < 0 < domain[1] < 1
    ratio = chart.spec["vconcat"][-1]["layer"][0]["encoding"]["x"]["scale"]
    assert ratio["type"] == "log"
    assert ratio["domain"][0] < 1 < ratio["domain"][1]


def values_of(panel: dict[str, Any], mark: str) -> list[dict[str, Any]]:
    return [row for x in panel["layer"] if x["mark"]["type"] == mark and "data" in x for row in x["data"]["values"]]


def test_the_forest_shows_intervals_the_noise_floor_and_limits() -> None:
    audit = compas()
    panel = audit.plot("forest").spec["vconcat"][0]
    gap = audit.measure("demographic_parity")
    title = "demographic parity"
    band = next(row for row in values_of(panel, "bar") if row["measure"] == title)
    assert [band["value"], band["end"]] == pytest.approx([-gap.null.high, gap.null.high], abs=1e-5)
    limits = [row["value"] for row in values_of(panel, "tick") if row["measure"] == title]
    assert limits == [-0.1, 0.1]
    spans = [
        row for x in panel["layer"] if x["mark"] == {"type": "rule", "strokeWidth": 2} for row in x["data"]["values"]
    ]
    own = next(row for row in spans if row["measure"] == title)
    assert [own["value"], own["end"]] == pytest.approx(list(gap.ci), abs=1e-5)
    distance = next(row for row in values_of(panel, "bar") if row["measure"].startswith("area between CDFs"))
    assert distance["value"] == 0


def test_measures_without_a_value_are_named() -> None:
    chart = decisions().plot("forest")
    assert "undefined because there is no score: ΔDP of mean scores" in (chart.note or "")
    assert [v for v in chart.columns["verdict"] if v.startswith("undefined because there are no labels")]
    few = evenhand.audit(people(300), prediction="d", group="g", measures=["equal_opportunity"], **NOTHING).plot(
        "forest"
    )
    assert values_of(few.spec["vconcat"][0], "text")[0]["number"] == "undefined"


def test_groups_have_their_rates() -> None:
    audit = compas()
    chart = audit.plot("groups")
    rates = {g.name: g.rates for g in audit.attributes[0].groups}
    for panel, rate in zip(chart.spec["hconcat"], ("selection_rate", "tpr", "fpr", "ppv"), strict=True):
        found = {row["group"].split(" (")[0]: row for row in panel["data"]["values"]}
        for name in rates:
            estimate = rates[name][rate]
            drawn = [found[name][k] for k in ("rate", "low", "high")]
            assert drawn == pytest.approx([estimate.value, *estimate.ci], abs=1e-5)
        assert panel["layer"][1]["encoding"]["x"]["scale"]["domain"] == [0, 1]
    assert chart.columns["people"] == [2454, 3696]  # the reference first


@pytest.mark.parametrize("id", ["demographic_parity", "disparate_impact", "abcc", "calibration_gap"])
def test_the_distribution_behind_a_p_value(id: str) -> None:
    audit = compas()
    chart = audit.plot("null", measure=id)
    gap = audit.measure(id)
    bars = values(chart.spec, "rect")
    assert bars["share"].sum() == pytest.approx(1, abs=1e-3)
    marks = values(chart.spec, "rule")
    assert marks["value"].tolist() == pytest.approx([gap.value, gap.null.high], abs=1e-4)
    domain = chart.spec["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert domain[0] <= min(marks["value"])
    assert domain[1] >= max(marks["value"])
    far = bars["share"][bars["value"] > gap.null.high].sum() if id == "abcc" else 0
    assert far <= 0.06
    assert ("exact" in chart.description) == (gap.null.chance is not None)


def test_models_in_the_plane() -> None:
    chart = models().plot(attribute="g")
    points = values(chart.spec, "circle")
    places = {p.model: p for p in models().tradeoffs[0].places}
    for name, x, y, dto in zip(points["group"], points["performance"], points["fairness"], points["dto"], strict=True):
        place = places[name]
        assert [x, y, dto] == pytest.approx([place.performance, place.fairness, place.dto], abs=1e-5)
        assert np.hypot(1 - x, 1 - y) == pytest.approx(dto, abs=1e-4)
    for low, x, high in zip(points["low"], points["performance"], points["high"], strict=True):
        assert low < x < high
    for worst, y, best in zip(points["worst"], points["fairness"], points["best"], strict=True):
        assert worst < y <= best
    spans = [np.ptp(chart.spec["layer"][3]["encoding"][axis]["scale"]["domain"]) for axis in "xy"]
    assert spans[0] == pytest.approx(spans[1], rel=1e-3)  # a distance looks like one
    assert chart.description == models().tradeoffs[0].because


def test_methods_and_their_fronts() -> None:
    found = methods()
    chart = found.plot("tradeoff")
    drawn = values(chart.spec, "line", 1)
    for method in ("one", "two"):
        own, line = drawn["group"] == method, found.curve(method)
        inside = np.isin(np.round(line.performance, 5), np.round(drawn["performance"][own], 5))
        assert inside.sum() >= 6
    dto = found.plot("dto")
    by = {m["name"]: m["selected"]["dto"]["dto"] for m in found.to_dict()["methods"]}
    table = zip(dto.columns["method"], dto.columns["selected by"], dto.columns["distance"], strict=True)
    assert {m: d for m, c, d in table if c == "dto"} == pytest.approx(by, abs=1e-4)
    area = found.plot("area")
    assert dict(zip(area.columns["method"], area.columns["area"], strict=True)) == pytest.approx(
        {m["name"]: m["auc_pfc"] for m in found.to_dict()["methods"]}, abs=1e-4
    )
    line = values(area.spec["concat"][0], "area")
    assert np.trapezoid(line["fairness"], line["performance"]) == pytest.approx(found.standings[0].area, abs=1e-3)
    assert area.spec["concat"][0]["layer"][1]["encoding"]["y"]["scale"]["domain"][0] == 0  # where an area starts


def test_the_partial_area_is_darker() -> None:
    found = methods(performance_from=0.7)
    panel = found.plot("area", method="two").spec["concat"][0]
    part = values(panel, "area", 1)
    assert part["performance"].min() == pytest.approx(0.7, abs=0.01)
    standing = next(s for s in found.standings if found.runs.methods[s.method] == "two")
    assert np.trapezoid(part["fairness"], part["performance"]) == pytest.approx(standing.partial, abs=5e-3)
    apart = methods(dto_to=0.3).plot("area", method="two").spec["concat"][0]
    assert all(np.hypot(1 - row["performance"], 1 - row["fairness"]) <= 0.3001 for row in values_of(apart, "area")
               if row["fairness"] is not None)  # fmt: skip


def test_the_matrix_of_classes() -> None:
    audit = classes()
    a = audit.aggregate("ppv")
    chart = audit.plot(measure="ppv")
    cells = values(chart.spec, "rect")
    gaps = a.matrix - a.overall[:, None]
    for c, g, gap in zip(cells["class"], cells["group"], cells["value"], strict=True):
        assert gap == pytest.approx(gaps[a.classes.index(c), a.groups.index(g)], abs=1e-5)
    assert list(chart.columns) == ["class", "group 0", "group 1", "group 2"]


# ---- every chart ----------------------------------------------------------------------------------------------


def short(spec: Any) -> Any:
    """The same specification with few data, which take long to check."""
    if isinstance(spec, dict):
        return {k: v[:2] if k == "values" and isinstance(v, list) else short(v) for k, v in spec.items()}
    return [short(v) for v in spec] if isinstance(spec, list) else spec


def test_all_charts_are_valid_small_and_plain() -> None:
    altair = pytest.importorskip("altair")
    for chart in all_charts():
        altair.Chart.from_dict(short(chart.spec), validate=True)
        assert len(chart.to_json()) < 61_000, chart.name
        assert json.loads(chart.to_json()) == chart.spec
        assert chart.title
        assert len(chart.description) > 20
        assert len({len(column) for column in chart.columns.values()}) == 1
        assert all(len(column) <= 60 for column in chart.columns.values())
        json.dumps(chart.columns, allow_nan=False)
        assert ": NaN" not in chart.description
        assert "nan" not in f"{chart.description} {chart.note}".split()


DRAWN = {"svg", "g", "path", "line", "rect", "text", "defs", "clipPath", "tspan"}


def test_all_charts_are_drawn_without_anything_that_acts() -> None:
    pytest.importorskip("vl_convert")
    light = {light for light, _ in theme.COLOURS.values()}
    for chart in all_charts():
        svg = chart.to_svg(prefix="x-")
        assert svg == chart.to_svg(prefix="x-"), chart.name  # the same bytes, whatever was drawn before
        assert len(svg) < 80_000, chart.name
        root = ElementTree.fromstring(svg)
        assert float(root.attrib["width"]) <= 660, chart.name
        assert root.attrib["aria-label"] == chart.title
        for element in root.iter():
            assert element.tag.rpartition("}")[2] in {
                "svg",
                "g",
                "path",
                "line",
                "rect",
                "text",
                "defs",
                "clipPath",
                "tspan",
            }
            assert not {k for k in element.attrib if k.startswith(("on", "xlink")) or k in ("style", "href", "src")}
            assert element.attrib.get("id", "x-").startswith("x-")
            for paint in ("fill", "stroke"):
                assert element.attrib.get(paint, "none") in light | {"none", "transparent"}, chart.name
            size = element.attrib.get("font-size")
            assert size is None or float(size.removesuffix("px")) >= 11
        refers = set(re.findall(r"url\(#([^)]*)\)", svg))
        assert refers <= {e.attrib["id"] for e in root.iter() if "id" in e.attrib}


HARMLESS = {
    "class",
    "role",
    "aria-hidden",
    "aria-label",
    "aria-roledescription",
    "pointer-events",
    "version",
    "display",
}


def test_drawings_lose_nothing_that_is_seen() -> None:
    vl = pytest.importorskip("vl_convert")
    for chart in all_charts():
        raw = ElementTree.fromstring(vl.vegalite_to_svg(chart.spec, vl_version="5.20", allowed_base_urls=[]))
        ours = ElementTree.fromstring(chart.to_svg())
        counts = [{tag: sum(e.tag.endswith(f"}}{tag}") for e in root.iter()) for tag in ("line", "text", "tspan")}
                  for root in (raw, ours)]  # fmt: skip
        assert counts[0] == counts[1], chart.name
        lost = {k for e in raw.iter() for k, v in e.attrib.items() if (k, v) != ("opacity", "1")}
        lost -= {k for e in ours.iter() for k in e.attrib}
        assert lost <= HARMLESS, (chart.name, lost - HARMLESS)


def test_the_same_audit_gives_the_same_bytes() -> None:
    again = evenhand.audit(evenhand.compas(), threshold=5, reference="Caucasian", **QUICK)
    for name in again.plots():
        assert again.plot(name) == compas().plot(name)


def test_more_than_eight_groups() -> None:
    chart = twelve().plot("cdf", attribute="g × h")
    lines = {row["group"] for x in layers(chart.spec) if x["mark"]["type"] == "line" for row in x["data"]["values"]}
    assert len(lines) == theme.MOST_COLOURED == 8
    assert "of 12 groups the reference and the 7 furthest from it are drawn" in (chart.note or "")
    domain = chart.spec["layer"][1]["encoding"]["color"]["scale"]
    assert domain["domain"][0] == twelve().attributes[2].reference
    assert domain["range"][0] == theme.REFERENCE
    assert len(set(domain["range"])) == 8
    assert len(twelve().plot("groups", attribute="g × h").columns["group"]) == 12


def test_the_pair_is_the_one_asked_for() -> None:
    by_default = five().plot("cdf")
    furthest = max((g for g in five().attributes[0].measures if g.id == "abcc"), key=lambda g: g.value).group
    assert by_default == five().plot("cdf", group=furthest)
    other = next(
        g.name for g in five().attributes[0].groups if g.name not in (furthest, five().attributes[0].reference)
    )
    assert f"between {other} and" in five().plot("cdf", group=other).description
    assert {row["group"] for row in five().plot("calibration", group=other).spec["data"]["values"]} == {
        other, five().attributes[0].reference
    }  # fmt: skip


def test_a_page_can_move_the_threshold() -> None:
    pytest.importorskip("vl_convert")
    for audit in (compas(), five()):
        for name in ("cdf", "pdf", "c_bias", "calibration"):
            chart = audit.plot(name)
            assert chart.marker is not None
            lo, hi, width, at = (chart.marker[k] for k in ("lo", "hi", "width", "at"))
            assert (lo, hi, at) == (*audit.table.score_range, audit.options.threshold)
            root = ElementTree.fromstring(chart.to_svg())
            groups = [g for g in root.iter() if g.attrib.get("class") == "threshold"]
            assert len(groups) == (3 if name == "c_bias" else 1)
            for group in groups:
                (line,) = group
                x = float(re.findall(r"translate\(([-\d.]+)", line.attrib["transform"])[0])
                assert x == pytest.approx((at - lo) / (hi - lo) * width, abs=0.51)
    assert compas().plot("roc").marker is None
    assert "threshold" not in decisions().plot("groups").to_svg()


def test_the_heading_can_be_left_to_the_page() -> None:
    pytest.importorskip("vl_convert")
    chart = compas().plot("cdf")
    first = chart.title.split(",")[0]
    texts = [e.text or "" for e in ElementTree.fromstring(chart.to_svg(heading=False)).iter() if e.tag.endswith("text")]
    assert not [t for t in texts if first in t]
    assert first in chart.to_svg()


# ---- colours --------------------------------------------------------------------------------------------------


def linear(colour: str) -> np.ndarray:
    c = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def contrast(a: str, b: str) -> float:
    low, high = sorted(float((linear(c) * [0.2126, 0.7152, 0.0722]).sum()) for c in (a, b))
    return (high + 0.05) / (low + 0.05)


# What the three kinds of colour blindness see, in linear light (Machado, Oliveira and Fernandes 2009, severity 1).
SEEN = {
    "everything": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}  # fmt: skip


def oklab(rgb: np.ndarray) -> np.ndarray:
    to_lms = np.array(
        [[0.41222147, 0.53633254, 0.05144599], [0.2119035, 0.68069955, 0.10739696], [0.08830246, 0.28171884, 0.6299787]]
    )
    to_lab = np.array([[0.21045426, 0.79361779, -0.00407205], [1.9779985, -2.4285922, 0.45059371],
                       [0.02590404, 0.78277177, -0.80867577]])  # fmt: skip
    return to_lab @ np.cbrt((to_lms @ rgb.clip(0, 1)).clip(0, 1))


@pytest.mark.parametrize("dark", [False, True])
def test_colours_can_be_told_apart(dark: bool) -> None:
    colour = {name: pair[dark] for name, pair in theme.COLOURS.items()}
    paper = colour["chart-paper"]
    marks = [name for name in colour if name.startswith(("chart-group", "chart-reference"))]
    for name in [*marks, "chart-limit", "chart-axis"]:
        assert contrast(colour[name], paper) >= 3, name
    for name in ("chart-ink", "chart-muted"):
        assert contrast(colour[name], paper) >= 4.5, name
    for kind, matrix in SEEN.items():
        seen = np.array(matrix)
        for a, b in itertools.combinations(marks, 2):
            away = np.linalg.norm(oklab(seen @ linear(colour[a])) - oklab(seen @ linear(colour[b])))
            assert away > (0.15 if kind == "everything" else 0.09), (kind, a, b)


def test_themed_drawings_take_the_colours_of_the_page() -> None:
    pytest.importorskip("vl_convert")
    svg = theme.themed(compas().plot("cdf").to_svg())
    assert 'fill="var(--chart-paper, #ffffff)"' in svg
    assert not re.search(r'(fill|stroke)="#', svg)
    ElementTree.fromstring(svg)
    assert theme.themed('<text fill="#1d232a">fill="#1d232a" #ffffff</text>') == (
        '<text fill="var(--chart-ink, #1d232a)">fill="#1d232a" #ffffff</text>'
    )
    assert theme.css(dark=True).count("--chart-") == len(theme.COLOURS)
    assert len({light for light, _ in theme.COLOURS.values()}) == len(theme.COLOURS)


# ---- names ----------------------------------------------------------------------------------------------------

HOSTILE = [
    "</script><script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "مرحبا \u202eabc", "🙂🙃 & <b>", "x" * 500,
    "x" * 499 + "y", "nul\x00bell\x07", "datum['a'].b[0]", "${alert(1)}", "score", "group", "", " ",
]  # fmt: skip


def named(names: list[str], column: str) -> Any:
    rng = np.random.default_rng(0)
    g = rng.integers(0, len(names), 900)
    s = np.round(rng.beta(2 + g / len(names), 3), 2)
    return {"a.b['c']": s, "y": (rng.random(900) < s).astype(int), column: np.array(names, object)[g]}


@pytest.mark.parametrize("names", [HOSTILE[:2], HOSTILE[2:4], HOSTILE[4:8], HOSTILE[8:11], HOSTILE])
def test_names_are_only_text(names: list[str]) -> None:
    vl = pytest.importorskip("vl_convert")
    names = [n for n in names if n.strip()]
    column = "datum.x]['<i>"
    audit = evenhand.audit(named(names, column), score="a.b['c']", label="y", group=column, **NOTHING)
    for name in audit.plots():
        chart = audit.plot(name)
        svg = chart.to_svg()
        root = ElementTree.fromstring(svg)
        assert not {e.tag.rpartition("}")[2] for e in root.iter()} & {"script", "img", "b", "i", "a"}
        assert "<script" not in svg
        assert "<img" not in svg
        assert "\u202e" not in svg
        assert len(chart.to_json()) < 61_000
        assert float(root.attrib["width"]) < 760
        assert set(fields(chart.spec)) <= FIELDS
    assert vl.vegalite_to_png(drawable(audit.plot("cdf").spec), allowed_base_urls=[])


FIELDS = {
    "score", "share", "density", "gap", "favours", "group", "a", "b", "above", "below", "fpr", "tpr", "step", "rate",
    "low", "high", "people", "x", "x2", "y", "y2", "kind", "measure", "value", "end", "verdict", "shape", "number",
    "what",
}  # fmt: skip


def fields(spec: Any) -> list[str]:
    """Every field that a specification names: never what the user calls something."""
    if isinstance(spec, dict):
        own = [spec["field"]] if "field" in spec else []
        return own + [f for k, v in spec.items() if k != "values" for f in fields(v)]
    return [f for v in spec for f in fields(v)] if isinstance(spec, list) else []


def test_nothing_in_a_specification_is_an_expression() -> None:
    words = {"expr", "signal", "calculate", "transform", "url", "href", "labelExpr", "test"}
    for chart in all_charts():
        found = set(re.findall(r'"(\w+)":', chart.to_json()))
        assert not found & words, chart.name


def test_long_names_are_short_in_drawings_only() -> None:
    long = ["x" * 500, "x" * 499 + "y"]
    audit = evenhand.audit(named(long, "g"), score="a.b['c']", label="y", group="g", **NOTHING)
    assert sorted(audit.plot("groups").columns["group"]) == long
    legend = audit.plot("cdf").spec["layer"][1]["encoding"]["color"]["scale"]["domain"]
    assert len(set(legend)) == 2
    assert all(len(label) <= 32 and "…" in label for label in legend)


def test_short_names_are_all_different() -> None:
    names = ["x" * 40 + str(i) for i in range(300)]
    found = labels(names)
    assert len(set(found.values())) == 300
    assert max(map(len, found.values())) <= 32


def test_models_methods_and_classes_may_be_called_anything() -> None:
    pytest.importorskip("vl_convert")
    data = people(300, levels=10)
    scores = {HOSTILE[0]: data["s"], HOSTILE[4]: 1 - data["s"], HOSTILE[1]: data["s"] ** 2}
    found = evenhand.audit(
        score={k: np.round(v, 3) for k, v in scores.items()}, label=data["y"], group=data["g"], **NOTHING
    )
    runs = {
        "m": [*HOSTILE[:2], HOSTILE[4], HOSTILE[7]] * 2,
        "p": np.linspace(0.5, 0.9, 8),
        "f": np.linspace(0.9, 0.4, 8),
    }
    compared = evenhand.compare(runs, method="m", performance="p", fairness="f", random_performance=0.2)
    guesses = {
        "y": HOSTILE[:4] * 20,
        "p": (HOSTILE[:3] + HOSTILE[:1]) * 20,
        "g": ([HOSTILE[0]] * 3 + [HOSTILE[4]] * 2) * 16,
    }
    sorted_ = evenhand.audit(guesses, label="y", prediction="p", group="g", **NOTHING)
    for chart in (found.plot(), *(compared.plot(n) for n in compared.plots()), sorted_.plot()):
        assert "<script" not in chart.to_svg()


@pytest.mark.parametrize("group", ["1", 1, 1.0, np.int64(1), np.float32(1)])
def test_a_group_may_be_named_by_its_value(group: Any) -> None:
    data = {"p": [0.1, 0.4, 0.6, 0.9] * 5, "g": [0, 1] * 10}
    found = evenhand.audit(data, score="p", group="g", reference="0", bootstrap=0, permutations=0)
    assert found.plot("cdf", group=group).to_svg() == found.plot("cdf").to_svg()


# ---- what cannot be drawn -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compas().plot("cdff"), "there is no chart 'cdff' .*did you mean 'cdf'"),
        (lambda: compas().plot(5), "there is no chart 5"),
        (lambda: compas().plot("cdf", attribute="rase"), "no attribute 'rase'.*did you mean 'race'"),
        (lambda: compas().plot("cdf", group="Caucasien"), "is not a group of 'race'.*did you mean 'Caucasian'"),
        (lambda: compas().plot("cdf", group="Caucasian"), "is the reference"),
        (lambda: compas().plot("cdf", group=np.int64(3)), r"np.int64\(3\) is not a group of 'race'"),
        (lambda: compas().plot("cdf", group=np.nan), "nan is not a group of 'race'"),
        (lambda: compas().plot("groups", group="African-American"), "shows every group: leave group out"),
        (lambda: compas().plot("cdf", measure="abcc"), "measure is for the chart 'null'"),
        (lambda: compas().plot("null", measure="abccc"), "no p-value of 'abccc'.*did you mean 'abcc'"),
        (lambda: decisions().plot("null", measure="abcc"), "no p-value of 'abcc'"),
        (lambda: decisions().plot("cdf"), "'cdf' needs a score, but these data hold decisions only"),
        (lambda: twelve().plot("null"), "needs a p-value, but there is none: audit with permutations=1000"),
        (lambda: models().plot("front"), "there is no chart 'front'"),
        (lambda: models().plot(attribute="x"), "no attribute 'x'"),
        (lambda: methods().plot("tradeof"), "did you mean 'tradeoff'"),
        (lambda: methods().plot("dto", method="three"), "there is no method 'three'"),
        (lambda: classes().plot("forest"), "there is no chart 'forest'"),
        (lambda: classes().plot(measure="xyz"), "no metric 'xyz'"),
        (lambda: classes().plot("difference"), "'difference' needs a second model: aggregate with against="),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_said(call: Any, message: str) -> None:
    with pytest.raises(evenhand.UsageError, match=message):
        call()


def test_without_labels() -> None:
    audit = evenhand.audit(people(300), score="s", group="g", **NOTHING)
    assert audit.plots() == ("forest", "groups", "cdf", "pdf", "c_bias", "c_bias_ranks", "bias_density")
    assert len(audit.plot("c_bias").spec["vconcat"]) == 1
    with pytest.raises(evenhand.UsageError, match="'roc' needs a label, but these data have none"):
        audit.plot("roc")


def test_odd_scores() -> None:
    def audit(scores: list[float], **words: Any) -> evenhand.Audit:
        return evenhand.audit(
            {"s": scores, "g": list("aabb"), "y": [0, 1, 1, 0]}, score="s", label="y", group="g", **NOTHING, **words
        )

    assert audit([7, 7, 7, 7]).plots() == ("forest", "groups")
    with pytest.raises(evenhand.UsageError, match="needs scores that differ"):
        audit([7, 7, 7, 7]).plot("cdf")
    for scores in (
        [0, 0, 1, 1],
        [-1e9, 1e9, 5, 7],
        [1e-9, 2e-9, 3e-9, 1e-9],
        [2000.1, 2000.2, 2000.3, 2000.4],
        [1e15, 2e15, 3e15, 4e15],
    ):
        found = audit(scores)
        assert "cdf" in found.plots()
        for name in found.plots():
            json.dumps(found.plot(name).spec, allow_nan=False)


def test_odd_scores_are_drawn() -> None:
    pytest.importorskip("vl_convert")
    data = {"s": [1e-9, 2e-9, 3e-9, 1e-9], "g": list("aabb"), "y": [0, 1, 1, 0]}
    found = evenhand.audit(data, score="s", label="y", group="g", **NOTHING)
    for name in found.plots():
        assert found.plot(name).to_svg()


def test_a_group_without_one_label_has_no_roc() -> None:
    data = {"s": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], "g": list("aaabbb"), "y": [1, 1, 1, 0, 1, 0]}
    audit = evenhand.audit(data, score="s", label="y", group="g", **NOTHING)
    assert "roc" not in audit.plots()
    assert len(audit.plot("c_bias").spec["vconcat"]) == 2  # nobody of one group has the unfavourable outcome
    with pytest.raises(evenhand.UsageError, match="one of them lacks the people"):
        audit.plot("roc")


def test_every_available_chart_can_be_drawn() -> None:
    for risk, weights, audit_words in itertools.product((False, True), (None, "w"), ({}, {"measures": ["roc"]})):
        data = people(200, seed=3)
        audit = evenhand.audit(
            data, score="s", label="y", group="g", weight=weights, risk=risk, **NOTHING, **audit_words
        )
        assert set(audit.plots()) == set(CHARTS) - {"null", "strata"}
        for name in audit.plots():
            assert isinstance(audit.plot(name), Chart)


# ---- files and notebooks --------------------------------------------------------------------------------------


def test_saved_by_the_ending_of_the_name(tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    chart = compas().plot("roc")
    begins = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF", "json": b"{", "SVG": b"<svg"}
    for suffix, start in begins.items():
        chart.save(tmp_path / f"roc.{suffix}")
        assert (tmp_path / f"roc.{suffix}").read_bytes().startswith(start)
    assert json.loads((tmp_path / "roc.json").read_text()) == chart.spec
    assert {p.suffix for p in tmp_path.iterdir()} == {".svg", ".png", ".pdf", ".json", ".SVG"}


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("roc.gif", "saved as one of '.svg', '.png', '.pdf', '.json', not as .*roc.gif"),
        ("roc", "saved as one of"),
        ("roc.svgg", "did you mean '.svg'"),
        ("nowhere/roc.svg", "there is no folder"),
    ],
)
def test_what_cannot_be_saved_is_said(path: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(evenhand.UsageError, match=message):
        compas().plot("roc").save(tmp_path / path)
    with pytest.raises(evenhand.UsageError, match="a path must be"):
        compas().plot("roc").save(5)  # type: ignore[arg-type]


def test_a_drawing_that_fails_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "roc.svg"
    target.write_text("before")

    def fail(*_: Any) -> bytes:
        raise RuntimeError("no")

    monkeypatch.setattr("evenhand.report.charts.render.svg", fail)
    with pytest.raises(RuntimeError):
        compas().plot("roc").save(target)
    assert [p.name for p in tmp_path.iterdir()] == ["roc.svg"]
    assert target.read_text() == "before"


def test_in_a_notebook() -> None:
    pytest.importorskip("vl_convert")
    chart = compas().plot("roc")
    bundle = chart._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "image/svg+xml", "application/vnd.vegalite.v5+json"}
    assert bundle["application/vnd.vegalite.v5+json"] is chart.spec
    assert chart.title in bundle["text/plain"]


def test_without_the_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(__import__("sys").modules, "vl_convert", None)
    chart = compas().plot("roc")
    assert chart._repr_mimebundle_() == {"text/plain": f"{chart!r}\n{NEEDED}"}
    with pytest.raises(evenhand.MissingLibrary, match=re.escape("pip install 'evenhand[charts]'")):
        chart.save(tmp_path / "roc.svg")
    assert not list(tmp_path.iterdir())
    chart.save(tmp_path / "roc.json")  # needs nothing


def test_drawing_asks_no_other_machine() -> None:
    vl = pytest.importorskip("vl_convert")
    spec = {**compas().plot("roc").spec, "data": {"url": "http://127.0.0.1:9/x.csv"}, "layer": [], "mark": "point"}
    del spec["layer"]
    with pytest.raises(ValueError, match="not allowed"):
        vl.vegalite_to_svg(spec, vl_version="5.20", allowed_base_urls=[])
    assert "url" not in compas().plot("roc").to_json()


def test_several_groups_of_curves() -> None:
    table = five().table
    found = evenhand.curves(table, groups=["g1", "g2"], reference="g0").columns("c_bias")
    assert list(dict.fromkeys(found["group"])) == ["g1", "g2"]
    with pytest.raises(evenhand.UsageError, match="'g0' is the reference"):
        evenhand.curves(table, groups=["g1", "g0"], reference="g0")
    with pytest.raises(evenhand.UsageError, match="at least one group"):
        evenhand.curves(table, groups=[], reference="g0")


def test_real_runs(data_folder: Path) -> None:
    from test_compare import BIOS, METHODS, bios

    columns, keys = bios(data_folder, *METHODS)
    found = evenhand.compare(columns, **BIOS, settings=keys, bootstrap=0)
    dto = found.plot("dto").columns
    table = {(m, c): d for m, c, d in zip(dto["method"], dto["selected by"], dto["distance"], strict=True)}
    assert table["DAdv", "dto"] == pytest.approx(0.379, abs=5e-4)
    assert found.plot("tradeoff").note == "223 of 445 settings are drawn"


def test_the_widest_gap_is_told_with_its_threshold() -> None:
    """Not with the score where the step that shows it begins."""
    audit = evenhand.audit(evenhand.compas(), threshold=5, reference="Caucasian", bootstrap=0, permutations=0)
    told = audit.plot("c_bias").description
    assert "the widest gap is -0.240 at the threshold 5." in told
    assert abs(audit.measure("demographic_parity").signed) == pytest.approx(0.2402, abs=5e-5)


# ---- one way to all charts ------------------------------------------------------------------------------------


def test_a_chart_is_a_function_and_a_line_of_the_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CHARTS, "toy", Kind(lambda s: replace(s.audit.plot("groups"), name=s.group)))
    assert compas().plots()[-1] == "toy"
    assert compas().plot("toy").name == "African-American"
    assert 'data-chart="African-American"' in compas().to_html()


def test_without_a_name_the_first_chart() -> None:
    assert compas().plot() == compas().plot("forest")
    assert models().plot() == models().plot("tradeoff")


def test_a_result_without_charts_says_so() -> None:
    found = evenhand.check(evenhand.compas(), require="demographic_parity <= 0.5", permutations=0)
    assert found.plots() == ()
    with pytest.raises(evenhand.UsageError, match=r"has no charts: its numbers are in to_dict\(\)"):
        found.plot()
