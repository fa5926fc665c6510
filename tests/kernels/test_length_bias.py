"""Whatever a kernel does, slow states get no more weight for being slow: 20 : 1 on 3 processors.

The target is standard normal; moves from its right half take twenty times as long, in exponential
times. Runs begin in the law that should be stationary, and waiting chains must still be in it.
"""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.backends import VirtualTime
from aptmc.kernels import Archive, Metric, Students
from aptmc.kernels.students import Mixed
from tests.support.sessions import make_session
from tests.support.statistical import FALSE_ALARM, follows

SLOW, FAST, PROCESSORS, RUNS = 20.0, 1.0, 3, 300
LADDER = aptmc.Ladder.powers([1.0, 0.6, 0.35, 0.2])


@njit
def log_density(theta):
    return -0.5 * theta[0] * theta[0]


@njit
def gradient(theta):
    return -theta


@njit
def hold(theta, rung, rng):
    return rng.exponential(20.0 if theta[0] > 0.0 else 1.0)


PROBLEM = aptmc.Power(log_density, lambda rng: rng.standard_normal(), gradient=gradient)
TWO = Mixed(np.array([0.4, 0.6]), np.array([[-1.0], [1.0]]), np.array([[[0.5]], [[2.0]]]), 6.0)
METRIC = Metric(np.ones((4, 1, 1)), np.full(4, 0.9))
POINTS = np.random.default_rng(1).standard_normal((4, 20, 1))
KERNELS = {
    "EllipticalSlice": aptmc.EllipticalSlice(Students.of([TWO])),
    "DifferentialEvolution": aptmc.DifferentialEvolution(Archive(POINTS, np.full(4, 1.7))),
    "Hmc": aptmc.Hmc(METRIC, leaps=3),
    "Nuts": aptmc.Nuts(METRIC, doublings=4),
    "Mala": aptmc.Mala(METRIC),
}


def waiting_states(schedule, kernel):
    """What waiting chains hold after a while, by rung, over independent runs."""
    held = [[] for _ in LADDER.levels]
    rng = np.random.default_rng(1)
    backend = VirtualTime(PROCESSORS, hold)
    for seed in range(RUNS):
        session, _ = make_session(
            schedule,
            ladder=LADDER,
            pools=aptmc.Shared(2),
            processors=PROCESSORS,
            seed=seed,
            problem=PROBLEM,
            kernel=kernel,
        )
        machine = session.machine
        order = rng.permutation(machine.rung.size)
        machine.queue[0] = order
        for place, chain in enumerate(order):
            size = rng.standard_normal() / np.sqrt(LADDER.levels[machine.rung[chain]])
            if place < PROCESSORS:  # in flight: slow ones are the more
                size = abs(size) * (1.0 if rng.random() < SLOW / (SLOW + FAST) else -1.0)
            machine.states[chain] = [size, -0.5 * size * size, 0.0]
        backend.run(session, 24.0)
        for chain in np.flatnonzero(machine.waiting):
            held[machine.rung[chain]].append(machine.states[machine.replica[chain], 0])
    return held


def in_law(held) -> bool:
    checks = []
    for beta, values in zip(LADDER.levels, held, strict=True):
        checks.append(follows(values, stats.norm(0, beta**-0.5).cdf))
        right = int((np.array(values) > 0).sum())
        checks.append(stats.binomtest(right, len(values), 0.5).pvalue > FALSE_ALARM)
    return all(checks)


# To compile one takes seconds, with gradients many.
AT_FIRST = {"EllipticalSlice"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in AT_FIRST else [pytest.mark.validation])
        for name in KERNELS
    ],
)
def test_slow_states_get_no_more_weight(name):
    assert in_law(waiting_states(aptmc.Anytime(every=1.0), KERNELS[name]))


def test_exchanging_chains_in_flight_would_be_seen():
    assert not in_law(waiting_states(aptmc.Uncorrected(every=1.0), KERNELS["EllipticalSlice"]))
