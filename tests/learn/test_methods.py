"""Methods follow scikit-learn's protocol, trade with one strength, and do what their papers say."""

from __future__ import annotations

import doctest
import pickle
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from evenhand.errors import DataError, EvenhandError, UsageError

torch = pytest.importorskip("torch")
sklearn = pytest.importorskip("sklearn", minversion="1.6")

from sklearn.base import clone  # noqa: E402
from sklearn.frozen import FrozenEstimator  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402
from sklearn.utils.validation import _num_samples  # noqa: E402

from evenhand.learn import (  # noqa: E402
    ADV,
    DADV,
    INLP,
    LOSSES,
    METHODS,
    MLP,
    REG,
    Barycentre,
    GroupThresholds,
    Reweighting,
    loss,
    method,
)
from evenhand.learn.methods.equalized_odds import equalized_odds  # noqa: E402
from evenhand.learn.methods.postprocessing import barycentre_maps, threshold_at  # noqa: E402

WRAPPERS = ("reweighting", "thresholds", "barycentre")
NETWORKS = tuple(name for name in METHODS if name not in WRAPPERS)
SMALL = {"hidden": (16,), "epochs": 3, "batch_size": 64, "random_state": 0}


class People:
    """Two or three groups, one of them with more of everything that counts."""

    def __init__(self, n: int = 1200, seed: int = 0, groups: str = "ab") -> None:
        rng = np.random.default_rng(seed)
        self.group = rng.choice(list(groups), n)
        self.X = rng.normal(size=(n, 5))
        self.X[:, :2] += (self.group == "b")[:, None]
        self.y = (self.X.sum(1) + rng.normal(size=n) > 1).astype(int)

    def fit(self, model: Any, **more: Any) -> Any:
        return model.fit(self.X, self.y, sensitive_features=self.group, **more)

    def score(self, model: Any) -> Any:
        return model.predict_proba(self.X, sensitive_features=self.group)[:, 1]

    def gap(self, name: str, score: Any) -> float:
        codes = torch.as_tensor(np.unique(self.group, return_inverse=True)[1])
        return float(loss(name)(torch.as_tensor(score), codes, torch.as_tensor(self.y)))


@pytest.fixture(scope="module")
def people() -> People:
    return People()


# ---- the protocol ----------------------------------------------------------------------------------------------------

EXEMPT = {
    "check_sample_weight_equivalence_on_dense_data": "the order of people decides who shares a batch, and here who is "
    "in which group; test_a_weight_of_two_is_two_people has batches of everybody"
}


def grouped(kind: type) -> type:
    """The same method with groups made up where none are given: scikit-learn's checks know nothing of groups."""
    if not kind.needs_groups:
        return kind

    def fit(self: Any, X: Any, y: Any, sensitive_features: Any = None, sample_weight: Any = None) -> Any:
        made = np.arange(_num_samples(X)) // 2 % 2 if sensitive_features is None else sensitive_features
        return kind.fit(self, X, y, made, sample_weight)

    def predict_proba(self: Any, X: Any, sensitive_features: Any = None) -> Any:
        made = np.zeros(_num_samples(X), int) if sensitive_features is None else sensitive_features
        return kind.predict_proba(self, X, made)

    made = type(
        f"Grouped{kind.__name__}", (kind,), {"fit": fit, "predict_proba": predict_proba, "__module__": __name__}
    )
    globals()[made.__name__] = made  # so that it can be pickled
    return made


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", METHODS)
def test_scikit_learn_checks(name: str) -> None:
    network = {"hidden": (16,), "epochs": 30, "batch_size": 32, "learning_rate": 0.01, "random_state": 0}
    kind = grouped(METHODS[name])
    model = kind(MLP(**network)) if name in WRAPPERS else kind(**network)
    check_estimator(model, expected_failed_checks=EXEMPT, on_skip=None)


@pytest.mark.parametrize("name", METHODS)
def test_parameters_are_kept_as_given(name: str) -> None:
    model = method(name, strength=1)
    assert isinstance(model, METHODS[name])
    assert model.get_params()["strength"] == 1
    copied = clone(model.set_params(strength=0, random_state=7))
    assert (copied.strength, copied.random_state) == (0, 7)
    assert not [a for a in vars(copied) if a.endswith("_")]


def test_parameters_of_the_network_inside_a_wrapper() -> None:
    model = method("barycentre", epochs=2, hidden=(4,), random_state=3)
    assert model.estimator.get_params()["epochs"] == 2
    assert model.estimator.random_state == model.random_state == 3
    assert model.set_params(estimator__epochs=5).estimator.epochs == 5
    with pytest.raises(UsageError, match="belong to the estimator inside"):
        method("barycentre", estimator=MLP(), epochs=2)


