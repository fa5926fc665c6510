"""The paper's first experiment (section 5.1): an equal mixture of two gamma distributions.

A move that starts at x takes a time of mean x ** p, so the slow half of the mixture is found
half-done more often than it should be: the length bias, in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from aptmc.problem import Power

SHAPES = (3.0, 20.0)
SCALES = (0.15, 0.25)
MEAN = 2.725
MIDDLE = 1.7  # between the two components
PROBABILITY_BELOW_MIDDLE = 0.49956

_NORMALISERS = tuple(
    math.lgamma(shape) + shape * math.log(scale) + math.log(2.0)
    for shape, scale in zip(SHAPES, SCALES, strict=True)
)


@njit
def log_density(theta: Any) -> float:
    """Log density of the mixture, with weight 1/2 each."""
    x = theta[0]
    if x <= 0.0:
        return -math.inf
    log_x = math.log(x)
    first = (SHAPES[0] - 1.0) * log_x - x / SCALES[0] - _NORMALISERS[0]
    second = (SHAPES[1] - 1.0) * log_x - x / SCALES[1] - _NORMALISERS[1]
    return float(max(first, second) + math.log1p(math.exp(-abs(first - second))))


def problem(start: float | Callable[[np.random.Generator], float] = 2.0) -> Power:
    """The mixture as a problem with one parameter, x."""
    return Power(log_density, start)


def hold_time(power: int) -> Callable[[Any, int, Any], float]:
    """Hold times Gamma(x ** power / 0.15, 0.15): the paper's with psi = 1, as in its appendix."""
    scale = SCALES[0]

    @njit
    def hold(theta: Any, rung: int, rng: Any) -> float:
        return float(rng.gamma(theta[0] ** power / scale, scale))

    return hold  # type: ignore[no-any-return]


def anytime_weight(power: int) -> float:
    """Weight of the first component in the anytime distribution: phi in eq. (8)."""
    first, second = (
        math.exp(math.lgamma(shape + power) - math.lgamma(shape)) * scale**power
        for shape, scale in zip(SHAPES, SCALES, strict=True)
    )
    return first / (first + second)


def density(x: npt.ArrayLike, power: int = 0) -> npt.NDArray[np.float64]:
    """The exact anytime density for hold times of this power; power 0 is the target itself."""
    from scipy import stats

    weight = anytime_weight(power)
    first, second = (
        stats.gamma(shape + power, scale=scale) for shape, scale in zip(SHAPES, SCALES, strict=True)
    )
    return np.asarray(weight * first.pdf(x) + (1.0 - weight) * second.pdf(x))


def distribution(x: npt.ArrayLike, power: int = 0) -> npt.NDArray[np.float64]:
    """The exact anytime distribution function; power 0 is the target's."""
    from scipy import stats

    weight = anytime_weight(power)
    first, second = (
        stats.gamma(shape + power, scale=scale) for shape, scale in zip(SHAPES, SCALES, strict=True)
    )
    return np.asarray(weight * first.cdf(x) + (1.0 - weight) * second.cdf(x))


def draw(rng: np.random.Generator, size: int) -> npt.NDArray[np.float64]:
    """Independent draws from the mixture."""
    which = rng.integers(0, 2, size)
    return rng.gamma(np.array(SHAPES)[which], np.array(SCALES)[which])
