"""A trial of another kernel, with what an annealing has learnt of the posterior."""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import final

import numpy as np
from typing_extensions import override

from aptmc.compiled import FloatTables
from aptmc.kernels import EllipticalSlice
from aptmc.kernels.student_fit import USUAL_DEGREES
from aptmc.kernels.students import Mixed
from aptmc.ladder import Ladder
from aptmc.problem import Problem
from aptmc.problem.unbounded import log_slope, places_on_line
from aptmc.warmup.annealing.annealing import Annealing
from aptmc.warmup.annealing.batches import Batch
from aptmc.warmup.annealing.leaping_guide import FoundOfLeaps
from aptmc.warmup.annealing.slicing_guide import SlicingGuide
from aptmc.warmup.annealing.windows import FEWEST_MOVES_TO_TELL, MOST_MOVES, Annealed, Windows

# Standard deviations of the log density over that of the reference: beyond slices are cut down so
# often that there is nothing to try.
MOST_LACKING = 4.0


@final
class Trial(Windows):
    """The population of an annealing that followed gradients, in the posterior, moved by slices.

    :param ladder: of one rung
    :param until: when no more windows begin, from the beginning
    """

    guide: SlicingGuide

    def __init__(
        self, problem: Problem, kernel: EllipticalSlice, seed: int, ladder: Ladder,
        annealing: Annealing, *, by_clock: bool, until: float, most: float,
    ) -> None:  # fmt: skip
        stages = annealing.stages
        guide = SlicingGuide(problem, kernel, ladder, reference_of(stages[-1], problem))
        guide.level = 1.0
        guide.learn_from_rows(stages[-1].rows)
        self._last, self._other, self._until = annealing.last, annealing.price, until
        self.is_promising = guide.spread(stages[-1].rows) <= MOST_LACKING
        super().__init__(
            problem, guide, seed, level=1.0, size=len(annealing.last),
            by_clock=by_clock, most=most,
        )  # fmt: skip
        self.go_on_after(annealing)
        self.stages = [
            Annealed(stage.level, stage.rows, reference_of(stage, problem)) for stage in stages[:-1]
        ]

    @override
    def has_found(self, count: int, wanted: int) -> None:
        """All begin with states."""

    @override
    def course(self) -> Generator[Batch, FloatTables, None]:
        """Windows, until one is long enough, or it is clear that draws take longer."""
        rows, number, moves = self._last, 0, self.guide.first_window
        while number == 0 or self.has_time_for(moves, self._until):
            self.tell("trying slices in place of trajectories", min(number / 4.0, 1.0))
            rows = (yield from self.looked_at(rows, moves, number))[:, -1]
            is_decided = self.mixes or self.alike > MOST_MOVES or self.price > self._other
            if moves >= FEWEST_MOVES_TO_TELL and is_decided:
                break
            number, moves = number + 1, 2 * moves

    @property
    def is_better(self) -> bool:
        """Whether draws take less than by what the annealing moved."""
        return self.price <= self._other and math.isfinite(self.price)


def reference_of(stage: Annealed, problem: Problem) -> Mixed:
    """What slices are cut from, where leaps have a metric on the whole real line."""
    found: FoundOfLeaps = stage.found
    theta = stage.rows[:, : problem.dimension]
    lower, upper = problem.support
    places, inside = places_on_line(theta, lower, upper)
    middle = np.median(places[inside], axis=0)
    stretch = np.exp([log_slope(*one) for one in zip(middle, lower, upper, strict=True)])
    has_bounds = np.isfinite(lower) | np.isfinite(upper)
    mean = np.where(has_bounds, theta.mean(axis=0), found.mean)
    matrix = found.covariance * np.outer(stretch, stretch)
    return Mixed(np.ones(1), mean[None], matrix[None], USUAL_DEGREES)
