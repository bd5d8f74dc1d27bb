"""Losses are what an audit of the batch finds, and their gradients are what finite differences say."""

from __future__ import annotations

import doctest
import pickle
import re
import subprocess
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from evenhand import metrics
from evenhand.errors import DataError, EvenhandError, UsageError

torch = pytest.importorskip("torch")

from evenhand.learn import LOSSES, Loss, loss  # noqa: E402

SMOOTH = [name for name in LOSSES if not name.endswith("standardized")]
RANKED = [name for name in LOSSES if name.endswith("standardized")]


class People:
    """A random batch of which group g has scores that are a little higher than those of group g − 1."""

    def __init__(self, n: int, groups: int, seed: int, tied: bool = False, weight: str = "none") -> None:
        rng = np.random.default_rng(seed)
        self.group = rng.permutation(np.arange(n) % groups)
        score = np.clip(rng.beta(2, 3, n) + 0.06 * self.group, 0.0, 1.0)
        self.label = (rng.random(n) < score).astype(np.int64)
        self.score = score.round(1) if tied else score
        weights = {"none": None, "whole": rng.integers(0, 4, n) * 1.0, "sampling": rng.random(n) + 0.1}
        self.weight = weights[weight]
        self.weight_kind = "frequency" if weight == "whole" else "auto"

    def tensors(self) -> tuple[Any, Any, Any, Any]:
        weight = None if self.weight is None else torch.from_numpy(self.weight)
        score = torch.from_numpy(self.score).requires_grad_()
        return score, torch.from_numpy(self.group), torch.from_numpy(self.label), weight

    def audited(self, id: str, **options: Any) -> metrics.MetricResult:
        return metrics.Metric(id)(
            self.label, self.score, sensitive_features=self.group, sample_weight=self.weight,
            weight_kind=self.weight_kind, bootstrap=0, permutations=0, **{"score_range": (0.0, 1.0), **options},
        )  # fmt: skip


def audited(people: People, name: str, **options: Any) -> list[metrics.MetricResult]:
    return [people.audited(id.format(p=2), **options) for id in LOSSES[name].measures]


def close(name: str) -> float:
    return 1e-3 if name == "abpc" else 1e-6


# ---- the value -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", ["none", "whole", "sampling"])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_the_value_is_the_audits(name: str, tied: bool, weight: str) -> None:
    people = People(400, 2, 1, tied, weight)
    expected = max(m.value for m in audited(people, name))
    assert loss(name)(*people.tensors()).item() == pytest.approx(expected, abs=close(name))


@pytest.mark.parametrize("groups", [3, 5])
@pytest.mark.parametrize("name", LOSSES)
def test_more_groups(name: str, groups: int) -> None:
    people = People(600, groups, groups, tied=groups == 3, weight="sampling")
    found = audited(people, name, reference="1")
    largest = loss(name, groups="largest")(*people.tensors()).item()
    assert largest == pytest.approx(max(m.value for m in found), abs=close(name))
    against = np.max([[g.value for g in m.gaps] for m in found], axis=0)
    value = loss(name, reference=1)(*people.tensors()).item()
    assert value == pytest.approx(against.mean(), abs=close(name))
    if len(found) == 1:
        assert found[0].mean is not None
        assert loss(name)(*people.tensors()).item() == pytest.approx(found[0].mean, abs=close(name))


@pytest.mark.parametrize("name", LOSSES)
def test_another_score_range(name: str) -> None:
    people = People(300, 2, 4)
    people.score = -3 + 5 * people.score
    expected = max(m.value for m in audited(people, name, score_range=(-3.0, 2.0)))
    score, *rest = people.tensors()
    unfair = loss(name, score_range=(-3, 2))
    assert unfair(score, *rest).item() == pytest.approx(expected, abs=close(name))
    grad = torch.autograd.grad(unfair(score, *rest), score)[0]
    within = ((score.detach() + 3) / 5).requires_grad_()
    unit = torch.autograd.grad(loss(name)(within, *rest), within)[0]
    assert torch.allclose(5 * grad, unit, atol=1e-12)


@pytest.mark.parametrize("bandwidth", ["silverman", 0.05])
def test_bandwidths(bandwidth: str | float) -> None:
    people = People(300, 2, 5)
    expected = people.audited("abpc", bandwidth=bandwidth).value
    assert loss("abpc", bandwidth=bandwidth)(*people.tensors()).item() == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(("mean", "deviation"), [(0.5, 0.005), (0.98, 0.1), (0.2, 0.3)])
