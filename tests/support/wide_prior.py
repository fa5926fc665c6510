"""A simulator of which everything is known: theta ~ N(0, 5), x ~ N(theta, 1), distance |x - 3|."""

from __future__ import annotations

import math
from typing import Any

from scipy import integrate, stats

import aptmc
from tests.support.problems import normal_distance as simulated_distance

PRIOR = aptmc.Prior(theta=stats.norm(0, math.sqrt(5)))
MARGINAL = stats.norm(0, math.sqrt(6))  # of x


PROBLEM = aptmc.Abc.early(simulated_distance, PRIOR)
ON = aptmc.VirtualTime(2)


def share(tolerance: float) -> float:
    """Of the prior's simulations within a tolerance."""
    return float(MARGINAL.cdf(3.0 + tolerance) - MARGINAL.cdf(3.0 - tolerance))


def posterior_mean(tolerance: float) -> float:
    """Of theta, given that x is within a tolerance of 3: a sixth of x is noise."""

    def weighted(x: float) -> float:
        return 5.0 / 6.0 * x * MARGINAL.pdf(x)

    return integrate.quad(weighted, 3.0 - tolerance, 3.0 + tolerance)[0] / share(tolerance)


def sample(problem: aptmc.Abc = PROBLEM, **changes: Any) -> aptmc.Run:
    """A short run in virtual time, in which a simulation takes one unit."""
    settings: dict[str, Any] = {"budget": 4_000, "on": ON, "seed": 1, "progress": False}
    return aptmc.sample(problem, **(settings | changes))


BY_HAND: dict[str, Any] = {
    "ladder": aptmc.Ladder.tolerances([0.5, 1.5, 4.0]),
    "kernel": aptmc.OneHit(2.0),
    "schedule": aptmc.Anytime(every=5.0),
    "pools": aptmc.Shared(2),
}
