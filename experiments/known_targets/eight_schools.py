"""Eight schools (Rubin 1981), not centred: `eight_schools_noncentered` of posteriordb."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from scipy import stats

import aptmc
from experiments.known_targets.quantities import Floats, Quantity, mean_of, probability_of, sd_of
from experiments.known_targets.target import Target

EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


@njit(nogil=True)
def log_likelihood(theta: Any) -> float:
    """Of the mean of schools, how far they spread, and where each is among them."""
    total = 0.0
    for school in range(EFFECTS.size):
        away = EFFECTS[school] - theta[0] - theta[1] * theta[2 + school]
        total -= 0.5 * (away / ERRORS[school]) ** 2
    return total


def problem() -> aptmc.Tempered:
    """With the priors of posteriordb."""
    prior = aptmc.Prior(
        mu=stats.norm(0, 5),
        tau=stats.halfcauchy(0, 5),
        school=aptmc.iid(stats.norm(0, 1), EFFECTS.size),
    )
    return aptmc.Tempered(log_likelihood, prior)


def quantities() -> tuple[Quantity, ...]:
    """By quadrature over mean and spread; where the schools are has a closed form given these."""
    mu = np.linspace(-25.0, 35.0, 1201)[:, None]
    # Evenly in the cube root: dense where the posterior is, and far into the tail.
    root = np.linspace(0.0, 10.0, 2001)[1:] - 0.0025
    tau = root**3
    log_density = stats.norm(0, 5).logpdf(mu) + stats.halfcauchy(0, 5).logpdf(tau)
    for effect, error in zip(EFFECTS, ERRORS, strict=True):
        log_density = log_density + stats.norm(mu, np.hypot(error, tau)).logpdf(effect)
    weights = np.exp(log_density - log_density.max()) * root**2
    weights /= weights.sum()
    mean = float((weights * mu).sum())
    sd = float((weights * (mu - mean) ** 2).sum()) ** 0.5
    first = tau * (EFFECTS[0] - mu) / (tau**2 + ERRORS[0] ** 2)

    def below_five(theta: Floats) -> Any:
        return theta[:, 1] < 5.0

    return (
        mean_of("mu", 0, mean),
        sd_of("mu", 0, mean, sd),
        mean_of("tau", 1, float((weights * tau).sum())),
        probability_of("tau < 5", below_five, float((weights * (tau < 5.0)).sum())),
        mean_of("school[0]", 2, float((weights * first).sum())),
    )


TARGETS = (Target("eight schools", problem, quantities, budget=1e5),)