def test_narrow_and_wide_densities(mean: float, deviation: float) -> None:
    people = People(2000, 2, 6)
    rng = np.random.default_rng(7)
    people.score = np.clip(rng.normal(mean, deviation, 2000) * (1 + 0.02 * people.group), 0, 1)
    assert loss("abpc")(*people.tensors()).item() == pytest.approx(people.audited("abpc").value, abs=1e-3)


def concentrated(how: str) -> People:
    """Batches whose bandwidths are tiny shares of the score range, but not of what the batch spreads over."""
    rng = np.random.default_rng(30)
    people = People(200 if how == "few" else 4000, 2, 31)
    n, shift = len(people.score), people.group
    scores = {
        "rare": lambda: rng.beta(1, 2000, n) * (1 + shift),
        "few": lambda: rng.normal(0.5, 3e-4, n) + 3e-4 * shift,
        "many": lambda: rng.normal(0.5, 1e-3, n) + 3e-4 * shift,
        "at an end": lambda: 1 - np.abs(rng.normal(0, 1e-3, n)) - 3e-4 * shift,
        "nearly one score": lambda: rng.normal(0.5, 1e-8, n) + 3e-9 * shift,
    }
    people.score = scores[how]()
    return people


@pytest.mark.parametrize("how", ["rare", "few", "many", "at an end", "nearly one score"])
def test_densities_of_concentrated_scores(how: str) -> None:
    people = concentrated(how)
    assert loss("abpc")(*people.tensors()).item() == pytest.approx(people.audited("abpc").value, abs=1e-4)


def test_nobody_without_a_density_blurs_the_others() -> None:
    """Neither those with no weight nor a group of one spread the grid that the others need."""
    people = concentrated("few")
    expected = people.audited("abpc").value
    score, group, *_ = people.tensors()
    far = torch.tensor([0.0, 1.0, 1.0], dtype=torch.float64)
    weight = torch.cat([torch.ones(200), torch.tensor([0.0, 0.0, 1.0])])
    unfair = loss("abpc", groups="largest")
    value = unfair(torch.cat([score, far]), torch.cat([group, torch.tensor([0, 1, 2])]), None, weight)
    assert value.item() == pytest.approx(expected, abs=1e-4)
    assert unfair.skipped == 2


@pytest.mark.parametrize(("people", "bandwidth"), [(60, 0.002), (2000, 0.002), (2000, 3e-4)])
def test_narrow_bandwidths(people: int, bandwidth: float) -> None:
    """The narrowest for which 1e-3 is promised, where the batch spreads over the whole range."""
    batch = People(people, 2, 32)
    batch.score = np.random.default_rng(33).random(people) ** (1 + 0.5 * batch.group)
    expected = batch.audited("abpc", bandwidth=bandwidth).value
    assert loss("abpc", bandwidth=bandwidth)(*batch.tensors()).item() == pytest.approx(expected, abs=1e-3)


def test_a_narrow_bandwidth_with_few_different_scores() -> None:
    """The worst case: how a kernel falls between the points is the same for everybody."""
    for at in np.random.default_rng(34).random(20) * 0.9:
        people = People(104, 2, 0)
        people.group = np.arange(104) % 2
        people.score = np.array([at, at + 0.004] * 50 + [0.0, 0.0, 1.0, 1.0])
        expected = people.audited("abpc", bandwidth=0.002).value
        assert loss("abpc", bandwidth=0.002)(*people.tensors()).item() == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("p", [1, 1.5, 2, 3, 50])
def test_wasserstein(p: float) -> None:
    people = People(301, 2, 8, weight="sampling")
    expected = people.audited(f"independence_uniform_w{p:g}").value
    batch = people.tensors()
    assert loss("wasserstein", p=p)(*batch).item() == pytest.approx(expected, abs=1e-9)
    assert loss("wasserstein", p=p, power=True)(*batch).item() == pytest.approx(expected**p, abs=1e-9)


@pytest.mark.parametrize("weight", ["none", "sampling"])
@pytest.mark.parametrize("seed", range(5))
def test_a_root_finds_no_slivers_between_equal_shares(seed: int, weight: str) -> None:
    """(1e-16)^(1/50) is nearly a half: a rounded share would show."""
    people = People(99, 3, seed, weight=weight)
    expected = people.audited("independence_uniform_w50", reference="0").gaps
    value = loss("wasserstein", p=50, reference=0)(*people.tensors()).item()
    assert value == pytest.approx(np.mean([g.value for g in expected]), abs=1e-9)