def test_in_a_pipeline(people: People) -> None:
    pipe = make_pipeline(StandardScaler(), REG(**SMALL)).fit(people.X, people.y, reg__sensitive_features=people.group)
    assert pipe.predict_proba(people.X).shape == (1200, 2)
    after = make_pipeline(StandardScaler(), method("barycentre", **SMALL))
    after.fit(people.X, people.y, barycentre__sensitive_features=people.group)
    assert len(after.predict(people.X, sensitive_features=people.group)) == 1200
    with sklearn.config_context(enable_metadata_routing=True):
        routed = make_pipeline(StandardScaler(), REG(**SMALL).set_fit_request(sensitive_features=True))
        people.fit(routed)
        np.testing.assert_array_equal(routed.predict_proba(people.X), pipe.predict_proba(people.X))


def test_pipelines_and_methods_inside_wrappers(people: People) -> None:
    linear = people.fit(Reweighting(make_pipeline(StandardScaler(), LogisticRegression())))
    weight = linear.weights_[(people.group == "b").astype(int), people.y]
    same = make_pipeline(StandardScaler(), LogisticRegression())
    same.fit(people.X, people.y, logisticregression__sample_weight=weight)
    np.testing.assert_array_equal(linear.predict_proba(people.X), same.predict_proba(people.X))
    both = people.fit(Barycentre(make_pipeline(StandardScaler(), REG(**SMALL))))
    assert people.gap("abcc", people.score(both)) < 0.01
    nested = people.fit(GroupThresholds(Barycentre(LogisticRegression())))
    assert people.score(nested).shape == (1200,)


def test_frozen_estimators_are_not_trained_again(people: People) -> None:
    plain = LogisticRegression().fit(people.X, people.y)
    other = People(seed=1)
    fair = other.fit(Barycentre(FrozenEstimator(plain)), sample_weight=np.ones(1200))
    assert fair.estimator_.estimator is plain
    assert other.gap("abcc", other.score(fair)) < 0.01
    with pytest.raises(UsageError, match="a frozen one does not learn"):
        people.fit(Reweighting(FrozenEstimator(plain)))


@pytest.mark.parametrize("name", METHODS)
def test_classes_keep_their_order_and_groups_their_names(name: str, people: People) -> None:
    model = method(name, **SMALL, learning_rate=0.02)
    words = np.where(people.y == 1, "yes", "no")
    mixed = np.array([1 if g == "a" else "one" for g in people.group], object)
    model.fit(people.X, words, sensitive_features=mixed)
    assert model.classes_.tolist() == ["no", "yes"]
    proba = model.predict_proba(people.X, sensitive_features=mixed)
    np.testing.assert_allclose(proba.sum(1), 1)
    assert np.mean(model.predict(people.X, sensitive_features=mixed) == words) > 0.6
    if model.needs_groups:
        assert model.groups_ == [1, "one"]


# ---- the same each time ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", METHODS)
def test_same_seed_same_bytes_and_no_global_state(name: str, people: People) -> None:
    before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    first, second = (people.fit(method(name, **SMALL)) for _ in range(2))
    torch.rand(3)
    after = np.random.get_state()[1]  # noqa: NPY002
    np.testing.assert_array_equal(before[1], after)
    torch.set_rng_state(before[0])
    again = people.fit(method(name, **SMALL))
    assert torch.equal(torch.get_rng_state(), before[0])
    assert people.score(first).tobytes() == people.score(second).tobytes() == people.score(again).tobytes()
    revived = pickle.loads(pickle.dumps(first))
    assert people.score(revived).tobytes() == people.score(first).tobytes()
    other = people.fit(method(name, **{**SMALL, "random_state": 1}))
    assert people.score(other).tobytes() != people.score(first).tobytes()


@pytest.mark.parametrize("name", METHODS)
def test_strength_zero_is_the_plain_network(name: str, people: People) -> None:
    plain, none = people.fit(MLP(**SMALL)), people.fit(method(name, strength=0, **SMALL))
    np.testing.assert_array_equal(people.score(plain), people.score(none))


def test_the_plain_network_ignores_strength_and_groups(people: People) -> None:
    one, other = MLP(strength=0, **SMALL).fit(people.X, people.y), people.fit(MLP(strength=9, **SMALL))
    np.testing.assert_array_equal(one.predict_proba(people.X), other.predict_proba(people.X))


def test_the_plain_linear_model_is_what_no_projection_leaves(people: People) -> None:
    none = people.fit(INLP(strength=0, space="features"))
    plain = LogisticRegression().fit(people.X - people.X.mean(0), people.y)
    np.testing.assert_allclose(people.score(none), plain.predict_proba(people.X - people.X.mean(0))[:, 1], atol=1e-3)


@pytest.mark.parametrize("name", METHODS)
def test_a_weight_of_two_is_two_people(name: str) -> None:
    people = People(200)
    twice = np.arange(200) % 3 == 0
    params = {"hidden": (8,), "epochs": 5, "batch_size": 1000, "learning_rate": 0.01, "random_state": 0}
    weighed = people.fit(method(name, **params), sample_weight=1.0 + twice)
    both = np.concatenate([np.arange(200), np.flatnonzero(twice)])
    repeated = method(name, **params).fit(people.X[both], people.y[both], sensitive_features=people.group[both])
    np.testing.assert_allclose(people.score(weighed), people.score(repeated), atol=2e-4)


