"""What lanes know of a problem and its kernel: the functions that a move is made of."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from aptmc.backends.lanes.target import IN_LANES
from aptmc.compiled import Floats, FloatTable, is_compiled
from aptmc.errors import InputError
from aptmc.kernels import Kernel, OneHit
from aptmc.kernels.base import STEPS
from aptmc.kernels.one_hit import BOUNDS, CAP, NORMAL, PROPOSALS
from aptmc.kernels.parts import Parts
from aptmc.kernels.stages import Stages
from aptmc.ladder import Ladder
from aptmc.problem import Abc, Power, Problem, Tempered
from aptmc.problem.chain_state import state_width
from aptmc.problem.density import DensityProblem
from aptmc.problem.in_steps import in_steps
from aptmc.problem.simulator import PlainSimulator
from aptmc.problem.stepwise import Stepwise


@final
@dataclass(frozen=True)
class LaneModel:
    """A problem as lanes compute it: a simulator's steps, or the stages of a kernel.

    :param steps: of a simulator, whose moves are made of a proposal and a simulation
    :param stages: of a kernel that moves a density
    :param factor: where in a rung's tuning the covariance of a simulator's proposals begins
    :param statistics: what the kernel counts beside evaluations, by name
    :param is_lockstep: whether each move takes exactly one tick
    """

    problem: Problem
    steps: Stepwise | None
    stages: Stages | None
    factor: int = 0
    statistics: tuple[str, ...] = ()
    is_lockstep: bool = False

    @property
    def dimension(self) -> int:
        """How many coordinates a chain holds."""
        return self.problem.dimension

    @property
    def size(self) -> int:
        """How many numbers a move keeps between ticks, beside the parameters it leads to."""
        if self.stages is not None:
            return self.stages.size
        assert self.steps is not None
        return self.steps.size


def lane_model(problem: Problem, kernel: Kernel, levels: Floats) -> LaneModel:
    """A problem and a kernel as lanes compute them, or an error that says why they cannot."""
    if isinstance(problem, Abc):
        return _of_simulator(problem, kernel, levels)
    if isinstance(problem, Tempered | Power) or problem.is_written_out:
        assert isinstance(problem, DensityProblem)
        return _of_density(problem, kernel, levels)
    raise InputError(
        "lanes know Abc, Tempered, Power and models of NumPyro, got a problem of kind "
        f"{type(problem).__name__}, which is none of them: use on=aptmc.Processes(), or write its "
        "log likelihood as a function of JAX for aptmc.Tempered"
    )


def _of_simulator(problem: Abc, kernel: Kernel, levels: Floats) -> LaneModel:
    if problem.steps is not None:
        _refuse_plain(problem, problem.steps.begin, problem.steps.step)
    elif isinstance(problem.simulator, PlainSimulator):
        simulator = problem.simulator
        functions = (simulator.simulate, simulator.distance, simulator.summary)
        _refuse_plain(problem, *(one for one in functions if one is not None))
    if not isinstance(kernel, OneHit):
        raise InputError(f"lanes move simulators by aptmc.OneHit, got {kernel!r}")
    tuning = _tuning(problem, kernel, levels)
    if (tuning[:, CAP] != 1.0).any() or (tuning[:, PROPOSALS] != NORMAL).any() or kernel.steps != 1:
        raise InputError(
            f"a move of a lane is one simulation, got {kernel!r}: use cap=1, steps=1 and no "
            "truncate; what lies outside of the prior is refused at once"
        )
    steps, whole_because = in_steps(problem)
    return LaneModel(
        problem,
        steps,
        None,
        factor=BOUNDS + 2 * problem.dimension,
        is_lockstep=whole_because is not None,
    )


def _of_density(problem: DensityProblem, kernel: Kernel, levels: Floats) -> LaneModel:
    if not problem.is_written_out:  # which is machine code
        is_tempered = isinstance(problem, Tempered)
        log_value = problem.log_likelihood if is_tempered else problem.log_density  # type: ignore[attr-defined]
        given = (log_value, problem.gradient)
        _refuse_plain(problem, *(one for one in given if one is not None))
    if problem.reference_is_fitted:
        raise InputError('lanes know no learned reference yet: leave out reference="learned"')
    tuning = _tuning(problem, kernel, levels)
    kept = problem.compiled_moves
    code: Any = ("stages in lanes", kernel.code)
    if code not in kept:
        # A lane holds no more of a state than this; what users see of it is computed afterwards.
        held = copy(problem)
        held.width = state_width(problem.dimension)
        kept[code] = kernel.stages(Parts(held, IN_LANES, kernel.places))  # type: ignore[assignment]
    stages: Any = kept[code]
    if stages is None:
        raise InputError(
            f"lanes make moves in stages, and {kernel!r} has none: use aptmc.RandomWalk(), Slice(),"
            " EllipticalSlice(), Hmc() or Nuts(), or on=aptmc.Processes()"
        )
    if (tuning[:, STEPS] != 1.0).any():
        raise InputError(f"a move of a lane is one step, got {kernel!r}: use steps=1")
    return LaneModel(
        problem, None, stages, statistics=kernel.statistics, is_lockstep=stages.size == 0
    )


def _refuse_plain(problem: Problem, *functions: Callable[..., Any]) -> None:
    """Lanes compute machine code."""
    for function in functions:
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


def _tuning(problem: Problem, kernel: Kernel, levels: Floats) -> FloatTable:
    make = Ladder.tolerances if problem.ladder_kind == "tolerances" else Ladder.powers
    ladder = make(levels.tolist())
    return kernel.at_first(np.ones(problem.dimension), ladder.rungs).tuning(problem, ladder)