@pytest.mark.parametrize("scale", [1e307, 1e100, 1e20, 1e-100, 1e-160, 1e-300, 1e-320])
@pytest.mark.parametrize("name", LOSSES)
def test_only_shares_of_weights_matter(name: str, scale: float) -> None:
    """Nothing overflows or vanishes; large sampling weights, which are all whole, do not become people."""
    people = People(200, 2, 22, weight="sampling")
    score, group, label, weight = people.tensors()
    scaled = weight * scale
    expected = loss(name)(score, group, label, weight)
    value = loss(name)(score, group, label, scaled)
    digits = 1e-3 if scale < 1e-310 else 1e-9  # of numbers so small only a few are left
    assert value.item() == pytest.approx(expected.item(), abs=digits)
    grads = [torch.autograd.grad(v, score)[0] for v in (value, expected)]
    assert torch.allclose(*grads, atol=digits)


@pytest.mark.parametrize("name", LOSSES)
def test_whole_weights_are_exactly_so_many_people(name: str) -> None:
    people = People(90, 2, 23, weight="whole")
    score, group, label, weight = people.tensors()
    times = weight.long()
    repeated = (x.repeat_interleave(times) for x in (score, group, label))
    assert loss(name)(score, group, label, weight).item() == pytest.approx(loss(name)(*repeated).item(), abs=1e-12)


@pytest.mark.parametrize("name", LOSSES)
def test_a_group_that_weighs_next_to_nothing(name: str) -> None:
    people = People(150, 3, 24, weight="sampling")
    score, group, label, weight = people.tensors()
    for share, missing in ((1e-100, 0), (1e-200, 2), (1e-320, 2)):
        unfair = loss(name, n_groups=3)
        value = unfair(score, group, label, torch.where(group == 1, weight * share, weight))
        assert unfair.skipped == missing * len(LOSSES[name].labels)
        assert torch.isfinite(torch.autograd.grad(value, score)[0]).all()


def test_combine() -> None:
    people = People(300, 2, 9)
    values = [loss(n)(*people.tensors()).item() for n in ("equal_opportunity", "predictive_equality")]
    assert loss("equalized_odds")(*people.tensors()).item() == pytest.approx(max(values))
    assert loss("equalized_odds", combine="sum")(*people.tensors()).item() == pytest.approx(sum(values))


def test_many_people_in_single_precision() -> None:
    """CDFs of a million people keep their digits."""
    from scipy.stats import wasserstein_distance

    generator = torch.Generator().manual_seed(1)
    score, group = torch.rand(2**20, generator=generator), torch.randint(0, 2, (2**20,), generator=generator)
    score = score ** (1 + 0.01 * group)
    a, b = (score[group == g].double().numpy() for g in (0, 1))
    assert loss("abcc")(score, group).item() == pytest.approx(wasserstein_distance(a, b), abs=1e-8)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("name", LOSSES)
def test_precision(name: str, dtype: str) -> None:
    people = People(200, 2, 10)
    exact, *rest = people.tensors()
    score = exact.detach().to(getattr(torch, dtype)).requires_grad_()
    value = loss(name)(score, *rest)
    assert value.dtype == (torch.float64 if dtype == "float64" else torch.float32)
    assert value.item() == pytest.approx(loss(name)(score.detach().double(), *rest).item(), abs=1e-6)
    value.backward()
    assert score.grad.dtype == score.dtype
    assert score.grad.isfinite().all()


def test_autocast_takes_no_digits() -> None:
    people = People(500, 3, 11)
    score, *rest = people.tensors()
    score = score.detach().float().requires_grad_()
    plain = torch.autograd.grad(loss("abcc")(score, *rest), score)[0]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        inside = torch.autograd.grad(loss("abcc")(score, *rest), score)[0]
    assert torch.equal(plain, inside)


# ---- the gradient ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"groups": "largest"}, {"reference": 1}])
@pytest.mark.parametrize("name", SMOOTH)
def test_gradcheck(name: str, options: dict[str, Any]) -> None:
    people = People(36, 3, 12, weight="sampling")
    score, *rest = people.tensors()
    unfair = loss(name, n_groups=3, **options)
    assert torch.autograd.gradcheck(lambda s: unfair(s, *rest), (score,), eps=1e-7, atol=1e-5)


