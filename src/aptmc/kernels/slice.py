"""Slice sampling along lines: steps whose length fits the place where the chain is."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from typing_extensions import override

from aptmc.arguments import class_named_clearly
from aptmc.checks import whole_number
from aptmc.compiled import Floats, FloatTable, Generator, compiled, inlined
from aptmc.kernels.parts import Parts
from aptmc.kernels.proposing import Proposing, need_density
from aptmc.kernels.stages import GOES, GOES_ON, STAYS, Stages, run_whole
from aptmc.ladder import Ladder
from aptmc.problem.base import Problem
from aptmc.problem.chain_state import STATUS

# Places in the tuning after the number of steps.
STRETCHES, FACTOR = 1, 2
# Places in the memory of a move: the height, the interval, how often its ends may still move, how
# often it was cut down; then the direction of the line.
HEIGHT, LOWER, UPPER, BELOW, ABOVE, SHRINKS, DIRECTION = range(7)
# Halving an interval so often leaves nothing of it: only a density that jumps gets there.
MOST_SHRINKS = 100
SHARE_OF_AXES = 0.5
# Of the interval that is learnt, in standard deviations. Measured: docs/tuning.md.
USUAL_LENGTH = 5.0


@class_named_clearly
@final
@dataclass(frozen=True)
class Slice(Proposing):
    """Choose a line through the present state, and draw from the part where the density is high.

    Neal (2003), figures 3 and 5: a height is drawn below the density of the present state, an
    interval around it is stretched until its ends are below that height, and points are drawn from
    it, and the interval cut down to those that fail, until one is above. So the length of a step
    fits the place, over many orders of magnitude, and no acceptance rate has to be tuned; a step
    takes several evaluations, which are its counted work. Half of the lines are parallel to one of
    the axes, the others have the directions of normal steps. On a rung with power 0 of a `Tempered`
    problem each step is a fresh draw from the prior.

    :param scale: length of the interval before it is stretched; a number, a mapping or a sequence,
        as for `RandomWalk`. About five standard deviations of the target are a good choice; "auto"
        finds them in the warm-up
    :param covariance: covariance matrix whose standard deviations are these lengths, in place of
        `scale`: one matrix, or one per rung
    :param stretches: how many times its length the interval may at most become. By default it is
        not stretched, which saves evaluations where the scale is large enough
    :param steps: how many local steps make one move

    >>> Slice(3.0), Slice({"x": 0.5, "y": 2.0}, stretches=4)
    (Slice(scale=3.0, stretches=1), Slice(scale={'x': 0.5, 'y': 2.0}, stretches=4))
    """

    stretches: int = 1
    steps: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("stretches", self.stretches)
        whole_number("steps", self.steps)

    @override
    def first_scale(self, dimension: int) -> float:
        """The length of an interval that need not be stretched."""
        return USUAL_LENGTH

    @override
    def tuning(self, problem: Problem, ladder: Ladder) -> FloatTable:
        """The number of steps and of stretches, then the factor of the covariance row by row."""
        need_density(problem, "Slice")
        return self._table(problem, ladder, [self.steps, self.stretches])

    @override
    def step(self, parts: Parts) -> Callable[..., bool]:
        """All stages."""
        return run_whole(self.stages(parts), parts.target)

    @override
    def stages(self, parts: Parts) -> Stages:
        """Draw a height below the present density, and go to a point of a random line above it.

        The interval on the line is first stretched until its ends are below the height, or as often
        as `stretches` allows. Then points are drawn from it, and those that are below cut it down,
        until one is above. Each stage is one point of the line.
        """
        need_density(parts.problem, "Slice")
        dimension, value, log_prior = parts.dimension, parts.value, parts.log_prior
        evaluate, log_weight = parts.evaluate, parts.log_weight
        choose_direction = parts.target.library(draw_direction)
        height_below = parts.target.library(draw_height)
        share_below = parts.target.library(stretches_below)

        def begin(
            level: float, tuning: Floats, here: Floats, rng: Any, there: Floats, memory: Floats,
            info: Floats,
        ) -> None:  # fmt: skip
            choose_direction(rng, dimension, tuning, FACTOR, memory[DIRECTION:])
            memory[HEIGHT] = height_below(rng, log_weight(level, here[value]) + here[log_prior])
            memory[UPPER] = rng.random()
            memory[LOWER] = memory[UPPER] - 1.0
            stretches = int(tuning[STRETCHES])
            memory[BELOW] = share_below(rng, stretches)
            memory[ABOVE] = stretches - 1 - memory[BELOW]
            memory[SHRINKS] = 0.0

        def advance(
            level: float, tuning: Floats, here: Floats, rng: Any, there: Floats, memory: Floats,
            info: Floats,
        ) -> int:  # fmt: skip
            below, above = memory[BELOW] > 0.0, memory[ABOVE] > 0.0
            if below:
                along = memory[LOWER]
            elif above:
                along = memory[UPPER]
            else:
                along = memory[LOWER] + (memory[UPPER] - memory[LOWER]) * rng.random()
            for i in range(dimension):
                there[i] = here[i] + along * memory[DIRECTION + i]
            evaluate(there, info)
            if info[STATUS] != 0.0:
                return STAYS
            # The likelihood is not computed where the prior is zero.
            is_inside = False
            if there[log_prior] > -math.inf:
                log_density = log_weight(level, there[value]) + there[log_prior]
                is_inside = log_density >= memory[HEIGHT]
            if below:
                memory[BELOW] = memory[BELOW] - 1.0 if is_inside else 0.0
                memory[LOWER] -= 1.0 if is_inside else 0.0
                return GOES_ON
            if above:
                memory[ABOVE] = memory[ABOVE] - 1.0 if is_inside else 0.0
                memory[UPPER] += 1.0 if is_inside else 0.0
                return GOES_ON
            if is_inside:
                return GOES
            if is_below(along):
                memory[LOWER] = along
            else:
                memory[UPPER] = along
            # A path from here to there is as likely as the same from there to here, however
            # long; so to give up after a number of points, and stay, is exact too.
            memory[SHRINKS] += 1.0
            return STAYS if memory[SHRINKS] >= MOST_SHRINKS else GOES_ON

        return Stages(DIRECTION + dimension, begin, advance)

    def __repr__(self) -> str:
        steps = {"steps": self.steps} if self.steps > 1 else {}
        return self._described(stretches=self.stretches, **steps)


@compiled
def draw_height(rng: Generator, log_density: float) -> float:
    """The log of a number drawn uniformly between 0 and the density of the present state."""
    return log_density + math.log1p(-rng.random())


@inlined
def is_below(along: float) -> bool:
    """Whether a point of the line is below the present state, which must stay in the interval."""
    return along < 0.0


@compiled
def stretches_below(rng: Generator, stretches: int) -> int:
    """How often an interval may grow at its lower end; at its upper end it may as often as is left.

    Split at random, for otherwise intervals around states near one end of a long slice would differ
    from those around states near the other, and a step would not be as likely as its way back.
    """
    return int(stretches * rng.random())


@compiled
def draw_direction(
    rng: Generator, dimension: int, numbers: Floats, first: int, direction: Floats
) -> None:
    """Along an axis, or as a normal step; as long as the interval is to be there.

    :param numbers: the factor of the covariance, row by row from `first` on
    """
    direction[:] = 0.0
    if rng.random() < SHARE_OF_AXES:
        axis = int(dimension * rng.random())
        square = 0.0
        for j in range(axis + 1):
            entry = numbers[first + axis * dimension + j]
            square += entry * entry
        direction[axis] = math.sqrt(square)
        return
    normals = np.empty(dimension)
    square = 0.0
    for i in range(dimension):
        normals[i] = rng.standard_normal()
        square += normals[i] * normals[i]
    for i in range(dimension):
        for j in range(i + 1):
            direction[i] += numbers[first + i * dimension + j] * normals[j] / math.sqrt(square)
