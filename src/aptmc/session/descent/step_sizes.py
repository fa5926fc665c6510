"""How far the particles of a descent step: what has worked best so far is tried most."""

from __future__ import annotations

import math
from typing import final

import numpy as np

# Variances of steps, in those of the population. Long steps hit seldom where the population has a
# complicated shape; short ones hit as often as simulations do, but hardly lead away.
VARIANCES = (1.0, 0.25, 0.06, 0.015)
CURIOUS = 0.15  # the share of orders that try a size at random
FADING = 0.5  # what a stage has shown counts so much in the next


@final
class StepSizes:
    """What steps of each size have come to."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._steps = np.zeros(len(VARIANCES))
        self._hits = np.zeros(len(VARIANCES))

    def worth(self, size: int) -> float:
        """Of a hit: how far it leads, in standard deviations of the population."""
        return math.sqrt(VARIANCES[size])

    def hit_rate(self, size: int) -> float:
        """Of steps of a size, as far as is known."""
        return float((self._hits[size] + 0.5) / (self._steps[size] + 1.0))

    def best(self) -> int:
        """The size that leads farthest."""
        return max(range(len(VARIANCES)), key=lambda size: self.hit_rate(size) * self.worth(size))

    def choose(self) -> int:
        """The best, or now and then another."""
        if self._rng.random() < CURIOUS:
            return int(self._rng.integers(len(VARIANCES)))
        return self.best()

    def heard(self, size: int, steps: float, hits: float) -> None:
        """What came of some steps."""
        self._steps[size] += steps
        self._hits[size] += hits

    def fade(self) -> None:
        """A new stage begins."""
        self._steps *= FADING
        self._hits *= FADING
