"""A likelihood-free problem: theta ~ N(0, 5), and three observations from N(theta, 1)."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from scipy import stats

import aptmc

PRIOR = aptmc.Prior(theta=stats.norm(0, math.sqrt(5)))
OBSERVED = np.array([3.0, 2.0, 4.0])
RUNGS = 3


@njit
def simulate(theta, rng):
    return theta[0] + rng.standard_normal(3)


@njit
def distance(simulated, observed):
    return np.abs(simulated - observed).max()


@njit
def simulated_distance(theta, rng, tolerance):
    """The same as simulate and distance, with the same random numbers."""
    x = theta[0] + rng.standard_normal(3)
    return max(abs(x[0] - 3.0), abs(x[1] - 2.0), abs(x[2] - 4.0))


@njit
def mean_and_range(data):
    return np.array([data.mean(), data.max() - data.min()])


def sample(problem, **changes):
    settings = {
        "budget": 3000,
        "ladder": aptmc.Ladder.tolerances([0.8, 2.0, math.inf]),
        "kernel": aptmc.OneHit(1.0, cap=20),
        "schedule": aptmc.Anytime(every=10),
        "on": aptmc.VirtualTime(workers=2),
        "pools": aptmc.Shared(chains_per_rung=2),
        "keep": "all",
        "seed": 1,
    }
    return aptmc.sample(problem, **(settings | changes))


def all_draws(run):
    return [draws for rung in range(RUNGS) for draws in run.chains(rung)]


def assert_same(first, second, columns=slice(None)):
    """Bit for bit, all that was recorded."""
    for mine, yours in zip(all_draws(first), all_draws(second), strict=True):
        assert mine.time.size > 10
        np.testing.assert_array_equal(mine.state[:, columns], yours.state[:, columns])
        for left, right in zip(mine[1:], yours[1:], strict=True):
            np.testing.assert_array_equal(left, right)
    assert (first.simulations, first.failures) == (second.simulations, second.failures)


def with_data(function=simulate, *, plain=False, **options):
    options = {"observed": OBSERVED, "distance": distance} | options
    if plain:
        function = getattr(function, "py_func", function)
        for name in {"distance", "summary"} & set(options):
            options[name] = getattr(options[name], "py_func", options[name])
    return aptmc.Abc(function, PRIOR, **options)


COMPILED = with_data()


KEPT = with_data(keep_simulated=True, plain=True)