@pytest.mark.parametrize("name", LOSSES)
def test_a_weight_of_two_is_two_people_to_every_loss(name: str) -> None:
    people = People(200)
    twice = np.arange(200) % 3 == 0
    params: Any = {"hidden": (8,), "epochs": 5, "batch_size": 1000, "learning_rate": 0.01, "random_state": 0}
    weighed = people.fit(REG(loss=name, strength=3, **params), sample_weight=1.0 + twice)
    both = np.concatenate([np.arange(200), np.flatnonzero(twice)])
    repeated = REG(loss=name, strength=3, **params)
    repeated.fit(people.X[both], people.y[both], sensitive_features=people.group[both])
    # of ABPC value and gradient are equal for one batch; its many kinks make more of rounding from step to step
    within = 5e-4 if name == "abpc" else 1e-4
    np.testing.assert_allclose(people.score(weighed), people.score(repeated), atol=within)


@pytest.mark.parametrize("model", [Reweighting, GroupThresholds, Barycentre])
def test_a_weight_of_zero_is_nobody(model: Any) -> None:
    people = People(300)
    kept = np.arange(300) % 4 > 0
    inner = LogisticRegression(tol=1e-10, max_iter=1000)
    weighed = people.fit(model(inner), sample_weight=kept.astype(float))
    fewer = model(inner).fit(people.X[kept], people.y[kept], sensitive_features=people.group[kept])
    np.testing.assert_allclose(people.score(weighed), people.score(fewer), atol=1e-6)


# ---- what strength does ----------------------------------------------------------------------------------------------

TRADES: dict[str, tuple[str, tuple[float, ...]]] = {
    "reg": ("abcc", (0, 1, 5)),
    "adv": ("abcc", (0, 3, 10)),
    "dadv": ("abcc", (0, 5, 30)),
    "aadv": ("equalized_odds", (0, 3, 10)),
    "inlp": ("abcc", (0, 20, 60)),
    "reweighting": ("abcc", (0, 1, 3)),
    "thresholds": ("abcc", (0, 0.5, 1)),
    "barycentre": ("abcc", (0, 0.5, 1)),
}


@pytest.mark.parametrize("name", TRADES)
def test_more_strength_less_bias(name: str) -> None:
    people = People(2000)
    measure, strengths = TRADES[name]
    models = [people.fit(method(name, strength=s, random_state=0)) for s in strengths]
    gaps = [people.gap(measure, people.score(model)) for model in models]
    assert gaps == sorted(gaps, reverse=True), gaps
    assert gaps[-1] < 0.8 * gaps[0]
    assert np.mean(models[-1].predict(people.X, sensitive_features=people.group) == people.y) > 0.55


@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_regularises(name: str) -> None:
    people = People(600)
    plain, fair = (people.fit(REG(loss=name, strength=s, **{**SMALL, "epochs": 30})) for s in (0, 5))
    assert people.gap(name, people.score(fair)) < people.gap(name, people.score(plain))


def test_a_loss_with_options(people: People) -> None:
    given = loss("wasserstein", p=1)
    model = people.fit(REG(loss=given, **SMALL))
    assert model.loss_.options["p"] == 1
    assert given.n_groups is None
    assert clone(model).loss.options["p"] == 1


def test_a_reference_that_is_no_group_is_refused(people: People) -> None:
    with pytest.raises(UsageError, match="reference"):
        people.fit(REG(loss=loss("abcc", reference=2), strength=5, **SMALL))
    used = loss("abcc")
    used(torch.rand(4), torch.zeros(4, dtype=torch.int64))
    assert (used.skipped, people.fit(REG(loss=used, **SMALL)).loss_.skipped) == (1, 0)


def test_three_groups_and_batches_that_lack_some() -> None:
    people = People(90, groups="abc")
    for name in METHODS:
        model = people.fit(method(name, **{**SMALL, "batch_size": 2}))
        assert np.isfinite(people.score(model)).all()
    assert people.fit(REG(**{**SMALL, "batch_size": 2})).loss_.skipped > 0


def test_adversaries_differ() -> None:
    def likeness(diversity: float) -> float:
        people = People(600)
        kept = []
        model = DADV(diversity=diversity, **{**SMALL, "epochs": 20})
        make = model._penalty
        model._penalty = lambda *a: kept.append(make(*a)) or kept[-1]
        people.fit(model)
        _, hidden = model._outputs(people.X.astype(np.float32))
        one, other, _ = (member(hidden.float())[1].detach() for member in kept[0].members)
        one, other = one / one.norm(), other / other.norm()
        return float((one.T @ other).square().sum())

    assert likeness(10.0) < 0.5 * likeness(0.0)


def test_history_progress_and_early_stopping(people: People, capsys: pytest.CaptureFixture[str]) -> None:
    model = people.fit(REG(**SMALL, verbose=True))
    assert [h["epoch"] for h in model.history_] == [1, 2, 3]
    assert model.history_[-1]["loss"] < model.history_[0]["loss"]
    shown = capsys.readouterr()
    assert not shown.out
    assert "REG epoch 3 of 3: loss 0." in shown.err
    long = people.fit(MLP(**{**SMALL, "epochs": 200}, learning_rate=0.02, early_stopping=3))
    assert 3 < long.n_iter_ < 200
    best = min(range(long.n_iter_), key=lambda i: long.history_[i]["held_out"])
    assert best == long.n_iter_ - 4
    assert people.fit(MLP(**SMALL, early_stopping=False)).n_iter_ == 3


