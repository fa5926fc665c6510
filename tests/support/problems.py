"""Functions that several files of tests sample: to compile them takes longer than most tests do.

Machine code is kept by what it is made of, the name and the module of a function included, so that
one that is the same elsewhere would be compiled anew, and with it each move of its problem.
"""

from __future__ import annotations

from numba import njit


@njit
def normal_distance(theta, rng, tolerance):
    """With theta ~ N(0, 5): x ~ N(theta, 1), and |x - 3| is the distance."""
    return abs(theta[0] + rng.standard_normal() - 3.0)


@njit
def two_modes(theta):
    """Of width one, at -8 and 8; with a uniform prior from -20 to 20."""
    return -0.5 * (abs(theta[0]) - 8.0) ** 2


@njit
def one(theta, rung, rng):
    """The time of a move."""
    return 1.0
