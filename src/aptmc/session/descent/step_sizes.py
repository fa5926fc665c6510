"""How the particles of a descent step: what has worked best so far is tried most."""

from __future__ import annotations

import math
from typing import final

import numpy as np

# Variances of steps, in those of the population. Long steps hit seldom where the population has a
# complicated shape; short ones hit as often as simulations do, but hardly lead away.
VARIANCES = (1.0, 0.25, 0.06, 0.015)
# After them comes what does not step, but is drawn anew like the whole population.
ANYWHERE = len(VARIANCES)
CURIOUS = 0.15  # the share of orders that try one at random
FADING = 0.5  # what a stage has shown counts so much in the next


@final
class StepSizes:
    """What steps of each size have come to, and draws from anywhere."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._steps, self._simulations, self._hits = np.zeros((3, ANYWHERE + 1))
        self.can_jump = False  # draws from anywhere can be had

    def worth(self, size: int) -> float:
        """Of a hit: how far it leads, in standard deviations of the population."""
        return 1.0 if size == ANYWHERE else math.sqrt(VARIANCES[size])

    def hit_rate(self, size: int) -> float:
        """Of steps of a size, as far as is known."""
        return float((self._hits[size] + 0.5) / (self._steps[size] + 1.0))

    def best_step(self) -> int:
        """The size of steps that leads farthest for what is simulated."""
        return max(range(ANYWHERE), key=self._yield)

    def best(self) -> int:
        """The same, if draws from anywhere do not lead farther."""
        step = self.best_step()
        if self.can_jump and self._yield(ANYWHERE) >= self._yield(step):
            return ANYWHERE
        return step

    def choose(self) -> int:
        """The best, or now and then another."""
        if self._rng.random() < CURIOUS:
            return int(self._rng.integers(ANYWHERE + int(self.can_jump)))
        return self.best()

    def heard(self, size: int, steps: float, simulations: float, hits: float) -> None:
        """What came of some steps."""
        self._steps[size] += steps
        self._simulations[size] += simulations
        self._hits[size] += hits

    def fade(self) -> None:
        """A new stage begins."""
        for counted in (self._steps, self._simulations, self._hits):
            counted *= FADING

    def _yield(self, size: int) -> float:
        """How far a simulation leads. What the prior refuses costs none."""
        rate = float((self._hits[size] + 0.5) / (self._simulations[size] + 1.0))
        return rate * self.worth(size)