@pytest.mark.parametrize(("name", "strength"), [("adv", 10), ("dadv", 30), ("aadv", 10)])
def test_early_stopping_against_adversaries_keeps_what_has_learned(name: str, strength: float) -> None:
    people = People(1500)
    for seed in range(2):
        stopped = people.fit(method(name, strength=strength, random_state=seed, early_stopping=5, epochs=30))
        held_out = [h["held_out"] for h in stopped.history_]
        assert int(np.argmin(held_out)) > 0  # not the first epoch, which only looks good to a poor adversary
        full = people.fit(method(name, strength=strength, random_state=seed, epochs=30))
        gap = "equalized_odds" if name == "aadv" else "abcc"
        assert people.gap(gap, people.score(stopped)) < people.gap(gap, people.score(full)) + 0.02
        assert people.score(stopped).std() > 0.01


def test_dropout_is_for_training_only(people: People) -> None:
    plain, dropping = people.fit(MLP(**SMALL)), people.fit(MLP(**{**SMALL, "hidden": (16, 16)}, dropout=0.5))
    np.testing.assert_array_equal(people.score(dropping), people.score(dropping))
    same = people.fit(MLP(**SMALL, dropout=0.5))  # a single hidden layer is the last one, and stays whole
    np.testing.assert_array_equal(people.score(plain), people.score(same))
    again = people.fit(MLP(**{**SMALL, "hidden": (16, 16)}, dropout=0.5))
    np.testing.assert_array_equal(people.score(dropping), people.score(again))
    network = dropping.network_
    noise = torch.Generator().manual_seed(0)
    x = torch.as_tensor(people.X)
    drawn = torch.stack([network(x, noise)[0] for _ in range(200)])
    assert drawn.std(0).mean() > 0.05
    assert (drawn.mean(0) - network(x)[0]).abs().mean() < 0.5 * drawn.std(0).mean()


def test_the_published_game_of_adversaries(people: People, capsys: pytest.CaptureFixture[str]) -> None:
    rules = {"warm_up": 5, "adversary_steps": "epoch", "random_state": 0, "hidden": (16,), "learning_rate": 0.01}
    model = people.fit(ADV(strength=20, epochs=30, verbose=True, **rules))
    assert model.n_iter_ == 30
    assert "ADV epoch 5 of 5" in capsys.readouterr().err
    warmed = people.fit(ADV(strength=20, epochs=1, **rules))
    assert people.gap("abcc", people.score(model)) < 0.5 * people.gap("abcc", people.score(warmed))
    # one epoch of the game is one step of the network
    alone = people.fit(MLP(epochs=5, **{k: rules[k] for k in ("random_state", "hidden", "learning_rate")}))
    moved = [
        (a - b).abs().max() for a, b in zip(warmed.network_.parameters(), alone.network_.parameters(), strict=True)
    ]
    assert 0 < max(moved) < 0.02  # of 0.01


# ---- what the papers say ---------------------------------------------------------------------------------------------


def test_weights_are_those_of_kamiran_and_calders() -> None:
    group, y = np.array(list("aaaabbbbbb")), np.array([1, 0, 0, 0, 1, 1, 1, 1, 0, 0])
    X = np.arange(20.0).reshape(10, 2)
    model = Reweighting(LogisticRegression()).fit(X, y, sensitive_features=group)
    np.testing.assert_allclose(model.weights_, [[4 * 5 / 30, 4 * 5 / 10], [6 * 5 / 20, 6 * 5 / 40]])
    half = clone(model).set_params(strength=0.5).fit(X, y, sensitive_features=group)
    np.testing.assert_allclose(half.weights_, np.sqrt(model.weights_))
    weight = model.weights_[(group == "b").astype(int), y]  # now independent
    assert np.average(y[group == "a"], weights=weight[group == "a"]) == pytest.approx(0.5)
    assert np.average(y[group == "b"], weights=weight[group == "b"]) == pytest.approx(0.5)
    lacking = Reweighting(LogisticRegression()).fit(X, y, sensitive_features=np.where(y == 1, "a", group))
    assert lacking.weights_[1].tolist() == pytest.approx([lacking.weights_[1, 0], 0.0])


@pytest.mark.parametrize("groups", ["ab", "abc"])
@pytest.mark.parametrize("space", ["features", "representation"])
def test_projections_leave_a_linear_probe_at_chance(space: str, groups: str) -> None:
    people, new = People(3000, groups=groups), People(3000, seed=1, groups=groups)
    model = people.fit(INLP(strength=60, space=space, random_state=0))
    share = np.max(np.unique(new.group, return_counts=True)[1]) / 3000
    probe = LogisticRegression(max_iter=1000).fit(model.project(people.X), people.group)
    # rounds end when a test at 5% sees nothing: in so many dimensions it can miss a gain of g nats per person, which is
    # a gain of about √(g / 2) in accuracy
    missed = chi2.ppf(0.95, len(model.projection_) * (len(groups) - 1)) / (2 * 3000)
    assert probe.score(model.project(new.X), new.group) < share + np.sqrt(missed / 2)
    assert np.allclose(model.projection_ @ model.projection_, model.projection_)
    if space == "features":  # a representation was made for the label, and loses most of it with the groups
        assert np.mean(people.score(model).round() == people.y) > 0.7


