"""Fairness between individuals: distances, near people, intervals by leaving each person out, and what is refused."""

from __future__ import annotations

import json
import re
import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import evenhand
from conftest import called, check_schema, evenhand as run
from evenhand.analyses.individual import neighbours as search
from evenhand.analyses.individual.distance import Matrix, Points, points
from evenhand.analyses.individual.estimates import inconsistency, pair_sums, variance
from evenhand.analyses.individual.lipschitz import disjoint, upper_end
from evenhand.analyses.individual.neighbours import Near, nearest_people, people_within
from evenhand.analyses.individual.treatment import Limits, Scored, by_group, treatment
from evenhand.analyses.individual.twins import kinds, twins
from evenhand.errors import DataError, MissingLibrary, UsageError
from evenhand.ingest.people import read_people


def crowd(n: int = 120, seed: int = 0, group: float = 0.4) -> dict[str, np.ndarray]:
    """People with two numbers and a category, a score that follows them, and a group that costs 0.1."""
    rng = np.random.default_rng(seed)
    age, job = rng.normal(40, 10, n), rng.integers(0, 3, n)
    sex = np.where(rng.random(n) < group, "f", "m")
    score = 1 / (1 + np.exp(-(age - 40) / 20 - 0.3 * job)) - 0.1 * (sex == "f")
    return {
        "age": age,
        "pay": rng.lognormal(3, 0.5, n),
        "job": np.array(["cook", "smith", "tailor"])[job],
        "sex": sex,
        "p": np.clip(score, 0, 1),
    }


# ---- distances ----------------------------------------------------------------------------------------------


def _read(data, columns):
    return read_people(data, columns)


def test_gower_is_the_mean_of_differences_in_units_of_the_range():
    data = crowd(30)
    space = points(_read(data, ["age", "pay", "job"]), "gower")
    one, other = np.array([0, 3, 7]), np.array([5, 3, 1])
    by_hand = [
        (
            abs(data["age"][i] - data["age"][j]) / np.ptp(data["age"])
            + abs(data["pay"][i] - data["pay"][j]) / np.ptp(data["pay"])
            + (data["job"][i] != data["job"][j])
        )
        / 3
        for i, j in zip(one, other, strict=True)
    ]
    assert space.between(one, other) == pytest.approx(by_hand)
    assert space.block(one)[np.arange(3), other] == pytest.approx(by_hand)


def test_euclidean_counts_standard_deviations_and_other_categories():
    data = crowd(40)
    space = points(_read(data, ["age", "pay", "job"]), "euclidean")
    scaled = np.array([data[c] / data[c].std() for c in ("age", "pay")]).T
    expected = np.sqrt(cdist(scaled, scaled) ** 2 + (data["job"][:, None] != data["job"]))
    everybody = np.arange(40)
    found = np.array([space.between(np.full(40, i), everybody) for i in everybody])
    assert found == pytest.approx(expected)
    assert space.block(everybody) == pytest.approx(expected**2, abs=1e-9)


def test_mahalanobis_agrees_with_scipy_and_forgets_what_others_tell():
    data = crowd(60)
    x = np.array([data["age"], data["pay"], data["age"] * 0.02 + data["pay"]]).T
    space = points(_read({"a": x[:, 0], "b": x[:, 1]}, ["a", "b"]), "mahalanobis")
    inverse = np.linalg.inv(np.cov(x[:, :2].T, bias=True))
    expected = cdist(x[:, :2], x[:, :2], "mahalanobis", VI=inverse)
    assert space.between(np.arange(59), np.arange(1, 60)) == pytest.approx(np.diagonal(expected, 1))
    twice = points(_read({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2]}, ["a", "b", "c"]), "mahalanobis")
    assert twice.between(np.arange(59), np.arange(1, 60)) == pytest.approx(np.diagonal(expected, 1))


# ---- near people --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["gower", "euclidean", "mahalanobis"])
def test_near_people_are_the_nearest(metric):
    space = points(_read(crowd(150), ["age", "pay", "job"]), metric)
    everybody = np.arange(150)
    all_of_them = np.array([space.between(np.full(150, i), everybody) for i in everybody])
    np.fill_diagonal(all_of_them, np.inf)
    near = nearest_people(space, 7, np.random.default_rng(0), False)
    ordered = np.sort(all_of_them, axis=1)
    assert near.distance.reshape(150, 7) == pytest.approx(ordered[:, :7])
    assert near.spare_distance == pytest.approx(ordered[:, 7])
    radius = float(np.median(ordered[:, 3]))
    within = people_within(space, radius)
    assert within.sizes.tolist() == (all_of_them <= radius).sum(axis=1).tolist()
    assert all_of_them[within.one, within.other] == pytest.approx(within.distance)


