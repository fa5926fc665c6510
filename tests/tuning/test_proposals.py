"""Covariances and scales from draws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from aptmc.kernels import learned
from aptmc.warmup.approach import nearest

RNG = np.random.default_rng(3)
TRUTH = np.array([[4.0, 1.8], [1.8, 1.0]])


def test_with_many_draws_it_is_their_covariance():
    draws = RNG.multivariate_normal([1.0, 2.0], TRUTH, 20_000)
    np.testing.assert_allclose(learned.covariance(draws, np.eye(2)), TRUTH, rtol=0.05)


def test_with_few_draws_it_stays_near_what_was_believed():
    draws = RNG.multivariate_normal([1.0, 2.0], TRUTH, 3)
    believed = 100.0 * np.eye(2)
    found = learned.covariance(draws, believed)
    assert (np.diag(found) > 50.0).all()
    assert learned.covariance(draws[:1], believed) is believed


def test_copies_of_few_states_are_no_more_than_these():
    """Chains that stayed, or took over each other's state, would make all steps tiny."""
    states = RNG.multivariate_normal([1.0, 2.0], 1e-6 * TRUTH, 2)
    found = learned.covariance(np.repeat(states, 500, axis=0), TRUTH)
    assert (np.diag(found) > 0.5 * np.diag(TRUTH)).all()
    once = learned.covariance(RNG.multivariate_normal([1.0, 2.0], 1e-6 * TRUTH, 1000), TRUTH)
    assert (np.diag(once) < 0.1 * np.diag(TRUTH)).all()


@pytest.mark.parametrize("draws", [np.zeros((50, 2)), np.ones((3, 2)), np.eye(2)[[0] * 40]])
def test_draws_that_never_moved_still_give_a_covariance(draws):
    found = learned.covariance(draws, np.eye(2))
    np.testing.assert_array_equal(found, found.T)
    # Positive definite, so that one can propose with it.
    assert np.linalg.eigvalsh(found).min() > 0.0


@pytest.mark.parametrize("scale", [0.02, 0.5, 5.0])
def test_one_or_two_measurements_find_the_scale_of_a_random_walk(scale):
    """The acceptance of a random walk on a normal target of ten dimensions, by simulation."""
    dimension = 10
    target = learned.best_acceptance(dimension)
    for _ in range(4):
        here = RNG.standard_normal((4000, dimension))
        there = here + scale * RNG.standard_normal((4000, dimension))
        log_ratio = 0.5 * ((here**2).sum(1) - (there**2).sum(1))
        accepted = float(np.exp(np.minimum(log_ratio, 0.0)).mean())
        scale = learned.better_scale(scale, accepted, target)
    assert abs(accepted - target) < 0.03


def test_a_scale_changes_only_so_much_at_a_time():
    assert learned.better_scale(1.0, 0.0, 0.234) > 1.0 / (1.01 * learned.LARGEST_CHANGE)
    assert learned.better_scale(1.0, 1.0, 0.234) < 1.01 * learned.LARGEST_CHANGE


def test_the_best_acceptance_lies_between_that_of_one_and_many_dimensions():
    assert learned.best_acceptance(1) == 0.44
    assert 0.234 < learned.best_acceptance(5) < 0.44
    assert learned.usual_scale(4) == pytest.approx(1.19)
    assert stats.norm.cdf(learned.usual_scale(1)) > 0.9


def test_the_nearest_of_the_old_levels_is_found():
    assert nearest(np.array([0.0, 1.0, 5.0]), np.array([-1.0, 0.7, 9.0])).tolist() == [
        0,
        1,
        2,
    ]