def exact_abpc(score: np.ndarray, group: np.ndarray) -> float:
    """By a sum over people at so many points that a grid of its own does not show."""
    points = np.linspace(max(0.0, score.min() - 9 * score.std()), min(1.0, score.max() + 9 * score.std()), 40_001)
    density = []
    for g in (0, 1):
        mine = score[group == g]
        width = mine.std(ddof=1) * len(mine) ** -0.2
        kernel = np.exp(-(((points[:, None] - mine) / width) ** 2) / 2)
        density.append(kernel.mean(1) / (width * np.sqrt(2 * np.pi)))
    return float(np.trapezoid(np.abs(density[0] - density[1]), points))


@pytest.mark.parametrize(("at", "deviation"), [(0.5, 1e-3), (0.5, 1e-6), (0.0, 1e-3)])
def test_the_gradient_of_concentrated_densities(at: float, deviation: float) -> None:
    """What the grid follows, the extreme scores and the bandwidth, takes nothing from the slope."""
    people = People(14, 2, 35)
    z = np.random.default_rng(36).normal(0, 1, 14) + 0.5 * people.group
    people.score = at + deviation * (z if at else 0.1 + np.abs(z))
    score, group, *_ = people.tensors()
    loss("abpc")(score, group).backward()
    step, slopes = 1e-3 * deviation, []
    for i in range(14):
        up, down = (people.score + by * (np.arange(14) == i) for by in (step, -step))
        slopes.append((exact_abpc(up, people.group) - exact_abpc(down, people.group)) / (2 * step))
    assert score.grad.numpy() * deviation == pytest.approx(np.array(slopes) * deviation, abs=2e-3)


def test_at_ties_the_gradient_is_the_symmetric_derivative() -> None:
    people = People(60, 3, 13, tied=True, weight="sampling")
    score, *rest = people.tensors()
    unfair = loss("abcc", n_groups=3)
    unfair(score, *rest).backward()
    step = 1e-4
    for i in range(60):
        moved = [score.detach().clone() for _ in range(2)]
        for s, by in zip(moved, (step, -step), strict=True):
            s[i] = s[i] + by
        up, down = (loss("abcc", check=False)(s, *rest).item() for s in moved)
        assert score.grad[i].item() == pytest.approx((up - down) / (2 * step), abs=1e-9)


@pytest.mark.parametrize("name", LOSSES)
def test_the_gradient_ignores_the_order_of_rows(name: str) -> None:
    if name == "wasserstein":
        pytest.skip("people with one score may be matched with different ones")
    people = People(80, 2, 14, tied=True)
    score, *rest = people.tensors()
    order = torch.randperm(80, generator=torch.Generator().manual_seed(1))
    loss(name)(score, *rest).backward()
    again = score.detach()[order].requires_grad_()
    loss(name)(again, *(x if x is None else x[order] for x in rest)).backward()
    assert torch.allclose(again.grad, score.grad[order], atol=1e-12)


@pytest.mark.parametrize("name", RANKED)
def test_the_gradient_by_rank_is_that_of_the_area_over_a_fixed_density(name: str) -> None:
    """∫ |F − G| f ds with f fixed is the area between the shares of R(score), R the integral of f."""
    from evenhand.learn.losses.batch import Batch, compared
    from evenhand.learn.losses.densities import GRID, density_at

    people = People(200, 2, 15, weight="sampling")
    score, group, label, weight = people.tensors()
    unfair = loss(name)
    unfair(score, group, label, weight).backward()
    pool = compared(2, None, (None,), score).pool
    grid = torch.linspace(0, 1, 8 * GRID, dtype=torch.float64)
    f = density_at(Batch(score.detach(), group, weight, 2, (0.0, 1.0)), pool, grid)[0]
    upto = torch.cat([torch.zeros(1, dtype=torch.float64), torch.cumulative_trapezoid(f, grid)])
    by_score = loss(name.removesuffix("_standardized"), check=False)
    for i in range(0, 200, 10):
        values = []
        for by in (1e-6, -1e-6):
            s = score.detach().clone()
            s[i] += by
            s = torch.from_numpy(np.interp(s.numpy(), grid.numpy(), upto.numpy()))
            values.append(by_score(s, group, label, weight).item())
        assert score.grad[i].item() == pytest.approx((values[0] - values[1]) / 2e-6, abs=2e-5)


@pytest.mark.parametrize("name", LOSSES)
def test_nothing_is_infinite_where_groups_are_alike(name: str) -> None:
    score = torch.tensor([0.1, 0.4, 0.4, 0.9] * 4, requires_grad=True)
    group = torch.arange(2).repeat_interleave(8)
    label = torch.tensor([0] * 4 + [1] * 4).repeat(2)
    value = loss(name)(score, group, label)
    value.backward()
    assert value.item() == pytest.approx(0, abs=1e-7)
    assert score.grad.abs().max().item() == pytest.approx(0, abs=1e-7)