def test_the_index_finds_nearly_everybody_and_says_how_many():
    pytest.importorskip("faiss")
    rng = np.random.default_rng(1)
    people = {f"x{i}": rng.normal(size=3000) for i in range(4)} | {"c": rng.integers(0, 90, 3000).astype(str)}
    space = points(_read(people, list(people)), "gower")
    exact = nearest_people(space, 5, rng, False)
    index = nearest_people(space, 5, rng, True)
    truth = exact.distance.reshape(-1, 5)[:, -1:]
    recall = (index.distance.reshape(-1, 5) <= truth * (1 + 1e-9)).mean()
    assert index.recall == pytest.approx(recall, abs=0.03)
    assert recall > 0.95
    assert (index.other != index.one).all()
    assert (np.diff(index.distance.reshape(-1, 5), axis=1) >= 0).all()


def test_many_people_go_through_the_index_or_are_told_what_to_install(monkeypatch):
    monkeypatch.setattr("evenhand.analyses.individual.individual.EXACT", 1000)
    data = crowd(2500)
    if pytest.importorskip("faiss"):
        words = {"group": "sex", "rng": 3, "k": 5}
        found = evenhand.individual_fairness(data, "p", **words)
        assert not found.options["exact"]
        assert found.options["recall"] > 0.95
        assert any("from an index" in note for note in found.notes)
        assert found.to_json() == evenhand.individual_fairness(data, "p", **words).to_json()
        exact = evenhand.individual_fairness(data, "p", neighbours="exact", **words)
        assert found.overall.alike.value == pytest.approx(exact.overall.alike.value, abs=0.01)

    def absent():
        raise MissingLibrary("pip install 'evenhand[neighbours]'")

    monkeypatch.setattr(search, "_faiss", absent)
    with pytest.raises(MissingLibrary, match=r"evenhand\[neighbours\]"):
        evenhand.individual_fairness(data, "p")
    with pytest.raises(UsageError, match="within a radius everybody is compared"):
        evenhand.individual_fairness(data, "p", radius=0.1)


# ---- leaving people out -------------------------------------------------------------------------------------


def _recomputed(space, score, k, radius, codes, limits, gone):
    """Everything again, with a person really gone."""
    left = np.delete(np.arange(len(score)), gone)
    smaller = Matrix(space.distances[np.ix_(left, left)])
    near = nearest_people(smaller, k, np.random.default_rng(0), False) if k else people_within(smaller, radius)
    scored = Scored.of(near, score[left])
    groups = by_group(scored, codes[left], ("a", "b"), 0, limits)
    return treatment(scored, np.ones(len(left), bool), limits), groups


@pytest.mark.parametrize(("k", "radius"), [(4, None), (None, 0.6)])
def test_the_jackknife_is_what_really_leaving_people_out_gives(k, radius):
    rng = np.random.default_rng(5)
    x, score, codes = rng.normal(size=(40, 2)), rng.random(40), rng.integers(0, 2, 40)
    space = Matrix(cdist(x, x))
    limits = Limits(0.2, 1.0, 1.0, 0.95)
    near = nearest_people(space, k, rng, False) if k else people_within(space, radius)
    scored = Scored.of(near, score)
    overall = treatment(scored, np.ones(40, bool), limits)
    groups = by_group(scored, codes, ("a", "b"), 0, limits)
    for gone in range(40):
        again, again_groups = _recomputed(space, score, k, radius, codes, limits, gone)
        for part in ("alike", "consistency", "violations"):
            for now, then in [
                (overall, again),
                *((g.treatment, h.treatment) for g, h in zip(groups, again_groups, strict=True)),
            ]:
                assert getattr(now, part).without[gone] == pytest.approx(getattr(then, part).value, nan_ok=True)


def test_across_groups_the_jackknife_is_exact_too():
    rng = np.random.default_rng(6)
    x, score, codes = rng.normal(size=(30, 2)), rng.random(30), rng.integers(0, 2, 30)
    space = Matrix(cdist(x, x))
    limits = Limits(0.2, None, 1.0, 0.95)
    near = nearest_people(space, 3, rng, False)
    found = by_group(Scored.of(near, score), codes, ("a", "b"), 0, limits)[1].across
    without = []
    for gone in range(30):
        without.append(_recomputed(space, score, 3, None, codes, limits, gone)[1][1].across.value)
    half = 1.959964 * np.sqrt(variance(np.array(without), 0.95))
    assert found.ci == pytest.approx((found.value - half, found.value + half), rel=1e-5)
    pairs = [(i, j) for i, j in zip(near.one, near.other, strict=True) if codes[i] != codes[j]]
    by_hand = np.mean([score[i] - score[j] if codes[i] else score[j] - score[i] for i, j in pairs])
    assert found.value == pytest.approx(by_hand)


