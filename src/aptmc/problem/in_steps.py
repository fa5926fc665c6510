"""Any simulator as steps: in mid-way where it can be left there, else whole in a single one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import njit

from aptmc.jax_programs.simulators import steps_of
from aptmc.jax_programs.writer import Untranslatable
from aptmc.problem.chain_state import state_width, value_column
from aptmc.problem.simulator import PlainSimulator, compiled_simulation
from aptmc.problem.stepwise import Stepwise

if TYPE_CHECKING:
    from aptmc.problem.abc import Abc


class WholeBecause(NamedTuple):
    """Why a simulator cannot be left in mid-way, and what would help."""

    because: str
    remedy: str


ONE_PIECE = WholeBecause(
    "the simulator is one function from its beginning to its end",
    "Write it as two functions, aptmc.Abc.stepwise(begin, step, prior, state=...), or leave this "
    "hint alone where simulations are short or all alike",
)


class WrittenInJax(NamedTuple):
    """A simulator as a user of JAX gave it."""

    function: Callable[..., Any]
    name: str  # what the user calls it


class InSteps(NamedTuple):
    """A simulator as steps."""

    steps: Stepwise
    whole_because: WholeBecause | None = None  # if a step is a whole simulation


def in_steps(problem: Abc) -> InSteps:
    """The simulator of a problem whose functions are all compiled: made once."""
    kept: dict[Any, Any] = problem.compiled_moves
    if "in steps" not in kept:
        kept["in steps"] = _in_steps(problem)
    found: InSteps = kept["in steps"]
    return found


def _in_steps(problem: Abc) -> InSteps:
    if problem.steps is not None:
        return InSteps(problem.steps)
    assert isinstance(problem.simulator, PlainSimulator)
    because = ONE_PIECE
    if problem.written_in_jax is not None:
        function, name = problem.written_in_jax
        size = problem.parametrisation.size
        try:
            found = steps_of(function, size, name, _distance(problem.simulator))
            return InSteps(Stepwise(*found))
        except Untranslatable as error:
            words, _, remedy = str(error).partition(": ")
            because = WholeBecause(
                f"the simulator cannot be left in mid-way: {words}",
                remedy.capitalize() or ONE_PIECE.remedy,
            )
    return InSteps(_in_one_piece(problem, problem.simulator), because)


def _in_one_piece(problem: Abc, simulator: PlainSimulator) -> Stepwise:
    """The whole simulation as the only step."""
    size = problem.parametrisation.size
    value, width = value_column(size), state_width(size)
    simulate_into: Any = njit(compiled_simulation(simulator, size, problem.rejects_failures))

    @njit
    def begin(theta: Any, rng: Any, state: Any) -> None:
        pass

    @njit
    def step(theta: Any, rng: Any, state: Any, tolerance: float) -> float:
        row = np.empty(width)
        for i in range(size):
            row[i] = theta[i]
        simulate_into(row, rng, tolerance)
        # A negative distance would mean that there is more to come.
        return row[value] if row[value] >= 0.0 else math.nan

    return Stepwise(begin, step, 1)


def _distance(simulator: PlainSimulator) -> Callable[..., Any] | None:
    """Makes, for the shape of simulated data, their distance, of them one number after the other.

    None: the simulator gives a distance itself.
    """
    if simulator.distance is None:
        return None
    observed, distance, summary = simulator.observed, simulator.distance, simulator.summary
    assert observed is not None

    summarise: Any = summary

    def of_shape(shape: tuple[int, ...]) -> Callable[..., Any]:
        def distance_of(found: Any) -> float:
            away: float = distance(found.reshape(shape), observed)
            return away if away >= 0.0 else math.nan

        def distance_of_summary(found: Any) -> float:
            summarised = np.atleast_1d(np.asarray(summarise(found.reshape(shape)), np.float64))
            away: float = distance(summarised, observed)
            return away if away >= 0.0 else math.nan

        made: Callable[..., Any] = njit(distance_of if summary is None else distance_of_summary)
        return made

    return of_shape
