"""What a projection test says: of scores known in ranges, of few people and a margin, and of one test among others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenhand
from conftest import check_schema
from evenhand.analyses.projection.projection_test import projection_test
from evenhand.analyses.projection.sample import Sample, exceeding, within
from evenhand.ingest import score_cells

Array = np.ndarray[Any, Any]


def sigma(z: Any) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.asarray(z, float))))


def people(n: int = 6000) -> dict[str, Array]:
    rng = np.random.default_rng(3)
    g = rng.random(n) < 0.4
    z = rng.normal(0.4 * g, 1.5, n)
    return {"z": z, "p": sigma(z), "y": (rng.random(n) < sigma(z)).astype(int), "g": np.where(g, "f", "m")}


# ---- scores known in ranges ---------------------------------------------------------------------------------


@pytest.fixture
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with millions of distinct scores, with thousands."""
    for name, value in {"EXACT": 500, "STEP": 1.6e-3, "LIGHT": 2e-3, "HEAVY": 6.4e-3, "DEAR": 3.2e-3}.items():
        monkeypatch.setattr(score_cells, name, value)


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("kind", ["score", "logit", "risk"])
def test_everybody_in_a_range_is_told_where_they_go(kind: str) -> None:
    some = people()
    values = {"score": some["p"], "logit": some["z"], "risk": 1 - some["p"]}[kind]
    words: dict[str, Any] = {"label": "y", "group": "g", "criterion": "equalized_odds"}
    column = {"logit" if kind == "logit" else "score": "x"}
    t = projection_test({**some, "x": values}, **column, **words, risk=kind == "risk")
    assert t.ranges is not None
    moved = t.shifted_probabilities(values, some["g"], some["y"])
    assert len(np.unique(moved)) > 5900  # not only as many places as ranges
    for y in (0, 1):
        means = [moved[(some["y"] == y) & (some["g"] == g)].mean() for g in "fm"]
        assert means[0] == pytest.approx(means[1], abs=2 * t.ranges.means)
    at = np.argsort(t.shifts["logit"])
    largest = np.abs(t.shifts["shifted_logit"] - t.shifts["logit"])[at].max()
    now = values if kind == "logit" else np.log(values / (1 - values))
    assert np.abs(t.shifted_logits(values, some["g"], some["y"]) - now).max() <= largest * (1 + 1e-9)


@pytest.mark.usefixtures("coarse")
def test_a_model_of_many_people_has_a_page_and_shifted_features() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(0)
    g = rng.integers(0, 2, 6000)
    X = rng.normal(size=(6000, 2)) + 0.3 * g[:, None]
    y = (rng.random(6000) < sigma(X[:, 0])).astype(int)
    model = linear_model.LogisticRegression().fit(X, y)
    t = projection_test.from_model(model, X, y, g, reference=0)
    assert t.ranges is not None
    h = model.predict_proba(t.shifted_features(X))[:, 1]
    means = [h[(g == group) & (y == 1)].mean() for group in (0, 1)]
    assert means[0] == pytest.approx(means[1], abs=2 * t.ranges.means)
    assert t.to_dict()["arrows"]["steps"]
    assert "In which direction" in t.to_html()


# ---- few people and a margin ----------------------------------------------------------------------------------


def rare(often: float) -> Any:
    """Scores of which few are high, the hardest for few people: they may have none."""
    return lambda rng, n: np.where(rng.random(n) < often, 0.9, 0.05)


def beta(a: float, b: float) -> Any:
    return lambda rng, n: np.clip(rng.beta(a, b, n), 1e-9, 1 - 1e-9)


AT_THE_MARGIN = {
    "rarely high, few": (rare(0.15), rare(0.05), 500, 25, 0.085),
    "rarely high, few and many": (rare(0.15), rare(0.05), 25, 500, 0.085),
    "very skewed": (beta(0.1, 1.5), beta(0.1, 9), 25, 25, 0.1 / 1.6 - 0.1 / 9.1),
    "skewed": (beta(0.5, 2), beta(0.5, 3.5), 500, 25, 0.075),
    "symmetric": (beta(2, 2), beta(2, 3), 25, 500, 0.1),
    "many": (beta(0.5, 2), beta(0.5, 3.5), 300, 300, 0.075),
}
"""Scores of both groups, how many people, and the gap of their means: by the limit law alone, one of the two claims of
the first four is false in 10 to 23 % at 5 %."""


