"""Tolerances where simulations can have few distances only, as those of counts do.

Between two neighbouring distances all tolerances are one and the same: chains on several of them
would be so many chains on one rung, and who asks for one gets the smaller distance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from aptmc.compiled import Floats, FloatTable
from aptmc.warmup.tolerance_ladders import log_mass_within

# Where so many states come to one distance, in the mean, distances are few.
STATES_PER_DISTANCE = 4


def possible_distances(rows: Sequence[FloatTable], column: int) -> Floats:
    """The distances that simulations can have, increasing, if they are few; none if they are not.

    :param rows: states, of which a chain may have repeated some
    :param column: of the distances
    """
    # A chain that stays has one distance for a while. Coordinates tell that from a tie.
    states = np.unique(np.concatenate([table[:, (0, column)] for table in rows]), axis=0)
    distances = np.unique(states[np.isfinite(states[:, 1]), 1])
    are_few = STATES_PER_DISTANCE * distances.size <= len(states)
    return distances if are_few else np.empty(0)


def at_possible(level: float, possible: Floats) -> float:
    """The smallest possible distance from a tolerance on; itself, if none is known."""
    further = possible[possible >= level]
    return float(further[0]) if further.size > 0 else level


def on_possible(
    levels: tuple[float, ...], possible: Floats, curve: tuple[Floats, Floats]
) -> tuple[float, ...]:
    """The same ladder with possible distances for tolerances, those of the nearest mass.

    Its coldest stays as it is.

    :param curve: tolerances and the log mass within each
    """
    coldest, others = levels[0], levels[1:]
    further = possible[possible > coldest]
    if possible.size == 0 or further.size == 0:
        return levels
    masses = np.array([log_mass_within(level, curve) for level in further.tolist()])
    chosen = {
        float(further[np.abs(masses - log_mass_within(level, curve)).argmin()])
        for level in others
        if math.isfinite(level)
    }
    return (coldest, *sorted(chosen), *(level for level in others if math.isinf(level)))
