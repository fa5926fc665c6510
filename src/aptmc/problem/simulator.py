"""Simulations: run a user's simulator for a state, and note its distance from the data."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from numba.core.errors import NumbaError

from aptmc.compiled import Floats, Generator, compiler_words, is_compiled
from aptmc.in_words import hint, in_words
from aptmc.problem.chain_state import state_width, value_column
from aptmc.problem.masked import has_masked


def simulation_model(row: Floats, rng: Generator, tolerance: float) -> float:
    """Simulate at the parameters in `row`, fill in the distance, and return the work.

    A distance of NaN means that the simulation failed. If the distance exceeds the tolerance, its
    exact value does not matter.
    """
    raise NotImplementedError("a model of the signature, not to be called")


class SimulationFailed(Exception):
    """One of the user's functions failed; the message says which, and how."""


@dataclass(frozen=True)
class PlainSimulator:
    """A user's functions, called from Python with a check of what they return."""

    simulate: Callable[..., Any]
    observed: Floats | None
    distance: Callable[..., Any] | None
    summary: Callable[..., Any] | None
    counts_work: bool = False

    @property
    def target(self) -> Floats | None:
        """All numbers that simulations are compared with, if any are."""
        return None if self.observed is None else self.observed.ravel()

    @classmethod
    def early(cls, simulated_distance: Callable[..., Any], *, counts_work: bool) -> PlainSimulator:
        """A simulator that gives its own distance."""
        return cls(simulated_distance, None, None, None, counts_work)

    def make_ready(self) -> None:
        """Compile what is compiled."""
        if self.observed is not None:
            compile_for(self.distance, self.observed, self.observed)

    def simulate_into(
        self, row: Floats, rng: np.random.Generator, tolerance: float, dimension: int
    ) -> float:
        """Like `simulation_model`, but errors say which function was wrong."""
        theta = row[:dimension].copy()
        work = 1.0
        if self.distance is None:
            result = call_checked("simulated_distance", self.simulate, theta, rng, tolerance)
            if self.counts_work:
                result, work = _distance_and_work(result)
            row[value_column(dimension)] = number_from("simulated_distance", result)
            return work
        simulated = floats_from("simulate", call_checked("simulate", self.simulate, theta, rng))
        if self.summary is not None:
            simulated = floats_from("summary", call_checked("summary", self.summary, simulated))
        simulated = np.atleast_1d(simulated)
        assert self.observed is not None
        if simulated.shape != self.observed.shape:
            raise SimulationFailed(
                f"simulated data have shape {simulated.shape}, observed have "
                f"{self.observed.shape}, and must be alike,"
            )
        kept = state_width(dimension)
        if row.size > kept:
            row[kept:] = simulated.ravel()
        # A copy of the data, so that a function which changes its argument does no harm.
        away = call_checked("distance", self.distance, simulated, self.observed.copy())
        row[value_column(dimension)] = number_from("distance", away)
        return work


def compiled_simulation(
    simulator: PlainSimulator, dimension: int, rejects_failures: bool
) -> Callable[..., float]:
    """The same as a function that numba can compile. A failure is a distance of NaN."""
    simulate = simulator.simulate
    value, kept = value_column(dimension), state_width(dimension)

    if simulator.distance is None and simulator.counts_work:

        def simulate_into(row: Any, rng: Any, tolerance: float) -> float:
            row[value], work = simulate(row[:dimension].copy(), rng, tolerance)
            if not 0.0 <= work < math.inf:
                row[value] = np.nan
                return 1.0
            return work  # type: ignore[no-any-return]

    elif simulator.distance is None:

        def simulate_into(row: Any, rng: Any, tolerance: float) -> float:
            row[value] = simulate(row[:dimension].copy(), rng, tolerance)
            return 1.0

    else:
        observed, distance = simulator.observed, simulator.distance
        assert observed is not None
        summary = simulator.summary or _as_it_is()

        def simulate_into(row: Any, rng: Any, tolerance: float) -> float:
            data = np.asarray(simulate(row[:dimension].copy(), rng), np.float64)
            simulated = np.atleast_1d(np.asarray(summary(data), np.float64))
            if simulated.shape != observed.shape:
                row[value] = np.nan
                return 1.0
            if row.size > kept:
                # As `row[kept:] = ...`, which would bring along what numba has to say of shapes.
                numbers = simulated.ravel()
                for place in range(numbers.size):
                    row[kept + place] = numbers[place]
            row[value] = distance(simulated, observed)
            return 1.0

    if not rejects_failures:
        return simulate_into

    from numba import njit

    risky = njit(simulate_into)

    def forgiving(row: Any, rng: Any, tolerance: float) -> float:
        work = 1.0
        try:
            work = risky(row, rng, tolerance)
        except Exception:
            row[value] = np.nan
        return work

    return forgiving


def _as_it_is() -> Callable[..., Any]:
    from numba import njit

    # Not a lambda: lanes look for the source of a function by its `def`.
    @njit
    def as_it_is(data: Any) -> Any:
        return data

    return as_it_is  # type: ignore[no-any-return]


def compile_for(function: Any, *examples: Any) -> None:
    """Compile a compiled function for such arguments now, and not when it is first called.

    Workers are copies of a process that has done so; each on its own would take seconds for it.
    """
    if is_compiled(function):
        with suppress(Exception):  # what cannot be compiled is reported by whoever calls it
            function.compile(tuple(numba.typeof(example) for example in examples))


def call_checked(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of the user's, and say which it was if it raises."""
    try:
        return function(*arguments)
    except SimulationFailed:  # of a function that calls others of the user's
        raise
    except NumbaError as error:
        raise SimulationFailed(
            f"{name} cannot be compiled for what it is given: {compiler_words(error)}; mend it, or "
            "leave out @njit to have it called from Python,"
        ) from error
    except Exception as error:
        raise SimulationFailed(f"{name} raised {in_words(error)}{hint(error)}") from error


def _array(value: Any) -> npt.NDArray[Any]:
    try:
        return np.asarray(value)
    except (TypeError, ValueError):  # ragged, or of many arrays
        return np.empty(0, dtype=object)


def _refuse_masked(name: str, value: Any) -> None:
    if has_masked(value):
        raise SimulationFailed(
            f"{name} returned {value!r}, must be numbers: fill what is masked, with numpy.nan if "
            "nothing is known,"
        )


def floats_from(name: str, value: Any) -> npt.NDArray[np.float64]:
    """What a function of the user's returned, as an array of numbers."""
    _refuse_masked(name, value)
    array = _array(value)
    if array.dtype.kind not in "iufb":
        raise SimulationFailed(f"{name} returned {value!r}, must be an array of numbers,")
    return array.astype(np.float64, copy=False)


def number_from(name: str, value: Any) -> float:
    """The number that a function of the user's returned, or an error that says which it was."""
    _refuse_masked(name, value)
    number = _array(value)
    if number.ndim != 0 or number.dtype.kind not in "iufb":
        raise SimulationFailed(f"{name} returned {value!r}, must be a single number,")
    return float(number)


def _distance_and_work(value: Any) -> tuple[Any, float]:
    try:
        distance, work = value
        work = number_from("simulated_distance", work)
    except (TypeError, ValueError, SimulationFailed):
        work = math.nan
    if not 0.0 <= work < math.inf:
        raise SimulationFailed(
            f"simulated_distance returned {value!r}, must be a pair of a distance and a finite "
            "amount of work,"
        )
    return distance, work
