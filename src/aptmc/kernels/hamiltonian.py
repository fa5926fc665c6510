"""Kernels that follow gradients: what they learn in the warm-up. How they leap is in `leaping`."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass, fields, replace
from typing import ClassVar, Self, final

import numpy as np
from typing_extensions import override

from aptmc.checks import whole_number
from aptmc.compiled import Floats, FloatTable, FloatTables, Integers
from aptmc.errors import InputError
from aptmc.kernels.base import Kernel
from aptmc.kernels.leaping import STEP_SIZE, need_gradient
from aptmc.kernels.proposing import AUTO
from aptmc.kernels.seen import FEWEST_DRAWS, Seen
from aptmc.kernels.shapes import shapes_of
from aptmc.ladder import Ladder
from aptmc.problem.base import Problem
from aptmc.problem.unbounded import rows_on_line

LONGEST_STEP = 1.6  # beyond 2 no trajectory on a normal target is stable
MOST_SHORTER, MOST_LONGER = 0.1, 3.0  # from one round to the next
BY_CHANCE = 2.0  # covariances from different draws differ by so much although nothing has changed


# How much of a better size is believed by so many trajectories: longer leaps are not known to be
# accepted as the normal distribution has it, and what is too long for a place is found out late.
DOUBTED, BOLDNESS = 16.0, 0.5
# As long as little is known leaps are short, and trajectories that should be long would never end.
FIRST_EXTENT, ALL_ROUNDS = 4, 100


@final
@dataclass(frozen=True, eq=False)
class Metric:
    """By rung: the covariance of the draws on the real line, and the size of leaps."""

    covariances: FloatTables
    step_sizes: Floats
    rounds: int = ALL_ROUNDS  # of the warm-up, in which something was learnt

    @property
    def is_annealed(self) -> bool:
        """Whether all of it was learnt on the way from the prior to the posterior."""
        return self.rounds >= ALL_ROUNDS

    def __repr__(self) -> str:
        rungs, dimension, _ = self.covariances.shape
        return f"Metric({dimension} dimensions on {rungs} rungs)"


@dataclass(frozen=True)
class Hamiltonian(Kernel):
    """A kernel that leaps along gradients, with a metric and a step size for each rung."""

    metric: str | Metric = AUTO
    steps: int = 1
    is_learning: bool = False  # whether the metric is that of a warm-up under way

    statistics = ("leaps", "acceptance", "divergences")
    # Whether a move remembers the more, the farther a trajectory may go.
    extent_takes_room = False
    # The mean acceptance along trajectories to aim for.
    best_acceptance = 0.8
    # Fields that the code of a step depends on.
    compiled_options: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.metric, Metric) and self.metric != AUTO:
            raise InputError(f'metric must be "auto" or of an earlier run, got {self.metric!r}')
        whole_number("steps", self.steps)
        whole_number("extent", self.extent)

    @property
    @abstractmethod
    def extent(self) -> int:
        """How far a trajectory goes at most, in the kernel's own unit."""

    @property
    @override
    def code(self) -> Hashable:
        """Its kind, how much room it needs, and options: settings reach the step as numbers."""
        options = (getattr(self, name) for name in self.compiled_options)
        return type(self), self.extent if self.extent_takes_room else 0, *options

    # --- learning -----------------------------------------------------------------------------

    @property
    @override
    def learns(self) -> bool:
        """Whether the metric is "auto", or has been learnt so far."""
        return self.is_learning or self.metric == AUTO

    @override
    def at_first(self, spread: Floats, rungs: int) -> Self:
        """With "auto", a metric of independent parameters, as wide as the first guess of them."""
        if self.metric != AUTO:
            return self
        sizes = np.full(rungs, usual_step(spread.size))
        metric = Metric(np.tile(np.diag(spread**2), (rungs, 1, 1)), sizes, rounds=0)
        return replace(self, metric=metric, is_learning=True)

    @override
    def adapted(self, seen: Seen) -> Self:
        """With "auto", the covariance of what each rung saw, and leaps that are accepted well.

        Where an annealing has learnt metrics, from slopes, they stay: draws of several modes, or of
        a wide place with a narrow one in it, are wider than what leaps must fit in.
        """
        if not self.is_learning or not isinstance(self.metric, Metric):
            return self
        dimension = self.metric.covariances.shape[1]
        bounds = seen.support or (np.full(dimension, -np.inf), np.full(dimension, np.inf))
        before = with_unit_scales(self.metric, *bounds)
        rows = {}
        for rung, states in enumerate(seen.states):
            places = rows_on_line(states, *bounds)
            # Where leaps are far too long nobody moves, and there is nothing to learn but that.
            if len(np.unique(places, axis=0)) >= FEWEST_DRAWS:
                rows[rung] = places
        covariances, sizes = before.covariances.copy(), before.step_sizes.copy()
        for rung in range(len(sizes)):
            leaps, trajectories = seen.statistics["leaps"][rung], seen.steps[rung]
            if seen.is_moving(rung) and leaps > 0.0:
                accepted = seen.statistics["acceptance"][rung] / leaps
                better = better_step(sizes[rung], accepted, self.best_acceptance)
                if better > sizes[rung]:
                    believed = BOLDNESS * trajectories / (trajectories + DOUBTED)
                    better = sizes[rung] * (better / sizes[rung]) ** believed
                sizes[rung] = better
        shapes = {} if before.is_annealed else shapes_of(rows, before.covariances)
        for rung, shape in shapes.items():
            change = 1.0 / narrowest(covariances[rung], shape)
            sizes[rung] *= change if change > BY_CHANCE else 1.0
            covariances[rung] = shape
        sizes = np.minimum(sizes, LONGEST_STEP)
        rounds = before.rounds + bool(rows)
        return replace(self, metric=Metric(covariances, sizes, rounds))

    @override
    def respaced(self, nearest: Integers) -> Self:
        """With "auto", for each new rung what the nearest old one has learnt."""
        if not self.is_learning or not isinstance(self.metric, Metric):
            return self
        old = self.metric
        metric = Metric(old.covariances[nearest], old.step_sizes[nearest], old.rounds)
        return replace(self, metric=metric)

    @override
    def frozen(self) -> Self:
        """The metric that was learnt, as if it was given by hand."""
        return replace(self, is_learning=False)

    @property
    @override
    def anneals(self) -> bool:
        """Where it learns: metrics of the prior are no use in the posterior."""
        return self.learns

    def with_metric(self, covariances: FloatTables, sizes: Floats, rounds: int) -> Self:
        """The same in the midst of learning, with these for its rungs.

        :param rounds: how much of a warm-up they are worth: extents grow with it
        """
        return replace(self, metric=Metric(covariances, sizes, rounds), is_learning=True)

    # --- moving -------------------------------------------------------------------------------

    @override
    def tuning(self, problem: Problem, ladder: Ladder) -> FloatTable:
        """Steps, step size, extent, bounds, and the factor of the covariance without its zeros."""
        need_gradient(problem, type(self).__name__)
        if not isinstance(self.metric, Metric):
            raise InputError(
                f"the metric of {type(self).__name__}() is learnt in a warm-up, and there was "
                "none: leave out warmup=0, or give the metric of an earlier run"
            )
        rungs, dimension, _ = self.metric.covariances.shape
        if (rungs, dimension) != (ladder.rungs, problem.dimension):
            raise InputError(
                f"the metric is for {rungs} rungs and {dimension} coordinates, and the problem "
                f"has {ladder.rungs} and {problem.dimension}: give one that fits, or none"
            )
        lower, upper = problem.support
        metric = with_unit_scales(self.metric, lower, upper)
        factors = np.linalg.cholesky(metric.covariances)[:, *np.tril_indices(dimension)]
        extent = min(self.extent, FIRST_EXTENT + metric.rounds)
        common = np.tile([self.steps, 0.0, extent, *lower, *upper], (rungs, 1))
        common[:, STEP_SIZE] = metric.step_sizes
        return np.column_stack([common, factors])

    def __repr__(self) -> str:
        is_given = isinstance(self.metric, Metric) and not self.is_learning
        said = [repr(self.metric)] if is_given else []
        said += [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)
            if field.name not in ("metric", "is_learning")
            and getattr(self, field.name) != field.default
        ]
        return f"{type(self).__name__}({', '.join(said)})"


