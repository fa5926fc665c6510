"""Simulators without a likelihood: the cases that `benchmarks.pyabc_cases` has.

What is asked for are posterior means at tolerance zero, from many simulations with regression: what
a tolerance leaves of bias counts like noise. Two problems have a tolerance that is given, and ask
for the posterior there: predators and prey, as the paper has them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from benchmarks.pyabc_cases import CASES, REFERENCES, Case
from experiments.comparison.problem import Floats, Truth

PRECISION = REFERENCES.with_name("lanes_precision.json")  # what very long runs found


@final
@dataclass(frozen=True)
class Simulator:
    """A case, as the tables want it."""

    case: Case
    name: str
    seconds: float = 20.0
    modes: tuple[int, ...] = ()
    is_smooth: bool = False
    simulations: int = 0  # if not as many as the case has
    # Where the posterior at a certain tolerance is wanted: the way down to it, for those who do not
    # find their own. The last is that tolerance.
    tolerances: tuple[float, ...] = ()

    @property
    def says(self) -> str:
        """In a few words."""
        if not self.tolerances:
            return self.case.says
        return f"{self.case.says}; the posterior at tolerance {self.tolerances[-1]:g}"

    @property
    def evaluations(self) -> int:
        """Simulations, where their number is what is equal; none where they sleep."""
        return self.simulations or self.case.simulations

    @property
    def words(self) -> tuple[str, ...]:
        """What is estimated."""
        return ("slow mode", "size") if self.case.modes else self.case.parameters

    @property
    def truth(self) -> Truth:
        """As its references have it."""
        if self.tolerances:
            known = json.loads(PRECISION.read_text(encoding="utf-8"))["references"]
            mine = known[f"{self.tolerances[-1]:.1f}"]
            squares = tuple(spread**2 for spread in mine["spreads"])
            return Truth(tuple(mine["means"]), squares, 0.0)
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
    "predators at 1": Simulator(
        CASES["Lotka-Volterra"], "predators at 1", tolerances=(3.0, 2.0, 1.5, 1.2, 1.0)
    ),
    "predators at 0.4": Simulator(
        CASES["Lotka-Volterra"], "predators at 0.4", simulations=100_000,
        tolerances=(3.0, 2.0, 1.5, 1.2, 1.0, 0.8, 0.65, 0.5, 0.4),
    ),
    "epidemic": Simulator(CASES["epidemic"], "epidemic"),
    "g-and-k": Simulator(CASES["g-and-k"], "g-and-k"),
    "costly": Simulator(CASES["sleeping"], "costly", 60.0),
    "slow mode": Simulator(CASES["two modes"], "slow mode", 60.0, modes=(0,)),
}  # fmt: skip
