"""Problems with known means, on ladders, schedules and pools of all kinds, in virtual time."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from numba import njit
from scipy import integrate, stats

import aptmc


@njit
def two_modes(theta: Any) -> float:
    """Log likelihood of 0.7 N(3, 0.5) + 0.3 N(-3, 0.5)."""
    right, left = -2.0 * (theta[0] - 3.0) ** 2, -2.0 * (theta[0] + 3.0) ** 2
    most = max(right, left)
    return float(most + math.log(0.7 * math.exp(right - most) + 0.3 * math.exp(left - most)))


@njit
def normal(theta: Any) -> float:
    """Log density of standard deviations 1 and 2."""
    return float(-0.5 * theta[0] ** 2 - 0.125 * theta[1] ** 2)


@njit
def simulated_distance(theta: Any, rng: Any, tolerance: float) -> float:
    """Of one normal draw from a 2 that was observed."""
    return float(abs(theta[0] + rng.normal() - 2.0))


@njit
def exponential(theta: Any, rung: int, rng: Any) -> float:
    """Hold times that know nothing of parameters."""
    return rng.exponential(1.0)  # type: ignore[no-any-return]


@njit
def slow_on_the_right(theta: Any, rung: int, rng: Any) -> float:
    """Moves from the right mode take five times as long."""
    return rng.gamma(2.0, 0.5) * (1.0 if theta[0] < 0.0 else 5.0)  # type: ignore[no-any-return]


def posterior_mean(tolerance: float) -> float:
    """Of the simulator, under its prior."""

    def weight(mean: float) -> float:
        near = stats.norm.cdf([2.0 - tolerance - mean, 2.0 + tolerance - mean])
        return float(stats.norm.pdf(mean, 0.0, 3.0) * (near[1] - near[0]))

    total = integrate.quad(weight, -15.0, 20.0)[0]
    return float(integrate.quad(lambda mean: mean * weight(mean), -15.0, 20.0)[0] / total)


class Setting(NamedTuple):
    """A problem, its answer, and how it is sampled."""

    problem: aptmc.Problem
    mean: float  # of the first parameter, as it is
    settings: dict[str, Any]


TWO = aptmc.Tempered(two_modes, aptmc.Prior(x=stats.uniform(-20.0, 40.0)))
NORMAL = aptmc.Power(normal, start={"x": 0.0, "y": 0.0})
ABC = aptmc.Abc.early(simulated_distance, aptmc.Prior(x=stats.norm(0.0, 3.0)))
WALK = aptmc.RandomWalk(0.7)
POWERS = aptmc.Ladder.powers([1, 0.3, 0.1, 0.03, 0])
TOLERANCES = aptmc.Ladder.tolerances([0.3, 0.8, 2.0, math.inf])
FEW = aptmc.Ladder.powers([1, 0.5, 0.25])


def of(
    problem: aptmc.Problem,
    mean: float,
    ladder: aptmc.Ladder,
    kernel: aptmc.Kernel,
    every: float,
    workers: int,
    budget: float,
    *,
    chains: int = 1,
    hold: Any = exponential,
    **more: Any,
) -> Setting:
    """A setting with deadlines and one queue, unless something else is said."""
    pools = aptmc.Shared(chains)
    schedule, on = aptmc.Anytime(every=every), aptmc.VirtualTime(workers, hold)
    settings = {"ladder": ladder, "kernel": kernel, "schedule": schedule, "pools": pools, "on": on}
    return Setting(problem, mean, settings | {"budget": budget} | more)


def abc(
    tolerance: float,
    ladder: aptmc.Ladder,
    scale: float,
    every: float,
    workers: int,
    budget: float,
    chains: int,
) -> Setting:
    """The same for the simulator."""
    mean, kernel = posterior_mean(tolerance), aptmc.OneHit(scale)
    return of(ABC, mean, ladder, kernel, every, workers, budget, chains=chains, hold=None)


MIDDLE = 0.7 * 3.0 - 0.3 * 3.0
SETTINGS = {
    "two modes": of(TWO, MIDDLE, POWERS, WALK, 3, 2, 6000),
    "two modes, often": of(TWO, MIDDLE, POWERS, WALK, 0.3, 2, 6000),
    "two modes, 4 chains": of(TWO, MIDDLE, POWERS, WALK, 1, 8, 3000, chains=4),
    "two modes, 16 chains": of(TWO, MIDDLE, POWERS, WALK, 1, 16, 1500, chains=16),
    "two modes, one slow": of(
        TWO, MIDDLE, POWERS, WALK, 1, 8, 6000, chains=4, hold=slow_on_the_right
    ),
    "two modes, partitioned": of(TWO, MIDDLE, POWERS, WALK, 1, 2, 6000, pools=aptmc.Partitioned()),
    "two modes, paired": of(TWO, MIDDLE, POWERS, WALK, 1, 5, 6000, pools=aptmc.Paired()),
    "two modes, synchronous": of(
        TWO, MIDDLE, POWERS, WALK, 1, 4, 6000, chains=2, schedule=aptmc.Synchronous(moves=1)
    ),
    "normal": of(NORMAL, 0.0, FEW, WALK, 2, 1, 4000),
    "normal, 4 chains": of(NORMAL, 0.0, FEW, WALK, 0.5, 4, 2000, chains=4),
    "normal, one rung": of(NORMAL, 0.0, aptmc.Ladder.powers([1]), WALK, 5, 1, 3000, chains=4),
    "simulator": abc(0.3, TOLERANCES, 2.0, 5, 2, 20_000, 1),
    "simulator, 4 chains": abc(0.3, TOLERANCES, 2.0, 5, 4, 10_000, 4),
    "simulator, often": abc(
        0.1, aptmc.Ladder.tolerances([0.1, *TOLERANCES.levels]), 1.0, 1, 3, 5000, 2
    ),
}
