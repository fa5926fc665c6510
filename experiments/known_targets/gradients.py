"""The known densities with their gradients, for kernels that follow these.

Likelihoods, priors and quantities are those of `densities`, `smooth` and `eight_schools`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numba import njit

import aptmc
from aptmc.models import gamma_mixture
from experiments.known_targets import densities, eight_schools, smooth
from experiments.known_targets.slopes import slope_of_funnel
from experiments.known_targets.target import Target

Slope = Callable[[Any], Any]


@njit(nogil=True)
def slope_of_twenty_modes(theta: Any) -> Any:
    """Distances from the modes, each by its share of the density."""
    exponents = np.empty(len(densities.MODES))
    for i in range(len(densities.MODES)):
        x, y = theta[0] - densities.MODES[i, 0], theta[1] - densities.MODES[i, 1]
        exponents[i] = -0.5 * (x**2 + y**2) / densities.WIDTH**2
    shares = np.exp(exponents - exponents.max())
    shares /= shares.sum()
    found = np.empty(2)
    found[0] = np.sum(shares * (densities.MODES[:, 0] - theta[0])) / densities.WIDTH**2
    found[1] = np.sum(shares * (densities.MODES[:, 1] - theta[1])) / densities.WIDTH**2
    return found


@njit(nogil=True)
def slope_of_two_modes(theta: Any) -> Any:
    """Distances from both modes, each by its share."""
    place = densities.HALF_DISTANCE / math.sqrt(densities.DIMENSION)
    log_odds = math.log(densities.SMALLER_WEIGHT / (1.0 - densities.SMALLER_WEIGHT))
    for i in range(densities.DIMENSION):
        log_odds -= 2.0 * place * theta[i]
    left = 1.0 / (1.0 + math.exp(min(-log_odds, 700.0)))
    return place * (1.0 - 2.0 * left) - theta


@njit(nogil=True)
def slope_of_coin(theta: Any) -> Any:
    """Of heads and tails with the probability that both share."""
    found = np.zeros(2)
    share = theta[0] * theta[1]
    if 0.0 < share < 1.0:
        by_share = densities.HEADS / share
        by_share -= (densities.TOSSES - densities.HEADS) / (1.0 - share)
        found[0], found[1] = by_share * theta[1], by_share * theta[0]
    return found


@njit(nogil=True)
def slope_of_gamma_mixture(theta: Any) -> Any:
    """Of both components by their shares; nothing where there is no density."""
    found = np.zeros(1)
    x = theta[0]
    if x > 0.0:
        log_odds = 0.0  # of the first component, less the normalisers' part
        slopes = np.empty(2)
        for k in range(2):
            shape, scale = gamma_mixture.SHAPES[k], gamma_mixture.SCALES[k]
            log_density = (shape - 1.0) * math.log(x) - x / scale
            log_density -= math.lgamma(shape) + shape * math.log(scale)
            log_odds += log_density if k == 0 else -log_density
            slopes[k] = (shape - 1.0) / x - 1.0 / scale
        first = 1.0 / (1.0 + math.exp(min(-log_odds, 700.0)))
        found[0] = first * slopes[0] + (1.0 - first) * slopes[1]
    return found


@njit(nogil=True)
def slope_of_eight_schools(theta: Any) -> Any:
    """By the mean of schools, by how far they spread, and by where each is."""
    found = np.zeros(theta.size)
    for school in range(eight_schools.EFFECTS.size):
        away = eight_schools.EFFECTS[school] - theta[0] - theta[1] * theta[2 + school]
        by_mean = away / eight_schools.ERRORS[school] ** 2
        found[0] += by_mean
        found[1] += by_mean * theta[2 + school]
        found[2 + school] = by_mean * theta[1]
    return found


def slope_of_normal(dimension: int) -> Slope:
    """Of the normal density of so many dimensions."""
    precision = np.linalg.inv(smooth.covariance(dimension))

    @njit(nogil=True)
    def slope(theta: Any) -> Any:
        return -np.dot(precision, theta)

    return slope


def slope_of_logistic() -> Slope:
    """Factors by what the outcomes have beyond their chances."""
    factors, outcomes = smooth.tosses()
    by_row = np.ascontiguousarray(factors.T)

    @njit(nogil=True)
    def slope(theta: Any) -> Any:
        odds = np.dot(factors, theta)
        beyond = np.empty(odds.size)
        for i in range(odds.size):
            chance = 1.0 / (1.0 + math.exp(min(-odds[i], 700.0)))
            beyond[i] = outcomes[i] - chance
        return np.dot(by_row, beyond)

    return slope


SLOPES: Mapping[str, Callable[[], Slope]] = {
    "twenty modes": lambda: slope_of_twenty_modes,
    "two modes": lambda: slope_of_two_modes,
    "funnel": lambda: slope_of_funnel,
    "coin": lambda: slope_of_coin,
    "gamma mixture": lambda: slope_of_gamma_mixture,
    "eight schools": lambda: slope_of_eight_schools,
    "logistic 25": slope_of_logistic,
    "normal 50": lambda: slope_of_normal(50),
    "normal 100": lambda: slope_of_normal(100),
}


def along(target: Target) -> Target:
    """The same target, with its gradient."""

    def problem() -> aptmc.Problem:
        found, slope = target.problem, SLOPES[target.name]()
        if isinstance(found, aptmc.Tempered):
            return aptmc.Tempered(found.log_likelihood, found.prior, gradient=slope)
        if isinstance(found, aptmc.Power):
            return aptmc.Power(found.log_density, _start(target), gradient=slope)
        raise TypeError(f"a problem with a density is needed, got {type(found).__name__}")

    return replace(target, make_problem=problem)


def _start(target: Target) -> Any:
    """As the target has it."""
    dimension = target.problem.dimension
    return 2.0 if dimension == 1 else {"x": np.ones(dimension)}


TARGETS = tuple(
    along(target) for target in (*densities.TARGETS, *smooth.TARGETS, *eight_schools.TARGETS)
)