@pytest.mark.parametrize("case", ["light", "absent", "far", "few"])
def test_projections_remove_what_there_is(case: str) -> None:
    people = People(1200)
    X, group, weight = people.X, people.group.astype(object), None
    if case == "light":  # sampling weights, whatever their scale
        weight = np.full(1200, 1 / 1200)
    elif case == "absent":  # a group that has no weight
        group, weight = np.where(np.arange(1200) % 4 == 0, "c", group), (np.arange(1200) % 4 > 0).astype(float)
    elif case == "far":  # one person in whom the probe is infinitely wrong
        X = X.copy()
        X[:, 0] += 8 * (group == "b")
        X[np.flatnonzero(group == "a")[0], 0] = 400
    else:  # as many directions as there are
        X, group = X[:, :2], np.array(list("abc"), object)[np.digitize(X[:, 0], [-0.3, 0.8])]
    model = INLP(strength=4, space="features").fit(X, people.y, sensitive_features=group, sample_weight=weight)
    removed = np.trace(np.eye(X.shape[1]) - model.projection_)
    assert removed == pytest.approx(3 if case == "far" else 1, abs=1e-6)
    if case in ("light", "absent"):
        kept = slice(None) if weight is None else weight > 0
        plain = INLP(strength=4, space="features").fit(X[kept], people.y[kept], sensitive_features=group[kept])
        np.testing.assert_allclose(model.projection_, plain.projection_, atol=1e-5)


def test_projected_people_are_checked(people: People) -> None:
    model = people.fit(INLP(strength=2, space="features"))
    assert model.project(people.X).shape == people.X.shape
    with pytest.raises(DataError, match="expecting 5 features"):
        model.project(people.X[:, :3])
    with pytest.raises(DataError, match="NaN"):
        model.project(people.X * np.nan)


@pytest.mark.parametrize("digits", [1, 2, 12])
@pytest.mark.parametrize("groups", ["ab", "abc"])
def test_the_barycentre_is_one_distribution_with_the_same_mean(groups: str, digits: int) -> None:
    people = People(1000, groups=groups)
    rng = np.random.default_rng(3)
    weight = rng.integers(1, 4, 1000).astype(float)
    score = np.round(rng.beta(2, 2 + (people.group == "a")), digits)
    codes = np.unique(people.group, return_inverse=True)[1]
    maps = barycentre_maps(score, codes, weight, len(groups))
    moved = np.empty(1000)
    for i, (seen, to) in enumerate(maps):
        assert (np.diff(to) >= 0).all()
        moved[codes == i] = np.interp(score[codes == i], seen, to)
    assert np.average(moved, weights=weight) == pytest.approx(np.average(score, weights=weight), abs=1e-12)
    for i in range(len(groups)):  # also in every group: all have one mean
        assert np.average(moved[codes == i], weights=weight[codes == i]) == pytest.approx(
            np.average(score, weights=weight), abs=1e-12
        )
    assert people.gap("abcc", moved) < (0.05 if digits == 1 else 0.015)


def test_the_way_to_the_barycentre_is_straight(people: People) -> None:
    plain, half, full = (people.score(people.fit(Barycentre(LogisticRegression(), strength=s))) for s in (0, 0.5, 1))
    np.testing.assert_allclose(half, (plain + full) / 2)
    assert people.gap("abcc", half) == pytest.approx(people.gap("abcc", plain) / 2, abs=0.005)
    assert people.gap("abcc", full) < 0.005
    assert full.mean() == pytest.approx(plain.mean(), abs=1e-9)


def rates(people: People, decision: Any, label: int | None = None) -> list[float]:
    among = people.y == label if label is not None else np.ones(len(people.y), bool)
    return [float(decision[among & (people.group == g)].mean()) for g in np.unique(people.group)]


@pytest.mark.parametrize("groups", ["ab", "abc"])
@pytest.mark.parametrize(("criterion", "label"), [("demographic_parity", None), ("equal_opportunity", 1)])
def test_thresholds_meet_their_criterion(criterion: str, label: int | None, groups: str) -> None:
    people = People(1500, groups=groups)
    plain = LogisticRegression().fit(people.X, people.y)
    model = people.fit(GroupThresholds(FrozenEstimator(plain), criterion=criterion))
    decided = model.predict(people.X, sensitive_features=people.group)
    found = rates(people, decided, label)
    among = people.y == label if label is not None else people.y >= 0
    target = plain.predict(people.X)[among].mean()
    smallest = min(np.sum(among & (people.group == g)) for g in groups)
    assert max(abs(rate - target) for rate in found) <= 0.5 / smallest + 1e-9
    # bent scores keep the order within a group, and one half is the threshold
    raw, bent = plain.predict_proba(people.X)[:, 1], people.score(model)
    for i, g in enumerate(np.unique(people.group)):
        own = people.group == g
        np.testing.assert_array_equal(bent[own] >= 0.5, raw[own] >= model.thresholds_[i])
        assert (np.diff(bent[own][np.argsort(raw[own])]) >= 0).all()


