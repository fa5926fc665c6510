"""A chain's state, and what it means to move it.

A state is one row of numbers: the parameters, then the *value* that exchanges look at (a log
likelihood, a log density, a distance), then the log prior density.

A move is a pure function of the rung (its level, and the numbers to which the kernel is tuned
there), the state and a random stream. It writes the new state to `outcome`, and to `info` what is
of interest only for diagnosis.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated

from aptmc.compiled import Floats, Generator, inlined, pointer_to

# Places in `info`. The kernel's own statistics follow, in the order of their names.
STATUS = 0
WORK = 1  # how much was computed, in the kernel's own unit
ACCEPTED = 2  # how many of the local steps were accepted
HOLD_TIME = 3  # how long it took, as whoever measures it fills in
PROCESSOR = 4  # who computed it, likewise
OWN = 5  # where the kernel's own begin

# The value of info[STATUS], which is otherwise 0, when a user's function gave what it must not;
# `outcome` then holds the parameters.
BAD_VALUE = 1.0


def value_column(dimension: int) -> int:
    """Where a state keeps the value that exchanges look at."""
    return dimension


def log_prior_column(dimension: int) -> int:
    """Where a state keeps its log prior density."""
    return dimension + 1


def kept_column(dimension: int) -> int:
    """Where a state keeps what its problem keeps of it beside: with a fitted reference, in whose
    place the reference's log density stands, the log prior density itself.
    """
    return dimension + 2


def state_width(dimension: int) -> int:
    """How many numbers make a state."""
    return dimension + 2


def move_model(
    level: float, tuning: Floats, state: Floats, rng: Generator, outcome: Floats, info: Floats
) -> None:
    """Move a chain from `state` to `outcome`."""
    raise NotImplementedError("a model of the signature, not to be called")


def step_model(
    level: float, tuning: Floats, here: Floats, rng: Generator, there: Floats, info: Floats
) -> bool:
    """One local step of a move from `here`: whether the chain goes `there`.

    `tuning` is the kernel's row of numbers for the rung. What is computed anew of the present
    state may be written to `here`. When info[STATUS] is set, `there` holds the parameters to blame.
    """
    raise NotImplementedError("a model of the signature, not to be called")


Move = Annotated[Callable[..., None], pointer_to(move_model)]


@inlined
def accepts(log_ratio: float, uniform: float) -> bool:
    """Metropolis' decision, for swaps and local moves alike. A NaN is a rejection."""
    return log_ratio >= 0.0 or uniform < math.exp(log_ratio)
