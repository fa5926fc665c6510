"""Sets of draws at one moment, of chains whose moves take twenty times as long in one half."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from tests.backends.contract import begin, eventually

CHAINS, WORKERS, RUNS = 8, 3, 60
SWEEPS = 30
SLOW = 20.0
MOST_ERRORS = 4.0  # one false alarm in 16,000


@njit
def flat(theta):
    return 0.0


@njit
def hold(theta, rung, rng):
    return rng.exponential(SLOW if theta[0] > 0.0 else 1.0)


PROBLEM = aptmc.Tempered(flat, aptmc.Prior(x=stats.uniform(-1, 2)))
SETTINGS = {
    "ladder": [1],
    "kernel": aptmc.RandomWalk(1.0),
    "pools": aptmc.Shared(CHAINS),
    "progress": False,
}


@pytest.fixture(scope="module")
def runs():
    """Runs that end at a moment that has nothing to do with their moves."""
    budget = SWEEPS * CHAINS * (SLOW + 1.0) / 2.0 / WORKERS
    on = aptmc.VirtualTime(WORKERS, hold)
    return [
        aptmc.sample(
            PROBLEM, budget=budget, on=on, schedule=aptmc.Anytime(every=50.0), seed=seed, **SETTINGS
        )
        for seed in range(RUNS)
    ]


def away(shares, each):
    """Of slow states from one half, in standard errors of independent draws."""
    return (np.mean(shares) - 0.5) / math.sqrt(0.25 / (len(shares) * each))


def test_a_snapshot_has_no_bias(runs):
    snapshots = [run.snapshot() for run in runs]
    assert all(one["x"].size == CHAINS - WORKERS == CHAINS - one.attrs["in_flight"]
               for one in snapshots)  # fmt: skip
    shares = [(one["x"] > 0.0).mean().item() for one in snapshots]
    assert abs(away(shares, CHAINS - WORKERS)) < MOST_ERRORS


def test_with_those_in_flight_it_would_have_one(runs):
    """The control: all chains at that moment."""
    shares = [(run._machine.states[:, 0] > 0.0).mean() for run in runs]
    assert away(shares, CHAINS) > MOST_ERRORS


def log_likelihood(theta):
    return -0.5 * float(theta @ theta)


def test_of_a_run_under_way():
    problem = aptmc.Tempered(log_likelihood, aptmc.Prior(beta=stats.norm(np.zeros(2), 3.0)))
    with begin(problem, ladder=[1], pools=aptmc.Shared(CHAINS)) as handle:
        eventually(lambda: handle.inspect().run.completions >= 20 * CHAINS)
        found = handle.snapshot()
    assert found["beta"].dims[0] == "chain"
    assert found["beta"].shape == (CHAINS - found.attrs["in_flight"], 2)
    assert np.isfinite(found["beta"].values).all()


def test_there_is_none_before_a_run_has_settled():
    short = aptmc.sample(
        PROBLEM, budget=1.0, on=aptmc.VirtualTime(WORKERS, hold), warmup=0.5,
        schedule=aptmc.Anytime(every=50.0), seed=1, **SETTINGS,
    )  # fmt: skip
    with pytest.raises(aptmc.InputError, match="has not settled"):
        short.snapshot()
