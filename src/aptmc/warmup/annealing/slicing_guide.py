"""How elliptical slices learn while a population is annealed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import final

import numpy as np
from typing_extensions import override

from aptmc.compiled import Floats, FloatTable, FloatTables
from aptmc.kernels import EllipticalSlice, Kernel, Students
from aptmc.kernels.elliptical_slice import FIRST_DEGREES, MIXTURE
from aptmc.kernels.shapes import Rows, believed_shapes, some
from aptmc.kernels.student_fit import USUAL_DEGREES, fit, shape_of, shares_in
from aptmc.kernels.students import Mixed
from aptmc.ladder import Ladder
from aptmc.problem import Problem
from aptmc.problem.chain_state import log_prior_column, value_column
from aptmc.session.orders import Outcome
from aptmc.warmup.annealing.batches import Batch
from aptmc.warmup.annealing.guide import Guide, Learning
from aptmc.warmup.annealing.metric_of_slopes import mean_of_slopes, metric_of_slopes

# States of which slopes are looked at: on the way so many, or a part of the dimension; in windows
# more than there are dimensions.
FEWEST_SLOPES, FEWER_ON_THE_WAY, MORE_SLOPES = 6, 2, 4
DIFFERENCE = 1e-4  # standard deviations
FAR_OUT = 8.0  # median distances: of a heavy-tailed prior, what lies beyond is no measure


@final
class SlicingGuide(Guide):
    """A mixture of Student distributions that suits the population.

    :param ladder: of one rung, for the kernel to make its numbers for
    :param inherited: what others have learnt from slopes, of which no more are looked at then
    """

    hopeless = math.inf  # who comes first to a mode must not take the places of all others
    on_the_way = 2
    first_window = 4
    gives_up = True

    def __init__(
        self, problem: Problem, kernel: EllipticalSlice, ladder: Ladder,
        inherited: Mixed | None = None,
    ) -> None:  # fmt: skip
        self.problem, self._kernel, self._ladder = problem, kernel, ladder
        dimension = problem.dimension
        self.fewest = max(self.fewest, min(2 * dimension, self.most))
        self._mixed = inherited or _one(np.zeros(dimension), np.eye(dimension))
        self._inherits = inherited is not None
        self._columns = value_column(dimension), log_prior_column(dimension)
        self._is_uneven = any(one.kind == "whole" for one in problem.variables)
        self._row = self._fresh_row()

    def _fresh_row(self) -> Floats:
        kernel = self._kernel.with_reference(Students.of([self._mixed]))
        return np.array(kernel.numbers(self.problem, self._ladder)[0])

    def _theta(self, rows: FloatTable) -> FloatTable:
        return rows[:, : self.problem.dimension]

    @override
    def begin(self, rows: FloatTable) -> None:
        theta = self._theta(rows)
        middle = np.median(theta, axis=0)
        far = FAR_OUT * np.maximum(np.median(np.abs(theta - middle), axis=0), 1e-300)
        spread = np.clip(theta, middle - far, middle + far).std(axis=0)
        self._mixed = _one(middle, np.diag(np.where(spread > 0.0, spread, 1.0) ** 2))

    @override
    def learn(self, rows: FloatTable, weights: Floats) -> Learning:
        mean = weights / weights.sum() @ self._theta(rows)
        self._mixed = self._mixed._replace(means=mean[None], degrees=USUAL_DEGREES)
        few = max(FEWEST_SLOPES, self.problem.dimension // FEWER_ON_THE_WAY)
        if self._is_uneven:
            self._fit(Rows(self._theta(rows), 1.0 / len(rows)))
        yield from self._learn_from_slopes(rows[np.argsort(-weights)[:few]])

    @override
    def learn_from_window(self, seen: FloatTables, *, gets_about: bool) -> Learning:
        if self._inherits:
            self.learn_from_rows(seen.reshape(-1, seen.shape[2]))
            return
        if gets_about or self._is_uneven:
            self._fit(some(self._theta(seen.reshape(-1, seen.shape[2]))))
            return
        # Draws of chains that hardly move are too narrow by far, and slopes are not.
        most = self.problem.dimension + MORE_SLOPES
        yield from self._learn_from_slopes(seen[:most, -1], finds_mean=True)

    def learn_from_rows(self, rows: FloatTable) -> None:
        """Fit the distribution to states, if that suits others better than the present one."""
        before, half = self._mixed, len(rows) // 2
        self._fit(some(self._theta(rows[:half])))
        fits = self.spread(rows[half:])
        self._set(before)
        if fits < self.spread(rows[half:]):
            self._fit(some(self._theta(rows)))

    def spread(self, rows: FloatTable) -> float:
        """Of how much of the log density the distribution lacks."""
        value, log_prior = self._columns
        log_target = self.level * rows[:, value] + rows[:, log_prior]
        return float(np.std(log_target - shares_in(self._mixed, self._theta(rows))[1]))

    def _set(self, mixed: Mixed) -> None:
        self._mixed, self._row = mixed, self._fresh_row()

    def _learn_from_slopes(self, rows: FloatTable, *, finds_mean: bool = False) -> Learning:
        """Learn from slopes, which are differences: each takes an evaluation for each coordinate.

        Of whole numbers there are none.
        """
        dimension = self.problem.dimension
        if self._is_uneven or len(np.unique(self._theta(rows), axis=0)) < 2:
            return
        before = self._mixed.matrices[0]
        factor = np.linalg.cholesky(before)
        points = np.repeat(rows, dimension + 1, axis=0)
        steps = np.vstack([np.zeros(dimension), DIFFERENCE * factor.T])
        points[:, :dimension] += np.tile(steps, (len(rows), 1))
        asking = self._row.copy()
        asking[MIXTURE] = 0.0
        shown = (yield Batch(points, 1, self.level, lambda: asking))[:, 0]
        value, log_prior = self._columns
        with np.errstate(invalid="ignore"):
            logs = self.level * shown[:, value] + shown[:, log_prior]
            logs = logs.reshape(len(rows), dimension + 1)
            slopes = (logs[:, 1:] - logs[:, :1]) / DIFFERENCE
        inside = np.isfinite(slopes).all(axis=1)
        if inside.sum() < 2:
            return
        theta, slopes = self._theta(rows)[inside], slopes[inside]
        weights = np.ones(len(theta))
        matrix = metric_of_slopes(theta, slopes, weights, before)
        mean = self._mixed.means[0]
        if finds_mean:
            mean = mean_of_slopes(theta, slopes, weights, before, matrix)
        self._set(Mixed(np.ones(1), mean[None], matrix[None], USUAL_DEGREES))

    def _fit(self, rows: Rows) -> None:
        if len(np.unique(rows.theta, axis=0)) < 4:
            return
        before = shape_of(self._mixed)
        believed = believed_shapes({0: rows}, [before])[0]
        found = fit(rows, believed, 1)
        if np.isfinite(found.matrices).all() and np.isfinite(found.means).all():
            self._set(found)

    @override
    def make_ready(self, window: int | None) -> None:
        self._row = self._fresh_row()

    @override
    def numbers(self) -> Floats:
        return self._row

    @override
    def heard(self, outcome: Outcome, is_late: bool) -> None:
        """Nothing is learnt from single moves."""

    @override
    def settle(self) -> None:
        """Nor at their end."""

    @override
    def knows_one_mode(self, moves: int) -> bool:
        """One distribution, in which chains get about, is like one mode."""
        return True

    @property
    @override
    def found(self) -> Mixed:
        return self._mixed

    @override
    def kernel(self, found: Sequence[Mixed]) -> Kernel:
        return self._kernel.with_reference(Students.of(list(found)))

    @override
    def of_one_hill(self, kernel: Kernel) -> Kernel:
        """With one distribution, as was seen; several, fitted to short chains, are several times as
        slow in many dimensions, and a mode that is found later has warmer rungs.
        """
        assert isinstance(kernel, EllipticalSlice)
        return replace(kernel, components=1, is_from_slopes=not self._is_uneven)


def _one(mean: Floats, matrix: FloatTable) -> Mixed:
    return Mixed(np.ones(1), mean[None], matrix[None], FIRST_DEGREES)
