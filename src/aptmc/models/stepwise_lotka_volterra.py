"""Predators and prey, event by event, as a simulation that can be left after any event.

The same model as in `lotka_volterra`: a step is one event, or the next of the ten observations.
Without predators the prey jump from one observation to the next.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from aptmc.models.lotka_volterra import OBSERVED, START_PREDATORS, START_PREY, grow, prior_uniform
from aptmc.problem import Abc, Prior

LOG_OBSERVED = np.log(OBSERVED)
OBSERVATIONS = 10

# What a simulation keeps from one step to the next.
PREY, PREDATORS, TIME, SEEN, LARGEST = range(5)
STATE = 5
GOES_ON = -1.0


@njit(nogil=True)
def begin(theta: Any, rng: Any, state: Any) -> None:
    """The numbers of prey and predators at time 0."""
    state[PREY] = START_PREY
    state[PREDATORS] = START_PREDATORS


@njit(nogil=True, error_model="numpy")
def step(theta: Any, rng: Any, state: Any, tolerance: float) -> float:
    """One event, or the next observation if that comes first."""
    prey, predators = state[PREY], state[PREDATORS]
    births = theta[0] * prey
    meals = theta[1] * prey * predators
    deaths = theta[2] * predators
    total = births + meals + deaths
    # Drawn before one knows what for, so that all lanes of a machine draw at the same time.
    wait = rng.standard_exponential() / total
    mark = total * rng.random()
    next_observation = state[SEEN] + 1.0
    if prey > 0.0 and predators > 0.0 and state[TIME] + wait < next_observation:
        state[TIME] += wait
        if mark < births:
            state[PREY] = prey + 1.0
        elif mark < births + meals:
            state[PREY] = prey - 1.0
            state[PREDATORS] = predators + 1.0
        else:
            state[PREDATORS] = predators - 1.0
        return GOES_ON
    if predators == 0.0 and prey > 0.0:
        prey = grow(prey, theta[0] * (next_observation - state[TIME]), rng)
        state[PREY] = prey
    # Waiting times have no memory: the pending event is forgotten.
    state[TIME] = next_observation
    if prey == 0.0:
        return math.inf
    away = abs(math.log(prey) - LOG_OBSERVED[int(state[SEEN])])
    largest = max(state[LARGEST], away)
    if largest > tolerance:
        return math.inf
    state[LARGEST] = largest
    state[SEEN] = next_observation
    return largest if next_observation == OBSERVATIONS else GOES_ON


def problem(prior: Prior | None = None) -> Abc:
    """The model with the observations of the paper; by default with its uniform prior."""
    return Abc.stepwise(begin, step, prior or prior_uniform(), state=STATE)
