"""Simulators without a likelihood: the cases that `benchmarks.pyabc_cases` has.

What is asked for are posterior means at tolerance zero, from many simulations with regression: what
a tolerance leaves of bias counts like noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from benchmarks.pyabc_cases import CASES, Case
from experiments.comparison.problem import Floats, Truth


@final
@dataclass(frozen=True)
class Simulator:
    """A case, as the tables want it."""

    case: Case
    name: str
    seconds: float = 20.0
    modes: tuple[int, ...] = ()
    is_smooth: bool = False

    @property
    def says(self) -> str:
        """In a few words."""
        return self.case.says

    @property
    def evaluations(self) -> int:
        """Simulations, where their number is what is equal; none where they sleep."""
        return self.case.simulations

    @property
    def words(self) -> tuple[str, ...]:
        """What is estimated."""
        return ("slow mode", "size") if self.case.modes else self.case.parameters

    @property
    def truth(self) -> Truth:
        """As its references have it."""
        means, variances = self.case.truth
        return Truth(tuple(means), tuple(variances), 0.0)

    def quantities(self, draws: Floats) -> Floats:
        """Of draws, one row each."""
        return np.asarray(self.case.quantities(draws))

    def draw_prior(self, rng: np.random.Generator, count: int) -> Floats:
        """Uniform numbers."""
        return rng.uniform(self.case.low, self.case.high, (count, len(self.case.low)))


SIMULATORS: dict[str, Any] = {
    "predators and prey": Simulator(CASES["Lotka-Volterra"], "predators and prey"),
    "epidemic": Simulator(CASES["epidemic"], "epidemic"),
    "g-and-k": Simulator(CASES["g-and-k"], "g-and-k"),
    "costly": Simulator(CASES["sleeping"], "costly", 60.0),
    "slow mode": Simulator(CASES["two modes"], "slow mode", 60.0, modes=(0,)),
}