def test_consistency_is_aif360s_on_the_same_neighbours():
    neighbours = pytest.importorskip("sklearn.neighbors")
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(300, 3)), rng.integers(0, 2, 300).astype(float)
    _, around = neighbours.NearestNeighbors(n_neighbors=5, algorithm="ball_tree").fit(x).kneighbors(x)
    near = Near(np.arange(301) * 5, around.ravel(), np.zeros(1500), None)  # each person among their own neighbours
    found = inconsistency(near, y, np.zeros(300), np.ones(300, bool))
    ours = 1 - found.mean
    assert ours == pytest.approx(1 - np.abs(y - y[around].mean(axis=1)).mean())
    # everybody's own score pulls aif360's mean towards it; ours leaves it out
    scaled = (x - x.mean(axis=0)) / x.std(axis=0)
    _, around = neighbours.NearestNeighbors(n_neighbors=5).fit(scaled).kneighbors(scaled)
    with_self = 1 - np.abs(y - y[around].mean(axis=1)).mean()
    alone = evenhand.individual_fairness(x, y, metric="euclidean", k=4).overall.consistency.value
    assert 1 - with_self == pytest.approx((1 - alone) * 4 / 5)


def test_consistency_is_what_aif360_computes():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = pytest.importorskip("aif360.sklearn.metrics")
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    found = evenhand.individual_fairness(x, y, metric="euclidean", k=4).overall.consistency.value
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert 1 - peer.consistency_score(x, y, n_neighbors=5) == pytest.approx((1 - found) * 4 / 5)


# ---- Lipschitz ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("features", [1, 2, 3])
def test_the_constant_of_a_linear_score_is_recovered(features):
    rng = np.random.default_rng(features)
    x = rng.normal(size=(3000, features))
    x /= x.std(axis=0)
    weight = np.linspace(1, 2, features)
    found = evenhand.individual_fairness(x, x @ weight, metric="euclidean").overall.constant
    true = float(np.linalg.norm(weight))
    assert found.value <= true * (1 + 1e-9)
    assert found.value == pytest.approx(true, rel=0.005)
    assert found.ci[0] == found.value
    assert true * 0.999 <= found.ci[1] <= true * 1.05


def test_a_step_has_no_finite_constant():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 1))
    found = evenhand.individual_fairness(x, (x[:, 0] > 0).astype(float), metric="euclidean")
    assert found.overall.constant.ci[1] == np.inf
    document = found.to_dict()
    assert document["overall"]["constant"]["ci"][1] is None
    assert any("no upper limit" in note for note in document["notes"])


def test_the_steepest_pairs_share_nobody():
    one, other = np.array([0, 1, 2, 0]), np.array([1, 2, 3, 3])
    assert disjoint(one, other, np.array([4.0, 3.0, 2.0, 1.0]), 3).tolist() == [4.0, 2.0]


def test_the_end_of_slopes_covers_the_truth():
    """P(slope > x) = (1 − x)^a: the limit exceeds 1 at least 95 times in 100."""
    rng = np.random.default_rng(8)
    for a in (0.5, 1.0, 2.0):
        ends = [upper_end(np.sort(1 - rng.random(4000) ** (1 / a))[::-1][:60], 0.95) for _ in range(300)]
        assert np.mean(np.array(ends) >= 1 - 1e-9) >= 0.95
        assert np.median(ends) < 1 + 0.1 * a**2  # and it is no empty promise


def test_violations_are_ranked_and_each_person_comes_once_first():
    # a line of people, the score following but for rows 3 and 8
    data = {"x": np.arange(12.0), "p": np.linspace(0, 0.11, 12)}
    data["p"][3] += 0.5
    data["p"][8] += 0.3
    found = evenhand.individual_fairness(data, "p", k=2, lipschitz=0.2, worst=4)
    assert [w.beyond for w in found.worst] == sorted((w.beyond for w in found.worst), reverse=True)
    first = found.worst[0]
    assert first.people[0].row == 3
    assert first.people[0].values == {"x": 3}
    assert first.difference == pytest.approx(0.51)
    assert first.beyond == pytest.approx(0.51 - 0.2 * first.distance)
    two = evenhand.individual_fairness(data, "p", k=2, lipschitz=0.2, worst=2).worst
    assert [w.people[0].row for w in two] == [3, 8]  # not the same person again while there are others
    near = nearest_people(points(_read(data, ["x"]), "gower"), 2, np.random.default_rng(0), False)
    beyond = np.abs(data["p"][near.one] - data["p"][near.other]) > 0.2 * near.distance
    assert found.overall.violations.value == pytest.approx(beyond.mean(), abs=0.05)  # neighbours of the ends tie


# ---- twins --------------------------------------------------------------------------------------------------


def test_twins_are_counted_and_never_divided_by():
    data = {"x": [1, 1, 1, 2, 3, 3], "c": list("aaabcc"), "p": [0.1, 0.5, 0.1, 0.4, 0.9, 0.9], "s": list("fmfmfm")}
    found = evenhand.individual_fairness(data, "p", k=2, group="s", epsilon=0.1)
    assert vars(found.twins) == {"people": 5, "pairs": 4, "apart": 2, "differ": 2, "largest": 0.4}
    assert found.worst[0].distance == 0
    assert found.worst[0].slope is None
    text = found.to_json()
    assert "Infinity" not in text
    assert "NaN" not in text
    assert any("only what was not compared can divide them" in said for said in found.to_dict()["interpretation"])


