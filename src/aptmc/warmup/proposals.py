"""Proposals from what the rungs have seen: a covariance, and a scale for the right acceptance."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from aptmc.compiled import Floats, FloatTable, Integers

# The best share of accepted steps of a random walk: in one dimension, and in many.
BEST_IN_ONE, BEST_IN_MANY = 0.44, 0.234
LARGEST_CHANGE = 10.0  # of a scale from one round to the next
RIDGE = 1e-6


def best_acceptance(dimension: int) -> float:
    """The share of accepted steps to aim for."""
    return BEST_IN_MANY + (BEST_IN_ONE - BEST_IN_MANY) / dimension


def usual_scale(dimension: int) -> float:
    """What to multiply a target's standard deviations with."""
    return float(2.38 / np.sqrt(dimension))


def covariance(draws: FloatTable, before: FloatTable) -> FloatTable:
    """The covariance of a rung's draws, drawn towards what was believed before if they are few."""
    count, dimension = draws.shape
    if count < 2:
        return before
    own = np.atleast_2d(np.cov(draws, rowvar=False))
    spread = np.diag(np.diag(own))
    weight = count / (count + 10.0 * dimension)
    # Correlations need more draws than variances do.
    mixed = weight * own + (1.0 - weight) * np.where(weight > 0.5, spread, before)
    floor = RIDGE * np.maximum(np.diag(mixed), np.diag(before) * RIDGE)
    return np.asarray(mixed + np.diag(np.maximum(floor, 1e-300)))


def better_scale(scale: float, accepted: float, target: float) -> float:
    """The scale at which a random walk would be accepted as often as wanted.

    For a normal target of many dimensions the acceptance is 2 Phi(-c * scale) with some c, which
    one measurement tells.
    """
    accepted = min(max(accepted, 0.005), 0.995)
    change = float(ndtri(target / 2.0) / ndtri(accepted / 2.0))
    return scale * min(max(change, 1.0 / LARGEST_CHANGE), LARGEST_CHANGE)


def nearest(levels: Floats, new_levels: Floats) -> Integers:
    """For each of the new levels, which of the old ones is nearest."""
    return np.asarray(np.abs(np.subtract.outer(new_levels, levels)).argmin(axis=1))
