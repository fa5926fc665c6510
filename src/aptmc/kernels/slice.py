"""Slice sampling along lines: steps whose length fits the place where the chain is."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from aptmc.checks import whole_number
from aptmc.compiled import Floats, FloatTable, Generator, at_speed, compiled, inlined
from aptmc.kernels.base import STEPS, Kernel
from aptmc.kernels.densities import density_parts, stepping_table
from aptmc.kernels.proposals import Scale, check_one_given, described
from aptmc.ladder import Ladder
from aptmc.problem import Problem
from aptmc.problem.state import ACCEPTED, BAD_VALUE, STATUS, WORK

# Places in the tuning after the number of steps.
STRETCHES, FACTOR = 1, 2
# Halving an interval so often leaves nothing of it: only a density that jumps gets there.
MOST_SHRINKS = 100
SHARE_OF_AXES = 0.5


@final
@dataclass(frozen=True)
class Slice(Kernel):
    """Choose a line through the present state, and draw from the part where the density is high.

    Neal (2003), figures 3 and 5: a height is drawn below the density of the present state, an
    interval around it is stretched until its ends are below that height, and points are drawn from
    it, and the interval cut down to those that fail, until one is above. So the length of a step
    fits the place, over many orders of magnitude, and no acceptance rate has to be tuned; a step
    takes several evaluations, which are its counted work. Half of the lines are parallel to one of
    the axes, the others have the directions of normal steps. On a rung with power 0 of a `Tempered`
    problem each step is a fresh draw from the prior.

    :param scale: length of the interval before it is stretched; a number, a mapping or a sequence,
        as for `RandomWalk`. About five standard deviations of the target are a good choice
    :param covariance: covariance matrix whose standard deviations are these lengths, in place of
        `scale`: one matrix, or one per rung
    :param stretches: how many times its length the interval may at most become. By default it is
        not stretched, which saves evaluations where the scale is large enough
    :param steps: how many local steps make one move

    >>> Slice(3.0), Slice({"x": 0.5, "y": 2.0}, stretches=4)
    (Slice(scale=3.0, stretches=1), Slice(scale={'x': 0.5, 'y': 2.0}, stretches=4))
    """

    scale: Scale | None = None
    covariance: npt.ArrayLike | None = None
    stretches: int = 1
    steps: int = 1

    def __post_init__(self) -> None:
        check_one_given("Slice", self.scale, self.covariance)
        whole_number("stretches", self.stretches)
        whole_number("steps", self.steps)

    def tuning(self, problem: Problem, ladder: Ladder) -> FloatTable:
        """The number of steps and of stretches, then the factor of the covariance row by row."""
        numbers = [self.steps, self.stretches]
        return stepping_table("Slice", problem, ladder, numbers, self.scale, self.covariance)

    def body(self, problem: Problem, *, compiled: bool) -> Callable[..., None]:
        """Slice sampling along a random line."""
        dimension, evaluate, log_weight, value, log_prior, has_prior, draw_from_prior = (
            density_parts(problem, "Slice", compiled=compiled)
        )
        choose_direction = at_speed(draw_direction, compiled=compiled)
        height_below = at_speed(draw_height, compiled=compiled)
        share_below = at_speed(stretches_below, compiled=compiled)

        def log_density_at(
            level: float, here: Floats, direction: Floats, along: float, row: Floats, info: Floats
        ) -> float:
            """Evaluate a point of the line; what no density can be is noted in the status."""
            for i in range(dimension):
                row[i] = here[i] + along * direction[i]
            evaluate(row)
            info[WORK] += 1.0
            if not (row[value] < math.inf and row[log_prior] < math.inf):
                info[STATUS] = BAD_VALUE
            # The likelihood is not computed where the prior is zero.
            if row[log_prior] == -math.inf:
                return -math.inf
            return float(log_weight(level, row[value]) + row[log_prior])

        if compiled:
            from numba import njit

            log_density_at = njit(log_density_at, nogil=True)  # type: ignore[assignment]

        def move(
            level: float,
            tuning: Floats,
            state: Floats,
            rng: np.random.Generator,
            outcome: Floats,
            info: Floats,
        ) -> None:
            factor = tuning[FACTOR:].reshape(dimension, dimension)
            direction = np.empty(dimension)
            point = np.empty_like(state)
            outcome[:] = state
            info[:] = 0.0
            for _ in range(int(tuning[STEPS])):
                if level == 0.0 and has_prior:
                    draw_from_prior(rng, point)
                    evaluate(point)
                    info[WORK] += 1.0
                    outcome[:] = point
                    if not (point[value] < math.inf and point[log_prior] < math.inf):
                        info[STATUS] = BAD_VALUE
                        return
                    info[ACCEPTED] += 1.0
                    continue

                choose_direction(rng, dimension, factor, direction)
                height = height_below(rng, log_weight(level, outcome[value]) + outcome[log_prior])
                upper = rng.random()
                lower = upper - 1.0
                stretches = int(tuning[STRETCHES])
                below = share_below(rng, stretches)
                above = stretches - 1 - below
                while below > 0:
                    below -= 1
                    found = log_density_at(level, outcome, direction, lower, point, info)
                    if info[STATUS] != 0.0:
                        outcome[:] = point
                        return
                    if found < height:
                        break
                    lower -= 1.0
                while above > 0:
                    above -= 1
                    found = log_density_at(level, outcome, direction, upper, point, info)
                    if info[STATUS] != 0.0:
                        outcome[:] = point
                        return
                    if found < height:
                        break
                    upper += 1.0

                # A path from here to there is as likely as the same from there to here, however
                # long; so to give up after a number of points, and stay, is exact too.
                for _ in range(MOST_SHRINKS):
                    along = lower + (upper - lower) * rng.random()
                    found = log_density_at(level, outcome, direction, along, point, info)
                    if info[STATUS] != 0.0:
                        outcome[:] = point
                        return
                    if found >= height:
                        outcome[:] = point
                        info[ACCEPTED] += 1.0
                        break
                    if is_below(along):
                        lower = along
                    else:
                        upper = along

        return move

    def __repr__(self) -> str:
        options = [described(self.scale, self.covariance), f"stretches={self.stretches}"]
        if self.steps > 1:
            options.append(f"steps={self.steps}")
        return f"Slice({', '.join(options)})"


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
def draw_direction(rng: Generator, dimension: int, factor: FloatTable, direction: Floats) -> None:
    """Along an axis, or as a normal step; as long as the interval is to be there."""
    direction[:] = 0.0
    if rng.random() < SHARE_OF_AXES:
        axis = int(dimension * rng.random())
        square = 0.0
        for j in range(axis + 1):
            square += factor[axis, j] ** 2
        direction[axis] = math.sqrt(square)
        return
    normals = np.empty(dimension)
    square = 0.0
    for i in range(dimension):
        normals[i] = rng.standard_normal()
        square += normals[i] ** 2
    for i in range(dimension):
        for j in range(i + 1):
            direction[i] += factor[i, j] * normals[j] / math.sqrt(square)