def test_twins_agree_with_a_loop():
    rng = np.random.default_rng(0)
    data = {"a": rng.integers(0, 3, 60), "b": rng.integers(0, 3, 60).astype(str)}
    score = rng.integers(0, 10, 60) / 10
    found = twins(kinds(_read(data, ["a", "b"])), score, 0.25)
    pairs = [
        abs(score[i] - score[j])
        for i in range(60)
        for j in range(i)
        if data["a"][i] == data["a"][j] and data["b"][i] == data["b"][j]
    ]
    assert found.pairs == len(pairs)
    assert found.apart == sum(d > 0.25 for d in pairs)
    assert found.differ == sum(d > 0 for d in pairs)


def test_everybody_at_one_place_has_no_lipschitz_constant():
    data = {"x": [1, 1, 1, 2], "p": [0.1, 0.2, 0.3, 0.4]}
    found = evenhand.individual_fairness(data, "p", k=2)
    assert found.overall.constant.undefined is None  # row 3 is elsewhere
    lonely = evenhand.individual_fairness({"x": [1, 1, 2, 2], "p": [0.1, 0.2, 0.3, 0.4]}, "p", k=1)
    assert lonely.overall.constant.undefined == "no two people near to each other differ in what is compared"
    assert lonely.to_dict()["overall"]["constant"]["value"] is None


# ---- groups -------------------------------------------------------------------------------------------------


def test_a_planted_penalty_is_found_between_near_people_of_two_groups():
    found = evenhand.individual_fairness(crowd(1500), "p", group="sex", reference="m")
    across = found.groups[1].across
    assert found.groups[1].name == "f"
    assert across.ci[0] < -0.1 < across.ci[1] or across.value == pytest.approx(-0.1, abs=0.01)
    assert across.p_adjusted < 1e-6
    assert found.data["columns"] == ("age", "pay", "job")
    as_risk = evenhand.individual_fairness(crowd(1500), "p", group="sex", reference="m", risk=True)
    assert as_risk.groups[1].across.value == pytest.approx(-across.value)


def test_a_group_that_costs_nothing_is_rarely_accused():
    """Rejections at 5 % of a group that has nothing to do with the score."""
    rejected = []
    for seed in range(120):
        data = crowd(150, seed)
        data["sex"] = np.where(np.random.default_rng(1000 + seed).random(150) < 0.4, "f", "m")
        data["p"] = np.clip(data["p"] + np.random.default_rng(seed).normal(0, 0.05, 150), 0, 1)
        data["p"] = np.random.default_rng(seed).permutation(data["p"])
        group = evenhand.individual_fairness(data, "p", group="sex", k=5).groups[1]
        rejected.append((group.across.p_value < 0.05, group.alike_gap.p_value < 0.05))
    assert (np.mean(rejected, axis=0) <= 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / 120)).all()


def test_intervals_cover_what_samples_vary_around():
    _coverage(150, 160)


@pytest.mark.full
@pytest.mark.parametrize("people", [150, 800])
def test_intervals_cover_at_full_size(people):
    _coverage(people, 600)


def _coverage(people: int, samples: int) -> None:
    found = []
    for seed in range(samples):
        data = crowd(people, seed)
        data["p"] = np.clip(data["p"] + np.random.default_rng(seed).normal(0, 0.05, people), 0, 1)
        result = evenhand.individual_fairness(data, "p", group="sex", reference="m", k=5, lipschitz=1.0)
        group = result.groups[1]
        found.append([result.overall.alike, result.overall.consistency, result.overall.violations,
                      group.treatment.alike, group.alike_gap, group.across])  # fmt: skip
    for estimates in zip(*found, strict=True):
        truth = np.mean([e.value for e in estimates])
        covered = np.mean([e.ci[0] <= truth <= e.ci[1] for e in estimates])
        assert covered >= 0.95 - 2.6 * np.sqrt(0.95 * 0.05 / samples)


def test_everybody_alike_still_has_an_interval():
    data = crowd(60)
    data["p"] = np.full(60, 0.4)
    found = evenhand.individual_fairness(data, "p", group="sex")
    assert found.overall.alike.value == 1
    assert found.overall.alike.ci[0] < 0.95
    assert found.chance["alike"] == 1
    assert "all scores are the same" in " ".join(found.notes)
    assert found.groups[1].alike_gap.p_value == 1