@pytest.mark.parametrize("name", LOSSES)
def test_learning_makes_groups_alike(name: str) -> None:
    people = People(256, 3, 16)
    _, group, label, _ = people.tensors()
    logit = torch.logit(torch.from_numpy(people.score).clamp(0.01, 0.99)).requires_grad_()
    optimizer, unfair = torch.optim.Adam([logit], 0.02), loss(name, n_groups=3)
    first = last = 0.0
    for _ in range(60):
        value = unfair(torch.sigmoid(logit), group, label)
        first, last = first or value.item(), value.item()
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
    assert last < 0.5 * first


# ---- who is not there ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 50])
@pytest.mark.parametrize("name", LOSSES)
def test_a_batch_of_one_group_is_zero_and_counted(name: str, n: int) -> None:
    score = torch.rand(n, requires_grad=True)
    unfair = loss(name, n_groups=2)
    value = unfair(score, torch.ones(n, dtype=torch.int64), torch.arange(n) % 2)
    value.backward()
    assert value.item() == 0
    assert (score.grad == 0).all()
    labels = len(LOSSES[name].labels)
    assert unfair.skipped == labels
    people = People(40, 2, 17)
    unfair(*people.tensors())
    assert unfair.skipped == labels


@pytest.mark.parametrize("name", LOSSES)
def test_a_missing_group_leaves_the_other_pairs(name: str) -> None:
    people = People(200, 2, 18)
    score, group, label, _ = people.tensors()
    unfair = loss(name, n_groups=4)
    value = unfair(score, 2 * group, label)  # nobody has code 1 or 3
    assert value.item() == pytest.approx(loss(name)(score, group, label).item(), abs=1e-12)
    assert unfair.skipped == 5 * len(LOSSES[name].labels)
    assert torch.isfinite(torch.autograd.grad(value, score)[0]).all()


def test_a_missing_label_is_counted_by_concept() -> None:
    people = People(100, 2, 19)
    score, group, label, _ = people.tensors()
    label[group == 0] = 1
    odds = loss("equalized_odds")
    assert odds(score, group, label).item() == loss("equal_opportunity")(score, group, label).item()
    assert odds.skipped == 1


def test_codes_seen_before_count() -> None:
    unfair = loss("abcc")
    unfair(torch.rand(3), torch.tensor([0, 1, 2]))
    unfair(torch.rand(2), torch.tensor([0, 1]))
    assert unfair.skipped == 2


@pytest.mark.parametrize("constant", [False, True])
def test_a_group_without_density(constant: bool) -> None:
    score = torch.rand(20, dtype=torch.float64)
    group = torch.zeros(20, dtype=torch.int64)
    group[10 if constant else 19 :] = 1
    score[group == 1] = 0.3
    score.requires_grad_()
    unfair = loss("abpc")
    unfair(score, group).backward()
    assert (score.grad == 0).all()
    assert unfair.skipped == 1


# ---- properties ------------------------------------------------------------------------------------------------------


@st.composite
def batches(draw: st.DrawFn) -> People:
    seed, tied = draw(st.integers(0, 10_000)), draw(st.booleans())
    return People(
        draw(st.integers(8, 60)), draw(st.integers(2, 5)), seed, tied, draw(st.sampled_from(["none", "whole"]))
    )


@pytest.mark.parametrize("name", LOSSES)
@given(batches())
@settings(max_examples=20, deadline=None)
def test_properties(name: str, people: People) -> None:
    score, group, label, weight = people.tensors()
    n_groups = int(group.max()) + 1
    options: dict[str, Any] = {"bandwidth": 0.1} if name == "abpc" else {}
    unfair = loss(name, n_groups=n_groups, **options)
    value = unfair(score, group, label, weight).item()
    assert 0 <= value <= (2 if name == "abpc" else 1) + 1e-9
    assert unfair(score, n_groups - 1 - group, label, weight).item() == pytest.approx(value, abs=1e-9)
    twice = [None if x is None else x.repeat(2) for x in (score, group, label, weight)]
    if name not in RANKED:  # the published ranks divide by n − 1
        assert unfair(*twice).item() == pytest.approx(value, abs=1e-9)
    ones = torch.ones_like(score.detach()) if weight is None else weight
    absent = torch.cat([ones, torch.zeros_like(ones)])
    others = torch.cat([score, torch.rand_like(score)])
    assert unfair(others, twice[1], twice[2], absent).item() == pytest.approx(value, abs=1e-9)
    same = unfair(score.repeat(n_groups), torch.arange(n_groups).repeat_interleave(len(score)), label.repeat(n_groups))
    assert same.item() == pytest.approx(0, abs=1e-9)


