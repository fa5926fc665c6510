"""What lanes know of a problem and its kernel: the functions that a move is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from aptmc.compiled import Floats, FloatTable, is_compiled
from aptmc.errors import InputError
from aptmc.kernels import Kernel, OneHit, RandomWalk
from aptmc.kernels.base import STEPS
from aptmc.kernels.one_hit import BOUNDS, CAP, NORMAL, PROPOSALS
from aptmc.kernels.random_walk import FACTOR, SPREAD
from aptmc.ladder import Ladder
from aptmc.problem import Abc, Power, Problem, Tempered
from aptmc.problem.stepwise import Stepwise

NO_SPREAD = -1


@final
@dataclass(frozen=True)
class LaneModel:
    """A problem as lanes compute it.

    :param steps: of a simulator that can be left in mid-way, if there is one
    :param log_value: the log likelihood or log density, if there is one: its move takes one tick
    """

    problem: Problem
    steps: Stepwise | None
    log_value: Callable[..., Any] | None
    factor: int  # where in a rung's tuning the proposals' covariance begins
    spread: int  # and where the spread of their lengths is, if there is one

    @property
    def dimension(self) -> int:
        """How many coordinates a chain holds."""
        return self.problem.dimension

    @property
    def size(self) -> int:
        """How many numbers a simulation keeps between steps."""
        return 0 if self.steps is None else self.steps.size

    @property
    def functions(self) -> tuple[Callable[..., Any], ...]:
        """The user's functions."""
        if self.steps is not None:
            return self.steps.begin, self.steps.step
        assert self.log_value is not None
        return (self.log_value,)


def lane_model(problem: Problem, kernel: Kernel, levels: Floats) -> LaneModel:
    """A problem and a kernel as lanes compute them, or an error that says why they cannot."""
    if isinstance(problem, Abc):
        _refuse_plain(problem, problem.its_functions)
        steps, whole_because = steps_in_lanes(problem)
        places = _one_hit(problem, kernel, levels)
        model = LaneModel(problem, steps, None, *places, whole_because)
    elif isinstance(problem, Tempered | Power):
        log_value = problem.log_likelihood if isinstance(problem, Tempered) else problem.log_density
        model = LaneModel(problem, None, log_value, *_random_walk(kernel, problem, levels))
    else:
        raise InputError(
            f"lanes know Abc.stepwise, Tempered and Power, got a problem of kind "
            f"{type(problem).__name__}: use on=aptmc.Processes()"
        )
    for function in model.functions:
        if not is_compiled(function):
            raise InputError(
                f"lanes compute machine code, and {getattr(function, '__name__', function)} is a "
                "plain Python function: put @numba.njit above it, or use on=aptmc.Processes()"
            )
    if not problem.is_compiled:
        raise InputError(
            f"lanes compute machine code, and the prior {problem.reference!r} cannot be compiled: "
            "use distributions that can (prior.is_compiled), or on=aptmc.Processes()"
        )
    return model


def _steps_of(problem: Abc) -> Stepwise:
    if problem.steps is None:
        raise InputError(
            "lanes leave a simulation at a deadline and go on with it afterwards, and this "
            "simulator is one function that must be run to its end: write it as a beginning and a "
            "step, aptmc.Abc.stepwise(begin, step, prior, state=...), or use on=aptmc.Processes()"
        )
    return problem.steps


def _one_hit(problem: Abc, kernel: Kernel, levels: Floats) -> tuple[int, int]:
    if not isinstance(kernel, OneHit):
        raise InputError(f"lanes move simulators by aptmc.OneHit, got {kernel!r}")
    tuning = _tuning(problem, kernel, levels)
    if (tuning[:, CAP] != 1.0).any() or (tuning[:, PROPOSALS] != NORMAL).any() or kernel.steps != 1:
        raise InputError(
            f"a move of a lane is one simulation, got {kernel!r}: use cap=1, steps=1 and no "
            "truncate; what lies outside of the prior is refused at once"
        )
    return BOUNDS + 2 * problem.dimension, NO_SPREAD


def _random_walk(kernel: Kernel, problem: Problem, levels: Floats) -> tuple[int, int]:
    if not isinstance(kernel, RandomWalk):
        raise InputError(
            f"lanes move densities by aptmc.RandomWalk, got {kernel!r}: use kernel="
            'aptmc.RandomWalk("auto"), or on=aptmc.Processes()'
        )
    tuning = _tuning(problem, kernel, levels)
    if (tuning[:, STEPS] != 1.0).any():
        raise InputError(f"a move of a lane is one step, got {kernel!r}: use steps=1")
    return FACTOR, SPREAD


def _tuning(problem: Problem, kernel: Kernel, levels: Floats) -> FloatTable:
    make = Ladder.tolerances if problem.ladder_kind == "tolerances" else Ladder.powers
    ladder = make(levels.tolist())
    return kernel.at_first(np.ones(problem.dimension), ladder.rungs).tuning(problem, ladder)
