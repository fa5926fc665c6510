"""Kernels whose moves are made step by step, so that one can leave them in mid-way.

Whoever computes a move in stages calls `begin` once and `advance` again and again, until that says
how the move ended. All that a move knows in between stands in a few numbers, its memory, of which
nothing is expected at first. `run_whole` makes such a kernel's usual step of the two, so that moves
are the same, bit for bit, wherever they are made.

Both functions are given (level, tuning, here, rng, there, memory, info), as steps are
(`aptmc.problem.chain_state.step_model`); `there` keeps what was written to it until the move ends.
For a GPU they are translated to C (`aptmc.translation`): arrays of a fixed length, parts of arrays,
numbers and loops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from aptmc.compiled import Floats
from aptmc.targets import Target

# How a move stands after a step.
GOES_ON, STAYS, GOES = 0, 1, 2


class Stages(NamedTuple):
    """Functions for one problem."""

    size: int  # of the memory
    begin: Callable[..., None]
    advance: Callable[..., int]  # GOES_ON, or whether the chain stays or goes there


def run_whole(stages: Stages, target: Target) -> Callable[..., bool]:
    """The step that goes through all stages at once."""
    size, begin, advance = stages.size, target.helper(stages.begin), target.helper(stages.advance)

    def step(
        level: float, tuning: Floats, here: Floats, rng: Any, there: Floats, info: Floats
    ) -> bool:
        memory = np.empty(size)
        begin(level, tuning, here, rng, there, memory, info)
        outcome = GOES_ON
        while outcome == GOES_ON:
            outcome = advance(level, tuning, here, rng, there, memory, info)
        return outcome == GOES

    step.stages = stages  # type: ignore[attr-defined]
    return step


def stages_of(step: Callable[..., bool]) -> Stages | None:
    """Those that a step runs whole; None, if it is no such step."""
    return getattr(step, "stages", None)


def in_one_step(step: Callable[..., bool], target: Target) -> Stages:
    """A step that takes one evaluation, and so has no stages."""
    step = target.helper(step)

    def begin(
        level: float, tuning: Floats, here: Floats, rng: Any, there: Floats, memory: Floats,
        info: Floats,
    ) -> None:  # fmt: skip
        pass

    def advance(
        level: float, tuning: Floats, here: Floats, rng: Any, there: Floats, memory: Floats,
        info: Floats,
    ) -> int:  # fmt: skip
        return GOES if step(level, tuning, here, rng, there, info) else STAYS

    return Stages(0, begin, advance)
