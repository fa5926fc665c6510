"""Simulations outside any run, in this process: does the simulator fit the data, and how do its
results vary?
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar, final

import numpy as np

from aptmc.compiled import Floats
from aptmc.errors import InputError
from aptmc.keys import PILOT, Key
from aptmc.problem.data.by_part import distance_of
from aptmc.problem.data.named_simulator import NamedSimulator
from aptmc.problem.prior.prior import Prior
from aptmc.problem.simulator import SimulationFailed

Result = TypeVar("Result")

# The same for every run of a problem, so that what is found belongs to the problem.
SEED = 0
ATTEMPTS = 10  # from the prior, for one simulation that does not fail


class Simulated(NamedTuple):
    """A simulation: where, its numbers, and as it was given."""

    theta: Floats
    numbers: Floats
    data: Any


@final
@dataclass(frozen=True)
class Trial:
    """Simulates at parameters from a prior, and says where it fails."""

    simulator: NamedSimulator
    prior: Prior
    rejects_failures: bool
    remembered: dict[int, Any] = field(default_factory=dict)  # first simulations, by their number

    def with_distance(self, distance: Any) -> Trial:
        """The same with another distance."""
        return replace(self, simulator=replace(self.simulator, distance=distance))

    def at(self, theta: Floats, rng: np.random.Generator) -> Simulated | None:
        """A simulation at some coordinates; None if it fails and that is a miss."""
        try:
            data = self.simulator.simulated(self.prior.constrain(theta).copy(), rng)
            return Simulated(theta, self.simulator.observed.numbers_in(data), data)
        except SimulationFailed as failure:
            if self.rejects_failures:
                return None
            raise self._refusal(failure, theta) from failure.__cause__

    def distance_of(self, one: Simulated) -> float:
        """How far a simulation is from the data."""
        simulator = self.simulator
        try:
            away = distance_of(simulator.distance, simulator.observed, one.numbers, one.data)
        except SimulationFailed as failure:
            if self.rejects_failures:
                return math.inf
            raise self._refusal(failure, one.theta) from failure.__cause__
        return away if away >= 0.0 else math.inf

    def first(self, look: Callable[[Any], Result]) -> Result:
        """What one sees in a simulation at parameters from the prior.

        :param look: may fail with `SimulationFailed`
        """
        for number in range(ATTEMPTS):
            rng = Key(SEED, 0, number, PILOT).generator()
            theta = self.prior.draw(rng)
            try:
                if number not in self.remembered:  # it may take minutes
                    found = self.simulator.simulated(self.prior.constrain(theta).copy(), rng)
                    self.remembered[number] = found
                return look(self.remembered[number])
            except SimulationFailed as failure:
                # Where failures are misses, others may fare better.
                if not self.rejects_failures or number == ATTEMPTS - 1:
                    raise self._refusal(failure, theta) from failure.__cause__
        raise AssertionError("the last attempt returns or raises")

    def _refusal(self, failure: SimulationFailed, theta: Floats) -> InputError:
        """What was wrong with a simulation, and where."""
        where = self.prior.parametrisation.describe(theta)
        shown = ", ".join(f"{name}={value:.6g}" for name, value in where.items())
        return InputError(f"a first simulation failed: {str(failure).rstrip(',')} at {shown}")
