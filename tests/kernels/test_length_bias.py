"""Whatever a kernel does, slow states get no more weight for being slow: 20 : 1 on 3 processors.

Targets are the same on both sides of zero; moves from the right one take twenty times as long, in
exponential times. Runs begin in the law that should be stationary, and waiting chains must still be
in it. With chains in flight exchanged they are not, whatever the kernel.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

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


@njit
def hold(theta, rung, rng):
    return rng.exponential(20.0 if theta[0] > 0.0 else 1.0)


class Symmetric(ABC):
    """A problem whose rungs are known, and a ladder for it."""

    ladder: aptmc.Ladder
    compiled: aptmc.Problem
    plain: aptmc.Problem

    @abstractmethod
    def draw(self, level, rng) -> list[float]:
        """A state that is drawn from a rung."""

    @abstractmethod
    def law(self, level):
        """The distribution function of a rung."""


# --- a density ------------------------------------------------------------------------------------


@njit
def log_density(theta):
    return -0.5 * theta[0] * theta[0]


@njit
def gradient(theta):
    return -theta


def at_random(rng):
    return rng.standard_normal()


class Normal(Symmetric):
    ladder = aptmc.Ladder.powers([1.0, 0.6, 0.35, 0.2])
    compiled = aptmc.Power(log_density, at_random, gradient=gradient)
    plain = aptmc.Power(log_density.py_func, at_random, gradient=gradient.py_func)

    def draw(self, level, rng):
        theta = rng.standard_normal() / math.sqrt(level)
        return [theta, -0.5 * theta * theta, 0.0]

    def law(self, level):
        return stats.norm(0.0, level**-0.5).cdf


# --- a simulator ----------------------------------------------------------------------------------


LOG_VOLUME = math.log(2.0 * math.sqrt(2.0 * math.pi))


@njit
def simulated_distance(theta, rng, tolerance):
    return abs(theta[0] + rng.standard_normal())


class Hits(Symmetric):
    """theta ~ N(0, 2^2), x ~ N(theta, 1), and |x| is the distance."""

    ladder = aptmc.Ladder.tolerances([0.5, 1.0, 2.0, 4.0])
    prior = aptmc.Prior(theta=stats.norm(0, 2))
    compiled = aptmc.Abc.early(simulated_distance, prior)
    plain = aptmc.Abc.early(simulated_distance.py_func, prior)

    def draw(self, level, rng):
        while True:
            theta = 2.0 * rng.standard_normal()
            away = abs(theta + rng.standard_normal())
            if away <= level:
                return [theta, away, -0.125 * theta * theta - LOG_VOLUME]

    def law(self, level):
        grid = np.linspace(-14.0, 14.0, 4001)
        hits = stats.norm.cdf(level - grid) - stats.norm.cdf(-level - grid)
        mass = np.cumsum(stats.norm.pdf(grid, 0.0, 2.0) * hits)
        return lambda theta: np.interp(theta, grid, mass / mass[-1])


# --- kernels --------------------------------------------------------------------------------------


def autoregression(level, theta, rng):
    """What a user might write: it leaves the target of the rung as it is."""
    return 0.6 * theta + 0.8 * rng.standard_normal(1) / math.sqrt(level)


TWO = Mixed(np.array([0.4, 0.6]), np.array([[-1.0], [1.0]]), np.array([[[0.5]], [[2.0]]]), 6.0)
METRIC = Metric(np.ones((4, 1, 1)), np.full(4, 0.9))
POINTS = np.random.default_rng(1).standard_normal((4, 20, 1))
OF_DENSITY = {
    "EllipticalSlice": aptmc.EllipticalSlice(Students.of([TWO])),
    "RandomWalk": aptmc.RandomWalk(1.5),
    "Slice": aptmc.Slice(2.0),
    "Mixture": aptmc.Mixture(aptmc.RandomWalk(1.5), aptmc.Slice(2.0), 0.3),
    "DifferentialEvolution": aptmc.DifferentialEvolution(Archive(POINTS, np.full(4, 1.7))),
    "Hmc": aptmc.Hmc(METRIC, leaps=3),
    "Nuts": aptmc.Nuts(METRIC, doublings=4),
    "Mala": aptmc.Mala(METRIC),
    "Mala, search": aptmc.Mala(METRIC, search=True),
    "OwnMove": aptmc.OwnMove(autoregression),  # called from Python
}
OF_SIMULATOR = {"OneHit": aptmc.OneHit(1.5)}
WAYS = [
    *[(name, kernel, Normal(), True) for name, kernel in OF_DENSITY.items()],
    *[(f"{name}, plain", kernel, Normal(), False) for name, kernel in OF_DENSITY.items()
      if kernel.compiles],
    *[(name, kernel, Hits(), True) for name, kernel in OF_SIMULATOR.items()],
    *[(f"{name}, plain", kernel, Hits(), False) for name, kernel in OF_SIMULATOR.items()],
]  # fmt: skip
# To compile one takes seconds, with gradients many.
AT_FIRST = "EllipticalSlice"


def waiting_states(schedule, model, problem, kernel):
    """What waiting chains hold after a while, by rung, over independent runs."""
    held = [[] for _ in model.ladder.levels]
    rng = np.random.default_rng(1)
    backend = VirtualTime(PROCESSORS, hold)
    for seed in range(RUNS):
        session, _ = make_session(
            schedule,
            ladder=model.ladder,
            pools=aptmc.Shared(2),
            processors=PROCESSORS,
            seed=seed,
            problem=problem,
            kernel=kernel,
        )
        machine = session.machine
        order = rng.permutation(machine.rung.size)
        machine.queue[0] = order
        for place, chain in enumerate(order):
            state = model.draw(model.ladder.levels[machine.rung[chain]], rng)
            if place < PROCESSORS:  # in flight: slow ones are the more
                state[0] = abs(state[0]) * (1.0 if rng.random() < SLOW / (SLOW + FAST) else -1.0)
            machine.states[chain] = state
        backend.run(session, 24.0)
        for chain in np.flatnonzero(machine.waiting):
            held[machine.rung[chain]].append(machine.states[machine.replica[chain], 0])
    return held


def in_law(model, held) -> bool:
    checks = []
    for level, values in zip(model.ladder.levels, held, strict=True):
        checks.append(follows(values, model.law(level)))
        right = int((np.array(values) > 0).sum())
        checks.append(stats.binomtest(right, len(values), 0.5).pvalue > FALSE_ALARM)
    return all(checks)


@pytest.mark.parametrize(
    ("kernel", "model", "is_compiled"),
    [
        pytest.param(*way, id=name, marks=[] if name == AT_FIRST else [pytest.mark.validation])
        for name, *way in WAYS
    ],
)
def test_slow_states_get_no_more_weight(kernel, model, is_compiled):
    problem = model.compiled if is_compiled else model.plain
    assert in_law(model, waiting_states(aptmc.Anytime(every=1.0), model, problem, kernel))
    wrong = waiting_states(aptmc.Uncorrected(every=1.0), model, problem, kernel)
    assert not in_law(model, wrong)  # chains in flight were exchanged
