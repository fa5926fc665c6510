"""Simulations: run a user's simulator for a state, and note its distance from the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from aptmc.chain import state_width, value_column
from aptmc.compiled import Floats, Generator


def simulation_model(row: Floats, rng: Generator, tolerance: float) -> float:
    """Simulate at the parameters in `row`, fill in the distance, and return the work.

    A distance of NaN means that the simulation failed. If the distance exceeds the tolerance, its
    exact value does not matter.
    """
    raise NotImplementedError("a model of the signature, not to be called")


@dataclass(frozen=True)
class PlainSimulator:
    """A user's functions, called from Python with a check of what they return."""

    simulate: Callable[..., Any]
    observed: Floats | None
    distance: Callable[..., Any] | None
    summary: Callable[..., Any] | None
    counts_work: bool = False

    @classmethod
    def early(cls, simulated_distance: Callable[..., Any], *, counts_work: bool) -> PlainSimulator:
        """A simulator that gives its own distance."""
        return cls(simulated_distance, None, None, None, counts_work)

    def simulate_into(
        self, row: Floats, rng: np.random.Generator, tolerance: float, dimension: int
    ) -> float:
        """Like `simulation_model`. Errors are the user's own, or say what was wrong."""
        theta = row[:dimension].copy()
        work = 1.0
        if self.distance is None:
            result = self.simulate(theta, rng, tolerance)
            if self.counts_work:
                result, work = result
            row[value_column(dimension)] = _number(result, "simulated_distance")
            return float(work)
        simulated = np.asarray(self.simulate(theta, rng), dtype=float)
        if self.summary is not None:
            simulated = np.asarray(self.summary(simulated), dtype=float)
        simulated = np.atleast_1d(simulated)
        assert self.observed is not None
        if simulated.shape != self.observed.shape:
            raise ValueError(
                f"simulated data have shape {simulated.shape}, observed have {self.observed.shape}"
            )
        kept = state_width(dimension)
        if row.size > kept:
            row[kept:] = simulated.ravel()
        row[value_column(dimension)] = _number(self.distance(simulated, self.observed), "distance")
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
            simulated = summary(simulate(row[:dimension].copy(), rng)).astype(np.float64)
            if simulated.shape != observed.shape:
                row[value] = np.nan
                return 1.0
            if row.size > kept:
                row[kept:] = simulated.ravel()
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

    return njit(lambda data: data)  # type: ignore[no-any-return]


def _number(value: Any, name: str) -> float:
    number = np.asarray(value)
    if number.ndim != 0 or number.dtype.kind not in "iufb":
        raise TypeError(f"{name} returned {value!r}, must be a single number")
    return float(number)
