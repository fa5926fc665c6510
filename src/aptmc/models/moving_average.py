"""A moving average of order 2 (Marin, Pudlo, Robert and Ryder 2012), with its exact posterior.

y_t = e_t + theta1 e_{t-1} + theta2 e_{t-2} with standard normal e. The prior is uniform on the
triangle where the parameters can be told apart: |theta1| < 1 + theta2 and theta2 < 1.

Likelihood-free inference compares the autocovariances at lags 1 and 2, so its target at tolerance 0
is the posterior given these two numbers, which is wider than the posterior given the series.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from aptmc.compiled import Floats, FloatTable
from aptmc.keys import Key
from aptmc.problem import Prior

LENGTH = 100
TRUTH: Floats = np.array([0.6, 0.2])
TRUTH.setflags(write=False)
# Per side of the triangle. The posterior is 0.1 wide, so these points resolve it to rounding error.
_NODES = 64


@njit(nogil=True)
def is_identifiable(theta: Any) -> bool:
    """Whether a point lies inside the triangle.

    >>> is_identifiable(np.array([0.6, 0.2])), is_identifiable(np.array([1.3, 0.2]))
    (True, False)
    """
    return bool(abs(theta[0]) < 1.0 + theta[1] and theta[1] < 1.0)


@njit(nogil=True)
def simulate(theta: Any, rng: Any) -> Any:
    """A series of 100 values."""
    first, second = theta[0], theta[1]
    series = np.empty(LENGTH)
    before_last = rng.standard_normal()
    last = rng.standard_normal()
    for t in range(LENGTH):
        now = rng.standard_normal()
        series[t] = now + first * last + second * before_last
        before_last = last
        last = now
    return series


# Computed rather than written down: the same on every machine, from its key.
OBSERVED: Floats = simulate.py_func(TRUTH, Key(seed=2012, chain=0, number=0).generator())
OBSERVED.setflags(write=False)


@njit(nogil=True)
def autocovariance(series: Any, lag: int) -> float:
    """The mean product of values `lag` apart; the model's mean is 0, and known."""
    total = 0.0
    for t in range(lag, series.size):
        total += series[t] * series[t - lag]
    return float(total / series.size)


_OBSERVED_SUMMARIES = (autocovariance.py_func(OBSERVED, 1), autocovariance.py_func(OBSERVED, 2))


@njit(nogil=True)
def distance(simulated: Any, observed: Any) -> float:
    """The Euclidean distance of two series' autocovariances at lags 1 and 2."""
    first = autocovariance(simulated, 1) - autocovariance(observed, 1)
    second = autocovariance(simulated, 2) - autocovariance(observed, 2)
    return math.sqrt(first * first + second * second)


@njit(nogil=True)
def simulated_distance(theta: Any, rng: Any, tolerance: float) -> float:
    """The distance of one simulation from the observed series, infinite outside the triangle.

    The prior is a product of marginals, which no triangle is. An infinite distance is outside every
    tolerance, so the rest of the rectangle has no posterior mass. Nothing is simulated there.
    """
    if not is_identifiable(theta):
        return math.inf
    simulated = simulate(theta, rng)
    first = autocovariance(simulated, 1) - _OBSERVED_SUMMARIES[0]
    second = autocovariance(simulated, 2) - _OBSERVED_SUMMARIES[1]
    return math.sqrt(first * first + second * second)


def prior() -> Prior:
    """Uniform on the rectangle around the triangle: `simulated_distance` leaves only the latter."""
    from scipy import stats

    return Prior(theta1=stats.uniform(-2.0, 4.0), theta2=stats.uniform(-1.0, 2.0))


def log_likelihood(theta: npt.ArrayLike, series: npt.ArrayLike | None = None) -> float:
    """The exact log likelihood of a series, the observed one by default.

    >>> round(log_likelihood([0.0, 0.0], [1.0, 2.0]), 6)
    -4.337877
    """
    from scipy import linalg

    first, second = np.asarray(theta, dtype=np.float64)
    values = np.asarray(OBSERVED if series is None else series, dtype=np.float64)
    # Row j has the covariances at lag j. The unused corner on the right is ignored.
    band = np.empty((3, values.size))
    band[0] = 1.0 + first**2 + second**2
    band[1] = first * (1.0 + second)
    band[2] = second
    factor = linalg.cholesky_banded(band, lower=True)
    fit = values @ linalg.cho_solve_banded((factor, True), values)
    log_determinant = 2.0 * np.log(factor[0]).sum()
    return float(-0.5 * (fit + log_determinant + values.size * math.log(2.0 * math.pi)))


class Moments(NamedTuple):
    """A mean and a covariance matrix."""

    mean: Floats
    covariance: FloatTable


def posterior_moments() -> Moments:
    """The exact posterior given the observed series, under the uniform prior on the triangle.

    >>> posterior_moments().mean.round(2)
    array([0.67, 0.25])
    """
    points, weights = np.polynomial.legendre.leggauss(_NODES)
    # The triangle's width at theta2 is 2 (1 + theta2).
    second = np.repeat(points, _NODES)
    thetas = np.column_stack([np.tile(points, _NODES) * (1.0 + second), second])
    area = np.repeat(weights, _NODES) * np.tile(weights, _NODES) * (1.0 + second)
    log_heights = np.array([log_likelihood(theta) for theta in thetas])
    mass = area * np.exp(log_heights - log_heights.max())
    mass /= mass.sum()
    mean = mass @ thetas
    centred = thetas - mean
    return Moments(mean, (centred.T * mass) @ centred)
