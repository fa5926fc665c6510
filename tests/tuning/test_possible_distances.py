"""Ladders where simulations have few distances, as counts do: each tolerance tells states apart."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.warmup.possible_distances import at_possible, on_possible, possible_distances
from aptmc.warmup.tolerance_ladders import log_mass_within, mass_curve, respaced

RNG = np.random.default_rng(4)
SHARES = np.array([0.02, 0.08, 0.2, 0.3, 0.4])  # of distances 0, 1, …, 4 under the prior
CUMULATIVE = np.cumsum(SHARES)


def rows_within(tolerance: float, count: int = 2000) -> np.ndarray:
    """States of a rung: a parameter and a distance."""
    most = 5 if math.isinf(tolerance) else int(tolerance) + 1
    distances = RNG.choice(most, size=count, p=SHARES[:most] / SHARES[:most].sum())
    return np.column_stack([RNG.standard_normal(count), distances.astype(float)])


LEVELS = np.array([0.0, 2.0, math.inf])
ROWS = [rows_within(level) for level in LEVELS]
CURVE = mass_curve(LEVELS, [rows[:, 1] for rows in ROWS])


def test_distances_are_few_where_many_states_share_them():
    np.testing.assert_array_equal(possible_distances(ROWS, 1), np.arange(5.0))


def test_states_that_were_repeated_are_no_ties():
    rows = np.repeat(RNG.random((50, 2)), 100, axis=0)
    assert possible_distances([rows], 1).size == 0


def test_simulations_without_a_distance_have_none():
    rows = np.vstack([rows_within(2.0), [[0.5, math.inf]]])
    assert possible_distances([rows], 1).tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("distance", range(5))
def test_all_draws_at_a_distance_are_within_it(distance):
    """The first of them, by which the mass was counted, would be off by up to log(2000)."""
    found = log_mass_within(float(distance), CURVE)
    assert abs(found - math.log(CUMULATIVE[distance])) < 0.25


def test_tolerances_become_distances_and_none_is_there_twice():
    levels = respaced(CURVE, 0.0, 0.7, fewest=2, most=40)
    assert len({math.floor(level) for level in levels[:-1]}) < len(levels) - 1  # the fault
    found = on_possible(levels, np.arange(5.0), CURVE)
    assert found[0] == 0.0
    assert set(found) <= {0.0, 1.0, 2.0, 3.0, 4.0, math.inf}
    assert sorted(set(found)) == list(found)


def test_the_tolerance_that_was_asked_for_stays():
    assert on_possible((0.5, 0.9, 2.1, 4.0), np.arange(5.0), CURVE)[0] == 0.5
    assert on_possible((0.5, 0.9), np.empty(0), CURVE) == (0.5, 0.9)
    assert at_possible(1.2, np.arange(5.0)) == 2.0
    assert at_possible(1.2, np.empty(0)) == at_possible(1.2, np.arange(2.0)) == 1.2


@njit
def heads(theta, rng):
    return np.array([float(rng.binomial(20, theta[0]))])


@njit
def off_by(simulated, observed):
    return abs(simulated[0] - observed[0])


@pytest.mark.validation
def test_a_ladder_of_counts_is_found():
    """Down to exact matches, which is said, and is the posterior itself: Beta(18, 4)."""
    problem = aptmc.Abc(heads, aptmc.Prior(p=stats.uniform(0, 1)), observed=[17], distance=off_by)
    run = aptmc.sample(problem, budget=3000, on=aptmc.VirtualTime(2), seed=1)
    for ladder in (run.settings.ladder, *(part.ladder for part in run.warmup_rounds)):
        assert all(level == round(level) for level in ladder.levels)
    assert str(run.reached).startswith("tolerance 0, the smallest there is: the nearest ")
    assert run.reached.effective_draws is None
    assert not any("smaller tolerance" in str(advice) for advice in run.advice)
    row = run.summary()["p"]
    assert abs(row.mean - 18 / 22) < 4 * row.mcse
