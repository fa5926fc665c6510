"""Simulations of data with names, in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from aptmc.compiled import Floats
from aptmc.problem.chain_state import state_width, value_column
from aptmc.problem.data.by_part import distance_of, make_ready
from aptmc.problem.data.layout import Part
from aptmc.problem.simulator import call_checked, floats_from


@final
@dataclass(frozen=True)
class NamedSimulator:
    """A user's functions for data with names; errors say which part of the data was wrong."""

    simulate: Callable[..., Any]
    observed: Part
    distance: Any
    summary: Callable[..., Any] | None
    takes_arrays: bool  # whether a summary takes arrays, since the data have no names

    @property
    def target(self) -> Floats:
        """All numbers that simulations are compared with."""
        return self.observed.flat

    def make_ready(self) -> None:
        """Compile what is compiled."""
        make_ready(self.distance, self.observed)

    def simulated(self, theta: Floats, rng: np.random.Generator) -> Any:
        """What is compared with the data."""
        simulated = call_checked("simulate", self.simulate, theta, rng)
        if self.summary is None:
            return simulated
        if self.takes_arrays:
            simulated = floats_from("simulate", simulated)
        return call_checked("summary", self.summary, simulated)

    def simulate_into(
        self, row: Floats, rng: np.random.Generator, tolerance: float, dimension: int
    ) -> float:
        """Like `aptmc.problem.simulator.simulation_model`."""
        simulated = self.simulated(row[:dimension].copy(), rng)
        flat = self.observed.numbers_in(simulated)
        kept = state_width(dimension)
        if row.size > kept:
            row[kept:] = flat
        row[value_column(dimension)] = distance_of(self.distance, self.observed, flat, simulated)
        return 1.0