def test_thresholds_at_the_ends() -> None:
    score, one = np.array([0.0, 0.5, 1.0]), np.ones(3)
    for rate, selected in ((0.0, 0), (0.34, 1), (0.6, 2), (1.0, 3)):
        assert np.sum(score >= threshold_at(score, one, rate)) == selected


@pytest.mark.parametrize("groups", ["ab", "abc"])
def test_equalized_odds_are_exact_in_expectation(groups: str) -> None:
    people = People(1500, groups=groups)
    plain = LogisticRegression().fit(people.X[:, :3], people.y)
    frozen = FrozenEstimator(make_pipeline(_Columns(), plain).fit(people.X, people.y))
    half, full = (
        people.fit(GroupThresholds(frozen, criterion="equalized_odds", strength=s, random_state=0)) for s in (0.5, 1)
    )
    before = people.score(people.fit(GroupThresholds(frozen, strength=0))) >= 0.5
    for label in (0, 1):
        chance = rates(people, people.score(full), label)
        assert np.ptp(chance) < 1e-9
        assert np.ptp(rates(people, people.score(half), label)) == pytest.approx(
            np.ptp(rates(people, before, label)) / 2
        )
        drawn = full.predict(people.X, sensitive_features=people.group)
        np.testing.assert_allclose(rates(people, drawn, label), chance, atol=0.1)
        np.testing.assert_array_equal(drawn, full.predict(people.X, sensitive_features=people.group))


class _Columns(StandardScaler):  # type: ignore[misc]
    """The first three columns."""

    def transform(self, X: Any, copy: Any = None) -> Any:
        return X[:, :3]


def test_equalized_odds_with_rare_positives_are_the_best_there_are() -> None:
    """The best point is where two curves cross, at a rate that no coarse grid meets."""
    levels, groups = (0.9, 0.6, 0.1), []
    for corners in (((0.0001, 0.05), (0.0009, 0.85)), ((0.0001, 0.40), (0.0009, 0.48))):
        shares = np.diff([[0, 0], *corners, [1, 1]], axis=0)
        groups.append([(share * (100_000, 200)).round().astype(int) for share in shares])
    score = np.concatenate([np.repeat(levels, [sum(c) for c in cells]) for cells in groups])
    label = np.concatenate([np.repeat([0, 1] * 3, np.concatenate(cells)) for cells in groups])
    group = np.repeat([0, 1], 100_200)
    mixtures = equalized_odds(score, label, group, np.ones(len(score)), 2)
    chance = np.where(group == 0, mixtures[0](score), mixtures[1](score))
    errors = (chance * (label == 0) + (1 - chance) * (label == 1)).sum()
    assert errors == pytest.approx(317.9, abs=0.1)  # a search over a million rates finds the same


def test_equalized_odds_of_perfect_and_useless_scores() -> None:
    label, group = np.array([0, 1] * 6), np.arange(12) // 6
    for perfect, odds in ((label.astype(float), (0.0, 1.0)), (np.full(12, 0.3), None)):
        mixtures = equalized_odds(perfect, label, group, np.ones(12), 2)
        chance = np.where(group == 0, mixtures[0](perfect), mixtures[1](perfect))
        for y in (0, 1):
            both = [chance[(group == g) & (label == y)].mean() for g in (0, 1)]
            assert both[0] == pytest.approx(both[1])
            assert odds is None or both[0] == pytest.approx(odds[y])


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n, kind in METHODS.items() if kind.needs_groups])
def test_groups_are_asked_for(name: str, people: People) -> None:
    with pytest.raises(UsageError, match="needs everybody's group to fit: pass sensitive_features, one per row of X"):
        method(name, **SMALL).fit(people.X, people.y)
    with pytest.raises(DataError, match="it takes two groups to compare, but everybody is in 'a'"):
        method(name, **SMALL).fit(people.X, people.y, sensitive_features=["a"] * 1200)
    with pytest.raises(DataError, match="sensitive_features has one value per row of X, but it has 3 and X has 1,200"):
        method(name, **SMALL).fit(people.X, people.y, sensitive_features=["a", "b", "a"])
    for missing in (None, float("nan")):
        given = people.group.astype(object)
        given[7] = missing
        with pytest.raises(DataError, match="everybody belongs to a group, but row 7"):
            method(name, **SMALL).fit(people.X, people.y, sensitive_features=given)


@pytest.mark.parametrize("name", [n for n, kind in METHODS.items() if kind.needs_groups_to_predict])
def test_groups_are_asked_for_to_predict(name: str, people: People) -> None:
    model = people.fit(method(name, **SMALL))
    with pytest.raises(UsageError, match="needs everybody's group to predict"):
        model.predict(people.X)
    with pytest.raises(DataError, match=r"'aa' was not there when .* learned .there were: 'a', 'b'.; did you mean 'a'"):
        model.predict_proba(people.X[:2], sensitive_features=["aa", "b"])
    with pytest.raises(DataError, match="has 2 and X has 3"):
        model.predict_proba(people.X[:3], sensitive_features=["a", "b"])


