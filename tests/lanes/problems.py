"""Problems for lanes whose posteriors are known, and whose slow half takes long."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from scipy import stats

import aptmc
from aptmc.models import gamma_mixture

SLOW = 20.0


@njit
def begin_two_modes(theta, rng, state):
    state[0] = SLOW if theta[0] > 0.0 else 1.0


@njit
def step_two_modes(theta, rng, state, tolerance):
    state[0] -= 1.0
    if state[0] > 0.0:
        return -1.0
    return abs(abs(theta[0]) - 2.0 + rng.standard_normal())


def two_modes():
    """One mode on each side of 0, alike but for the time that they take: 20 to 1."""
    prior = aptmc.Prior(x=stats.uniform(-4, 8))
    return aptmc.Abc.stepwise(begin_two_modes, step_two_modes, prior, state=1)


TWO_MODES = {
    "ladder": aptmc.Ladder.tolerances([0.3, 1.0, 3.0]),
    "kernel": aptmc.OneHit([0.3, 0.6, 3.0]),
}


@njit
def log_mixture(theta):
    return gamma_mixture.log_density(theta)


@njit
def draw_mixture(rng):
    shape, scale = 3.0, 0.15
    if rng.random() < 0.5:
        shape, scale = 20.0, 0.25
    return np.array([rng.standard_gamma(shape) * scale])


@njit
def begin_mixture(theta, rng, state):
    # The paper's hold times with p = 2, in ticks.
    state[0] = math.ceil(rng.standard_gamma(theta[0] ** 2 / 0.15) * 0.15)


@njit
def step_mixture(theta, rng, state, tolerance):
    state[0] -= 1.0
    if state[0] > 0.0:
        return -1.0
    # Closer than the tolerance one time in so many: rungs differ by nothing but that.
    return rng.random()


def mixture():
    """The paper's first experiment: an equal mixture of two gammas, of which one is slow."""
    prior = aptmc.Prior.joint(log_mixture, draw_mixture, x=())
    return aptmc.Abc.stepwise(begin_mixture, step_mixture, prior, state=1)


MIXTURE = {
    "ladder": aptmc.Ladder.tolerances([0.5, 0.7, 1.0]),
    "kernel": aptmc.OneHit([2.0, 3.0, 4.0]),
}


def lanes(count, **options):
    return aptmc.Lanes(count, device="cpu", budget_in="ticks", threads=1, **options)


def sampled(problem, settings, *, budget, count=240, every=50, schedule=aptmc.Anytime, **options):
    return aptmc.sample(
        problem,
        budget=budget,
        schedule=schedule(every=every),
        on=options.pop("on", None) or lanes(count),
        seed=options.pop("seed", 1),
        progress=False,
        **settings,
        **options,
    )


def errors_off(run, of, expected):
    """How many standard errors a mean is off, told by the groups, which are independent."""
    means = np.array([of(series).mean() for series in run.series("x")])
    return (means.mean() - expected) / (means.std(ddof=1) / math.sqrt(means.size))
