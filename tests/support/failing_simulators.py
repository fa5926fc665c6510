"""Simulators that fail in a part of parameter space, each in its own way.

The model is the paper's normal one: theta ~ N(0, 5), x ~ N(theta, 1), and |x - 3| is the distance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import njit

import aptmc
from aptmc.clock import ManualClock
from aptmc.models import normal

PRIOR = normal.prior()
TOLERANCES = [0.5, 1.5, 5.0]
LADDER = aptmc.Ladder.tolerances(TOLERANCES)
KERNEL = aptmc.OneHit(1.0, cap=20)
SCHEDULE = aptmc.Anytime(every=20)
# In this part of parameter space the simulators below fail, with some probability. With this seed
# none of the first states is looked for there.
LOWER, UPPER = 4.13, 4.16
SEED = 13
BACKENDS: dict[str, Callable[[], Any]] = {
    "virtual time": lambda: aptmc.VirtualTime(),
    "wall time": lambda: aptmc.InProcess(ManualClock(step=1.0)),
}


def sample(problem: Any, **changes: Any) -> aptmc.Run:
    settings: dict[str, Any] = {
        "budget": 5000,
        "ladder": LADDER,
        "kernel": KERNEL,
        "schedule": SCHEDULE,
        "on": aptmc.VirtualTime(),
        "keep": "all",
        "warmup": 0,  # all draws count
        "seed": SEED,
    }
    return aptmc.sample(problem, **(settings | changes))


def all_draws(run: aptmc.Run) -> list[Any]:
    return [draws for rung in range(len(TOLERANCES)) for draws in run.chains(rung)]


def fine(theta, rng):
    return theta[0] + rng.standard_normal(1)


def distance(simulated, observed):
    return abs(simulated[0] - observed[0])


def in_region(theta) -> bool:
    return bool(LOWER < theta[0] < UPPER)


@njit
def simulate_raises(theta, rng):
    x = theta[0] + rng.standard_normal(1)
    if LOWER < theta[0] < UPPER:
        raise ArithmeticError("out of range")
    return x


@njit
def simulate_nan(theta, rng):
    x = theta[0] + rng.standard_normal(1)
    if LOWER < theta[0] < UPPER:
        x[0] = math.nan
    return x


@njit
def simulate_wrong_length(theta, rng):
    x = theta[0] + rng.standard_normal(1)
    if LOWER < theta[0] < UPPER:
        return np.zeros(2)
    return x


@njit
def simulate_marked(theta, rng):
    """Marks simulations from the region, for a distance that fails there."""
    x = theta[0] + rng.standard_normal(1)
    if LOWER < theta[0] < UPPER:
        x[0] = 1e9
    return x


@njit
def negative_distance(simulated, observed):
    if simulated[0] == 1e9:
        return -2.5
    return abs(simulated[0] - observed[0])


compiled_distance = njit(distance)


def answering(answer: Callable[[], Any]) -> Callable[..., Any]:
    """A simulator that gives something else in the region."""

    def simulate(theta, rng):
        x = fine(theta, rng)
        return answer() if in_region(theta) else x

    return simulate


def complain() -> Any:
    raise ArithmeticError("out of range")


class Case(NamedTuple):
    """A simulator and its distance, and what the error must say about them."""

    simulate: Callable[..., Any]
    distance: Callable[..., Any]
    message: str
    summary: Callable[..., Any] | None = None

    def problem(self, **options: Any) -> aptmc.Abc:
        return aptmc.Abc(
            self.simulate,
            PRIOR,
            observed=[normal.OBSERVED],
            distance=self.distance,
            summary=self.summary,
            **options,
        )

    def plain(self) -> Case:
        functions = (getattr(each, "py_func", each) for each in self[:2])
        return Case(*functions, self.message, self.summary)


def marked(answer: Callable[[], Any]) -> Callable[..., Any]:
    return lambda mine, yours: answer() if mine[0] == 1e9 else abs(mine[0] - yours[0])


COMPILED = {
    "raises": Case(
        simulate_raises, compiled_distance, "simulate raised ArithmeticError: out of range"
    ),
    "nan": Case(simulate_nan, compiled_distance, "the distance of a simulation is nan"),
    "wrong length": Case(
        simulate_wrong_length, compiled_distance, "data have shape (2,), observed have (1,)"
    ),
    "negative distance": Case(
        simulate_marked, negative_distance, "the distance of a simulation is -2.5"
    ),
}
PLAIN = {
    **{kind: case.plain() for kind, case in COMPILED.items()},
    "text": Case(answering(lambda: "three"), distance, "simulate returned 'three', must be an"),
    "nothing": Case(answering(lambda: None), distance, "simulate returned None, must be an"),
    "ragged": Case(answering(lambda: [1.0, [2.0]]), distance, "simulate returned [1.0, [2.0]]"),
    "distance raises": Case(
        simulate_marked.py_func, marked(complain), "distance raised ArithmeticError: out of range"
    ),
    "distance is an array": Case(
        simulate_marked.py_func,
        marked(lambda: np.zeros(1)),
        "distance returned array([0.]), must be a single number",
    ),
    "distance is text": Case(
        simulate_marked.py_func,
        marked(lambda: "far"),
        "distance returned 'far', must be a single number",
    ),
    "summary raises": Case(
        simulate_marked.py_func,
        distance,
        "summary raised ArithmeticError: out of range",
        summary=lambda data: complain() if data[0] == 1e9 else data,
    ),
    "summary of the wrong length": Case(
        simulate_marked.py_func,
        distance,
        "data have shape (3,), observed have (1,)",
        summary=lambda data: np.zeros(3) if data[0] == 1e9 else data,
    ),
}


@njit
def unreliable(theta, rng, tolerance):
    """Fails at random, wherever it is."""
    away = abs(theta[0] + rng.standard_normal() - 3.0)
    kind = rng.random()
    if kind < 0.0005:
        raise ArithmeticError("out of range")
    if kind < 0.001:
        return math.nan
    if kind < 0.0015:
        return -1.0
    return away
