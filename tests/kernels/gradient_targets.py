"""Targets with gradients on which trajectories alone are wrong: two modes, labels, a funnel."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from scipy import stats

import aptmc

# --- two modes in fifty dimensions ----------------------------------------------------------------

DIMENSION, APART, SMALLER = 50, 1.0, 0.2  # modes are at plus and minus this in all coordinates
PRIOR_SD = 2.0
NARROW = 0.25  # standard deviation of a mode of the likelihood


@njit
def two_modes(theta):
    low = high = 0.0
    for i in range(DIMENSION):
        low += (theta[i] + APART) ** 2
        high += (theta[i] - APART) ** 2
    low = math.log(SMALLER) - 0.5 * low / NARROW**2
    high = math.log(1.0 - SMALLER) - 0.5 * high / NARROW**2
    larger = max(low, high)
    return larger + math.log(math.exp(low - larger) + math.exp(high - larger))


@njit
def slope_of_two_modes(theta):
    low = high = 0.0
    for i in range(DIMENSION):
        low += (theta[i] + APART) ** 2
        high += (theta[i] - APART) ** 2
    odds = math.log(SMALLER / (1.0 - SMALLER)) - 0.5 * (low - high) / NARROW**2
    share = 1.0 / (1.0 + math.exp(-odds)) if odds > -700.0 else 0.0
    slope = np.empty(DIMENSION)
    for i in range(DIMENSION):
        slope[i] = -(theta[i] + APART) * share - (theta[i] - APART) * (1.0 - share)
        slope[i] /= NARROW**2
    return slope


def two_modes_problem() -> aptmc.Tempered:
    """The share of the smaller mode is SMALLER, since the prior weighs both alike."""
    prior = aptmc.Prior(x=aptmc.iid(stats.norm(0.0, PRIOR_SD), DIMENSION))
    return aptmc.Tempered(two_modes, prior, gradient=slope_of_two_modes)


# --- a mixture whose labels switch ----------------------------------------------------------------

CENTRES = np.array([-3.0, 0.0, 4.0])
DATA = np.concatenate([centre + np.random.default_rng(5).standard_normal(20) for centre in CENTRES])


@njit
def labels(theta):
    total = 0.0
    for y in DATA:
        density = 0.0
        for k in range(3):
            density += math.exp(-0.5 * (y - theta[k]) ** 2)
        total += math.log(density + 1e-300)
    return total


@njit
def slope_of_labels(theta):
    slope = np.zeros(3)
    for y in DATA:
        density = 1e-300
        for k in range(3):
            density += math.exp(-0.5 * (y - theta[k]) ** 2)
        for k in range(3):
            slope[k] += math.exp(-0.5 * (y - theta[k]) ** 2) / density * (y - theta[k])
    return slope


def labels_problem() -> aptmc.Tempered:
    """Six modes, one for each order of the means: all have the same weight."""
    prior = aptmc.Prior(mean=aptmc.iid(stats.norm(0.0, 5.0), 3))
    return aptmc.Tempered(labels, prior, gradient=slope_of_labels)


# --- a funnel -------------------------------------------------------------------------------------

BRANCHES = 9


@njit
def funnel(theta):
    """Neal's, over a prior with the same v and branches as wide as three."""
    total = 0.0
    for i in range(1, BRANCHES + 1):
        total += -0.5 * theta[0] - 0.5 * theta[i] ** 2 * math.exp(-theta[0])
        total += 0.5 * theta[i] ** 2 / 100.0
    return total


@njit
def slope_of_funnel(theta):
    slope = np.zeros(BRANCHES + 1)
    for i in range(1, BRANCHES + 1):
        slope[0] += -0.5 + 0.5 * theta[i] ** 2 * math.exp(-theta[0])
        slope[i] = -theta[i] * math.exp(-theta[0]) + theta[i] / 100.0
    return slope


def funnel_problem() -> aptmc.Tempered:
    """Neal's funnel in ten dimensions: v is normal with a standard deviation of 3."""
    prior = aptmc.Prior(v=stats.norm(0.0, 3.0), x=aptmc.iid(stats.norm(0.0, 10.0), BRANCHES))
    return aptmc.Tempered(funnel, prior, gradient=slope_of_funnel)