# ---- any data, any order ------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "duckdb", "csv", "arrays"])
def test_every_library_gives_the_same_bytes(library, tmp_path):
    data = crowd(80)
    expected = evenhand.individual_fairness(data, "p", group="sex", lipschitz=1).to_json()
    if library == "arrays":
        features = {k: data[k] for k in ("age", "pay", "job")}
        found = evenhand.individual_fairness(features, data["p"], group=data["sex"], lipschitz=1).to_dict()
        wanted = json.loads(expected)
        assert found["overall"] == wanted["overall"]
        assert found["groups"] == wanted["groups"]
        return
    if library == "csv":
        lines = [
            ",".join(data),
            *(",".join(map(repr, row)) for row in zip(*(v.tolist() for v in data.values()), strict=True)),
        ]
        given = tmp_path / "people.csv"
        given.write_text("\n".join(lines).replace("'", ""))
    else:
        module = pytest.importorskip("pandas" if library == "duckdb" else library)
        given = module.table(data) if library == "pyarrow" else module.DataFrame(data)
        if library == "duckdb":
            given = pytest.importorskip("duckdb").from_df(given)
    assert evenhand.individual_fairness(given, "p", group="sex", lipschitz=1).to_json() == expected


def test_the_order_of_rows_changes_nothing_where_nobody_ties():
    data = crowd(100)
    order = np.random.default_rng(9).permutation(100)
    one = evenhand.individual_fairness(data, "p", group="sex", metric="euclidean")
    other = evenhand.individual_fairness({k: v[order] for k, v in data.items()}, "p", group="sex", metric="euclidean")
    assert one.overall.alike.value == pytest.approx(other.overall.alike.value)
    assert one.overall.alike.ci == pytest.approx(other.overall.alike.ci)
    assert one.worst[0].people[0].row == order[other.worst[0].people[0].row]


def test_distances_of_ones_own():
    data = crowd(40)
    named = evenhand.individual_fairness(data, "p", columns=["age"], metric="gower", k=3)
    span = np.ptp(data["age"])
    asked = evenhand.individual_fairness(
        data, "p", columns=["age"], metric=lambda a, b: abs(a["age"] - b["age"]) / span, k=3
    )
    matrix = np.abs(data["age"][:, None] - data["age"]) / span
    given = evenhand.individual_fairness(matrix, data["p"], metric="precomputed", k=3)
    for found in (asked, given):
        assert found.overall.alike.value == named.overall.alike.value
        assert found.overall.constant.value == pytest.approx(named.overall.constant.value)
    assert given.worst[0].people[0].values == {}


def test_left_out_columns_are_shown_but_not_compared():
    data = crowd(60)
    found = evenhand.individual_fairness(data, "p", exclude=["sex", "job"])
    assert found.data["columns"] == ("age", "pay")
    assert set(found.data["beside"]) == {"sex", "job"}
    assert set(found.worst[0].people[0].values) == {"age", "pay", "sex", "job"}
    with_gaps = {**data, "sex": np.where(np.arange(60) == 5, None, data["sex"])}
    same = evenhand.individual_fairness(with_gaps, "p", exclude=["sex", "job"])
    assert same.overall.alike.value == found.overall.alike.value


def test_incomplete_people_are_refused_or_left_out():
    data = crowd(60)
    data["age"][7] = np.nan
    with pytest.raises(DataError, match=r"1 of 60 rows have none in 'age'.*missing='drop'"):
        evenhand.individual_fairness(data, "p")
    found = evenhand.individual_fairness(data, "p", missing="drop")
    assert found.n == 59
    assert found.data["left_out"] == {"age": 1}
    assert all(w.people[0].row != 7 for w in found.worst)
    matrix = np.abs(np.arange(60.0)[:, None] - np.arange(60.0))
    scores = np.where(np.arange(60) == 3, np.nan, data["p"])
    given = evenhand.individual_fairness(matrix, scores, metric="precomputed", missing="drop", k=2)
    assert given.n == 59


# ---- refused ------------------------------------------------------------------------------------------------

