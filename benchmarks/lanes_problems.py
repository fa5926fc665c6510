"""Problems for lanes: two whose posteriors are known, and two simulators as users write them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from scipy import stats

import aptmc
from aptmc.models import gamma_mixture

SLOW = 20.0
GOES_ON = -1.0

# --- two modes that differ by nothing but the time that they take: 20 to 1 ------------------------


@njit
def begin_two_modes(theta: Any, rng: Any, state: Any) -> None:
    """So many steps are to be made."""
    state[0] = SLOW if theta[0] > 0.0 else 1.0


@njit
def step_two_modes(theta: Any, rng: Any, state: Any, tolerance: float) -> float:
    """The last step tells the distance."""
    state[0] -= 1.0
    if state[0] > 0.0:
        return GOES_ON
    return abs(abs(theta[0]) - 2.0 + rng.standard_normal())  # type: ignore[no-any-return]


def two_modes() -> aptmc.Abc:
    """One mode on each side of 0."""
    prior = aptmc.Prior(x=stats.uniform(-4, 8))
    return aptmc.Abc.stepwise(begin_two_modes, step_two_modes, prior, state=1)


TWO_MODES: dict[str, Any] = {
    "ladder": aptmc.Ladder.tolerances([0.3, 1.0, 3.0]),
    "kernel": aptmc.OneHit([0.3, 0.6, 3.0]),
}

# --- the paper's first experiment: an equal mixture of two gammas, of which one is slow -----------


@njit
def log_mixture(theta: Any) -> float:
    """The log density of the mixture, here that of a prior."""
    return gamma_mixture.log_density(theta)  # type: ignore[no-any-return]


@njit
def draw_mixture(rng: Any) -> Any:
    """A draw from it."""
    shape, scale = 3.0, 0.15
    if rng.random() < 0.5:
        shape, scale = 20.0, 0.25
    return np.array([rng.standard_gamma(shape) * scale])


@njit
def begin_mixture(theta: Any, rng: Any, state: Any) -> None:
    """The paper's hold times with p = 2, in ticks."""
    state[0] = math.ceil(rng.standard_gamma(theta[0] ** 2 / 0.15) * 0.15)


@njit
def step_mixture(theta: Any, rng: Any, state: Any, tolerance: float) -> float:
    """The distance says nothing of the parameter: the posterior is the prior."""
    state[0] -= 1.0
    if state[0] > 0.0:
        return GOES_ON
    return rng.random()  # type: ignore[no-any-return]


def mixture() -> aptmc.Abc:
    """The mixture on every rung."""
    prior = aptmc.Prior.joint(log_mixture, draw_mixture, x=())
    return aptmc.Abc.stepwise(begin_mixture, step_mixture, prior, state=1)


MIXTURE: dict[str, Any] = {
    "ladder": aptmc.Ladder.tolerances([0.5, 0.7, 1.0]),
    "kernel": aptmc.OneHit([2.0, 3.0, 4.0]),
}

# --- an epidemic among individuals, each with a time of recovery of its own -----------------------

PEOPLE = 40
SUSCEPTIBLE, INFECTED, TIME, RECOVERIES = range(4)
FINAL_SIZE, DURATION = 27.0, 21.0


@njit
def begin_epidemic(theta: Any, rng: Any, state: Any) -> None:
    """One is infected."""
    state[SUSCEPTIBLE] = PEOPLE - 1.0
    state[INFECTED] = 1.0
    state[RECOVERIES] = rng.standard_gamma(3.0) * theta[1]


@njit
def step_epidemic(theta: Any, rng: Any, state: Any, tolerance: float) -> float:
    """One more is infected, or the next recovers."""
    infected = int(state[INFECTED])
    first = 0
    for i in range(1, infected):
        if state[RECOVERIES + i] < state[RECOVERIES + first]:
            first = i
    rate = theta[0] * state[SUSCEPTIBLE] * infected / PEOPLE
    wait = rng.standard_exponential() / rate if rate > 0.0 else math.inf
    if state[TIME] + wait < state[RECOVERIES + first]:
        state[TIME] += wait
        state[SUSCEPTIBLE] -= 1.0
        state[RECOVERIES + infected] = state[TIME] + rng.standard_gamma(3.0) * theta[1]
        state[INFECTED] += 1.0
        return GOES_ON
    state[TIME] = state[RECOVERIES + first]
    state[RECOVERIES + first] = state[RECOVERIES + infected - 1]
    state[INFECTED] -= 1.0
    if state[INFECTED] > 0.0:
        return GOES_ON
    size = PEOPLE - state[SUSCEPTIBLE]
    return abs(size - FINAL_SIZE) / 10.0 + abs(math.log(state[TIME] / DURATION))  # type: ignore[no-any-return]


def epidemic() -> aptmc.Abc:
    """Rates of infection and mean thirds of the infectious period."""
    prior = aptmc.Prior(infection=stats.gamma(2, scale=0.3), period=stats.gamma(2, scale=1.0))
    return aptmc.Abc.stepwise(begin_epidemic, step_epidemic, prior, state=3 + PEOPLE)


# --- a tree of births and deaths ------------------------------------------------------------------

LINEAGES = np.array([2.0, 4.0, 7.0, 12.0, 18.0])


@njit
def begin_tree(theta: Any, rng: Any, state: Any) -> None:
    """One lineage at time 0."""
    state[0] = 1.0


@njit
def step_tree(theta: Any, rng: Any, state: Any, tolerance: float) -> float:
    """A birth, a death, or the next of five looks."""
    alive, time, seen = state[0], state[1], int(state[2])
    rate = (theta[0] + theta[1]) * alive
    wait = rng.standard_exponential() / rate if rate > 0.0 else math.inf
    if time + wait >= seen + 1.0:
        state[1] = seen + 1.0
        state[2] += 1.0
        state[3] = max(state[3], abs(math.log((alive + 0.5) / (LINEAGES[seen] + 0.5))))
        if state[3] > tolerance:
            return math.inf
        return state[3] if seen + 1 == len(LINEAGES) else GOES_ON
    state[1] += wait
    state[0] += 1.0 if rng.random() * rate < theta[0] * alive else -1.0
    return GOES_ON


def tree() -> aptmc.Abc:
    """Rates of births and deaths."""
    prior = aptmc.Prior(births=stats.expon(), deaths=stats.expon())
    return aptmc.Abc.stepwise(begin_tree, step_tree, prior, state=4)


EPIDEMIC: dict[str, Any] = {
    "ladder": aptmc.Ladder.tolerances([0.15, 0.3, 0.8, 3.0]),
    "kernel": aptmc.OneHit([0.1, 0.15, 0.25, 0.5]),
}
TREE: dict[str, Any] = {
    "ladder": aptmc.Ladder.tolerances([0.4, 0.7, 1.2, 3.0]),
    "kernel": aptmc.OneHit([0.2, 0.3, 0.5, 0.8]),
}
