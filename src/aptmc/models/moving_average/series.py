"""The series, how two of them are compared, and the data."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from aptmc.compiled import Floats
from aptmc.keys import Key
from aptmc.problem import Prior

LENGTH = 100
TRUTH: Floats = np.array([0.6, 0.2])
TRUTH.setflags(write=False)


@njit(nogil=True)
def is_identifiable(theta: Any) -> bool:
    """Whether a point lies inside the triangle.

    >>> is_identifiable(np.array([0.6, 0.2])), is_identifiable(np.array([1.3, 0.2]))
    (True, False)
    """
    return bool(abs(theta[0]) < 1.0 + theta[1] and theta[1] < 1.0)


@njit(nogil=True)
def simulate(theta: Any, rng: Any) -> Any:
    """A series of 100 values of the moving average with these parameters."""
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
# Three values in a row that say something about the parameters.
SHORT: Floats = OBSERVED[3:6]


@njit(nogil=True)
def autocovariance(series: Any, lag: int) -> float:
    """The mean product of values `lag` apart; the model's mean is 0, and known."""
    total = 0.0
    for t in range(lag, series.size):
        total += series[t] * series[t - lag]
    return float(total / series.size)


# Those of the observed series, at lags 1 and 2.
SUMMARIES = (
    autocovariance.py_func(OBSERVED, 1),
    autocovariance.py_func(OBSERVED, 2),
)


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
    first = autocovariance(simulated, 1) - SUMMARIES[0]
    second = autocovariance(simulated, 2) - SUMMARIES[1]
    return math.sqrt(first * first + second * second)


@njit(nogil=True)
def short_simulated_distance(theta: Any, rng: Any, tolerance: float) -> float:
    """The Euclidean distance of three simulated values from `SHORT`; like `simulated_distance`."""
    if not is_identifiable(theta):
        return math.inf
    squares = 0.0
    before_last = rng.standard_normal()
    last = rng.standard_normal()
    for t in range(SHORT.size):
        now = rng.standard_normal()
        squares += (now + theta[0] * last + theta[1] * before_last - SHORT[t]) ** 2
        before_last = last
        last = now
    return math.sqrt(squares)


def prior() -> Prior:
    """Uniform on the rectangle around the triangle: `simulated_distance` leaves only the latter."""
    from scipy import stats

    return Prior(theta1=stats.uniform(-2.0, 4.0), theta2=stats.uniform(-1.0, 2.0))
