"""The moving average: simulator, exact likelihood and exact posterior.

Statistical checks have the false-alarm rate of `tests.support.statistical`; seeds are fixed.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from aptmc import Key
from aptmc.models import moving_average
from aptmc.models.moving_average import OBSERVED, autocovariance, simulate, simulated_distance
from tests.support.statistical import FALSE_ALARM, standard_errors_off

THETAS = [[0.6, 0.2], [-1.5, 0.7], [0.0, -0.9], [1.9, 0.95], [0.0, 0.0]]


def generator(number=0):
    return Key(seed=54, chain=0, number=number).generator()


def covariance(theta, size=moving_average.LENGTH):
    """The model's covariance matrix, from its definition as a filter of independent noise."""
    weights = np.zeros((size, size + 2))
    for t in range(size):
        weights[t, t : t + 3] = theta[1], theta[0], 1.0
    return weights @ weights.T


@pytest.mark.parametrize(
    "theta",
    [*THETAS[:2], *(pytest.param(other, marks=pytest.mark.validation) for other in THETAS[2:])],
)
def test_simulations_have_the_covariance_of_the_model(theta):
    rng = generator()
    series = np.array([simulate(np.array(theta), rng) for _ in range(20_000)])
    matrix = covariance(theta)
    limit = stats.t.isf(FALSE_ALARM / 8, 20_000 - 1)  # two-sided, four lags

    def agrees(exact):
        # One number per series and lag, so that they are independent.
        products = [series[:, lag:] * series[:, : 100 - lag] for lag in range(4)]
        return all(
            standard_errors_off(product.mean(axis=1), exact[0, lag]) < limit
            for lag, product in enumerate(products)
        )

    assert agrees(matrix)
    assert not agrees(covariance([theta[0] + 0.05, theta[1] - 0.05]))


def test_every_form_of_the_simulator_gives_the_same():
    theta = np.array([0.3, -0.2])
    simulated = simulate(theta, generator())
    assert np.array_equal(simulated, simulate.py_func(theta, generator()))
    distance = moving_average.distance(simulated, OBSERVED)
    assert simulated_distance(theta, generator(), 0.1) == distance
    assert simulated_distance.py_func(theta, generator(), 0.1) == distance


def test_distance_compares_autocovariances():
    simulated = simulate(np.array([0.3, -0.2]), generator())
    lags = [
        (simulated[lag:] @ simulated[:-lag] - OBSERVED[lag:] @ OBSERVED[:-lag]) / 100.0
        for lag in (1, 2)
    ]
    assert moving_average.distance(simulated, OBSERVED) == pytest.approx(math.hypot(*lags))
    assert moving_average.distance(OBSERVED, OBSERVED) == 0.0


def test_outside_the_triangle_nothing_is_simulated():
    vertices = np.array([[-2.0, 1.0], [2.0, 1.0], [0.0, -1.0]])
    centre = vertices.mean(axis=0)
    for vertex in vertices:
        inside = centre + 0.99 * (vertex - centre)
        outside = centre + 1.01 * (vertex - centre)
        assert simulated_distance(inside, generator(), 1.0) < math.inf
        rng = generator()
        assert simulated_distance(outside, rng, math.inf) == math.inf
        assert rng.random() == generator().random()


def test_prior_covers_the_triangle():
    prior = moving_average.prior()
    assert prior.names == ("theta1", "theta2")
    lower, upper = prior.support
    assert lower.tolist() == [-2.0, -1.0]
    assert upper.tolist() == [2.0, 1.0]
    draws = prior.draw(generator(), 20_000)
    share = np.mean([moving_average.is_identifiable(theta) for theta in draws])
    assert stats.binomtest(round(share * 20_000), 20_000, 0.5).pvalue > FALSE_ALARM


def test_observed_series_never_changes():
    assert OBSERVED.shape == (100,)
    pinned = [autocovariance(OBSERVED, lag) for lag in range(3)]
    assert pinned == pytest.approx(
        [1.4663210056077065, 0.8468389894330483, 0.3580929301337417], abs=1e-12
    )
    with pytest.raises(ValueError, match="read-only"):
        OBSERVED[0] = 1.0


@pytest.mark.parametrize("theta", THETAS)
def test_likelihood_is_that_of_a_multivariate_normal(theta):
    matrix = covariance(theta)
    dense = stats.multivariate_normal(np.zeros(100), matrix).logpdf(OBSERVED)
    assert moving_average.log_likelihood(theta) == pytest.approx(dense, rel=1e-10)
    short = stats.multivariate_normal(np.zeros(2), matrix[:2, :2]).logpdf([0.3, -1.0])
    assert moving_average.log_likelihood(theta, [0.3, -1.0]) == pytest.approx(short, rel=1e-10)


def by_innovations(first, second):
    """The log likelihood of the observed series, up to a constant, one prediction at a time."""
    variances, errors = [1.0 + first**2 + second**2], [OBSERVED[0]]
    nearer = np.zeros_like(first)
    for t in range(1, moving_average.LENGTH):
        # The weights of the last two prediction errors in the next prediction.
        farther = second / variances[-2] if t > 1 else np.zeros_like(first)
        shared = second * nearer if t > 1 else 0.0
        nearer = (first * (1.0 + second) - shared) / variances[-1]
        prediction = nearer * errors[-1] + (farther * errors[-2] if t > 1 else 0.0)
        known = nearer**2 * variances[-1] + (farther**2 * variances[-2] if t > 1 else 0.0)
        variances.append(variances[0] - known)
        errors.append(OBSERVED[t] - prediction)
    terms = [
        error**2 / variance + np.log(variance)
        for error, variance in zip(errors, variances, strict=True)
    ]
    return -0.5 * sum(terms)


def test_posterior_moments_by_brute_force():
    side = 0.02  # of the squares whose midpoints are summed; the posterior is 0.1 wide
    thetas = np.stack(
        np.meshgrid(np.arange(-2 + side / 2, 2, side), np.arange(-1 + side / 2, 1, side)), axis=-1
    ).reshape(-1, 2)
    thetas = np.array([theta for theta in thetas if moving_average.is_identifiable(theta)])
    heights = by_innovations(*thetas.T)
    mass = np.exp(heights - heights.max())
    mass /= mass.sum()
    exact = moving_average.posterior_moments()
    assert exact.mean == pytest.approx(mass @ thetas, abs=1e-8)
    matrix = np.cov(thetas.T, aweights=mass, ddof=0)
    assert exact.covariance == pytest.approx(matrix, abs=1e-8)
    # The observed series is not an odd one.
    away = (moving_average.TRUTH - exact.mean) / np.sqrt(exact.covariance.diagonal())
    assert np.all(np.abs(away) < 3.0)