def with_unit_scales(metric: Metric, lower: Floats, upper: Floats) -> Metric:
    """Before anything was seen: on the line, what has bounds varies by about one."""
    if metric.rounds > 0:
        return metric
    bounded = np.isfinite(lower) | np.isfinite(upper)
    scales = np.sqrt(np.diagonal(metric.covariances, axis1=1, axis2=2))
    scales = np.where(bounded, 1.0, scales)
    covariances = np.array([np.diag(row**2) for row in scales])
    return Metric(covariances, metric.step_sizes, rounds=0)


def usual_step(dimension: int) -> float:
    """The size of leaps for a normal target of unit variance."""
    return float(dimension**-0.25)


def better_step(size: float, accepted: float, target: float) -> float:
    """The size at which trajectories would be accepted as often as wanted.

    For a normal target of many dimensions the acceptance is 2 Phi(-c * size ** 2) with some c.
    """
    from scipy.special import ndtri  # which a worker, who does not learn, has no need to load

    accepted = min(max(accepted, 1e-9), 0.995)
    change = math.sqrt(float(ndtri(target / 2.0) / ndtri(accepted / 2.0)))
    return size * min(max(change, MOST_SHORTER), MOST_LONGER)


def narrowest(old: FloatTable, new: FloatTable) -> float:
    """The smallest standard deviation under a new covariance, measured by an old one.

    It is what the size of leaps has to go by: measured by the new one, it is one.
    """
    factor = np.linalg.cholesky(old)
    standard = np.linalg.solve(factor, np.linalg.solve(factor, new).T)
    return math.sqrt(max(float(np.linalg.eigvalsh(standard)[0]), 1e-12))
