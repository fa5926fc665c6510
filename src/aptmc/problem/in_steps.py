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

NO_LOOP = (
    "it is one function from its beginning to its end: to have it left in mid-way, write it as two,"
    " aptmc.Abc.stepwise(begin, step, prior, state=...)"
)


class WrittenInJax(NamedTuple):
    """A simulator as a user of JAX gave it."""

    function: Callable[..., Any]
    name: str  # what the user calls it


class InSteps(NamedTuple):
    """A simulator as steps."""

    steps: Stepwise
    whole_because: str = ""  # if a step is a whole simulation, why


def in_steps(problem: Abc) -> InSteps:
    """The simulator of a problem whose functions are all compiled."""
    if problem.steps is not None:
        return InSteps(problem.steps)
    assert isinstance(problem.simulator, PlainSimulator)
    because = NO_LOOP
    if problem.written_in_jax is not None:
        function, name = problem.written_in_jax
        size = problem.parametrisation.size
        try:
            found = steps_of(function, size, name, _distance(problem.simulator))
            return InSteps(Stepwise(*found))
        except Untranslatable as error:
            because = f"it cannot be left in mid-way: {error}"
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
    """Of simulated data, one number after the other; None: the simulator gives a distance."""
    if simulator.distance is None:
        return None
    observed, distance = simulator.observed, simulator.distance
    assert observed is not None
    if simulator.summary is None:
        shape = observed.shape

        @njit
        def distance_of(found: Any) -> float:
            away = distance(found.reshape(shape), observed)
            return away if away >= 0.0 else math.nan  # type: ignore[no-any-return]

        return distance_of  # type: ignore[no-any-return]
    summary = simulator.summary

    @njit
    def distance_of_summary(found: Any) -> float:
        away = distance(np.atleast_1d(np.asarray(summary(found), np.float64)), observed)
        return away if away >= 0.0 else math.nan  # type: ignore[no-any-return]

    return distance_of_summary  # type: ignore[no-any-return]
