"""The normal example: its exact posterior by three independent ways.

Statistical checks have the false-alarm rate of `tests.support.statistical`; seeds are fixed.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from aptmc import InputError, Key
from aptmc.models import normal
from tests.support.statistical import follows

TOLERANCES = [1e-3, 0.1, 1.1, 5.0, 30.0]


def likelihood(theta, tolerance):
    """The paper's ABC likelihood, in the form that keeps its digits in both tails."""
    away = abs(normal.OBSERVED - theta)
    return stats.norm.cdf(tolerance - away) - stats.norm.cdf(-tolerance - away)


def unnormalised(theta, tolerance):
    return stats.norm.pdf(theta, 0.0, math.sqrt(5.0)) * likelihood(theta, tolerance)


def integral(function, upper=40.0):
    points = [point for point in (-5.0, 0.0, 2.5, 5.0) if point < upper]
    return integrate.quad(
        function, -40.0, upper, points=points, epsabs=1e-12, epsrel=1e-10, limit=200
    )[0]


@pytest.mark.parametrize(
    "tolerance",
    [
        TOLERANCES[0],
        *(pytest.param(other, marks=pytest.mark.validation) for other in TOLERANCES[1:]),
    ],
)
def test_posterior_is_prior_times_likelihood(tolerance):
    mass = integral(lambda theta: unnormalised(theta, tolerance))
    mean = integral(lambda theta: theta * unnormalised(theta, tolerance)) / mass
    square = integral(lambda theta: (theta - mean) ** 2 * unnormalised(theta, tolerance)) / mass
    assert normal.posterior_mean(tolerance) == pytest.approx(mean, abs=1e-8)
    assert normal.posterior_sd(tolerance) == pytest.approx(math.sqrt(square), abs=1e-8)
    thetas = np.linspace(-4.0, 8.0, 13)
    densities = unnormalised(thetas, tolerance) / mass
    assert normal.posterior_density(thetas, tolerance) == pytest.approx(densities, abs=1e-8)
    below = [integral(lambda x: unnormalised(x, tolerance), upper=theta) for theta in thetas]
    expected = np.array(below) / mass
    assert normal.posterior_distribution(thetas, tolerance) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(
    ("tolerance", "exact"),
    [(0.0, stats.norm(2.5, math.sqrt(5.0 / 6.0))), (math.inf, stats.norm(0.0, math.sqrt(5.0)))],
)
def test_limits_are_the_posterior_and_the_prior(tolerance, exact):
    thetas = np.linspace(-3.0, 6.0, 10)
    assert normal.posterior_mean(tolerance) == pytest.approx(exact.mean(), abs=1e-12)
    assert normal.posterior_sd(tolerance) == pytest.approx(exact.std(), abs=1e-12)
    assert normal.posterior_density(thetas, tolerance) == pytest.approx(exact.pdf(thetas))
    assert normal.posterior_distribution(thetas, tolerance) == pytest.approx(exact.cdf(thetas))


def test_shape_of_the_argument_is_kept():
    thetas = np.zeros((2, 3))
    assert normal.posterior_density(thetas, 1.0).shape == (2, 3)
    assert normal.posterior_distribution(thetas, 1.0).shape == (2, 3)
    assert normal.posterior_density(0.0, 1.0).shape == ()


@pytest.mark.parametrize("tolerance", [-1.0, math.nan])
def test_bad_tolerance_is_refused(tolerance):
    with pytest.raises(InputError, match="tolerance must be 0 or larger"):
        normal.posterior_mean(tolerance)


def accepted(tolerance):
    """Independent draws from the posterior, by rejection."""
    rng = Key(seed=52, chain=0, number=0).generator()
    thetas = normal.prior().draw(rng, 100_000)
    distances = [normal.simulated_distance(theta, rng, tolerance) for theta in thetas]
    return thetas[np.array(distances) <= tolerance, 0]


def test_rejection_sampling_agrees():
    draws = accepted(1.1)
    assert draws.size > 15_000
    assert follows(draws, lambda theta: normal.posterior_distribution(theta, 1.1))
    # Another tolerance is another posterior, and this many draws can tell.
    assert not follows(draws, lambda theta: normal.posterior_distribution(theta, 2.0))


def test_every_form_of_the_simulator_gives_the_same():
    theta, observed = np.array([0.7]), np.array([normal.OBSERVED])

    def rng():
        return Key(seed=1, chain=2, number=3).generator()

    simulated = normal.simulate(theta, rng())
    assert simulated.shape == (1,)
    assert simulated == normal.simulate.py_func(theta, rng())
    distance = abs(simulated[0] - 3.0)
    assert normal.distance(simulated, observed) == distance
    assert normal.simulated_distance(theta, rng(), 0.1) == distance
    assert normal.simulated_distance.py_func(theta, rng(), 0.1) == distance


def test_prior():
    prior = normal.prior()
    assert prior.names == ("theta",)
    assert prior.marginals[0].var() == pytest.approx(5.0)
