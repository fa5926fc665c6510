"""The no-U-turn sampler: trajectories that end when they turn back."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from typing_extensions import override

from aptmc.arguments import class_named_clearly
from aptmc.compiled import Floats, Generator, compiled
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
from aptmc.kernels.stages import GOES, GOES_ON, STAYS, Stages, run_whole

# Places in the memory of a move: the log density and energy at its beginning; the logs of the
# weights of the whole trajectory and of its new half; whether a point of it was taken; how often it
# was doubled, how many leaps its new half has, and which way that leads. Then come arrays.
LOG_HERE, LOG_TOTAL, LOG_PART, MOVED, DOUBLING, NUMBER, FORWARDS, NOW = range(8)


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

    extent_takes_room = True

    @property
    @override
    def extent(self) -> int:
        """The most doublings of a trajectory."""
        return self.doublings

    @override
    def step(self, parts: Parts) -> Callable[..., bool]:
        """All stages."""
        return run_whole(self.stages(parts), parts.target)

    @override
    def stages(self, parts: Parts) -> Stages:
        """A trajectory is doubled, forwards or backwards, until it turns back or goes astray.

        Each stage is a leap. Whether a part of a new half turns back is seen from the momenta at
        the beginnings of the parts that are not complete, of which there are at most as many as
        doublings.
        """
        dimension, width = parts.dimension, parts.problem.width
        begin_at, leap = leaping(parts)
        library = parts.target.library
        push, energy = library(draw_momentum), library(energy_of)
        turns_back, note, add = library(is_turning), library(note_momentum), library(add_logs)
        takes, copy_into = library(takes_new), parts.copy_into
        tell = library(tell_force)
        leaps, divergences = parts.place("leaps"), parts.place("divergences")
        acceptance = parts.place("acceptance")
        # Where the trajectory is now, and its two ends: place, momentum and force of each.
        momentum_at, force_at = NOW + dimension, NOW + 2 * dimension
        of_end = 3 * dimension
        ends_at = NOW + of_end
        total_at = ends_at + 2 * of_end
        part_at = total_at + dimension
        row_at = part_at + dimension
        chosen_at = row_at + width
        begun_at = chosen_at + width
        sums_at = begun_at + (self.doublings + 1) * dimension
        size = sums_at + (self.doublings + 1) * dimension

        def begin(
            level: float, tuning: Floats, here: Floats, rng: Any, there: Floats, memory: Floats,
            info: Floats,
        ) -> None:  # fmt: skip
            place, momentum = memory[NOW:momentum_at], memory[momentum_at:force_at]
            row, force = memory[row_at:chosen_at], memory[force_at:ends_at]
            log_here = begin_at(level, tuning, here, row, place, force, info)
            if tuning[EXTENT] == 0.0:
                tell(dimension, here, force, there)
                return
            memory[LOG_HERE] = log_here - push(rng, dimension, momentum)
            for i in range(of_end):
                memory[ends_at + i] = memory[ends_at + of_end + i] = memory[NOW + i]
            copy_into(memory[total_at:part_at], momentum)
            memory[LOG_TOTAL] = 0.0  # of the weights of all points, that of the first being one
            memory[MOVED] = memory[DOUBLING] = memory[NUMBER] = 0.0

        def advance(
            level: float, tuning: Floats, here: Floats, rng: Any, there: Floats, memory: Floats,
            info: Floats,
        ) -> int:  # fmt: skip
            if tuning[EXTENT] == 0.0:  # all was told at the beginning
                return GOES
            place, momentum = memory[NOW:momentum_at], memory[momentum_at:force_at]
            row, force = memory[row_at:chosen_at], memory[force_at:ends_at]
            total, part = memory[total_at:part_at], memory[part_at:row_at]
            doubling, number = int(memory[DOUBLING]), int(memory[NUMBER])
            outcome = GOES if memory[MOVED] > 0.0 else STAYS
            if number == 0:
                memory[FORWARDS] = 1.0 if rng.random() < 0.5 else 0.0
                end = ends_at + of_end * int(memory[FORWARDS])
                for i in range(of_end):
                    memory[NOW + i] = memory[end + i]
                for i in range(dimension):
                    part[i] = 0.0
                memory[LOG_PART] = -math.inf
            size_now = tuning[STEP_SIZE] if memory[FORWARDS] > 0.0 else -tuning[STEP_SIZE]
            log_there = leap(level, tuning, size_now, row, place, momentum, force, info)
            log_weight = log_there - energy(dimension, momentum) - memory[LOG_HERE]
            info[leaps] += 1.0
            if not log_weight > -MOST_OFF:
                info[divergences] += 1.0
                return outcome
            info[acceptance] += math.exp(min(log_weight, 0.0))
            memory[LOG_PART] = add(memory[LOG_PART], log_weight)
            if takes(rng, log_weight - memory[LOG_PART]):
                copy_into(memory[chosen_at:begun_at], row)
            for i in range(dimension):
                part[i] += momentum[i]
            if note(
                dimension, number, momentum, part, memory[begun_at:sums_at], memory[sums_at:size]
            ):
                return outcome
            memory[NUMBER] += 1.0
            if number + 1 < 1 << doubling:
                return GOES_ON
            # The trajectory is twice as long now.
            if takes(rng, memory[LOG_PART] - memory[LOG_TOTAL]):
                copy_into(there, memory[chosen_at:begun_at])
                memory[MOVED] = 1.0
                outcome = GOES
            memory[LOG_TOTAL] = add(memory[LOG_TOTAL], memory[LOG_PART])
            end = ends_at + of_end * int(memory[FORWARDS])
            for i in range(of_end):
                memory[end + i] = memory[NOW + i]
            for i in range(dimension):
                total[i] += part[i]
            backward_end = memory[ends_at + dimension : ends_at + 2 * dimension]
            forward_end = memory[ends_at + of_end + dimension : ends_at + of_end + 2 * dimension]
            if turns_back(dimension, backward_end, forward_end, total):
                return outcome
            memory[DOUBLING], memory[NUMBER] = doubling + 1, 0
            return outcome if doubling + 1 >= int(tuning[EXTENT]) else GOES_ON

        return Stages(size, begin, advance)


@compiled
def add_logs(one: float, other: float) -> float:
    """The log of a sum, from the logs of its parts."""
    larger = one if one > other else other
    smaller = other if one > other else one
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
    dimension: int, number: int, momentum: Floats, total: Floats, begun: Floats, sums: Floats
) -> bool:
    """Note the momentum of a leap; whether a part of the trajectory that ends here turns back.

    Parts are those of a binary tree. The first leap of a part is an even one, and is kept in a row
    of its own as long as the part is not complete.

    :param number: of the leap, from zero
    :param total: of the momenta up to this one
    :param begun: row after row, the momenta of first leaps
    :param sums: likewise, the totals at first leaps
    """
    depth, rest = 0, number >> 1
    while rest > 0:  # how many parts have begun and are not complete
        depth += rest & 1
        rest >>= 1
    if number % 2 == 0:
        for i in range(dimension):
            begun[depth * dimension + i] = momentum[i]
            sums[depth * dimension + i] = total[i]
        return False
    complete, rest = 0, number
    while rest & 1 == 1:  # how many parts end with this leap
        complete += 1
        rest >>= 1
    for row in range(depth, depth - complete, -1):
        at_first, at_last = 0.0, 0.0
        for i in range(dimension):
            first = begun[row * dimension + i]
            of_part = total[i] - sums[row * dimension + i] + first
            between = of_part - 0.5 * (first + momentum[i])
            at_first += first * between
            at_last += momentum[i] * between
        if at_first <= 0.0 or at_last <= 0.0:
            return True
    return False
