"""The truncated normal distribution: draws, and the mass that its bounds leave."""

from __future__ import annotations

import math

from aptmc.compiled import Generator, compiled

_ROOT_HALF = math.sqrt(0.5)


@compiled
def log_mass(mean: float, scale: float, lower: float, upper: float) -> float:
    """Log of the probability that a normal lies between the bounds."""
    # The mean lies between the bounds, so both terms are positive: nothing cancels.
    left = math.erf((mean - lower) / scale * _ROOT_HALF)
    right = math.erf((upper - mean) / scale * _ROOT_HALF)
    return math.log(0.5 * (left + right))


@compiled
def draw_truncated(rng: Generator, mean: float, scale: float, lower: float, upper: float) -> float:
    """A normal, given that it lies between the bounds, as its mean does.

    By rejection: from the normal where the bounds are wide, from the uniform where they are narrow.
    """
    if upper - lower < 2.0 * scale:
        while True:
            value = lower + (upper - lower) * rng.random()
            z = (value - mean) / scale
            if rng.random() < math.exp(-0.5 * z * z):
                return value
    while True:
        value = mean + scale * rng.standard_normal()
        if lower < value < upper:
            return value
