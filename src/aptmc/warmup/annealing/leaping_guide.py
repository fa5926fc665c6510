"""How kernels that leap along gradients learn while a population is annealed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, final

import numpy as np
from typing_extensions import override

from aptmc.compiled import Floats, FloatTable, FloatTables
from aptmc.kernels import Kernel
from aptmc.kernels.hamiltonian import ALL_ROUNDS, LONGEST_STEP, Hamiltonian, usual_step
from aptmc.kernels.leaping import EXTENT, STEP_SIZE
from aptmc.ladder import Ladder
from aptmc.problem import Problem
from aptmc.problem.unbounded import places_on_line
from aptmc.session.orders import Outcome
from aptmc.warmup.annealing.batches import Batch
from aptmc.warmup.annealing.guide import Guide, Learning
from aptmc.warmup.annealing.leap_sizes import LeapSizes
from aptmc.warmup.annealing.metric_of_slopes import mean_of_slopes, metric_of_slopes

SLOPES_PER_DIMENSION = 4  # of a window's draws, at most as many as there are
FAR_OUT = 8.0  # median distances: of a heavy-tailed prior, what lies beyond is no measure
MOST_ASTRAY = 0.01  # of trajectories, where one rung will do
# Doublings of a trajectory on the way, where nobody has to get far, and in the first window; each
# window has one more.
DOUBLINGS_ON_THE_WAY, DOUBLINGS_OF_FIRST = 3, 5
SOME_ROUNDS = 10  # for which metrics are worth that do not reach to the posterior
LONGER = 2.0  # times the size of leaps at the power before, at most


class FoundOfLeaps(NamedTuple):
    """What suits a power."""

    covariance: FloatTable  # on the line
    mean: Floats  # there, as of a normal distribution: where slopes lead to
    size: float


@final
class LeapingGuide(Guide):
    """A metric from slopes, a size of leaps by dual averaging.

    :param ladder: of one rung, for the kernel to make its numbers for
    """

    fewest = 32  # windows of trajectories take long

    def __init__(self, problem: Problem, kernel: Hamiltonian, ladder: Ladder) -> None:
        self.problem, self._kernel, self._ladder = problem, kernel, ladder
        dimension = problem.dimension
        self.fewest = max(self.fewest, min(2 * dimension, self.most))
        self._covariance: FloatTable = np.eye(dimension)
        self._mean = np.zeros(dimension)
        self._leaps = LeapSizes(usual_step(dimension), kernel.best_acceptance)
        self._astray = self._late = 0
        self._extent = kernel.extent
        self._row = self._fresh_row()

    def _fresh_row(self) -> Floats:
        size = np.array([self._leaps.present])
        kernel = self._kernel.with_metric(self._covariance[None], size, ALL_ROUNDS)
        row = np.array(kernel.numbers(self.problem, self._ladder)[0])
        row[EXTENT] = min(row[EXTENT], self._extent)
        return row

    def _on_line(self, rows: FloatTable) -> tuple[FloatTable, np.ndarray]:
        return places_on_line(rows[:, : self.problem.dimension], *self.problem.support)

    @override
    def begin(self, rows: FloatTable) -> None:
        places, inside = self._on_line(rows)
        places = places[inside]
        if len(places) < 2:
            return
        middle = self._mean = np.median(places, axis=0)
        far = FAR_OUT * np.maximum(np.median(np.abs(places - middle), axis=0), 1e-300)
        spread = np.clip(places, middle - far, middle + far).std(axis=0)
        self._covariance = np.diag(np.where(spread > 0.0, spread, 1.0) ** 2)
        self._row = self._fresh_row()

    @override
    def learn(self, rows: FloatTable, weights: Floats) -> Learning:
        places, inside = self._on_line(rows)
        if inside.sum() < 2:
            return
        asking = self._fresh_row()
        asking[EXTENT] = 0.0
        shown = yield Batch(rows[inside], 1, self.level, lambda: asking)
        forces, before = shown[:, 0, : self.problem.dimension], self._covariance
        places, weights = places[inside], weights[inside]
        self._covariance = metric_of_slopes(places, forces, weights, before)
        self._mean = mean_of_slopes(places, forces, weights, before, self._covariance)

    @override
    def learn_from_window(self, seen: FloatTables, *, gets_about: bool) -> Learning:
        everything = seen.reshape(-1, seen.shape[2])
        most = max(len(seen), SLOPES_PER_DIMENSION * self.problem.dimension)
        some = everything[:: max(len(everything) // most, 1)]
        yield from self.learn(some, np.ones(len(some)))

    @override
    def make_ready(self, window: int | None) -> None:
        self._extent = DOUBLINGS_ON_THE_WAY
        if window is not None:
            self._extent = DOUBLINGS_OF_FIRST + window
        usual = usual_step(self.problem.dimension)
        self._leaps.begin_again(min(usual, LONGER * self._leaps.present))
        self._astray = self._late = 0
        self._row = self._fresh_row()

    @override
    def numbers(self) -> Floats:
        row = self._row.copy()
        row[STEP_SIZE] = min(self._leaps.present, LONGEST_STEP)
        return row

    @override
    def heard(self, outcome: Outcome, is_late: bool) -> None:
        places = self._kernel.places
        leaps = float(outcome.info[places["leaps"]])
        if leaps > 0.0:
            self._leaps.heard(float(outcome.info[places["acceptance"]]) / leaps)
        if is_late:  # before, sizes are being tried
            self._late += 1
            self._astray += int(outcome.info[places["divergences"]] > 0.0)

    @override
    def settle(self) -> None:
        self._leaps.settle()

    @override
    def knows_one_mode(self, moves: int) -> bool:
        """Trajectories that go astray tell of places that are too narrow for them."""
        return self._astray <= MOST_ASTRAY * self._late

    @property
    @override
    def found(self) -> FoundOfLeaps:
        return FoundOfLeaps(self._covariance, self._mean, min(self._leaps.present, LONGEST_STEP))

    @override
    def kernel(self, found: Sequence[FoundOfLeaps]) -> Kernel:
        covariances = np.array([one.covariance for one in found])
        sizes = np.array([one.size for one in found])
        rounds = ALL_ROUNDS if self.level == 1.0 else SOME_ROUNDS
        return self._kernel.with_metric(covariances, sizes, rounds)

    @override
    def of_one_hill(self, kernel: Kernel) -> Kernel:
        return kernel