def test_bounds() -> None:
    """ΔDP_c ≤ ABCC = W_1 ≤ W_2."""
    for seed in range(10):
        batch = People(50, 2, seed).tensors()
        gap, area, w1, w2 = (
            loss(name, **options)(*batch).item()
            for name, options in (("mean_gap", {}), ("abcc", {}), ("wasserstein", {"p": 1}), ("wasserstein", {"p": 2}))
        )
        assert gap <= area + 1e-12
        assert area == pytest.approx(w1, abs=1e-12)
        assert w1 <= w2 + 1e-12


# ---- torch.compile ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LOSSES)
def test_the_graph_has_no_break(name: str) -> None:
    """Traced as a whole; what compilers make of the graph is theirs."""
    torch._dynamo.reset()
    unfair, plain = loss(name, n_groups=3), loss(name, n_groups=3)
    traced = torch.compile(unfair, fullgraph=True, backend="aot_eager")
    for n in (40, 60):
        score, *rest = People(n, 2, n, weight="sampling").tensors()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of torch about itself
            value = traced(score, *rest)
        expected = plain(score, *rest)
        assert value.item() == pytest.approx(expected.item(), abs=1e-12)
        grads = (torch.autograd.grad(v, score)[0] for v in (value, expected))
        assert torch.allclose(*grads, atol=1e-10)
    assert unfair.skipped == plain.skipped == 4 * len(LOSSES[name].labels)


def test_compiled() -> None:
    torch._dynamo.reset()
    score, group, *_ = People(64, 2, 20).tensors()
    compiled = torch.compile(loss("abcc", n_groups=2), fullgraph=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = compiled(score, group)
        except torch._dynamo.exc.BackendCompilerFailed as error:
            pytest.skip(f"no compiler works here: {error}")
    assert value.item() == pytest.approx(loss("abcc")(score, group).item(), abs=1e-12)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("name", LOSSES)
def test_a_gpu_gives_the_same_and_is_not_waited_for(name: str) -> None:
    people = People(5000, 3, 21, tied=True, weight="sampling")
    batch = people.tensors()
    there = [x.detach().cuda() for x in batch]
    there[0].requires_grad_()
    unfair = loss(name, n_groups=3).cuda()
    unfair(*there)  # plans of the Fourier transform are made once
    torch.cuda.set_sync_debug_mode("error")
    try:
        value = unfair(*there)
        value.backward()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    expected = loss(name)(*batch)
    expected.backward()
    assert value.item() == pytest.approx(expected.item(), abs=1e-9)
    if name != "wasserstein":
        assert torch.allclose(there[0].grad.cpu(), batch[0].grad, atol=1e-9)


# ---- what is refused -------------------------------------------------------------------------------------------------

BATCH: dict[str, Any] = {
    "score": torch.tensor([0.1, 0.2, 0.3, 0.4]),
    "group": torch.tensor([0, 1, 0, 1]),
    "label": torch.tensor([0, 0, 1, 1]),
}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"score": torch.tensor([0.1, float("nan"), 0.3, 0.4])}, "row 1 has nan"),
        ({"score": torch.tensor([0.1, float("inf"), 0.3, 0.4])}, "row 1 has inf"),
        (
            {"score": torch.tensor([0.1, 0.2, 3.0, 4.0])},
            r"between 0 and 1, but row 2 has 3 \(2 such rows\): apply torch.s",
        ),
        ({"score": torch.tensor([1, 0, 1, 0])}, "floats, but found torch.int64: pass score.float"),
        ({"score": [0.1, 0.2]}, "floats, but found list"),
        ({"score": torch.rand(4, 1)}, r"one dimension, but its shape is \(4, 1\): pass score.flatten"),
        ({"group": torch.tensor([0, 1])}, "one value per person, but there are 2 for 4 scores"),
        ({"group": torch.tensor([0.0, 1, 0, 1])}, "whole numbers 0 … G−1, but found torch.float32: pass group.long"),
        ({"group": torch.tensor([0, -1, 0, 1])}, "row 1 has -1 .*number the groups from 0"),
        ({"group": torch.tensor([0, 2, 0, 1])}, "row 1 has 2"),
        ({"group": [0, 1, 0, 1]}, "found list: pass torch.as_tensor"),
        ({"group": None}, "group is a tensor, but found NoneType"),
        ({"group": torch.tensor([0, 1, 0, 1j])}, "group has real numbers, but found torch.complex64"),
        ({"group": torch.tensor([0, 2, 0, 1], dtype=torch.uint32)}, "row 1 has 2"),
        (
            {"label": torch.tensor([0, 1, 0, 1 + 0j])},
            "label has real numbers, but found torch.complex64: pass label.real",
        ),
        ({"weight": torch.tensor([1, 1, 1, 1 + 0j])}, "weight has real numbers, but found torch.complex64"),
        ({"label": torch.tensor([0, 1, 2, 1])}, "labels are 0 and 1, but row 2 has 2"),
        ({"label": torch.tensor([0, 1, 0.5, 1])}, "labels are 0 and 1, but row 2 has 0.5"),
        ({"label": None}, "equalized_odds looks at outcomes: pass label"),
        ({"weight": torch.tensor([1.0, -1, 1, 1])}, "not negative, but row 1 has -1"),
        ({"weight": torch.tensor([1.0, float("inf"), 1, 1])}, "finite and not negative, but row 1 has inf"),
    ],
)
def test_bad_batches(changed: dict[str, Any], message: str) -> None:
    with pytest.raises((DataError, UsageError), match=message):
        loss("equalized_odds", n_groups=2)(**BATCH | changed)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int32", "uint16", "uint32", "uint64"])
