"""Runs of a normal density, and functions that go wrong beyond a limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from numba import njit
from scipy import stats

import aptmc

LIMIT = 2.0  # beyond it, the functions below go wrong
RUNGS = 3
SEED = 1
PRIOR = aptmc.Prior(x=stats.uniform(-5, 10))


def normal(theta):
    return -0.5 * theta[0] * theta[0]


compiled_normal = njit(normal)


class Counted:
    """A log density that counts how often it was called."""

    def __init__(self, function: Callable[..., Any] = normal) -> None:
        self.function = function
        self.calls = 0

    def __call__(self, theta):
        self.calls += 1
        return self.function(theta)


def sample(problem: Any = None, **changes: Any) -> aptmc.Run:
    settings: dict[str, Any] = {
        "budget": 2000,
        "ladder": aptmc.Ladder.powers(RUNGS),
        "kernel": aptmc.RandomWalk(1.0),
        "schedule": aptmc.Anytime(2.5),
        "on": aptmc.VirtualTime(),
        "keep": "all",
        "warmup": 0,  # all draws count
        "seed": SEED,
    }
    problem = aptmc.Power(normal, start=0.0) if problem is None else problem
    return aptmc.sample(problem, **(settings | changes))


def all_draws(run: aptmc.Run) -> list[Any]:
    return [draws for rung in range(RUNGS) for draws in run.chains(rung)]


def complain(_):
    raise ArithmeticError("out of range")


class Wrong(NamedTuple):
    """What a function does beyond the limit, and what the error must say about it."""

    answer: Callable[[Any], Any]
    message: str


def power(function: Any) -> Any:
    return aptmc.Power(function, start={"x": 0.0})
