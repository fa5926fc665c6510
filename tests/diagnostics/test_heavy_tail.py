"""The greatest values that were seen tell of greater ones, and of even ones they tell nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from aptmc.diagnostics.heavy_tail import generalised_pareto, sum_of_squares

SIZE, RUNS = 2000, 400
STATES = 100


@pytest.mark.parametrize("shape", [-0.3, 0.0, 0.4, 0.8])
def test_shape_and_scale_are_found(shape):
    values = np.sort(stats.genpareto(shape, scale=3.0).rvs(SIZE, random_state=1))
    found, scale = generalised_pareto(values)
    # Four standard errors of the most likely values (Smith, 1987).
    assert found == pytest.approx(shape, abs=4.0 * (1.0 + shape) / math.sqrt(SIZE))
    error = math.sqrt(2.0 * (1.0 + shape) / SIZE)
    assert scale == pytest.approx(3.0, rel=4.0 * error)


def ratios(rng, held):
    """Errors of means of normal states, held for so long, over both estimates of them."""
    found, plain = [], []
    for _ in range(RUNS):
        state, weight = rng.normal(size=STATES), held(rng)
        mean = (weight * state).sum() / weight.sum()
        shares = np.abs(weight * (state - mean)) / weight.sum()
        found.append(mean**2 / sum_of_squares(shares))
        plain.append(mean**2 / (shares**2).sum())
    return math.sqrt(np.mean(found)), math.sqrt(np.mean(plain))


def test_states_that_are_held_for_very_different_lengths_have_larger_errors():
    found, plain = ratios(np.random.default_rng(1), lambda rng: rng.lognormal(0.0, 1.7, STATES))
    room = 3.3 / math.sqrt(2 * RUNS)
    assert plain > 1.15 + room  # the control
    assert 0.85 - room < found < 1.15 + room


def test_states_that_are_held_alike_have_the_errors_that_they_had():
    found, plain = ratios(np.random.default_rng(2), lambda rng: np.ones(STATES))
    assert found == pytest.approx(plain, rel=0.05)


@pytest.mark.parametrize(
    "values", [np.empty(0), np.ones(3), np.zeros(1000), np.ones(1000), np.repeat([0.0, 5.0], 500)]
)
def test_what_has_no_tail_is_summed_as_it_is(values):
    assert sum_of_squares(values) == pytest.approx((values**2).sum())


def test_where_the_first_of_the_tail_are_the_same_nothing_is_divided_by_zero():
    values = np.array([1.0] * 21 + [2.0, 3.0, 4.0, 5.0])  # of which five are the tail
    assert sum_of_squares(values) == (values**2).sum()
