"""The paper's second experiment (section 5.2): the mean of a normal distribution, likelihood-free.

One observation y = 3 of N(theta, 1), and the prior N(0, 5) on theta. The posterior at every
tolerance is known: a simulation x that hits the ball leaves theta with N(5 x / 6, 5 / 6), so the
posterior mixes these normals over x from N(0, 6), truncated to the ball.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from aptmc.compiled import Floats
from aptmc.errors import InputError
from aptmc.problem import Prior

OBSERVED = 3.0
SIGMA = 1.0
PRIOR_VARIANCE = 5.0

_SHRINKAGE = PRIOR_VARIANCE / (PRIOR_VARIANCE + SIGMA**2)
_CONDITIONAL_SD = math.sqrt(_SHRINKAGE) * SIGMA
_MARGINAL_SD = math.sqrt(PRIOR_VARIANCE + SIGMA**2)
# Where the marginal of x has no mass that a float could show.
_REACH = 10.0 * _MARGINAL_SD
# Enough for rounding error at every tolerance: the integrands are normal densities.
_NODES = 200


@njit(nogil=True)
def simulate(theta: Any, rng: Any) -> Any:
    """One observation, as an array of one number."""
    simulated = np.empty(1)
    simulated[0] = theta[0] + SIGMA * rng.standard_normal()
    return simulated


@njit(nogil=True)
def distance(simulated: Any, observed: Any) -> float:
    """How far two observations lie apart, each an array of one number."""
    return abs(float(simulated[0] - observed[0]))


@njit(nogil=True)
def simulated_distance(theta: Any, rng: Any, tolerance: float) -> float:
    """The distance of one simulation from the observation; there is nothing to stop early."""
    return abs(float(theta[0] + SIGMA * rng.standard_normal() - OBSERVED))


def prior() -> Prior:
    """The prior on theta: normal with mean 0 and variance 5."""
    from scipy import stats

    return Prior(theta=stats.norm(0.0, math.sqrt(PRIOR_VARIANCE)))


def posterior_density(theta: npt.ArrayLike, tolerance: float) -> npt.NDArray[np.float64]:
    """The exact posterior density at a tolerance; tolerance 0 is the posterior given y itself.

    >>> float(posterior_density(2.5, 0.0).round(6))
    0.437019
    """
    nodes, weights = _simulations_inside(tolerance)
    scores = (np.asarray(theta, dtype=np.float64)[..., None] - _SHRINKAGE * nodes) / _CONDITIONAL_SD
    constant = _CONDITIONAL_SD * math.sqrt(2.0 * math.pi)
    return np.asarray(np.exp(-0.5 * scores**2) @ weights / constant)


def posterior_distribution(theta: npt.ArrayLike, tolerance: float) -> npt.NDArray[np.float64]:
    """The exact posterior distribution function at a tolerance.

    >>> float(posterior_distribution(2.5, 0.0).round(12))
    0.5
    """
    from scipy import special

    nodes, weights = _simulations_inside(tolerance)
    scores = (np.asarray(theta, dtype=np.float64)[..., None] - _SHRINKAGE * nodes) / _CONDITIONAL_SD
    return np.asarray(special.ndtr(scores) @ weights)


def posterior_mean(tolerance: float) -> float:
    """The exact posterior mean at a tolerance.

    >>> round(posterior_mean(1.0), 6)
    2.366296
    """
    nodes, weights = _simulations_inside(tolerance)
    return float(_SHRINKAGE * (nodes @ weights))


def posterior_sd(tolerance: float) -> float:
    """The exact posterior standard deviation at a tolerance.

    >>> round(posterior_sd(1.0), 6)
    1.024332
    """
    nodes, weights = _simulations_inside(tolerance)
    spread = (nodes - nodes @ weights) ** 2 @ weights
    return math.sqrt(_CONDITIONAL_SD**2 + _SHRINKAGE**2 * float(spread))


def _simulations_inside(tolerance: float) -> tuple[Floats, Floats]:
    """Points x inside the ball, and the weights of their integral over the marginal of x."""
    if not tolerance >= 0.0:
        raise InputError(f"tolerance must be 0 or larger, got {tolerance!r}")
    lower = max(OBSERVED - tolerance, -_REACH)
    upper = min(OBSERVED + tolerance, _REACH)
    points, weights = np.polynomial.legendre.leggauss(_NODES)
    nodes = 0.5 * (lower + upper) + 0.5 * (upper - lower) * points
    weights = weights * np.exp(-0.5 * (nodes / _MARGINAL_SD) ** 2)
    return nodes, weights / weights.sum()
