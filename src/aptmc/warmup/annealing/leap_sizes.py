"""The size of leaps, found move by move: dual averaging (Hoffman and Gelman 2014, section 3.2)."""

from __future__ import annotations

import math
from typing import final

# How strongly the first moves change it, how soon that fades, and how soon earlier sizes are
# forgotten in the mean: those of the paper.
STRENGTH, CALM, FORGETTING = 0.05, 10.0, 0.75
BOLDER = 1.5  # where the mean is drawn to: longer leaps are cheaper to try
SHORTEST = 1e-8


@final
class LeapSizes:
    """A size at which trajectories are accepted as often as wanted.

    :param size: to begin with
    :param wanted: mean acceptance along trajectories
    """

    def __init__(self, size: float, wanted: float) -> None:
        self.wanted = wanted
        self.begin_again(size)

    def begin_again(self, size: float) -> None:
        """For another target, from a size that may suit."""
        self.present = size
        self._toward = math.log(BOLDER * self.present)
        self._missing, self._mean, self._heard = 0.0, math.log(self.present), 0

    def heard(self, acceptance: float) -> None:
        """Another trajectory has come home."""
        self._heard += 1
        share = 1.0 / (self._heard + CALM)
        self._missing += share * (self.wanted - acceptance - self._missing)
        log_size = self._toward - math.sqrt(self._heard) / STRENGTH * self._missing
        log_size = max(log_size, math.log(SHORTEST))
        newest = self._heard**-FORGETTING
        self._mean += newest * (log_size - self._mean)
        self.present = math.exp(log_size)

    def settle(self) -> None:
        """What was found in the mean stays."""
        self.present = math.exp(self._mean)