def test_whole_numbers_of_any_kind(dtype: str) -> None:
    batch = {"score": BATCH["score"]} | {k: BATCH[k].to(getattr(torch, dtype)) for k in ("group", "label")}
    weight = torch.tensor([1, 1, 1, 1]).to(getattr(torch, dtype))
    for name in ("abcc", "equalized_odds"):
        assert loss(name)(**batch, weight=weight).item() == loss(name)(**BATCH).item()


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (
            {},
            10**6,
            "at most 300 groups can be compared with each other, but there are 1,000,001 codes: .* a reference",
        ),
        ({}, 300, "but there are 301 codes"),
        ({"reference": 0}, 10**6, "at most 4,000 groups can be compared with a reference, but .* 0 … G−1$"),
    ],
)
def test_codes_that_number_no_groups(options: dict[str, Any], code: int, message: str) -> None:
    unfair = loss("abcc", **options)
    with pytest.raises(DataError, match=message):
        unfair(BATCH["score"], torch.tensor([0, code, 0, 1]))
    assert unfair(**BATCH).item() == loss("abcc")(**BATCH).item()  # nothing is left of it


def test_values_are_checked_when_asked() -> None:
    batch = {**BATCH, "score": torch.tensor([0.1, 0.2, 0.3, 1.4])}
    assert loss("abcc", check=False)(**batch).item() > 0
    assert loss("abcc")(**{**BATCH, "score": torch.tensor([0.0, 0.2, 0.3, 1.0000001])}).item() > 0  # rounding


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("abccc", {}, "did you mean 'abcc'"),
        ("abcc", {"refrence": 1}, "abcc has no option 'refrence' .*did you mean 'reference'"),
        ("abcc", {"p": 2}, "no option 'p'"),
        ("abcc", {"groups": "max"}, "groups is one of 'mean', 'largest', but it is 'max'"),
        ("equalized_odds", {"combine": "mean"}, "combine is one of"),
        ("wasserstein", {"p": 0.5}, "a number from 1, but it is 0.5"),
        ("abpc", {"bandwidth": "scot"}, "but it is 'scot'"),
        ("abpc", {"bandwidth": 0}, "but it is 0"),
        ("abcc", {"score_range": (1, 0)}, "numbers that rise, but it is"),
        ("abcc", {"n_groups": 1}, "two groups to compare, but n_groups=1"),
        ("abcc", {"n_groups": 2, "reference": 2}, "reference=2 is not the code"),
        (["abcc"], {}, r"there is no loss \['abcc'\]"),
        ("abcc", {"groups": ["mean"]}, r"groups is one of 'mean', 'largest', but it is \['mean'\]"),
        *(
            ("abcc", {"score_range": r}, "two finite numbers that rise, but it is")
            for r in (5, None, ("a", "b"), "ab", (0, 1, 2), (0,), (False, True), (0, 10**400), (-1e308, 1e308))
        ),
        *(
            ("abcc", {"n_groups": n}, f"n_groups is a whole number from 2, .* but n_groups={n!r}")
            for n in ("3", 2.5, True)
        ),
        ("abcc", {"n_groups": 301}, "at most 300 groups can be compared with each other"),
        ("abcc", {"n_groups": 4001, "reference": 1}, "at most 4,000 groups can be compared with a reference"),
        ("abcc", {"reference": 10**6}, "but there are 1,000,001 codes"),
        *(("abcc", {"reference": r}, f"reference={r!r} is not the code of a group") for r in ("a", 0.5, True, -1)),
        *(("wasserstein", {"p": p}, f"a number from 1, but it is {p!r}") for p in (True, "2", None, float("inf"))),
        ("wasserstein", {"power": "no"}, "power is True, .* but it is 'no'"),
        *(
            ("abpc", {"bandwidth": b}, "positive share of the score range, but it is")
            for b in (True, None, ["scott"], float("nan"))
        ),
    ],
)
def test_bad_options(name: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        loss(name, **options)


def test_numbers_of_numpy_are_numbers() -> None:
    people = People(60, 3, 25)
    w2 = loss(
        "wasserstein", p=np.int64(2), n_groups=np.int32(3), reference=np.uint8(1), score_range=np.array([0.0, 1.0])
    )
    assert repr(w2) == "Loss('wasserstein', p=2, power=False)"
    assert w2(*people.tensors()).item() == loss("wasserstein", n_groups=3, reference=1)(*people.tensors()).item()
    smooth = [loss("abpc", bandwidth=b)(*people.tensors()).item() for b in (np.float32(0.125), 0.125)]
    assert smooth[0] == smooth[1]


# ---- a good citizen --------------------------------------------------------------------------------------------------


def test_a_loss_is_a_module() -> None:
    unfair = loss("wasserstein", p=3)
    assert isinstance(unfair, Loss)
    assert unfair.state_dict() == {}
    assert repr(unfair) == "Loss('wasserstein', p=3, power=False)"


def test_for_groups() -> None:
    options: dict[str, Any] = {"groups": "largest", "reference": 2, "score_range": (-1.0, 1.0), "check": False, "p": 3}
    one = loss("wasserstein", power=True, **options)
    one(torch.rand(4), torch.tensor([0, 0, 0, 0]))
    more = one.for_groups(5)
    assert (one.n_groups, more.n_groups) == (None, 5)
    assert (one.skipped, more.skipped) == (2, 0)
    same = ("name", "groups", "reference", "score_range", "combine", "check", "options")
    assert [getattr(one, a) for a in same] == [getattr(more, a) for a in same]
    assert loss("equalized_odds", n_groups=7, combine="sum").for_groups(3).n_groups == 7
    assert one.for_groups(np.int64(3)).n_groups == 3


@pytest.mark.parametrize(
    ("n", "message"),
    [(3, "reference=3 is not the code"), (1, "two groups to compare"), ("4", "n_groups='4'"), (4001, "at most 4,000")],
)
def test_for_groups_that_make_no_sense(n: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        loss("abcc", reference=3).for_groups(n)


def test_the_count_moves_with_the_module() -> None:
    """A model that is sent to the processor leaves nothing on a GPU: no pickle of it needs one."""
    model = torch.nn.Sequential(loss("abcc", n_groups=3))
    for _ in range(2):
        model[0](**BATCH)
    assert {name: int(b) for name, b in model.named_buffers()} == {"0._skipped": 4}
    assert model[0].skipped == 4
    assert model.state_dict() == {}
    assert model.to("meta")[0]._skipped.device.type == "meta"
    kept = pickle.loads(pickle.dumps(loss("abpc", n_groups=3)))
    kept(**BATCH)
    assert kept.skipped == 2


def test_without_torch_the_error_says_what_to_install() -> None:
    code = "import sys; sys.modules['torch'] = None\nimport evenhand.learn\nevenhand.learn.loss"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MissingLibrary: losses are made of PyTorch's tensors: pip install 'evenhand[learn]'" in ran.stderr


def test_examples() -> None:
    for name in ("losses", "batch", "areas", "densities"):
        found = doctest.testmod(import_module(f"evenhand.learn.losses.{name}"))
        assert found.failed == 0
    with pytest.raises(EvenhandError):
        loss("nothing")


def test_the_page_shows_every_loss_and_its_example_runs() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "learn" / "learning.md").read_text(encoding="utf-8")
    for name, kind in LOSSES.items():
        assert f"| `{name}` | {', '.join(f'`{m}`' for m in kind.measures)} |" in page, name
    code, printed = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", page, flags=re.DOTALL)[0]
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == printed