@pytest.mark.parametrize("replications", [150, pytest.param(2000, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", AT_THE_MARGIN)
def test_few_people_claim_neither_more_nor_less_than_a_margin_too_often(name: str, replications: int) -> None:
    one, other, a, b, margin = AT_THE_MARGIN[name]
    rng, claimed = np.random.default_rng(7), np.zeros(2)
    for _ in range(replications):
        p = np.concatenate([one(rng, a), other(rng, b)])
        sample = Sample(np.log(p) - np.log1p(-p), np.ones(a + b), None, None, np.arange(a + b) < a)
        plans = [sample.projected(None, 1.0, margin)]
        smaller = within(plans, margin)
        claimed += [exceeding(plans, margin) <= 0.05, smaller is not None and smaller <= 0.05]
    chance = 3 * np.sqrt(0.05 * 0.95 / replications)
    assert (claimed / replications <= 0.06 + chance).all()
    if name in ("symmetric", "many"):
        assert (claimed / replications >= 0.05 - chance).all()


def test_few_people_far_beyond_a_margin_are_still_found() -> None:
    p = np.concatenate([np.repeat([0.9, 0.2], [22, 3]), np.tile(np.repeat([0.05, 0.9], [9, 1]), 40)])
    t = projection_test(score=p, group=np.repeat([1, 0], [25, 400]), reference=0, criterion="demographic_parity",
                        margin=0.05)  # fmt: skip
    assert t.rejects
    assert any("too few to show how much a mean" in note for note in t.notes)


# ---- one test among others ------------------------------------------------------------------------------------


def test_a_test_that_does_not_hold_among_others_says_so() -> None:
    rng = np.random.default_rng(7)
    g = np.repeat(list("abcdef"), 1000)
    z = rng.normal(0.12 * (g == "b"), 1.0)
    found = projection_test(logit=z, group=g, reference="a", criterion="demographic_parity")
    alone = [test.group for test in found if test.rejects]
    together = [test.group for test, rejects in zip(found, found.rejects, strict=True) if rejects]
    assert len(alone) > len(together)
    document = found.to_dict()
    check_schema(document, evenhand.schema("projections"))
    for test in document["tests"]:
        said = test["interpretation"]
        assert ("by itself, but not among all" in said) == (test["group"] in alone and test["group"] not in together)
        assert ("Chance does not explain that" in said) == (test["group"] in together)
    for view in (found.to_html(), repr(found)):
        assert "by itself, but not among all" in " ".join(view.split())


def test_which_groups_are_within_the_margin_is_said_of_all_together() -> None:
    rng = np.random.default_rng(6)
    g = np.repeat(list("abc"), 2000)
    z = rng.normal(1.0 * (g == "b"), 1.0)
    found = projection_test(logit=z, group=g, reference="a", criterion="demographic_parity", margin=0.05)
    assert "for b. It holds, each by itself, with 95 % confidence for c." in found.interpretation


def test_features_after_a_pipeline_keep_their_names() -> None:
    pandas, linear_model = pytest.importorskip("pandas"), pytest.importorskip("sklearn.linear_model")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, StandardScaler

    some = people(300)
    frame = pandas.DataFrame({"x1": some["z"], "x2": np.random.default_rng(1).normal(size=300)})
    for first, X, names in (
        (StandardScaler(), frame, {"x1", "x2"}),
        (StandardScaler(), frame.to_numpy(), {"x0", "x1"}),
        (FunctionTransformer(lambda X: X.to_numpy()), frame, {"x0", "x1"}),
    ):
        model = make_pipeline(first, linear_model.LogisticRegression()).fit(X, some["y"])
        arrows = projection_test.from_model(model, X, some["y"], some["g"]).to_dict()["arrows"]
        assert set(arrows["features"]) == names


def test_a_group_without_a_test_is_left_out_and_named() -> None:
    rng = np.random.default_rng(8)
    g = np.repeat(list("abc"), 150)
    p = np.where(g == "c", 1.0, sigma(rng.normal(0, 1, 450)))
    p[:140] = 0.0  # of the reference: what is left cannot rise to the scores of 1
    words: dict[str, Any] = {"score": p, "group": g, "reference": "a", "criterion": "demographic_parity"}
    t = projection_test(**words)
    assert t.group == "b"
    assert any("'c' is not compared: so many people have a score of exactly 0 or 1" in note for note in t.notes)
    with pytest.raises(evenhand.EvenhandError, match="the projection test does not exist"):
        projection_test(**words, compare="c")
    p[150:300] = 1.0
    with pytest.raises(evenhand.EvenhandError, match="the projection test does not exist"):
        projection_test(**words)
