"""Ladders of powers on which all neighbours swap equally often."""

from __future__ import annotations

import math

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.special import ndtri

from aptmc.compiled import Floats

# An estimate of a swap rate from draws cannot tell very small ones apart.
SMALLEST_RATE = 1e-3
GRID = 2001
PATH = (1.0, 0.75, 0.5, 0.25, 0.0)  # from a posterior to what was fitted to it
# Swaps a little more often than wanted are better than a little less.
ROUNDING = 0.4


def swap_rate(colder: Floats, warmer: Floats, colder_power: float, warmer_power: float) -> float:
    """The chance that independent draws of two rungs swap, from their log likelihoods.

    All pairs count, not only those that met, so it is far less noisy than a count of swaps.
    """
    if colder.size == 0 or warmer.size == 0:
        return math.nan
    difference = np.subtract.outer(_some(warmer), _some(colder))
    with np.errstate(invalid="ignore"):
        log_ratio = (colder_power - warmer_power) * difference
    return float(np.exp(np.minimum(log_ratio, 0.0)).mean())


def distance(rate: float) -> float:
    """How far apart two rungs are whose swaps succeed so often.

    If log likelihoods are about normal, a swap succeeds with probability 2 Phi(-d / 2), and these
    distances add up along a ladder, unlike the rates.
    """
    return float(-2.0 * ndtri(0.5 * min(max(rate, SMALLEST_RATE), 1.0)))


def respaced(
    powers: Floats, rates: Floats, target: float, *, fewest: int, most: int
) -> tuple[float, ...]:
    """A ladder between the same ends whose neighbours swap about as often as wanted.

    :param powers: the present ladder, coldest first
    :param rates: of its neighbours
    """
    steps = np.array([distance(rate) for rate in rates])
    if powers.size < 2 or not np.isfinite(steps).all():
        return tuple(powers.tolist())
    # From hot to cold, so that both grow.
    path = np.concatenate([[0.0], np.cumsum(steps[::-1])])
    rungs = int(np.clip(math.ceil(path[-1] / distance(target) - ROUNDING) + 1, fewest, most))
    ascending = powers[::-1]
    grid = np.linspace(0.0, 1.0, GRID)
    # Levels are spaced very unevenly, so the curve is drawn over the rungs' numbers, then inverted.
    position = np.linspace(0.0, 1.0, powers.size)
    travelled = PchipInterpolator(position, path)(grid)
    level = PchipInterpolator(position, ascending)(grid)
    wanted = np.linspace(0.0, path[-1], rungs)
    # Where swaps always succeed the path does not grow, and any level will do.
    new = np.interp(wanted, np.maximum.accumulate(travelled + 1e-12 * grid), level)
    new[0], new[-1] = ascending[0], ascending[-1]
    distinct = np.unique(new)[::-1]
    return tuple(distinct.tolist())


def first_ladder(values: Floats, target: float, *, fewest: int, most: int) -> tuple[float, ...]:
    """A ladder down to a reference of which there are no draws yet, by those of the posterior.

    Draws of warmer rungs are made of them by weights. What the reference has beyond the posterior
    is not among them, so that swaps may succeed more seldom than this foresees.

    :param values: the logs of posterior over reference, of draws of the posterior
    """
    values = np.sort(values[np.isfinite(values)])
    levels = np.array(PATH)
    weighed = [_weighed(values, 1.0 - level) for level in PATH]
    rates = np.array(
        [
            swap_rate(weighed[rung], weighed[rung + 1], levels[rung], levels[rung + 1])
            for rung in range(levels.size - 1)
        ]
    )
    return respaced(levels, rates, target, fewest=fewest, most=most)


def _weighed(values: Floats, power: float) -> Floats:
    """Evenly spaced quantiles of sorted values with weights exp(-power * value)."""
    weights = np.cumsum(np.exp(power * (values[0] - values)))
    weighed: Floats = values[np.searchsorted(weights, weights[-1] * (np.arange(400) + 0.5) / 400)]
    return weighed


def _some(values: Floats, most: int = 400) -> Floats:
    """At most so many, evenly spread."""
    if values.size <= most:
        return values
    return values[np.linspace(0, values.size - 1, most).astype(np.int64)]
