"""The curves behind the measures: exact, in the units of the data, thinned with an honest error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import evenhand
from conftest import people
from evenhand.analyses.audit.curves import thinned, thinned_path


def table(n: int = 400, levels: int | None = 20, **words: Any) -> evenhand.Table:
    return evenhand.tabulate(people(n, levels=levels), score="s", label="y", group="g", **words)


def rows(curves: evenhand.Curves, name: str, **wanted: Any) -> dict[str, np.ndarray]:
    columns = curves.columns(name)
    keep = np.all([columns[k] == v for k, v in wanted.items()], axis=0)
    return {k: v[keep] for k, v in columns.items()}


def test_cdfs_are_exact() -> None:
    data = people(400)
    found = evenhand.curves(table())
    assert found.max_error["cdf"] == 0
    for group in np.unique(data["g"]):
        for given, label in (("everyone", None), ("favourable", 1), ("unfavourable", 0)):
            own = data["s"][(data["g"] == group) & ((data["y"] == label) if label is not None else True)]
            cdf = rows(found, "cdf", group=group, given=given)
            expected = [(own <= s).mean() for s in cdf["score"]]
            assert cdf["share"] == pytest.approx(expected)
            assert cdf["share"][-1] == 1


@pytest.mark.parametrize("risk", [False, True])
def test_gaps_at_a_threshold_are_those_of_the_decision(risk: bool) -> None:
    t = table(risk=risk)
    found = evenhand.curves(t, reference="g0")
    names = {
        "independence": "demographic_parity",
        "equal_opportunity": "equal_opportunity",
        "predictive_equality": "predictive_equality",
    }
    for threshold in t.scores[::4]:
        audit = evenhand.audit(t, threshold=float(threshold), reference="g0", bootstrap=0, permutations=0)
        for concept, id_ in names.items():
            for group in ("g1", "g2"):
                point = rows(found, "c_bias", group=group, concept=concept, score=threshold)
                if len(point["gap"]):  # a pair holds only its own scores
                    assert point["gap"] == pytest.approx([audit.measure(id_, group).signed])
                    assert point["group_rate"] - point["reference_rate"] == pytest.approx(point["gap"])


def test_c_bias_adds_up_to_the_measures() -> None:
    t = table(levels=None)
    found = evenhand.curves(t, reference="g0")
    audit = evenhand.audit(t, reference="g0", bootstrap=0, permutations=0)
    for concept in ("independence", "equal_opportunity", "predictive_equality"):
        curve = rows(found, "c_bias", group="g1", concept=concept)
        gap = np.abs(curve["gap"][1:])  # at a threshold: what holds between the score below and itself
        assert gap @ np.diff(curve["score"]) == pytest.approx(audit.measure(f"{concept}_uniform", "g1").value)
        assert gap @ np.diff(curve["rank"]) == pytest.approx(audit.measure(f"{concept}_standardized", "g1").value)


def test_roc_curves() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    data, found = people(400), evenhand.curves(table(), reference="g0")
    own = data["g"] == "g1"
    fpr, tpr, _ = metrics.roc_curve(data["y"][own], data["s"][own], drop_intermediate=False)
    curve = rows(found, "roc", group="g1")
    assert curve["fpr"] == pytest.approx(fpr)
    assert curve["tpr"] == pytest.approx(tpr)
    cross = rows(found, "cross_roc", group="g1", curve="group over reference")
    positives, others = data["s"][own & (data["y"] == 1)], data["s"][(data["g"] == "g0") & (data["y"] == 0)]
    wins = (np.sign(positives[:, None] - others) + 1).mean() / 2
    assert np.trapezoid(cross["tpr"], cross["fpr"]) == pytest.approx(wins)


def test_densities_integrate_in_the_units_of_the_data() -> None:
    data = people(300, levels=None)
    words = {"label": data["y"], "group": data["g"]}
    credit = evenhand.tabulate(score=300 + 550 * data["s"], score_range=(300, 850), **words)
    found = evenhand.curves(credit)
    own = 300 + 550 * data["s"][data["g"] == "g2"]
    pdf = rows(found, "pdf", group="g2")
    assert pdf["density"] == pytest.approx(stats.gaussian_kde(own)(pdf["score"]), abs=2e-6)
    assert np.trapezoid(pdf["density"], pdf["score"]) == pytest.approx(1, abs=0.02)
    assert (np.diff(pdf["score"]) > 0).all()
    turned = evenhand.tabulate(score=300 + 550 * data["s"], score_range=(300, 850), risk=True, **words)
    mirrored = rows(evenhand.curves(turned), "pdf", group="g2")
    assert np.interp(500, mirrored["score"], mirrored["density"]) == pytest.approx(
        np.interp(500, pdf["score"], pdf["density"]), rel=1e-3
    )


def test_calibration_curves_and_what_their_bias_adds_up() -> None:
    data = people(500, levels=None)
    t = evenhand.tabulate(data, score="s", label="y", group="g")
    found = evenhand.curves(t, reference="g0", calibration_bins=10)
    own = data["g"] == "g1"
    curve = rows(found, "calibration", group="g1")
    for low, high, mean, rate, n in zip(
        *(curve[k] for k in ("score_low", "score_high", "mean_score", "rate", "people")), strict=True
    ):
        here = own & (data["s"] > low) & (data["s"] <= high)
        assert (n, rate) == pytest.approx((here.sum(), data["y"][here].mean()))
        assert mean == pytest.approx(data["s"][here].mean())
    assert (curve["ci_low"] <= curve["rate"]).all()
    audit = evenhand.audit(t, reference="g0", calibration_bins=10, bootstrap=0, permutations=0)
    for weighting in ("uniform", "standardized"):
        parts = rows(found, "calibration_bias", group="g1", weighting=weighting)
        total = np.abs(parts["gap"]) @ parts["weight"]
        assert total == pytest.approx(audit.measure(f"calibration_{weighting}", "g1").value)
        assert (parts["score_low"] <= parts["score_high"]).all()


@pytest.mark.parametrize("risk", [False, True])
def test_the_bias_density_adds_up_to_abcc(risk: bool) -> None:
    t = table(risk=risk)
    found = evenhand.curves(t, reference="g0", density_bins=7)
    abcc = evenhand.audit(t, reference="g0", bootstrap=0, permutations=0).measure("abcc", "g2")
    parts = rows(found, "bias_density", group="g2")
    assert parts["density"].sum() == pytest.approx(abcc.value)
    assert parts["coupling"].sum() == pytest.approx(1)
    assert len(parts["density"]) <= 49
    middle = (parts["score_low"] + parts["score_high"]) / 2
    score = people(400)["s"][people(400)["g"] == "g2"]
    assert parts["coupling"] @ middle == pytest.approx(score.mean(), abs=1 / 7)


@pytest.mark.parametrize("points", [2, 10, 60])
def test_thinned_curves_state_their_error(points: int) -> None:
    t = table(5000, levels=None)
    exact, thin = evenhand.curves(t, reference="g0"), evenhand.curves(t, reference="g0", points=points)
    for name in ("cdf", "c_bias"):
        keys = ("group", "given") if name == "cdf" else ("group", "concept")
        y = "share" if name == "cdf" else "gap"
        columns = exact.columns(name)
        for key in set(zip(*(columns[k] for k in keys), strict=True)):
            full, few = (rows(c, name, **dict(zip(keys, key, strict=True))) for c in (exact, thin))
            assert len(few[y]) <= points
            off = np.abs(np.interp(full["score"], few["score"], few[y]) - full[y]).max()
            assert off <= thin.max_error[name] + 1e-12
    assert thin.max_error["cdf"] < (0.5 if points == 2 else 3 / points)
    full, few = rows(exact, "roc", group="g1"), rows(thin, "roc", group="g1")
    assert len(few["fpr"]) <= points
    walked = np.interp(full["fpr"] + full["tpr"], few["fpr"] + few["tpr"], few["tpr"])
    assert np.abs(walked - full["tpr"]).max() <= 2 * thin.max_error["roc"] + 1e-12


def test_thinning_keeps_the_ends_and_flat_curves() -> None:
    flat = np.zeros((9, 1))
    keep, error = thinned(np.arange(9.0), flat, 3)
    assert (keep[0], keep[-1], error) == (0, 8, 0)
    keep, error = thinned_path(np.zeros(9), np.arange(9.0), 4)
    assert (keep[0], keep[-1], error) == (0, 8, 0)
    assert thinned(np.array([1.0]), np.array([[2.0]]), 5)[0].tolist() == [0]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "duckdb"])
def test_frames(library: str) -> None:
    pytest.importorskip(library)
    found = evenhand.curves(table())
    for name in found.names:
        native = found.to_frame(name, library)
        length = len(native.fetchall()) if library == "duckdb" else len(native)
        assert length == len(found.columns(name)["group"])


def test_without_labels() -> None:
    data = people(100)
    found = evenhand.curves(evenhand.tabulate(data, score="s", group="g"))
    assert found.names == ("cdf", "pdf", "c_bias", "bias_density")
    assert set(found.columns("c_bias")["concept"]) == {"independence"}
    with pytest.raises(evenhand.UsageError, match="these people have no curve 'roc'"):
        found["roc"]


def test_one_group_of_several() -> None:
    found = evenhand.curves(table(), groups="g1", reference="g2")
    assert set(found.columns("cdf")["group"]) == {"g1", "g2"}
    assert set(found.columns("c_bias")["group"]) == {"g1"}
    assert "against 'g2'" in repr(found)


def test_several_attributes() -> None:
    t = evenhand.tabulate(people(300), score="s", label="y", group=["g", "h"])
    with pytest.raises(evenhand.UsageError, match="say which attribute: 'g', 'h', 'g × h'"):
        evenhand.curves(t)
    assert evenhand.curves(t, "h").attribute == "h"
    assert evenhand.curves(t, ["g", "h"]).attribute == "g × h"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"groups": "nobody"}, "'nobody' is not a group of 'g'"),
        ({"reference": "nobody"}, "'nobody' is not a group of 'g'"),
        ({"groups": "g0", "reference": "g0"}, "'g0' is the reference"),
        ({"points": 1}, "points must be a whole number from 2"),
        ({"points": 2.5}, "points must be a whole number from 2"),
        ({"points": True}, "points must be a whole number from 2"),
        ({"density_bins": 0}, "density_bins must be a whole number"),
        ({"ranks": "dense"}, "ranks must be one of"),
        ({"calibration_bins": 1}, "calibration_bins must be a whole number from 2"),
        ({"bandwidth": -1}, "bandwidth is a share of the score range"),
        ({"bandwidth": "wide"}, "bandwidth must be"),
        ({"bandwidth": float("nan")}, "bandwidth is a share of the score range"),
        ({"attribute": "nothing"}, "'nothing' is not an attribute"),
    ],
)
def test_bad_words(words: dict[str, Any], message: str) -> None:
    with pytest.raises(evenhand.UsageError, match=message):
        evenhand.curves(table(60), **words)


def test_bad_data() -> None:
    with pytest.raises(evenhand.UsageError, match="curves takes a table"):
        evenhand.curves(people(20))  # type: ignore[arg-type]
    with pytest.raises(evenhand.UsageError, match="this needs scores"):
        evenhand.curves(evenhand.tabulate(prediction=[0, 1, 1], group=list("aab")))
    constant = evenhand.curves(evenhand.tabulate(score=[600, 600, 600], label=[0, 1, 0], group=list("aab")))
    assert "pdf" not in constant.names
    assert "bias_density" not in constant.names
