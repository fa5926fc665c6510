"""A target with known answers and a cost that depends on the state.

Standard normal; moves from the right half take ten times as long, in exponential times. Tempered by
beta it is normal with variance 1 / beta, and both halves stay equally likely at every rung.
"""

from __future__ import annotations

import numpy as np
from numba import njit

import aptmc

SLOW, FAST = 10.0, 1.0
MEAN_HOLD = (SLOW + FAST) / 2.0


@njit
def log_density(theta):
    return -0.5 * theta[0] * theta[0]


@njit
def hold(theta, rung, rng):
    return rng.exponential(10.0 if theta[0] > 0.0 else 1.0)


def problem(start=0.0):
    return aptmc.Power(log_density, start)


def draw(rng, beta):
    return rng.standard_normal() / np.sqrt(beta)


def draw_in_flight(rng, beta):
    """From the anytime distribution: the slow half is as much likelier as it is slower."""
    size = abs(rng.standard_normal()) / np.sqrt(beta)
    return size if rng.random() < SLOW / (SLOW + FAST) else -size
