"""Elliptical slice sampling: slices along ellipses of a distribution that is like the target."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from typing_extensions import override

from aptmc.arguments import class_named_clearly
from aptmc.checks import whole_number
from aptmc.compiled import Floats, FloatTable, Integers
from aptmc.errors import InputError
from aptmc.kernels.base import Kernel
from aptmc.kernels.parts import Parts
from aptmc.kernels.proposing import AUTO, need_density
from aptmc.kernels.seen import Seen
from aptmc.kernels.slice import MOST_SHRINKS, draw_height, is_below
from aptmc.kernels.stages import GOES, GOES_ON, STAYS, Stages, run_whole
from aptmc.kernels.student_fit import fit_all, shares_in
from aptmc.kernels.students import (
    DEGREES,
    MEAN,
    Students,
    block_length,
    draw_around_zero,
    draw_component,
    draw_scale,
    log_mixture,
    map_between,
)
from aptmc.ladder import Ladder
from aptmc.problem.base import Problem
from aptmc.problem.chain_state import STATUS, accepts
from aptmc.problem.prior.normal_moments import normal_moments
from aptmc.problem.prior.prior import Prior

PRIOR = "prior"
# Places in the tuning after the number of steps.
SHARE_OF_JUMPS, MIXTURE = 1, 2
# Places in the memory of a move: the component by its block, and the other one that a jump leads
# to; the height, or for a jump what is known of its ratio; the angle and its interval; how often
# that was cut down; then the point drawn, and room for what is computed of each component.
BLOCK, JUMPS_TO, HEIGHT, ANGLE, LOWER, UPPER, SHRINKS, DRAWN = range(8)
NOWHERE = -1
# With few degrees of freedom ellipses of all sizes are drawn: nothing is known of the target yet.
FIRST_DEGREES = 3.0
# Measured: docs/tuning.md.
MOST_COMPONENTS, USUAL_SHARE_OF_JUMPS = 32, 0.2


@class_named_clearly
@final
@dataclass(frozen=True)
class EllipticalSlice(Kernel):
    """Choose an ellipse through the present state, and draw from the part of high density.

    Murray, Adams and MacKay (2010), generalised by Nishihara, Murray and Adams (2014): a point is
    drawn from a normal distribution like the target, the *reference*; together with the present
    state it spans an ellipse, and a slice of that is sampled as a line is in `Slice`. If target and
    reference are alike the first point is taken, wherever it is on the ellipse. There is no step
    size, and a step in a hundred dimensions takes two or three evaluations.

    A reference that is not quite like the target costs time, and no exactness. It is one Student
    distribution for each rung, or a mixture of them where the warm-up sees several modes or a
    crooked shape. Then some of the steps are jumps: to the point that lies in another component as
    the present state does in its own, accepted as Metropolis does.

    :param reference: "auto", fitted to what each rung sees in the warm-up; "prior", for a prior
        that is normal; or `aptmc.kernels.Students`, for all rungs or one for each
    :param components: of a fitted mixture, at most
    :param jumps: the share of steps that are jumps, where there are several components
    :param steps: how many local steps make one move

    >>> EllipticalSlice(), EllipticalSlice("prior", steps=5)
    (EllipticalSlice(), EllipticalSlice('prior', steps=5))
    """

    reference: str | Students = AUTO
    components: int = MOST_COMPONENTS
    jumps: float = USUAL_SHARE_OF_JUMPS
    steps: int = 1
    is_learning: bool = False  # whether the reference is that of a warm-up under way
    is_from_slopes: bool = False  # and was learnt from these, so that few draws know no better

    statistics = ("jumps", "jumped")

    def __post_init__(self) -> None:
        if not isinstance(self.reference, Students) and self.reference not in (AUTO, PRIOR):
            raise InputError(
                'reference must be "auto", "prior" or aptmc.kernels.Students, got '
                f"{self.reference!r}: leave it out to have one fitted"
            )
        if not isinstance(self.jumps, int | float) or not 0.0 <= self.jumps < 1.0:
            raise InputError(f"jumps must be a number from 0 to less than 1, got {self.jumps!r}")
        whole_number("components", self.components)
        whole_number("steps", self.steps)

    @property
    @override
    def code(self) -> Hashable:
        """How much room it needs: all other settings reach the step as numbers."""
        return (EllipticalSlice, self._most_components)

    # --- learning -----------------------------------------------------------------------------

    @property
    @override
    def learns(self) -> bool:
        """Whether the reference is "auto", or has been fitted so far."""
        return self.is_learning or self.reference == AUTO

    @override
    def at_first(self, spread: Floats, rungs: int) -> EllipticalSlice:
        """With "auto", a wide one around zero, as wide as the first guess of the parameters is."""
        if self.reference != AUTO:
            return self
        first = Students.one(np.zeros(spread.size), np.diag(spread**2), FIRST_DEGREES)
        return replace(self, reference=first.on_rungs(rungs), is_learning=True)

    @override
    def adapted(self, seen: Seen) -> EllipticalSlice:
        """With "auto", one that is fitted to the draws of each rung.

        Or to those of all rungs, chosen for this one, where that shows more of its modes. A mode
        that was found only just now is hardly among those of the rounds before.
        """
        if not self.is_learning or not isinstance(self.reference, Students):
            return self
        moved, trusted = self._moved(seen, seen.states), self.is_from_slopes
        own = fit_all(moved, self.reference, self.components, is_trusted=trusted)
        if seen.by_all is None:
            return replace(self, reference=own)
        by_all = fit_all(self._moved(seen, seen.by_all), self.reference, self.components)
        return replace(self, reference=own.or_with_more_components(by_all))

    @staticmethod
    def _moved(seen: Seen, states: list[FloatTable]) -> list[FloatTable]:
        """Where every step is a draw from the problem's own reference, no other one is needed."""
        return [
            rows[:0] if level == seen.reference_level else rows
            for level, rows in zip(seen.levels, states, strict=True)
        ]

    @override
    def respaced(self, nearest: Integers) -> EllipticalSlice:
        """With "auto", for each new rung that of the nearest old one."""
        if not self.is_learning or not isinstance(self.reference, Students):
            return self
        return replace(self, reference=self.reference.respaced(nearest))

    @property
    @override
    def anneals(self) -> bool:
        """Where it learns: a reference that is like the prior is far from the posterior."""
        return self.learns

    @property
    @override
    def learns_from_all(self) -> bool:
        """Where it learns of modes: neighbours have been in more of them."""
        return self.learns and self.components > 1

    @override
    def looks_at(self, rung: int, theta: FloatTable, log_target: Floats) -> FloatTable | None:
        """Which component they are in, and how much of the target the reference lacks there."""
        if not isinstance(self.reference, Students):
            return None
        shares, log_reference = shares_in(self.reference.on(rung), theta)
        return np.column_stack([shares.round(2), log_target - log_reference])

    def with_reference(self, reference: Students) -> EllipticalSlice:
        """The same in the midst of learning, with this reference."""
        return replace(self, reference=reference, is_learning=True)

    @override
    def frozen(self) -> EllipticalSlice:
        """The reference that was fitted, as if it was given by hand."""
        return replace(self, is_learning=False, is_from_slopes=False)

    # --- moving -------------------------------------------------------------------------------

    @override
    def tuning(self, problem: Problem, ladder: Ladder) -> FloatTable:
        """The number of steps, the share of jumps, then the reference."""
        need_density(problem, "EllipticalSlice")
        numbers = self._reference_of(problem).on_rungs(ladder.rungs).numbers()
        common = np.tile([float(self.steps), float(self.jumps)], (ladder.rungs, 1))
        return np.column_stack([common, numbers])

    def _reference_of(self, problem: Problem) -> Students:
        if isinstance(self.reference, Students):
            if self.reference.dimension != problem.dimension:
                raise InputError(
                    f"the reference has {self.reference.dimension} coordinates, and the problem "
                    f"{problem.dimension}, {', '.join(problem.names)}: give one for all of them"
                )
            return self.reference
        if self.reference == AUTO:
            raise InputError(
                "the reference of EllipticalSlice() is found in a warm-up, and there was none: "
                'leave out warmup=0, or give a reference ("prior", if the prior is normal)'
            )
        prior = problem.reference
        moments = normal_moments(prior) if isinstance(prior, Prior) else None
        if moments is None:
            raise InputError(
                f'EllipticalSlice("prior") needs a prior that is normal, got {prior!r}: use '
                "EllipticalSlice(), which fits a reference in the warm-up"
            )
        return Students.one(*moments)

    @property
    def _most_components(self) -> int:
        """Of any rung, now and in a warm-up to come."""
        given = self.reference.weights.shape[1] if isinstance(self.reference, Students) else 1
        return max(self.components, given)

    @override
    def step(self, parts: Parts) -> Callable[..., bool]:
        """All stages."""
        return run_whole(self.stages(parts), parts.target)

    @override
    def stages(self, parts: Parts) -> Stages:
        """A jump now and then, if there are several components; else an elliptical slice.

        First a component is drawn from those that the present state may have come from, then by how
        much a normal distribution would have to be widened to be that Student distribution. Given
        these, the target is a normal density times the rest, which is what the slice is cut from.
        A stage is one point of the ellipse, or the jump.
        """
        need_density(parts.problem, "EllipticalSlice")
        dimension, value, log_prior = parts.dimension, parts.value, parts.log_prior
        evaluate, log_weight, library = parts.evaluate, parts.log_weight, parts.target.library
        log_reference, choose = library(log_mixture), library(draw_component)
        widened, draw_other = library(draw_scale), library(draw_around_zero)
        height_below, map_into = library(draw_height), library(map_between)
        copy_into = parts.copy_into
        jumps, jumped = parts.place("jumps"), parts.place("jumped")
        length, most = block_length(dimension), self._most_components
        logs_at = DRAWN + dimension
        squares_at = logs_at + most
        size = squares_at + most

        def begin(
            level: float, tuning: Floats, here: Floats, rng: Any, there: Floats, memory: Floats,
            info: Floats,
        ) -> None:  # fmt: skip
            count = int(tuning[MIXTURE])
            memory[BLOCK], memory[JUMPS_TO] = 0.0, NOWHERE
            if count == 0:
                return
            logs, squares = memory[logs_at:squares_at], memory[squares_at:size]
            log_here = log_reference(dimension, tuning, MIXTURE, here, logs, squares)
            chosen = choose(rng, count, logs, log_here)
            block = MIXTURE + 1 + chosen * length
            log_density = log_weight(level, here[value]) + here[log_prior]
            memory[BLOCK], memory[JUMPS_TO] = block, NOWHERE
            if count > 1 and rng.random() < tuning[SHARE_OF_JUMPS]:
                other = int((count - 1) * rng.random())
                if other >= chosen:
                    other += 1
                memory[JUMPS_TO] = other
                memory[HEIGHT] = log_here - logs[chosen] - log_density
                return
            scale = widened(rng, dimension, tuning[block + DEGREES], squares[chosen])
            draw_other(rng, dimension, tuning, block, scale, memory[DRAWN:logs_at])
            memory[HEIGHT] = height_below(rng, log_density - log_here)
            memory[UPPER] = 2.0 * math.pi * rng.random()
            memory[LOWER] = memory[UPPER] - 2.0 * math.pi
            memory[ANGLE] = memory[UPPER]
            memory[SHRINKS] = 0.0

        def advance(
            level: float, tuning: Floats, here: Floats, rng: Any, there: Floats, memory: Floats,
            info: Floats,
        ) -> int:  # fmt: skip
            is_asked = tuning[MIXTURE] == 0.0  # by a warm-up, what a state is worth
            logs, squares = memory[logs_at:squares_at], memory[squares_at:size]
            block, jumps_to = int(memory[BLOCK]), int(memory[JUMPS_TO])
            log_ratio, angle = memory[HEIGHT], memory[ANGLE]
            if is_asked:
                copy_into(there, here)
            elif jumps_to != NOWHERE:
                to_block = MIXTURE + 1 + jumps_to * length
                log_ratio += map_into(dimension, tuning, block, to_block, here, there)
            else:
                cosine, sine = math.cos(angle), math.sin(angle)
                for i in range(dimension):
                    mean = tuning[block + MEAN + i]
                    there[i] = mean + (here[i] - mean) * cosine + memory[DRAWN + i] * sine
            evaluate(there, info)
            if is_asked:
                return GOES
            if info[STATUS] != 0.0:
                return STAYS
            log_there = 0.0
            if jumps_to != NOWHERE or there[log_prior] > -math.inf:
                log_there = log_reference(dimension, tuning, MIXTURE, there, logs, squares)
            log_density = log_weight(level, there[value]) + there[log_prior]
            if jumps_to != NOWHERE:
                log_ratio += log_density
                log_ratio += logs[jumps_to] - log_there
                info[jumps] += 1.0
                if not accepts(log_ratio, rng.random()):
                    return STAYS
                info[jumped] += 1.0
                return GOES
            if there[log_prior] > -math.inf and log_density - log_there >= memory[HEIGHT]:
                return GOES
            if is_below(angle):
                memory[LOWER] = angle
            else:
                memory[UPPER] = angle
            memory[ANGLE] = memory[LOWER] + (memory[UPPER] - memory[LOWER]) * rng.random()
            # As in `Slice`: to give up after a number of points, and stay, is exact too.
            memory[SHRINKS] += 1.0
            return STAYS if memory[SHRINKS] >= MOST_SHRINKS else GOES_ON

        return Stages(size, begin, advance)

    def __repr__(self) -> str:
        said = [] if self.reference == AUTO or self.is_learning else [repr(self.reference)]
        usual = {"components": MOST_COMPONENTS, "jumps": USUAL_SHARE_OF_JUMPS, "steps": 1}
        said += [
            f"{name}={getattr(self, name)!r}"
            for name, value in usual.items()
            if getattr(self, name) != value
        ]
        return f"EllipticalSlice({', '.join(said)})"
