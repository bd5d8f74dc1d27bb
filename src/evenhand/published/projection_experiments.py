"""The experiments of Taskesen, Blanchet, Kuhn & Nguyen 2021, run again: Table 1 and Figures 1, 2, 3 and 5."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import chi2, multivariate_normal

from evenhand.inference.cheapest_move import switch
from evenhand.inference.chi2_mixture import tail
from evenhand.inference.wasserstein_projection import Projection, project
from evenhand.published.item import Claim, Outcome, Setting, Value
from evenhand.published.projection_charts import heatmaps, law_charts, perturbed, plots_of_l
from evenhand.tables.arrays import Bools, Floats

LEVELS = (0.5, 0.3, 0.1, 0.05, 0.01)
TABLE_1 = {
    100: (0.511, 0.282, 0.048, 0.007, 0.0),
    500: (0.4905, 0.2895, 0.0895, 0.0425, 0.0065),
    1000: (0.5, 0.299, 0.093, 0.0405, 0.005),
}
"""Rejection rates under the null, by people and level."""
MARGINALS = (0.2, 0.1, 0.3, 0.4)
"""p₁₁, p₀₁, p₁₀ and p₀₀ of Section 6.1."""


def drawn(rng: np.random.Generator, people: int) -> tuple[Floats, Bools]:
    """Logits and group of those with the favourable label in Section 6.1: with β = (0, 1) a logit is N(0, 5)."""
    cell = rng.choice(4, people, p=MARGINALS)
    return rng.normal(0, math.sqrt(5), people)[cell < 2], cell[cell < 2] == 0


def statistic(rng: np.random.Generator, people: int) -> Projection:
    """The projection of people of Section 6.1; of both groups somebody has the label."""
    while True:
        z, group = drawn(rng, people)
        if 0 < group.sum() < len(group):
            return project(z, np.ones(len(z)), group, people, 1.0)


def table_1(setting: Setting) -> Outcome:
    """How often a fair score is rejected. Two simulations differ: three standard errors are their tolerance."""
    runs, values = 2000 if setting.full else 300, []
    for place, (people, printed) in enumerate(TABLE_1.items()):
        setting.progress(place / len(TABLE_1), f"{people} people")
        rng = np.random.default_rng([setting.seed, people])
        found = [statistic(rng, people) for _ in range(runs)]
        p = np.array([tail(f.statistic, (f.theta,)) for f in found])
        for level, theirs in zip(LEVELS, printed, strict=True):
            ours, likely = float((p < level).mean()), (2000 * theirs + 1) / 2002
            spread = math.sqrt(likely * (1 - likely) * (1 / 2000 + 1 / runs))
            values.append(Value(f"level {level:g}", f"N = {people:,}", theirs, ours, 3 * spread))
    note = f"{runs:,} replications, printed are 2,000; the tolerance is three standard errors of the difference"
    return Outcome(tuple(values), notes=(note,))


def figure_2(setting: Setting) -> Outcome:
    """The statistic against its limit law, whose θ comes from a large sample."""
    runs = 2000 if setting.full else 400
    z, group = drawn(np.random.default_rng([setting.seed, 2]), 1_000_000 if setting.full else 100_000)
    theta = project(z, np.ones(len(z)), group, len(z) / (MARGINALS[0] + MARGINALS[1]), 1.0).theta
    found, distance = {}, {}
    for people in (100, 500):
        rng = np.random.default_rng([setting.seed, people, 2])
        found[people] = np.sort([statistic(rng, people).statistic for _ in range(runs)])
        law = chi2.cdf(found[people] / theta, 1)
        steps = np.arange(runs + 1) / runs
        distance[people] = float(max((law - steps[:-1]).max(), (steps[1:] - law).max()))
    chance = 1.95 / math.sqrt(runs)  # Kolmogorov's test at 0.1 %
    gaps = " and ".join(f"{d:.3f} at N = {n}" for n, d in distance.items())
    claims = (
        Claim("the empirical distribution converges to θχ²₁ as N increases", distance[500] < chance,
              f"largest difference of CDFs: {gaps}; {runs:,} replications of θχ²₁ itself differ by up to {chance:.3f}, "
              "so that at N = 100 there is hardly anything left to converge"),
    )  # fmt: skip
    return Outcome(claims=claims, charts=law_charts(found, theta), notes=(f"θ = {theta:.4g}; {runs:,} replications",))


# ---- Figure 1 ----------------------------------------------------------------------------------------------


def people_of_appendix_c(rng: np.random.Generator, people: int) -> tuple[Floats, Bools, Bools]:
    """Features, labels and groups of the synthetic data of Appendix C.

    Printed is [cos, sin; sin, cos], which is no rotation; taken is that by 45°.
    """
    y = np.arange(people) < people // 2
    laws = [multivariate_normal([2, 2], [[5, 1], [1, 5]]), multivariate_normal([-2, -2], [[10, 1], [1, 3]])]
    one, other = (law.rvs(int(n), random_state=rng) for law, n in zip(laws, (y.sum(), (~y).sum()), strict=True))
    x = np.concatenate([one, other])
    turned = x @ (np.array([[1, -1], [1, 1]]) / math.sqrt(2))
    first, second = (law.pdf(turned) for law in laws)
    return x, y, rng.random(people) < first / (first + second)


def figure_1(setting: Setting) -> Outcome:
    """Gaps of decisions and of mean scores over the coefficients, and the p-value of the test of 1,000 people."""
    side, people = (41, 100_000) if setting.full else (21, 10_000)
    x, y, a = people_of_appendix_c(np.random.default_rng([setting.seed, 1]), people)
    x, a = x[y], a[y]
    some = np.random.default_rng([setting.seed, 11]).choice(len(a), 500, replace=False)
    at = np.linspace(-1, 1, side)
    grid = [(float(b1), float(b2)) for b2 in at for b1 in at]
    decided, scored, p_values = (np.zeros(len(grid)) for _ in range(3))
    for place, beta in enumerate(grid):
        z = x @ np.array(beta) - 1 / 3
        decided[place] = abs((z[a] >= 0).mean() - (z[~a] >= 0).mean())
        scored[place] = abs(expit(z[a]).mean() - expit(z[~a]).mean())
        length = math.hypot(*beta)
        if length > 0:
            found = project(z[some], np.ones(len(some)), a[some], 1000, length)
            p_values[place] = tail(found.statistic, (found.theta,))
        else:
            p_values[place] = 1.0
    panels = {
        "a: gap of decisions at ½": decided, "b: gap of mean scores": scored,
        "p-value, 1,000 people": p_values,
    }  # fmt: skip
    near = [scored[decided <= 0.05] <= 0.1, decided[scored <= 0.05] <= 0.1]
    together = float(np.corrcoef(decided, scored)[0, 1])
    seen = (
        f"{near[0].mean():.0%} of the coefficients with a gap of decisions up to 0.05 have one of mean scores up to "
        f"0.1, {near[1].mean():.0%} the other way round; the correlation of both gaps is {together:.2f}"
    )
    alike = min(part.mean() for part in near) >= 0.9
    claims = (
        Claim("the coefficients with differences close to zero are similar in both plots", bool(alike), seen),
        Claim("both measures rise and fall together", together > 0.8, f"correlation {together:.2f}"),
    )
    said = f"a grid of {side} × {side} coefficients from −1 to 1, {people:,} people; the paper prints neither"
    return Outcome(claims=claims, charts=(heatmaps(at, panels),), notes=(said,))


# ---- Figure 3 ----------------------------------------------------------------------------------------------


def figure_3(setting: Setting) -> Outcome:
    """Where 28 people would have to move."""
    beta, rng = np.array([0.4, 0.12]), np.random.default_rng([setting.seed, 3])
    a, y = np.repeat([True, False, True, False], 7), np.repeat([True, True, False, False], 7)
    x = rng.normal(0, 1, (28, 2)) * np.sqrt(np.where(a, 3.5, 5.0))[:, None]
    x[:, 0] += np.select([a & y, ~a & y, a & ~y], [3.0, -1.0, 3.0], -2.0)
    z, length = x @ beta, float(np.linalg.norm(beta))
    found = project(z[y], np.ones(14), a[y], 28, length)
    after = x.copy()
    after[np.flatnonzero(y)[found.cell]] += ((found.shifted - z[y][found.cell]) / length**2)[:, None] * beta
    moved = after - x
    h = [expit(points @ beta) for points in (x, after)]
    gaps = [float(score[a & y].mean() - score[~a & y].mean()) for score in h]
    aside = float(np.abs(moved @ np.array([-beta[1], beta[0]])).max() / length)
    signs = [np.sign(moved[group & y] @ beta) for group in (a, ~a)]
    opposite = len(set(signs[0])) == len(set(signs[1])) == 1 and signs[0][0] == -signs[1][0] != 0
    claims = (
        Claim("only people with the positive label are perturbed", not moved[~y].any() and bool(moved[y].any())),
        Claim("they move along β", aside < 1e-9, f"at most {aside:.1g} aside"),
        Claim("the groups move in opposite directions", opposite),
        Claim("so that they get closer to each other", abs(gaps[1]) < 1e-8,
              f"gap of mean scores {gaps[0]:.3f} before, {abs(gaps[1]):.1g} after"),
    )  # fmt: skip
    note = "the paper does not say how its 28 people were drawn; these are seven of each group and label"
    return Outcome(claims=claims, charts=(perturbed(x, after, a, y, beta),), notes=(note,))


# ---- Figure 5, and what else is said ---------------------------------------------------------------------------

FIGURE_5 = {
    "a": ((0.0, 1.0), (-2.0, 10.0), 17.6), "b": ((-5.0, 5.0), (3.0, 5.0), 4.0),
    "c": ((-6.0, 5.0), (3.0, 5.0), 4.0), "d": ((-4.7, 5.0), (3.0, 5.0), 4.0),
}  # fmt: skip
"""β, x̂ and ω."""


def cost_of(k: Floats, beta: Any, x: Any, omega: float) -> Floats:
    """L(k): the inner problem of Lemma B.1."""
    square = float(np.dot(beta, beta))
    return np.asarray((omega * k) ** 2 * square + omega * expit(np.dot(beta, x) - k * omega * square))


def figure_5(setting: Setting) -> Outcome:
    """The inner problem over k: not convex, and where both of its minima are equally good."""
    k = np.linspace(0, 1 / 8, 2001)
    curves = {name: cost_of(k, *told) for name, told in FIGURE_5.items()}
    minima = {name: _minima(k, values) for name, values in curves.items()}

    def beyond(first: float) -> float:
        """How far the logit is beyond the one at which both minima are equally good."""
        return first * 3 + 25 - switch(4.0 * (first * first + 25))

    equal = float(brentq(beyond, -6, -4))
    low, high = sorted(minima["d"].values()) if len(minima["d"]) == 2 else (0.0, math.inf)
    counted = ", ".join(f"{name} has {len(found)}" for name, found in minima.items())
    claims = (
        Claim("L is not convex in k", any(len(found) > 1 for found in minima.values()), f"minima: {counted}"),
        Claim("in d both minima are equally good, so that the optimum is not unique", (high - low) / high < 0.01,
              f"{low:.4f} and {high:.4f}: equal but for what β₁ is rounded"),
    )  # fmt: skip
    values = (Value("β₁ at which both minima are equally good", "d", -4.7, equal, 0.05),)
    return Outcome(values, claims, (plots_of_l(k, curves, FIGURE_5, minima),))


def _minima(k: Floats, values: Floats) -> dict[float, float]:
    """Where there is a minimum, and how low it is. At 0 the slope is never positive."""
    inside = np.flatnonzero((values[1:-1] < values[2:]) & (values[1:-1] <= values[:-2])) + 1
    ends = [0] if values[0] < values[1] else []
    return {float(k[i]): float(values[i]) for i in [*ends, *inside]}


def equation_7(setting: Setting) -> Outcome:
    """The estimate of the variance as printed, with sums where means are meant."""
    runs, people = 2000 if setting.full else 200, 500
    rng, rejected = np.random.default_rng([setting.seed, 7]), np.zeros(2)
    for _ in range(runs):
        z, group = drawn(rng, people)
        found = project(z, np.ones(len(z)), group, people, 1.0)
        h, shares = expit(z), (group.mean() * len(z) / people, (~group).mean() * len(z) / people)
        printed = np.where(group, h * shares[1] - h[~group].sum(), h[group].sum() - h * shares[0])
        steep = (h * (1 - h) / np.where(group, shares[0], shares[1])) ** 2
        theta = float((printed**2).sum() / steep.sum() / (shares[0] * shares[1]) ** 2)
        rejected += [tail(found.statistic, (t,)) <= 0.05 for t in (theta, found.theta)]
    as_printed, ours = rejected / runs
    claims = (
        Claim("the estimator is consistent: the test of level 0.05 rejects a fair score in 5 %", as_printed > 0.01,
              f"as printed {as_printed:.3f}, with means instead of sums {ours:.3f}; {people} people, {runs} runs"),
    )  # fmt: skip
    return Outcome(claims=claims, notes=("the authors' published code has means",))


def section_7(setting: Setting) -> Outcome:
    """The outcome in the Euclidean norm and in the 1-norm of the features, whose dual norms divide alike."""
    rng = np.random.default_rng([setting.seed, 8])
    beta, a = np.array([1.0, -0.5, 0.25]), np.arange(400) < 150
    z = (rng.normal(0, 1, (400, 3)) + 0.2 * a[:, None]) @ beta
    p = {}
    for norm, dual in (("Euclidean norm", np.linalg.norm(beta)), ("1-norm", np.abs(beta).max())):
        found = project(z, np.ones(400), a, 800, float(dual))
        p[norm] = tail(found.statistic, (found.theta,))
    one, other = p.values()
    claims = (
        Claim("the outcome can change with the norm of the features, such as from the Euclidean norm to a 1-norm",
              not math.isclose(one, other, rel_tol=1e-9),
              f"p = {one:.6g} and {other:.6g}: the dual norm of β divides the statistic and θ alike, so that of one "
              "logistic score it cannot"),
    )  # fmt: skip
    return Outcome(claims=claims)