_BAD = [
    ({"metric": "gowr"}, UsageError, r"metric must be one of .*did you mean 'gower'"),
    ({"k": 60}, UsageError, "k=60 nearest people need more than 60 people, but there are 60"),
    ({"k": 0}, UsageError, "k must be a whole number from 1"),
    ({"k": 2.5}, UsageError, "k must be a whole number"),
    ({"k": True}, UsageError, "k must be a whole number"),
    ({"k": 3, "radius": 0.1}, UsageError, "say one of k= and radius="),
    ({"radius": -1}, UsageError, "radius must be above 0"),
    ({"radius": float("nan")}, UsageError, "radius must be a finite number"),
    ({"radius": "wide"}, UsageError, "radius must be a number"),
    ({"epsilon": -0.1}, UsageError, "epsilon must not be negative"),
    ({"epsilon": float("inf")}, UsageError, "epsilon must be a finite number"),
    ({"lipschitz": -1}, UsageError, "lipschitz must not be negative"),
    ({"confidence": 1}, UsageError, "confidence must be at least 0.5 and below 1"),
    ({"worst": -1}, UsageError, "worst must be a whole number from 0"),
    ({"neighbours": "quick"}, UsageError, "neighbours must be one of"),
    ({"group": "sexe"}, UsageError, r"no group column 'sexe'.*did you mean 'sex'"),
    ({"group": "sex", "reference": "x"}, UsageError, r"group 'x' is not in column 'sex' \(it has: "),
    ({"exclude": ["agee"]}, DataError, r"no column 'agee'.*did you mean 'age'"),
    ({"columns": ["age"], "exclude": ["age"]}, UsageError, "say which is meant"),
    ({"columns": []}, DataError, "no column is left to compare people by"),
    ({"categories": ["agee"]}, DataError, "no column 'agee' to be taken as names"),
    ({"score_range": (0.5, 1)}, UsageError, "score_range must hold all scores"),
    ({"score_range": 3}, UsageError, "score_range is two numbers"),
    ({"rng": -1}, UsageError, "rng must be a seed"),
    ({"metric": lambda a, b: -1.0}, DataError, "must return a finite distance"),
    ({"metric": lambda a: 1.0}, UsageError, r"metric\(…\) takes two people as dicts, but it failed"),
    ({"missing": "fill"}, UsageError, "missing must be one of 'refuse', 'drop'"),
    ({"metric": "precomputed", "exclude": ["age"]}, UsageError, "X has distances, no columns"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "error", "message"), _BAD, ids=[str(list(w)) + str(i) for i, (w, _, _) in enumerate(_BAD)]
)
def test_what_makes_no_sense_is_refused_in_a_sentence(words, error, message):
    with pytest.raises(error, match=message):
        evenhand.individual_fairness(crowd(60), "p", **words)


@pytest.mark.parametrize(
    ("data", "score", "message"),
    [
        ({"x": [1, 2, 3], "p": [0.1, float("nan"), 0.2]}, "p", "1 of 3 rows have none in 'p'"),
        ({"x": [1, 2, 3], "p": [0.1, float("inf"), 0.2]}, "p", "'p' holds an infinite number"),
        ({"x": [1, 2, 3], "p": ["a", "b", "c"]}, "p", "must hold numbers"),
        ({"x": [1, 2, 3]}, "p", "no score column 'p'"),
        ({"x": [1, 2, 3]}, [0.1, 0.2], "same length"),
        ({"x": [1, 2, 3]}, 5, "one value per person"),
        ({"x": [1, 2, 3]}, None, "needs the score"),
        ({"x": [4, 4, 4], "p": [0.1, 0.2, 0.3]}, "p", "all people are the same in every column"),
        ({"x": [], "p": []}, "p", "nobody in the data"),
        ({"x": [1], "p": [0.5]}, "p", "all people are the same|need more than"),
        ({"p": [0.1, 0.2]}, "p", "no column is left"),
        (7, "p", "data must be"),
    ],
)
def test_bad_people_are_refused(data, score, message):
    with pytest.raises((DataError, UsageError), match=message):
        evenhand.individual_fairness(data, score, k=1)


@pytest.mark.parametrize(
    ("distances", "message"),
    [
        (np.ones((3, 2)), "square matrix"),
        (np.array([[0, 1.0], [2.0, 0]]), "same both ways"),
        (np.array([[0, -1.0], [-1.0, 0]]), "not negative"),
        (np.array([[1.0, 1.0], [1.0, 0]]), "distance 0 of oneself"),
        (np.array([[0, np.nan], [np.nan, 0]]), "finite"),
        ([["a"]], "square matrix of numbers"),
        (np.zeros((3, 3)), "distances of 3 people, but there are 2 scores"),
    ],
)
def test_bad_distances_are_refused(distances, message):
    with pytest.raises(DataError, match=message):
        evenhand.individual_fairness(distances, [0.1, 0.2], metric="precomputed", k=1)


@pytest.mark.parametrize("metric", ["gower", "euclidean", "mahalanobis"])
@pytest.mark.parametrize("scale", [1.0, 1e300, 1e-300])
def test_numbers_of_any_size_give_the_same_answer(metric, scale):
    data = crowd(60)
    expected = evenhand.individual_fairness(data, "p", metric=metric)
    found = evenhand.individual_fairness({**data, "pay": data["pay"] * scale}, "p", metric=metric)
    assert found.overall.alike.value == expected.overall.alike.value
    assert found.overall.constant.value == pytest.approx(expected.overall.constant.value)
    ends = {**data, "pay": np.where(np.arange(60) % 2, 1.7e308, -1.7e308)}
    halves = {**data, "pay": np.arange(60) % 2}
    one, other = (evenhand.individual_fairness(d, "p", metric=metric).overall.alike.value for d in (ends, halves))
    assert one == other


def test_scores_too_large_to_add_up_are_refused():
    data = crowd(30)
    with pytest.raises(DataError, match="too large to be added up"):
        evenhand.individual_fairness({**data, "p": data["p"] * 1e308}, "p")


