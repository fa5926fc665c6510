"""Can draws be told from those of the prior?

They are compared by the interval whose shares of both differ most (Kuiper's statistic). A shift of
the mean by a quarter of a standard deviation, or a standard deviation that is a fifth smaller, puts
a tenth of the draws elsewhere: with less than that, a parameter hardly differs from its prior. Few
draws show such differences by chance, so that they have to differ by more than draws of the prior
itself do in 99 of 100 cases.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

HARDLY = 0.1
CRITICAL = 2.0  # exceeded in 1 % of cases by Kuiper's statistic times the root of the number
FEWEST_DRAWS = 20.0  # effective ones: fewer say nothing, which is said elsewhere
POINTS = 32


class Sketch(NamedTuple):
    """Some values of a parameter, increasing, and the share of draws up to each."""

    values: tuple[float, ...]
    shares: tuple[float, ...]
    draws: int

    @classmethod
    def of(cls, draws: Floats) -> Self:
        """The sketch of independent draws: their quantiles, each value once."""
        known = np.sort(draws[np.isfinite(draws)])
        quantiles = np.quantile(known, np.arange(1, POINTS) / POINTS, method="lower")
        values = np.unique(quantiles)
        return cls(tuple(values.tolist()), tuple(share_up_to(draws, values)), draws.size)


def share_up_to(draws: Floats, values: Floats) -> Sequence[float]:
    """For each value the share of draws that are not larger."""
    shares: list[float] = (np.searchsorted(np.sort(draws), values, "right") / draws.size).tolist()
    return shares


def difference(draws: Floats, sketch: Sketch) -> float:
    """By how much the shares of the draws and of a sketch in one interval differ at most.

    >>> rng = np.random.default_rng(1)
    >>> prior = Sketch.of(rng.normal(size=1000))
    >>> round(difference(rng.normal(0.25, 1.0, 100_000), prior), 1)
    0.1
    >>> round(difference(rng.normal(0.0, 0.5, 100_000), prior), 1)
    0.3
    """
    above = np.array(share_up_to(draws, np.array(sketch.values))) - np.array(sketch.shares)
    # Beyond both ends the shares are equal: none, and all.
    return float(max(above.max(), 0.0) - min(above.min(), 0.0))


def is_like(draws: Floats, effective: float, sketch: Sketch) -> bool:
    """Whether draws, worth so many independent ones, cannot be told from a sketch of others."""
    if not effective >= FEWEST_DRAWS:
        return False
    by_chance = CRITICAL * math.sqrt(1.0 / effective + 1.0 / sketch.draws)
    return difference(draws, sketch) <= max(HARDLY, by_chance)