@pytest.mark.parametrize("name", METHODS)
def test_bad_input_is_refused(name: str, people: People) -> None:
    def refused(sentence: str, X: Any = people.X, y: Any = people.y, weight: Any = None, **params: Any) -> None:
        with pytest.raises(ValueError, match=sentence):
            method(name, **SMALL, **params).fit(X, y, sensitive_features=people.group, sample_weight=weight)

    refused("strength is a number", strength=-1)
    refused("strength is a number", strength=float("nan"))
    refused("strength is a number", strength="high")
    refused("NaN", X=np.where(np.arange(5) == 2, np.nan, people.X))
    refused("all of y is one class, 1", y=np.ones(1200))
    refused("Only binary classification is supported", y=np.arange(1200) % 3)
    refused("inconsistent numbers of samples|one value per row of X", y=people.y[:5])
    refused("weights are finite and not negative, but row 0 has -1", weight=-np.ones(1200))
    refused("sample_weight has one value per row", weight=np.ones(3))


def test_bad_parameters_are_refused(people: People) -> None:
    for sentence, model in {
        "there is no loss 'wassersteen'.*did you mean 'wasserstein'": REG(loss="wassersteen"),
        "loss is the name of a loss or a Loss": REG(loss=3),
        "hidden is the widths of layers": MLP(hidden=3),
        "a width in hidden is a whole number from 1": MLP(hidden=(0,)),
        "epochs is a whole number from 1": MLP(epochs=0),
        "batch_size is a whole number": MLP(batch_size=2.5),
        "learning_rate is a number": MLP(learning_rate=0),
        "early_stopping .* is a whole number": MLP(early_stopping=True),
        "device is 'auto', 'cpu' or one that PyTorch has": MLP(device="abacus"),
        "device is 'auto', 'cpu' or one .* but it is 'meta'": MLP(device="meta"),
        "device is 'auto', 'cpu' or one .* but it is None": MLP(device=None),
        "dropout is a number between 0 and 0.99": MLP(dropout=1),
        "random_state is a whole number, a RandomState or None": MLP(random_state="x"),
        "a width in adversary_hidden": ADV(adversary_hidden=(-1,)),
        "adversary_hidden is the widths of layers": ADV(adversary_hidden=None),
        "adversary_steps, unless it is 'epoch', is a whole number": ADV(adversary_steps="epochs"),
        "warm_up is a whole number from 0": ADV(warm_up=-1),
        "estimator is a classifier, such as": GroupThresholds(MLP),
        "estimator is a classifier, .* but it is 'mlp'": Barycentre("mlp"),
        "adversaries is a whole number": DADV(adversaries=0),
        "a number of projections, is a whole number": INLP(strength=1.5),
        "space is one of .*did you mean 'features'": INLP(space="feature"),
        "strength is a number between 0 and 1": Barycentre(strength=2),
        "criterion is one of .*did you mean 'demographic_parity'": GroupThresholds(criterion="demographic parity"),
        "has no predict_proba": Reweighting(StandardScaler()),
    }.items():
        with pytest.raises(UsageError, match=sentence):
            people.fit(model)


@pytest.mark.parametrize("model", [
    MLP(epochs=3, learning_rate=1e6),
    REG(epochs=1, batch_size=2000, strength=1e40),  # only its last step goes wrong
    ADV(epochs=1, batch_size=2000, strength=1e40),
])  # fmt: skip
def test_a_network_that_explodes_is_told(model: Any, people: People) -> None:
    with pytest.raises(DataError, match=r"diverged in epoch 1 .*standardise the features"):
        model.fit(people.X * 1e20, people.y, sensitive_features=people.group)


def test_scores_that_are_no_probabilities_are_refused(people: People) -> None:
    class Broken(LogisticRegression):
        def predict_proba(self, X: Any) -> Any:
            return np.full((len(X), 2), np.nan)

    with pytest.raises(DataError, match=r"scores are probabilities, but the estimator inside gives nan \(1,200 such"):
        people.fit(GroupThresholds(Broken()))


@pytest.mark.parametrize(("missing", "row"), [(float("nan"), 4), (None, 4), ("pd.NA", 4), (["a"], None)])
def test_missing_groups_are_refused(missing: Any, row: int | None, people: People) -> None:
    pandas = pytest.importorskip("pandas")
    groups = ["a", "b"] * 600
    groups[4] = pandas.NA if missing == "pd.NA" else missing
    sentence = f"everybody belongs to a group, but row {row}" if row else "must be a plain value"
    for given in (groups, pandas.Series(groups, dtype=object)):
        with pytest.raises(DataError, match=sentence):
            REG(**SMALL).fit(people.X, people.y, sensitive_features=given)