def test_a_list_of_people_keeps_numbers_and_words_apart():
    rows = [[1, "a"], [2, "b"], [3, "a"], [9, "b"]]
    found = evenhand.individual_fairness(rows, [0.1, 0.2, 0.3, 0.4], k=1)
    assert found.worst[0].people[0].values["x0"] in (1, 2, 3, 9)


def test_a_radius_that_holds_everybody_is_refused(monkeypatch):
    monkeypatch.setattr(search, "MOST_PAIRS", 100)
    with pytest.raises(UsageError, match=r"more than 100 pairs of people.*smaller radius"):
        evenhand.individual_fairness(crowd(60), "p", radius=1.0)


def test_a_radius_that_holds_nobody_is_undefined_not_zero():
    found = evenhand.individual_fairness(crowd(60), "p", radius=1e-12, group="sex")
    assert np.isnan(found.overall.alike.value)
    document = found.to_dict()
    assert document["overall"]["alike"]["value"] is None
    assert "nobody is near" in document["overall"]["alike"]["undefined"]
    assert "undefined" in document["interpretation"][0]
    assert found.plots() == ()
    check_schema(document, evenhand.schema("individual"))
    assert "undefined" in repr(found)
    assert found.to_html()


# ---- forms --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [{}, {"group": "sex", "lipschitz": 1.0}, {"radius": 0.1, "group": "sex"}])
def test_the_document_is_what_its_schema_says(words):
    found = evenhand.individual_fairness(crowd(80), "p", **words)
    check_schema(json.loads(found.to_json()), evenhand.schema("individual"))
    assert all(len(line) <= 80 for line in repr(found).splitlines())
    for name in found.plots():
        assert found.plot(name).columns


def test_hostile_names_are_only_names():
    data = crowd(60)
    nasty = "</script><script>alert(1)</script>"
    data = {nasty: data["age"], 'a"b': data["job"], "p": data["p"], "g": np.where(data["sex"] == "f", nasty, "m\x00")}
    found = evenhand.individual_fairness(data, "p", group="g", lipschitz=0.1)
    page = found.to_html()
    assert "<script>alert" not in page
    assert found.to_markdown()
    for library in ("pandas", "polars", "pyarrow", "duckdb"):
        pytest.importorskip(library)
        assert nasty in list(found.to_frame(library).columns) or nasty in found.to_frame(library).column_names


def test_worst_pairs_as_a_frame():
    pandas = pytest.importorskip("pandas")
    found = evenhand.individual_fairness(crowd(60), "p", group="sex", worst=3).to_frame("pandas")
    assert isinstance(found, pandas.DataFrame)
    assert len(found) == 6
    assert list(found.columns) == ["pair", "distance", "difference", "row", "score", "group", "age", "pay", "job"]


def _csv(folder, data):
    file = folder / "people.csv"
    rows = zip(*(v.tolist() for v in data.values()), strict=True)
    file.write_text("\n".join([",".join(data), *(",".join(map(str, row)) for row in rows)]))
    return file


def test_the_command_writes_every_form(tmp_path):
    file = _csv(tmp_path, crowd(80))
    words = ("individual", file, "--score", "p", "--group", "sex", "--exclude", "job", "--k", 5, "--lipschitz", 1)
    first = run(*words, "--json", tmp_path / "a.json", "--html", tmp_path / "a.html", "--markdown", tmp_path / "a.md")
    assert first.returncode == 0, first.stderr
    assert first.stdout.startswith("Individual fairness\n80 people · score p · distance: gower over age, pay")
    document = json.loads((tmp_path / "a.json").read_text())
    check_schema(document, evenhand.schema("individual"))
    assert document["options"]["k"] == 5
    assert "Are similar people treated alike by p?" in (tmp_path / "a.html").read_text()
    again = called(*words, "--json", "-")
    assert again.stdout == (tmp_path / "a.json").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "--score COL"),
        (("--score", "q"), "no score column 'q'"),
        (("--score", "p", "--k", "99"), "k=99 nearest people need more"),
        (("--score", "p", "--k", "x"), "not a whole number"),
        (("--score", "p", "--score-range", "1"), "two numbers such as 0,1"),
        (("--score", "p", "--metric", "taxi"), "taxi"),
        (("--score", "p", "--html", "people.csv"), "which is read"),
        (("--score", "sex"), "must hold numbers"),
    ],
)
def test_the_command_refuses_in_one_sentence(tmp_path, words, message):
    file = _csv(tmp_path, crowd(40))
    before = file.read_text()
    found = called("individual", file, *words, cwd=tmp_path)
    assert found.returncode == 2
    assert re.fullmatch(r"evenhand: [^\n]+\n", found.stderr)
    assert message in found.stderr
    assert file.read_text() == before


