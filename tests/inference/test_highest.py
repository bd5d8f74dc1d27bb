"""Intervals against the group with the highest rate of the same people."""

from functools import cache

import numpy as np
import pytest

from evenhand.inference import interval
from evenhand.inference.highest import against_highest


def ratios(selected, people, confidence=0.95):
    """The chosen group, and the intervals that allow for the choice and that do not."""
    rates, people = np.asarray(selected) / people, np.asarray(people, np.float64)
    best = int(np.argmax(np.where(rates == rates.max(), people, -1)))

    def limits(a, b, level):
        return interval.ratio_of_shares(rates[a], people[a], rates[b], people[b], level)

    plain = interval.ratio_of_shares(rates, people, rates[best], people[best], confidence)
    return best, against_highest(limits, rates, people, best, confidence), plain


def test_of_two_groups_nothing_was_chosen():
    best, chosen, plain = ratios([30, 50], np.array([100, 100]))
    assert best == 1
    assert np.isnan([chosen[0][1], chosen[1][1]]).all()
    np.testing.assert_allclose([chosen[0][0], chosen[1][0]], [plain[0][0], plain[1][0]], rtol=1e-12)


def test_the_lower_end_is_the_least_against_any_group_and_the_upper_one_is_further_away():
    selected, people = np.array([30, 50, 52, 10]), np.array([100, 100, 110, 15])
    best, (low, high), plain = ratios(selected, people)
    rates = selected / people
    against = [interval.ratio_of_shares(rates[0], 100, rates[h], people[h], 0.95)[0] for h in range(4) if h != 0]
    assert best == 3
    assert low[0] == pytest.approx(min(against), rel=1e-12)
    assert (high[:3] > plain[1][:3] + 1e-6).all()


def test_a_group_far_below_could_not_have_been_chosen_and_costs_nothing():
    few = ratios([300, 900], np.array([1000, 1000]))
    more = ratios([300, 900, 100], np.array([1000, 1000, 1000]))
    assert more[1][1][0] == pytest.approx(few[1][1][0], rel=1e-9)


def test_of_thousands_of_groups_intervals_are_wider_too():
    rng = np.random.default_rng(0)
    people = rng.integers(20, 2000, 3000)
    best, (low, high), plain = ratios(rng.binomial(people, 0.4), people)
    other = np.arange(3000) != best
    assert (low[other] <= plain[0][other] + 1e-9).all()
    assert (high[other] >= plain[1][other] - 1e-9).all()


SITUATIONS = {
    "2 of 20": (np.full(2, 20), np.full(2, 0.3)),
    "6 of 1,000, equal": (np.full(6, 1000), np.full(6, 0.3)),
    "6 of 20 to 100,000, one ahead": (np.geomspace(20, 1e5, 6).astype(int), np.r_[np.full(5, 0.3), 0.5]),
    "14 of 20, near": (np.full(14, 20), np.linspace(0.45, 0.5, 14)),
    "14 of 1,000, equal": (np.full(14, 1000), np.full(14, 0.3)),
    "14 of 100,000 to 20, rising": (np.geomspace(1e5, 20, 14).astype(int), np.linspace(0.2, 0.5, 14)),
}


@cache
def covered(situation, draws):
    """How often the intervals hold the ratio to the truly highest group, to the one chosen, and the plain one both.

    And the standard errors of these.
    """
    people, truth = SITUATIONS[situation]
    rng, held = np.random.default_rng(3), []
    for _ in range(draws):
        selected = rng.binomial(people, truth)
        best, (low, high), plain = ratios(selected, people)
        other = np.arange(len(people)) != best
        highest, chosen = truth / truth.max(), truth / truth[best]

        def holds(lo, hi, true, other=other):
            return ((lo <= true + 1e-12) & (true <= hi + 1e-12))[other].mean()

        held.append([holds(low, high, highest), holds(low, high, chosen), holds(*plain, chosen)])
    return np.mean(held, axis=0), np.std(held, axis=0) / np.sqrt(draws)


@pytest.mark.parametrize(
    "draws", [pytest.param(60, id="reduced"), pytest.param(2000, id="full", marks=pytest.mark.full)]
)
@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_ratio_is_covered(situation, draws):
    (highest, chosen, _), (error, other, _) = covered(situation, draws)
    assert highest >= 0.945 - 3 * max(error, 0.003)
    assert chosen >= 0.945 - 3 * max(other, 0.003)


def test_the_plain_interval_does_not_cover_what_was_chosen():
    (_, ours, plain), _ = covered("14 of 1,000, equal", 60)
    assert plain < 0.92 < ours
