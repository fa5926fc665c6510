"""The no-U-turn sampler: trajectories that end when they turn back."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from typing_extensions import override

from aptmc.arguments import class_named_clearly
from aptmc.compiled import Floats, FloatTable, Generator, compiled
from aptmc.kernels.hamiltonian import Hamiltonian
from aptmc.kernels.leaping import (
    EXTENT,
    MOST_OFF,
    STEP_SIZE,
    draw_momentum,
    energy_of,
    leaping,
    tell_force,
)
from aptmc.kernels.parts import Parts

# The two ends of a trajectory, and what is known of each.
PLACE, MOMENTUM, FORCE = range(3)


@class_named_clearly
@final
@dataclass(frozen=True, repr=False)
class Nuts(Hamiltonian):
    """Leap along the gradient, both ways, until the trajectory turns back; go to a point of it.

    Hoffman and Gelman (2014), with points drawn by their weights (Betancourt 2017). How many leaps
    that takes depends on the place, which is what the anytime schedule is for: nobody waits for a
    long trajectory. Needs a problem with a gradient. Covariance and size of leaps are learnt in the
    warm-up, for each rung. `run.statistics` has the leaps, their acceptance and the trajectories
    that went astray ("divergences") by rung.

    :param metric: "auto", or that of an earlier run
    :param steps: how many trajectories make one move
    :param doublings: of a trajectory, at most: ten are a thousand leaps

    >>> Nuts(doublings=6)
    Nuts(doublings=6)
    """

    doublings: int = 10

    @property
    @override
    def extent(self) -> int:
        """The most doublings of a trajectory."""
        return self.doublings

    @override
    def step(self, parts: Parts) -> Callable[..., bool]:
        """A trajectory is doubled, forwards or backwards, until it turns back or goes astray.

        Each new half is computed leap by leap; whether a part of it turns back is seen from the
        momenta at the beginnings of the parts that are not complete, of which there are at most as
        many as doublings.
        """
        dimension, width = parts.dimension, parts.problem.width
        begin, leap = leaping(parts)
        library = parts.target.library
        push, energy = library(draw_momentum), library(energy_of)
        turns_back, note, add = library(is_turning), library(note_momentum), library(add_logs)
        takes, copy_into = library(takes_new), parts.copy_into
        tell = library(tell_force)
        leaps, divergences = parts.place("leaps"), parts.place("divergences")
        acceptance = parts.place("acceptance")

        def step(
            level: float, tuning: Floats, here: Floats, rng: Any, there: Floats, info: Floats
        ) -> bool:
            most = int(tuning[EXTENT])
            ends = np.empty((2, 3, dimension))
            place, momentum = np.empty(dimension), np.empty(dimension)
            force, total, part = np.empty(dimension), np.empty(dimension), np.empty(dimension)
            row, chosen = np.empty(width), np.empty(width)
            begun, sums = np.empty((most + 1, dimension)), np.empty((most + 1, dimension))
            log_here = begin(level, tuning, here, row, place, force, info)
            if most == 0:
                return tell(dimension, here, force, there)
            log_here -= push(rng, dimension, momentum)
            for end in range(2):
                copy_into(ends[end, PLACE], place)
                copy_into(ends[end, MOMENTUM], momentum)
                copy_into(ends[end, FORCE], force)
            copy_into(total, momentum)
            log_total = 0.0  # of the weights of all points, that of the first being one
            moved = False
            for doubling in range(most):
                forwards = rng.random() < 0.5
                end = 1 if forwards else 0
                size = tuning[STEP_SIZE] if forwards else -tuning[STEP_SIZE]
                copy_into(place, ends[end, PLACE])
                copy_into(momentum, ends[end, MOMENTUM])
                copy_into(force, ends[end, FORCE])
                part[:] = 0.0
                log_part = -math.inf
                ended = False
                for number in range(1 << doubling):
                    log_there = leap(level, tuning, size, row, place, momentum, force, info)
                    log_weight = log_there - energy(dimension, momentum) - log_here
                    info[leaps] += 1.0
                    if not log_weight > -MOST_OFF:
                        info[divergences] += 1.0
                        ended = True
                        break
                    info[acceptance] += math.exp(min(log_weight, 0.0))
                    log_part = add(log_part, log_weight)
                    if takes(rng, log_weight - log_part):
                        copy_into(chosen, row)
                    for i in range(dimension):
                        part[i] += momentum[i]
                    if note(dimension, number, momentum, part, begun, sums):
                        ended = True
                        break
                if ended:
                    break
                if takes(rng, log_part - log_total):
                    copy_into(there, chosen)
                    moved = True
                log_total = add(log_total, log_part)
                copy_into(ends[end, PLACE], place)
                copy_into(ends[end, MOMENTUM], momentum)
                copy_into(ends[end, FORCE], force)
                for i in range(dimension):
                    total[i] += part[i]
                if turns_back(dimension, ends[0, MOMENTUM], ends[1, MOMENTUM], total):
                    break
            return moved

        return step


@compiled
def add_logs(one: float, other: float) -> float:
    """The log of a sum, from the logs of its parts."""
    larger, smaller = (one, other) if one > other else (other, one)
    if smaller == -math.inf:
        return larger
    return larger + math.log1p(math.exp(smaller - larger))


@compiled
def takes_new(rng: Generator, log_share: float) -> bool:
    """Whether what is new is taken in place of what is old."""
    return log_share >= 0.0 or rng.random() < math.exp(log_share)


@compiled
def is_turning(dimension: int, first: Floats, last: Floats, total: Floats) -> bool:
    """Whether a trajectory has begun to turn back, by the momenta at its ends and their sum.

    Half of the momenta at the ends do not count: they belong to what would come before and after.
    """
    at_first, at_last = 0.0, 0.0
    for i in range(dimension):
        between = total[i] - 0.5 * (first[i] + last[i])
        at_first += first[i] * between
        at_last += last[i] * between
    return at_first <= 0.0 or at_last <= 0.0


@compiled
def note_momentum(
    dimension: int,
    number: int,
    momentum: Floats,
    total: Floats,
    begun: FloatTable,
    sums: FloatTable,
) -> bool:
    """Note the momentum of a leap; whether a part of the trajectory that ends here turns back.

    Parts are those of a binary tree. The first leap of a part is an even one, and is kept in a row
    of its own as long as the part is not complete.

    :param number: of the leap, from zero
    :param total: of the momenta up to this one
    """
    depth, rest = 0, number >> 1
    while rest > 0:  # how many parts have begun and are not complete
        depth += rest & 1
        rest >>= 1
    if number % 2 == 0:
        for i in range(dimension):
            begun[depth, i] = momentum[i]
            sums[depth, i] = total[i]
        return False
    complete, rest = 0, number
    while rest & 1 == 1:  # how many parts end with this leap
        complete += 1
        rest >>= 1
    for row in range(depth, depth - complete, -1):
        at_first, at_last = 0.0, 0.0
        for i in range(dimension):
            of_part = total[i] - sums[row, i] + begun[row, i]
            between = of_part - 0.5 * (begun[row, i] + momentum[i])
            at_first += begun[row, i] * between
            at_last += momentum[i] * between
        if at_first <= 0.0 or at_last <= 0.0:
            return True
    return False
