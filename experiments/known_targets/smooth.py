"""Smooth targets of many dimensions: normal ones that are long and narrow, a logistic regression.

There is one mode, and no need to temper: what counts is how well chains move.
"""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from scipy import optimize, stats

import aptmc
from experiments.known_targets.quantities import Floats, Quantity, mean_of, sd_of
from experiments.known_targets.target import Target

CONDITION = 1000.0  # the largest variance over the smallest
COEFFICIENTS, ROWS, PRIOR_SD = 25, 500, 2.0
IMPORTANCE_DRAWS, FREEDOM = 200_000, 30.0


@cache
def covariance(dimension: int) -> Floats:
    """Variances from 0.001 to 1, in directions that have nothing to do with the axes."""
    rng = np.random.default_rng(dimension)
    axes, _ = np.linalg.qr(rng.standard_normal((dimension, dimension)))
    return np.asarray((axes * np.geomspace(1.0 / CONDITION, 1.0, dimension)) @ axes.T)


def normal_problem(dimension: int) -> aptmc.Power:
    """A normal density, from a start that is no typical one, as one vector variable."""
    precision = np.linalg.inv(covariance(dimension))

    @njit(nogil=True)
    def log_density(theta: Any) -> float:
        return float(-0.5 * np.dot(theta, np.dot(precision, theta)))

    return aptmc.Power(log_density, start={"x": np.ones(dimension)})


def normal_quantities(dimension: int) -> tuple[Quantity, ...]:
    """Means and standard deviations of all parameters."""
    sds = np.sqrt(np.diag(covariance(dimension)))
    means = [mean_of(f"x[{i}]", i, 0.0) for i in range(dimension)]
    return (*means, *(sd_of(f"x[{i}]", i, 0.0, float(sds[i])) for i in range(dimension)))


class Tosses(NamedTuple):
    """Data of a logistic regression."""

    factors: Floats
    outcomes: Floats


@cache
def tosses() -> Tosses:
    """Outcomes whose coefficients are standard normal."""
    rng = np.random.default_rng(1)
    factors = rng.standard_normal((ROWS, COEFFICIENTS))
    chances = 1.0 / (1.0 + np.exp(-factors @ rng.standard_normal(COEFFICIENTS)))
    return Tosses(factors, (rng.random(ROWS) < chances).astype(float))


def logistic_problem() -> aptmc.Tempered:
    """A logistic regression."""
    factors, outcomes = tosses()

    @njit(nogil=True)
    def log_likelihood(theta: Any) -> float:
        odds = np.dot(factors, theta)
        total = 0.0
        for i in range(odds.size):
            total += outcomes[i] * odds[i]
            total -= odds[i] if odds[i] > 30.0 else math.log1p(math.exp(odds[i]))
        return total

    prior = aptmc.Prior(beta=aptmc.iid(stats.norm(0, PRIOR_SD), COEFFICIENTS))
    return aptmc.Tempered(log_likelihood, prior)


def logistic_quantities() -> tuple[Quantity, ...]:
    """By importance sampling from Student's distribution around the mode."""
    factors, outcomes = tosses()

    def log_posterior(theta: Floats) -> Floats:
        odds = theta @ factors.T
        total = odds @ outcomes - np.logaddexp(0.0, odds).sum(axis=-1)
        return np.asarray(total - 0.5 * (theta**2).sum(axis=-1) / PRIOR_SD**2)

    mode = optimize.minimize(lambda theta: -log_posterior(theta), np.zeros(COEFFICIENTS)).x
    chances = 1.0 / (1.0 + np.exp(-factors @ mode))
    precision = factors.T @ (factors * (chances * (1.0 - chances))[:, None])
    precision += np.eye(COEFFICIENTS) / PRIOR_SD**2
    rng = np.random.default_rng(2)
    proposal = stats.multivariate_t(mode, np.linalg.inv(precision), FREEDOM, seed=rng)
    draws = proposal.rvs(IMPORTANCE_DRAWS)
    logs = log_posterior(draws) - proposal.logpdf(draws)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    worth = 1.0 / float((weights**2).sum())
    means = weights @ draws
    sds = np.sqrt(weights @ (draws - means) ** 2)
    quantities = []
    for place in range(COEFFICIENTS):
        mean, sd = float(means[place]), float(sds[place])
        quantities += [
            mean_of(f"beta[{place}]", place, mean, sd / math.sqrt(worth)),
            sd_of(f"beta[{place}]", place, mean, sd, sd / math.sqrt(2.0 * worth)),
        ]
    return tuple(quantities)


TARGETS = (
    Target("logistic 25", logistic_problem, logistic_quantities, budget=1e5),
    Target("normal 50", partial(normal_problem, 50), partial(normal_quantities, 50), budget=2.5e5),
    Target("normal 100", partial(normal_problem, 100), partial(normal_quantities, 100), budget=5e5),
)
