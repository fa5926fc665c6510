"""Ladders of tolerances on which all neighbours swap equally often.

Balls are nested: draws of a rung that lie within a smaller tolerance are draws of the posterior at
that tolerance. So the share of a rung's draws within the next tolerance is the swap rate, and it is
the same to say how much mass a tolerance has: the product of these shares down from the hottest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from aptmc.compiled import Floats

FEWEST_WITHIN = 10  # draws from which a colder rung may be ventured
# Swaps a little more often than wanted are better than a little less.
ROUNDING = 0.4


def mass_curve(tolerances: Floats, distances: Sequence[Floats]) -> tuple[Floats, Floats]:
    """Tolerances, decreasing, and the log of the share of the hottest rung's mass within each.

    :param tolerances: of the present rungs, coldest first
    :param distances: of each rung: the distances of its draws
    """
    curve_tolerance: list[float] = [math.inf if math.isinf(tolerances[-1]) else tolerances[-1]]
    curve_mass: list[float] = [0.0]
    log_mass = 0.0
    for rung in range(tolerances.size - 1, -1, -1):
        size = distances[rung].size
        if size == 0:
            break
        below = tolerances[rung - 1] if rung > 0 else -math.inf
        # This rung tells of all tolerances down to the next rung's; the coldest of all below it.
        # All draws that are equally far lie within their distance.
        seen, times = np.unique(distances[rung], return_counts=True)
        count = np.cumsum(times)
        shares = np.log(count / size) + log_mass
        trusted = (seen > below) & (seen < tolerances[rung]) & (count >= FEWEST_WITHIN)
        order = np.flatnonzero(trusted)[::-1]
        curve_tolerance.extend(seen[order].tolist())
        curve_mass.extend(shares[order].tolist())
        if rung > 0:
            within = float(np.count_nonzero(distances[rung] <= below)) / size
            log_mass += math.log(max(within, 0.5 / size))
            curve_tolerance.append(float(below))
            curve_mass.append(log_mass)
    return np.array(curve_tolerance), np.minimum.accumulate(np.array(curve_mass))


def log_mass_within(tolerance: float, curve: tuple[Floats, Floats]) -> float:
    """The log of the share of the hottest rung's mass within a tolerance."""
    tolerances, masses = curve
    finite = np.isfinite(tolerances)
    if math.isinf(tolerance):
        return 0.0
    return float(np.interp(tolerance, tolerances[finite][::-1], masses[finite][::-1]))


def tolerance_with(log_mass: float, curve: tuple[Floats, Floats]) -> float:
    """The tolerance within which there is so much mass."""
    tolerances, masses = curve
    if log_mass >= 0.0:
        return float(tolerances[0])
    finite = np.isfinite(tolerances)
    # Masses may stay the same over a stretch: the first, largest tolerance of it is taken.
    mass, first = np.unique(masses[finite], return_index=True)
    return float(np.interp(log_mass, mass, tolerances[finite][first]))


def respaced(
    curve: tuple[Floats, Floats], coldest: float, target: float, *, fewest: int, most: int
) -> tuple[float, ...]:
    """A ladder down to a tolerance, on which neighbours swap about as often as wanted."""
    depth = log_mass_within(coldest, curve)
    top = _log_mass_of_all_finite(curve)
    # Where few simulations from the prior have a distance at all, the prior is left out: hardly a
    # state would come from there, and what has no distance is often what takes longest.
    start = top if depth < top < math.log(target) else 0.0
    steps = math.ceil((depth - start) / math.log(target) - ROUNDING)
    rungs = int(np.clip(steps + 1, fewest, most))
    masses = np.linspace(depth, start, rungs).tolist()
    levels = [tolerance_with(log_mass, curve) for log_mass in masses]
    levels[0] = coldest
    distinct = sorted({level for level in levels if level >= coldest})
    return tuple(distinct)


def averaged(curves: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """The last of several curves, smoothed by the slopes of those before it.

    Each was made in a round twice as long as the one before, and counts twice as much.
    """
    tolerances, masses = curves[-1]
    finite = np.isfinite(tolerances)
    grid = np.unique(tolerances[finite])
    if grid.size == 0:
        return tolerances, masses
    slopes, weights = np.zeros(grid.size), np.zeros(grid.size)
    for age, (other, mass) in enumerate(reversed(curves)):
        known, first = np.unique(other[np.isfinite(other)], return_index=True)
        if known.size == 0:
            continue
        at_grid = np.interp(grid, known, mass[np.isfinite(other)][first])
        # The last is the step from the prior; below what a curve has seen it says nothing.
        steps = np.append(np.diff(at_grid), 0.0 if finite.all() else -at_grid[-1])
        weight = np.where(grid >= known[0], 0.5**age, 0.0)
        slopes += weight * steps
        weights += weight
    smooth = -np.cumsum((slopes / weights)[::-1])
    if finite.all():
        return grid[::-1], smooth
    return np.append(math.inf, grid[::-1]), np.append(0.0, smooth)


def _log_mass_of_all_finite(curve: tuple[Floats, Floats]) -> float:
    tolerances, masses = curve
    finite = np.isfinite(tolerances)
    return float(masses[finite].max()) if finite.any() and not finite.all() else 0.0
