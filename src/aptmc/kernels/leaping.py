"""Leaps along a gradient, of which trajectories are made.

A trajectory moves in coordinates on the whole real line (`aptmc.problem.unbounded`), in which the
rung's draws would have about unit variance, so that momenta are standard normal.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from aptmc.compiled import Floats, Generator, compiled
from aptmc.errors import InputError
from aptmc.kernels.parts import Parts
from aptmc.problem.base import Problem
from aptmc.problem.chain_state import STATUS
from aptmc.problem.unbounded import from_line, log_slope, slope_of_log_slope, to_line

# Places in the tuning after the number of steps; then lower and upper bounds, and the factor.
STEP_SIZE, EXTENT, BOUNDS = 1, 2, 3
# An energy that is so much off shows that leaps are too long for the place.
MOST_OFF = 1000.0


def need_gradient(problem: Problem, kernel: str) -> None:
    """Refuse a problem without a gradient."""
    if problem.has_simulator:
        raise InputError(
            f"{kernel} follows a gradient, and a simulator has none: use aptmc.OneHit() or leave "
            "the kernel out"
        )
    if getattr(problem, "gradient", None) is None:
        raise InputError(
            f"{kernel} follows a gradient, and the problem has none: give one, "
            f"{type(problem).__name__}(..., gradient=function of theta), or use "
            "aptmc.EllipticalSlice()"
        )


class Leaping(NamedTuple):
    """Functions for one problem, for steps to be made of."""

    begin: Callable[..., float]  # (level, tuning, here, row, place, force, info) -> log density
    leap: Callable[..., float]  # (level, tuning, size, row, place, momentum, force, info) -> same


def leaping(parts: Parts) -> Leaping:
    """How one begins at a state, and how one leaps from a place to the next.

    The log density is that on the line; minus infinity where one cannot go on.
    """
    need_gradient(parts.problem, "this kernel")
    dimension, value, log_prior = parts.dimension, parts.value, parts.log_prior
    evaluate, log_weight, gradient = parts.evaluate, parts.log_weight, parts.gradient
    library = parts.target.library
    on_line, off_line, stretch = library(to_line), library(from_line), library(log_slope)
    bend, forward = library(slope_of_log_slope), library(forward_into)
    backward = library(backward_into)
    factor = BOUNDS + 2 * dimension

    def find_force(
        level: float, tuning: Floats, row: Floats, place: Floats, force: Floats, info: Floats
    ) -> float:
        slopes = np.empty(dimension)
        gradient(level, row, slopes, info)
        log_volume = 0.0
        for i in range(dimension):
            lower, upper = tuning[BOUNDS + i], tuning[BOUNDS + dimension + i]
            log_stretch = stretch(place[i], lower, upper)
            log_volume += log_stretch
            slopes[i] = slopes[i] * math.exp(log_stretch) + bend(place[i], lower, upper)
        backward(dimension, tuning, factor, slopes, force)
        for i in range(dimension):
            if not abs(force[i]) < math.inf:
                return -math.inf
        return float(log_weight(level, row[value]) + row[log_prior] + log_volume)

    find_force = parts.target.helper(find_force)

    def begin(
        level: float,
        tuning: Floats,
        here: Floats,
        row: Floats,
        place: Floats,
        force: Floats,
        info: Floats,
    ) -> float:
        for i in range(row.size):
            row[i] = here[i]
        for i in range(dimension):
            place[i] = on_line(here[i], tuning[BOUNDS + i], tuning[BOUNDS + dimension + i])
        return find_force(level, tuning, row, place, force, info)

    def leap(
        level: float,
        tuning: Floats,
        size: float,
        row: Floats,
        place: Floats,
        momentum: Floats,
        force: Floats,
        info: Floats,
    ) -> float:
        for i in range(dimension):
            momentum[i] += 0.5 * size * force[i]
        forward(dimension, tuning, factor, size, momentum, place)
        for i in range(dimension):
            row[i] = off_line(place[i], tuning[BOUNDS + i], tuning[BOUNDS + dimension + i])
        evaluate(row, info)
        if info[STATUS] != 0.0:
            # A leap may go so far that nothing can be computed there. Nobody goes there.
            info[STATUS] = 0.0
            return -math.inf
        if row[log_prior] == -math.inf or row[value] == -math.inf:
            return -math.inf
        log_density = find_force(level, tuning, row, place, force, info)
        for i in range(dimension):
            momentum[i] += 0.5 * size * force[i]
        return log_density

    return Leaping(parts.target.helper(begin), parts.target.helper(leap))


@compiled
def tell_force(dimension: int, here: Floats, force: Floats, there: Floats) -> bool:
    """What a trajectory of no leaps is for: it shows the force in place of parameters.

    A warm-up asks for that; the extent of a kernel is at least one.
    """
    for i in range(here.size):
        there[i] = here[i]
    for i in range(dimension):
        there[i] = force[i]
    return True


@compiled
def forward_into(
    dimension: int, numbers: Floats, first: int, size: float, momentum: Floats, place: Floats
) -> None:
    """Add a step to a place: the factor times the momentum, so much of it."""
    at = first
    for i in range(dimension):
        total = 0.0
        for j in range(i + 1):
            total += numbers[at + j] * momentum[j]
        place[i] += size * total
        at += i + 1


@compiled
def backward_into(
    dimension: int, numbers: Floats, first: int, slopes: Floats, force: Floats
) -> None:
    """The slopes along the standardised coordinates: the transposed factor times the slopes."""
    for i in range(dimension):
        force[i] = 0.0
    at = first
    for i in range(dimension):
        for j in range(i + 1):
            force[j] += numbers[at + j] * slopes[i]
        at += i + 1


@compiled
def draw_momentum(rng: Generator, dimension: int, momentum: Floats) -> float:
    """A standard normal momentum; gives its energy."""
    energy = 0.0
    for i in range(dimension):
        momentum[i] = rng.standard_normal()
        energy += 0.5 * momentum[i] * momentum[i]
    return energy


@compiled
def energy_of(dimension: int, momentum: Floats) -> float:
    """The energy of a momentum."""
    energy = 0.0
    for i in range(dimension):
        energy += 0.5 * momentum[i] * momentum[i]
    return energy
