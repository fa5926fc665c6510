"""Sets of draws at one moment, of chains whose moves take twenty times as long in one half."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from tests.backends.contract import begin, eventually

RUNS = 60
SWEEPS = 30
# Chains and processors: K + 1 chains on one, of which K wait, as Murray and others have it, too.
SIZES = [(8, 3), (9, 1)]
CHAINS = 8
SLOW = 20.0
MOST_ERRORS = 4.0  # one false alarm in 16,000


@njit
def flat(theta):
    return 0.0


@njit
def hold(theta, rung, rng):
    return rng.exponential(SLOW if theta[0] > 0.0 else 1.0)


PROBLEM = aptmc.Tempered(flat, aptmc.Prior(x=stats.uniform(-1, 2)))
SETTINGS = {"ladder": [1], "kernel": aptmc.RandomWalk(1.0), "progress": False}


class Runs(NamedTuple):
    """That ended at a moment that has nothing to do with their moves."""

    chains: int
    workers: int
    runs: list[aptmc.Run]


@pytest.fixture(scope="module", params=SIZES, ids=["three processors", "one processor"])
def found(request):
    chains, workers = request.param
    budget = SWEEPS * chains * (SLOW + 1.0) / 2.0 / workers
    runs = [
        aptmc.sample(
            PROBLEM, budget=budget, on=aptmc.VirtualTime(workers, hold), seed=seed,
            schedule=aptmc.Anytime(every=50.0), pools=aptmc.Shared(chains), **SETTINGS,
        )
        for seed in range(RUNS)
    ]  # fmt: skip
    return Runs(chains, workers, runs)


def away(shares, each):
    """Of slow states from one half, in standard errors of independent draws."""
    return (np.mean(shares) - 0.5) / math.sqrt(0.25 / (len(shares) * each))


def test_a_snapshot_has_no_bias(found):
    snapshots = [run.snapshot() for run in found.runs]
    waiting = found.chains - found.workers
    assert all(one["x"].size == waiting == found.chains - one.attrs["in_flight"]
               for one in snapshots)  # fmt: skip
    shares = [(one["x"] > 0.0).mean().item() for one in snapshots]
    assert abs(away(shares, waiting)) < MOST_ERRORS


def test_those_in_flight_would_bias_it(found):
    """The control: those that a snapshot leaves out, and all chains at that moment."""
    assert away([in_flight_and_slow(run) for run in found.runs], found.workers) > MOST_ERRORS
    if found.workers > 1:  # one in flight among nine is too little to be seen in so many runs
        shares = [(run._machine.states[:, 0] > 0.0).mean() for run in found.runs]
        assert away(shares, found.chains) > MOST_ERRORS


def in_flight_and_slow(run):
    """The share of those in flight that are slow."""
    machine = run._machine
    states = [machine.states[machine.replica[chain], 0] for chain in machine.in_flight]
    return np.mean(np.array(states) > 0.0)


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
        PROBLEM, budget=1.0, on=aptmc.VirtualTime(3, hold), warmup=0.5,
        schedule=aptmc.Anytime(every=50.0), pools=aptmc.Shared(CHAINS), seed=1, **SETTINGS,
    )  # fmt: skip
    with pytest.raises(aptmc.InputError, match="has not settled"):
        short.snapshot()