def test_adult_twins_who_differ_only_in_what_was_left_out(data_folder):
    """Real people: a score that uses race treats people alike in everything else differently."""
    columns = ["age", "workclass", "education", "marital", "occupation", "race", "sex", "hours"]
    places = [0, 1, 3, 5, 6, 8, 9, 12]
    lines = [line.split(", ") for line in (data_folder / "adult.data").read_text().splitlines()[:4000] if line]
    data = {name: np.array([row[i] for row in lines]) for name, i in zip(columns, places, strict=True)}
    data["age"], data["hours"] = data["age"].astype(int), data["hours"].astype(int)
    blind = np.clip(data["age"] / 100 + data["hours"] / 200, 0, 1)
    words = {"group": "sex", "exclude": ["race"], "reference": "Male"}
    fair = evenhand.individual_fairness({**data, "p": blind}, "p", **words)
    assert fair.twins.pairs > 50
    assert fair.twins.differ == 0
    seen = np.clip(blind - 0.2 * (data["race"] == "Black"), 0, 1)
    unfair = evenhand.individual_fairness({**data, "p": seen}, "p", **words)
    assert unfair.twins.pairs == fair.twins.pairs
    assert unfair.twins.apart > 0
    assert unfair.twins.largest == pytest.approx(0.2)
    assert unfair.worst[0].people[0].values["race"] != unfair.worst[0].people[1].values["race"]


def test_pair_sums_count_only_what_is_counted():
    near = Near(np.array([0, 1, 2]), np.array([1, 0]), np.array([1.0, 1.0]), None)
    sums = pair_sums(near, np.array([1.0, 5.0]), np.zeros(2), np.array([True, False]), np.zeros(2, bool))
    assert (sums.total, sums.number) == (1.0, 1.0)
    assert sums.numbers.tolist() == [0, 0]


def test_points_are_exactly_nowhere_apart_from_themselves():
    space = Points(np.random.default_rng(0).normal(size=(9, 50)), np.zeros((0, 50), np.int32), 0.0, 2)
    assert (space.between(np.arange(50), np.arange(50)) == 0).all()


# ---- in the page of an audit --------------------------------------------------------------------------------


def test_an_audits_page_has_room_for_similar_people(tmp_path):
    file = _csv(tmp_path, crowd(80))
    assert called("individual", file, "--score", "p", "--group", "sex", "--json", tmp_path / "i.json").returncode == 0
    words = ("audit", file, "--score", "p", "--group", "sex", "--permutations", 0, "--bootstrap", 50)
    found = called(*words, "--html", tmp_path / "a.html", "--also", tmp_path / "i.json")
    assert found.returncode == 0, found.stderr
    page = (tmp_path / "a.html").read_text()
    assert 'id="individual"' in page
    assert 'id="verdict"' in page
    assert "Side by side" in page


@pytest.mark.parametrize(
    ("content", "words", "message"),
    [
        ("{}", ("--html", "a.html"), "takes results of individual or counterfactual fairness"),
        ("[1", ("--html", "a.html"), "is none"),
        ('{"schema": "evenhand/individual/1"}', ("--html", "a.html"), "not complete"),
        ("{}", (), "say --html FILE too"),
        ("{}", ("--html", "i.json"), "which is read"),
    ],
)
def test_what_does_not_fit_into_the_page_is_refused(tmp_path, content, words, message):
    file = _csv(tmp_path, crowd(40))
    (tmp_path / "i.json").write_text(content)
    audit = ("audit", file, "--score", "p", "--group", "sex", "--permutations", 0, "--bootstrap", 0)
    found = called(*audit, "--also", "i.json", *words, cwd=tmp_path)
    assert found.returncode == 2
    assert message in found.stderr
    assert (tmp_path / "i.json").read_text() == content
    assert not (tmp_path / "a.html").exists()


def test_only_results_that_have_sections_fit_into_the_page():
    audit = evenhand.audit(crowd(60), score="p", group="sex", permutations=0, bootstrap=0)
    with pytest.raises(UsageError, match="takes results of individual or counterfactual"):
        audit.to_html(also=[audit])
    two = evenhand.individual_fairness(crowd(60), "p")
    assert audit.to_html(also=[two, two]).count("Side by side") >= 2


def test_scores_and_features_of_32_bits_are_the_decimals_they_stand_for() -> None:
    """0.8 and 0.7 in 32 bits are 0.10000002 apart, which is not within 0.1."""
    rng = np.random.default_rng(0)
    wide = {"p": rng.beta(2, 2, 200).round(1), "x": rng.random(200).round(1), "sex": rng.choice(["f", "m"], 200)}
    narrow = {**wide, "p": wide["p"].astype(np.float32), "x": wide["x"].astype(np.float32)}
    one, other = (evenhand.individual_fairness(d, "p", group="sex", epsilon=0.1) for d in (wide, narrow))
    assert other.overall.alike.ci == one.overall.alike.ci
    assert other.twins == one.twins
