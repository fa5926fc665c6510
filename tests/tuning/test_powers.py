"""Ladders of powers: swap rates from draws, and equal spacing."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from aptmc.warmup import power_ladders

RNG = np.random.default_rng(1)
DIMENSION = 6


def log_likelihoods(power: float, draws: int = 20_000) -> np.ndarray:
    """Of draws from N(0, 1 / power) in several dimensions, with likelihood exp(-|x|^2 / 2)."""
    return -0.5 * stats.chi2(DIMENSION).rvs(draws, random_state=RNG) / power


def exact_rate(colder: float, warmer: float) -> float:
    """By counting, over fresh independent pairs, with the textbook formula."""
    ratio = (colder - warmer) * (log_likelihoods(warmer, 10**6) - log_likelihoods(colder, 10**6))
    return float(np.mean(np.exp(np.minimum(ratio, 0.0))))


@pytest.mark.parametrize(("colder", "warmer"), [(1.0, 0.9), (1.0, 0.5), (0.5, 0.1)])
def test_swap_rates_from_draws_are_those_of_swaps(colder, warmer):
    rate = power_ladders.swap_rate(log_likelihoods(colder), log_likelihoods(warmer), colder, warmer)
    # 400 draws of each rung are used.
    assert abs(rate - exact_rate(colder, warmer)) < 5 * 0.5 / math.sqrt(400)


def test_a_swap_rate_needs_draws_of_both():
    assert math.isnan(power_ladders.swap_rate(np.empty(0), np.ones(3), 1.0, 0.5))


def test_states_without_likelihood_swap_never_to_a_colder_rung():
    assert power_ladders.swap_rate(np.zeros(4), np.full(4, -math.inf), 1.0, 0.0) == 0.0


def test_distances_grow_as_rates_fall_and_add_up_for_a_gaussian_path():
    rates = [0.95, 0.6, 0.3, 0.05]
    assert sorted(map(power_ladders.distance, rates)) == [
        power_ladders.distance(rate) for rate in rates
    ]
    assert power_ladders.distance(1.0) == 0.0
    # Powers at equal ratios of a Gaussian are at equal distances, and two steps are twice one.
    one = power_ladders.distance(exact_rate(1.0, 0.7))
    two = power_ladders.distance(exact_rate(1.0, 0.7**2))
    assert abs(two / one - 2.0) < 0.1


def found_after(rounds: int, target: float) -> tuple[list[float], list[float]]:
    """Respace again and again, as the warm-up does; the ladder and its exact rates."""
    ladder = np.array([1.0, 0.9, 0.8, 0.7, 0.01])
    for _ in range(rounds):
        values = [log_likelihoods(power, 2000) for power in ladder]
        rates = np.array(
            [
                power_ladders.swap_rate(values[i], values[i + 1], ladder[i], ladder[i + 1])
                for i in range(ladder.size - 1)
            ]
        )
        ladder = np.array(power_ladders.respaced(ladder, rates, target, fewest=2, most=40))
    exact = [exact_rate(colder, warmer) for colder, warmer in pairwise(ladder)]
    return ladder.tolist(), exact


@pytest.mark.parametrize("target", [0.25, 0.4, 0.6])
def test_neighbours_of_a_respaced_ladder_swap_as_often_as_wanted(target):
    ladder, rates = found_after(5, target)
    assert ladder[0] == 1.0
    assert ladder[-1] == 0.01
    assert all(abs(rate - target) < 0.1 for rate in rates)


def test_the_number_of_rungs_keeps_its_bounds():
    rates = np.array([0.001, 0.001])
    ladder = np.array([1.0, 0.5, 0.0])
    assert len(power_ladders.respaced(ladder, rates, 0.4, fewest=2, most=5)) == 5
    assert len(power_ladders.respaced(ladder, np.ones(2), 0.4, fewest=4, most=40)) >= 2
    assert power_ladders.respaced(ladder, np.array([math.nan, 0.5]), 0.4, fewest=2, most=9) == (
        1.0,
        0.5,
        0.0,
    )
