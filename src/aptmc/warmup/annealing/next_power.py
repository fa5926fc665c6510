"""How far a population may go at a time from one power to the next."""

from __future__ import annotations

import math

import numpy as np

from aptmc.compiled import Floats

KEPT = 0.25  # of the population is worth something at the next power
CLOSEST, HALVINGS = 1e-12, 50  # of powers, and how well the next one is found


def next_power(power: float, values: Floats) -> tuple[float, Floats]:
    """The largest power at which half of a population is worth something; its weights there.

    :param values: the log likelihood of each
    """
    possible = np.isfinite(values)
    if not possible.any():
        return min(power + CLOSEST, 1.0), np.full(values.size, 1.0 / values.size)
    below = np.where(possible, values - values[possible].max(), -math.inf)

    def weights(step: float) -> Floats:
        found = np.exp(step * below)
        return np.asarray(found / found.sum())

    def is_too_far(step: float) -> bool:
        worth = 1.0 / float((weights(step) ** 2).sum())
        return worth < KEPT * float(possible.sum())

    if not is_too_far(1.0 - power):
        return 1.0, weights(1.0 - power)
    smallest, largest = math.log(CLOSEST), math.log(1.0 - power)
    for _ in range(HALVINGS):
        middle = 0.5 * (smallest + largest)
        if is_too_far(math.exp(middle)):
            largest = middle
        else:
            smallest = middle
    return power + math.exp(smallest), weights(math.exp(smallest))
