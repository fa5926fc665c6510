"""Runs in virtual time whose errors are known, to be held against the errors that they report."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from scipy import integrate, stats

import aptmc
from aptmc.diagnostics import effective_sample_size, summarise


@njit
def two_modes(theta):
    right, left = -2.0 * (theta[0] - 3.0) ** 2, -2.0 * (theta[0] + 3.0) ** 2
    most = max(right, left)
    return most + math.log(0.7 * math.exp(right - most) + 0.3 * math.exp(left - most))


@njit
def normal(theta):
    return -0.5 * theta[0] ** 2 - 0.125 * theta[1] ** 2


@njit
def simulated_distance(theta, rng, tolerance):
    return abs(theta[0] + rng.normal() - 2.0)


@njit
def exponential(theta, rung, rng):
    return rng.exponential(1.0)


@njit
def slow_on_the_right(theta, rung, rng):
    return rng.gamma(2.0, 0.5) * (1.0 if theta[0] < 0.0 else 5.0)


def posterior_mean(tolerance):
    def weight(mean):
        near = stats.norm.cdf([2.0 - tolerance - mean, 2.0 + tolerance - mean])
        return stats.norm.pdf(mean, 0.0, 3.0) * (near[1] - near[0])

    total = integrate.quad(weight, -15.0, 20.0)[0]
    return integrate.quad(lambda mean: mean * weight(mean), -15.0, 20.0)[0] / total


class Setting(NamedTuple):
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
    problem, mean, ladder, kernel, every, workers, budget, *, chains=1, hold=exponential, **more
):
    pools = aptmc.Shared(chains)
    schedule, on = aptmc.Anytime(every=every), aptmc.VirtualTime(workers, hold)
    settings = {"ladder": ladder, "kernel": kernel, "schedule": schedule, "pools": pools, "on": on}
    return Setting(problem, mean, settings | {"budget": budget} | more)


def abc(tolerance, ladder, scale, every, workers, budget, chains):
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


class Calibration(NamedTuple):
    """Root mean squares of errors, in units of what was reported: 1 is right."""

    reported: float
    by_chain: float  # where the autocorrelation of chains on their own is reported
    error: float  # of either, one standard error


def calibration(setting: Setting, runs: int) -> Calibration:
    """Over so many runs."""
    reported, by_chain = np.empty(runs), np.empty(runs)
    for seed in range(runs):
        run = aptmc.sample(setting.problem, seed=1000 + seed, progress=False, **setting.settings)
        chains, times = run.series("x"), [draws.time for draws in run.chains()]
        row = summarise({"x": chains}, elapsed=1.0, times=times)["x"]
        if seed == 0:
            assert row.mcse == run.summary()["x"].mcse
        alone = row.sd / math.sqrt(effective_sample_size(chains, mean=row.mean))
        reported[seed] = (row.mean - setting.mean) / row.mcse
        by_chain[seed] = (row.mean - setting.mean) / alone
    roots = [float(np.sqrt(np.mean(errors**2))) for errors in (reported, by_chain)]
    return Calibration(*roots, error=1.0 / math.sqrt(2.0 * runs))