def test_what_fails_leaves_the_model_as_it_was(people: People) -> None:
    model = people.fit(GroupThresholds(MLP(**SMALL)))
    score = people.score(model)
    with pytest.raises(DataError, match="not negative"):
        model.fit(
            people.X, np.where(people.y == 1, "yes", "no"), np.where(people.group == "a", "z", "b"), -np.ones(1200)
        )
    assert model.groups_ == ["a", "b"]
    assert model.classes_.tolist() == [0, 1]
    np.testing.assert_array_equal(people.score(model), score)
    model.set_params(criterion="equalized_odds")  # counts from the next fit on
    np.testing.assert_array_equal(people.score(model), score)
    with pytest.raises(UsageError, match="strength is a number between 0 and 1, but it is 7"):
        people.score(people.fit(Barycentre(MLP(**SMALL))).set_params(strength=7))


def test_groups_can_be_passed_on_by_scikit_learn(people: People) -> None:
    model = people.fit(GroupThresholds(LogisticRegression()))
    right = np.mean(model.predict(people.X, people.group) == people.y)
    assert model.score(people.X, people.y, sensitive_features=people.group) == pytest.approx(right)
    with sklearn.config_context(enable_metadata_routing=True):
        asked = GroupThresholds(LogisticRegression())
        asked.set_fit_request(sensitive_features=True).set_score_request(sensitive_features=True)
        scores = cross_val_score(asked, people.X, people.y, params={"sensitive_features": people.group}, cv=3)
        inside = people.fit(Reweighting(make_pipeline(StandardScaler(), LogisticRegression())))
    assert scores.min() > 0.7
    assert people.score(inside).shape == (1200,)
    frozen = FrozenEstimator(people.fit(Barycentre(LogisticRegression())))
    assert people.gap("abcc", people.score(people.fit(Barycentre(frozen)))) < 0.01


def test_a_person_has_the_same_score_alone_and_among_others() -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (1001, 4)).astype(float)  # many people are alike
    group = np.where(rng.random(1001) < 0.3 + 0.4 * X[:, 0], "a", "b")
    y = (X.sum(1) + rng.normal(size=1001) > 2).astype(int)
    for model in (MLP(**SMALL), GroupThresholds(criterion="equalized_odds", random_state=0), GroupThresholds()):
        model.fit(X, y, sensitive_features=group)
        together = model.predict_proba(X, sensitive_features=group)
        alone = [model.predict_proba(X[i : i + 1], sensitive_features=group[i : i + 1])[0] for i in range(60)]
        np.testing.assert_array_equal(together[:60], alone)


def test_extreme_weights(people: People) -> None:
    light = np.where(np.arange(1200) % 5 == 0, 1e-20, 1.0)
    assert np.isfinite(people.score(people.fit(Barycentre(MLP(**SMALL)), sample_weight=light))).all()
    with pytest.raises(DataError, match="all of y is one class, 0"):
        people.fit(MLP(**SMALL), sample_weight=1.0 - people.y)
    with pytest.raises(DataError, match="two groups to compare, but everybody is in 'b'"):
        people.fit(REG(**SMALL), sample_weight=(people.group == "b").astype(float))
    with pytest.raises(UsageError, match=r"strength 100000 makes weights of .* infinite"):
        people.fit(Reweighting(LogisticRegression(), strength=1e5))
    for weight in (["a"] * 1200, 1j * np.ones(1200)):
        with pytest.raises(DataError, match="weights are real numbers"):
            people.fit(MLP(**SMALL), sample_weight=weight)


def test_unknown_names() -> None:
    with pytest.raises(UsageError, match=r"there is no method 'barycenter'.*did you mean 'barycentre'"):
        method("barycenter")
    with pytest.raises(UsageError, match=r"reg has no parameter 'strenght'.*did you mean 'strength'"):
        method("reg", strenght=1)
    with pytest.raises(EvenhandError):
        method("nothing")
    with pytest.raises(UsageError, match="there is no method"):
        method(["reg"])  # type: ignore[arg-type]


# ---- a good citizen --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("library", "sentence"), [
    ("torch", "are made of PyTorch's tensors: pip install 'evenhand[learn]'"),
    ("sklearn", "methods follow scikit-learn (1.6 or newer): pip install 'evenhand[learn]'"),
])  # fmt: skip
def test_without_a_library_the_error_says_what_to_install(library: str, sentence: str) -> None:
    code = (
        "import sys\nclass Absent:\n    def find_spec(self, name, *rest):\n"
        f"        if name == '{library}': raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Absent())\nimport evenhand.learn\nevenhand.learn.METHODS"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MissingLibrary" in ran.stderr
    assert sentence in ran.stderr


def test_examples() -> None:
    for name in ("classifier", "network", "methods", "adversarial", "inlp", "reweighting", "postprocessing"):
        assert doctest.testmod(import_module(f"evenhand.learn.methods.{name}")).failed == 0


def test_the_page_shows_every_method_and_its_example_runs() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "learn" / "learning.md").read_text(encoding="utf-8")
    for name, kind in METHODS.items():
        assert f"| `{name}` | `{kind.__name__}` |" in page, name
    code, printed = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", page, flags=re.DOTALL)[1]
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == printed
