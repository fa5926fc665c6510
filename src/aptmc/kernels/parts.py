"""A problem taken apart: what a kernel builds its step of.

The parts are functions for the target that computes them. What every kernel would have to do stands
here once: it counts evaluations and simulations, and notes values that must not be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np

from aptmc.compiled import Floats, Generator, compiled, inlined
from aptmc.errors import InputError
from aptmc.kernels.fitted_reference import draw_fitted, refer, refer_slopes
from aptmc.problem.base import Problem
from aptmc.problem.chain_state import (
    BAD_VALUE,
    STATUS,
    WORK,
    accepts,
    log_prior_column,
    value_column,
)
from aptmc.problem.density import DensityProblem
from aptmc.problem.prior.prior import Prior
from aptmc.problem.prior.prior_gradient import log_prior_gradient
from aptmc.targets import Target

NOWHERE = -1  # the place of what a kernel does not count


@final
class Parts:
    """A problem for one target, and the places in `info` of a kernel's own statistics."""

    def __init__(self, problem: Problem, target: Target, places: Mapping[str, int]) -> None:
        self.problem, self.target, self.places = problem, target, places
        self.dimension = problem.dimension
        # Places in a state: what exchanges look at, and the log density of the reference.
        self.value = value_column(problem.dimension)
        self.log_prior = log_prior_column(problem.dimension)
        self._made: dict[str, Any] = {}

    def with_places(self, places: Mapping[str, int]) -> Parts:
        """The same for a kernel whose statistics have other places."""
        twin = Parts(self.problem, self.target, places)
        twin._made = self._made
        return twin

    def place(self, statistic: str) -> int:
        """Where in `info` a step adds to one of the kernel's statistics."""
        if statistic not in self.places:
            raise InputError(
                f"the kernel counts {statistic!r}, which is none of its statistics, "
                f"{tuple(self.places)}: add it there"
            )
        return self.places[statistic]

    @property
    def log_weight(self) -> Callable[[float, float], float]:
        """log_weight(level, value): how a rung weighs a state's value."""
        return self.target.library(self.problem.log_weight())

    @property
    def accepts(self) -> Callable[[float, float], bool]:
        """accepts(log_ratio, uniform): Metropolis' decision."""
        return self.target.library(accepts)

    @property
    def copy_into(self) -> Callable[[Floats, Floats], None]:
        """copy_into(target, source): as `target[:] = source`, which takes seconds to compile."""
        return _copied if self.target.is_compiled else np.copyto

    @property
    def log_prior_at(self) -> Callable[[Floats], float]:
        """log_prior_at(theta): the log density of the reference."""
        return self._once("reference", self._reference)[0]  # type: ignore[no-any-return]

    @property
    def draw(self) -> Callable[[Any, Floats], None]:
        """draw(rng, row): new parameters from the reference, into the beginning of a row."""
        return self._once("reference", self._reference)[1]  # type: ignore[no-any-return]

    @property
    def evaluate(self) -> Callable[[Floats, Floats], None]:
        """evaluate(row, info): fill in value and log prior of the parameters in a row.

        One unit of work; a value that no density can have is noted in the status.
        """
        return self._once("evaluate", self._evaluation)  # type: ignore[no-any-return]

    @property
    def gradient(self) -> Callable[[float, Floats, Floats, Floats], None]:
        """gradient(level, row, slopes, info): the gradient of a rung's log density, by coordinates.

        One unit of work.
        """
        return self._once("gradient", self._gradient)  # type: ignore[no-any-return]

    @property
    def simulate(self) -> Callable[[Floats, Any, float, Floats], bool]:
        """simulate(row, rng, tolerance, info): simulate at the parameters in a row; does it hit?

        Simulations and failures are counted if these are statistics of the kernel. A failure that
        does not count as a miss is noted in the status.
        """
        counted = [self.places.get(name, NOWHERE) for name in ("simulations", "failures")]
        return self._once(f"simulate {counted}", lambda: self._simulation(*counted))  # type: ignore[no-any-return]

    @property
    def renew(self) -> Callable[[float, Any, Floats, Floats], bool]:
        """renew(level, rng, row, info): a new state from the reference; whether one may go there.

        All that a kernel has to do on a rung which is nothing but the reference.
        """
        problem, dimension, log_prior = self.problem, self.dimension, self.log_prior
        if problem.reference_is_fitted:
            return self._renewal_from_fitted()
        if problem.reference is None:
            return self.target.library(renew_nothing)
        log_prior_at, draw = self._once("reference", self._reference)
        if problem.has_simulator:
            simulate = self.simulate

            def renew(level: float, rng: Any, row: Floats, info: Floats) -> bool:
                draw(rng, row)
                row[log_prior] = log_prior_at(row[:dimension])
                return simulate(row, rng, level, info)

        else:
            evaluate = self.evaluate

            def renew(level: float, rng: Any, row: Floats, info: Floats) -> bool:
                draw(rng, row)
                evaluate(row, info)
                return True

        return self.target.helper(renew)

    def _renewal_from_fitted(self) -> Callable[[float, Any, Floats, Floats], bool]:
        dimension, evaluate = self.dimension, self.evaluate
        draw_of_it = self.target.library(draw_fitted)
        if self.problem.reference is None:

            def renew_if_fitted(level: float, rng: Any, row: Floats, info: Floats) -> bool:
                if not draw_of_it(rng, dimension, info, row):
                    return False
                evaluate(row, info)
                return True

            return self.target.helper(renew_if_fitted)
        draw = self.draw

        def renew(level: float, rng: Any, row: Floats, info: Floats) -> bool:
            if not draw_of_it(rng, dimension, info, row):
                draw(rng, row)
            evaluate(row, info)
            return True

        return self.target.helper(renew)

    # --- making them --------------------------------------------------------------------------

    def _once(self, name: str, make: Callable[[], Any]) -> Any:
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]

    def _reference(self) -> tuple[Callable[..., Any], ...]:
        if self.problem.reference is None:
            raise InputError(
                f"a problem of kind {type(self.problem).__name__} has no reference to draw from"
            )
        return self.problem.reference.functions(self.target)

    def _evaluation(self) -> Callable[..., None]:
        fill_in = self.problem.evaluation(self.target)
        value, log_prior = self.value, self.log_prior
        if self.problem.reference_is_fitted:
            dimension, bring = self.dimension, self.target.library(refer)

            def evaluate_and_refer(row: Floats, info: Floats) -> None:
                fill_in(row)
                info[WORK] += 1.0
                if not (row[value] < math.inf and row[log_prior] < math.inf):
                    info[STATUS] = BAD_VALUE
                bring(dimension, row, info)

            return self.target.helper(evaluate_and_refer)

        def evaluate(row: Floats, info: Floats) -> None:
            fill_in(row)
            info[WORK] += 1.0
            if not (row[value] < math.inf and row[log_prior] < math.inf):
                info[STATUS] = BAD_VALUE

        return self.target.helper(evaluate)

    def _gradient(self) -> Callable[..., None]:
        problem, dimension = self.problem, self.dimension
        if not isinstance(problem, DensityProblem):
            raise InputError(f"a problem of kind {type(problem).__name__} has no gradient")
        log_weight = self.log_weight
        if problem.reference_is_fitted:
            return self._gradient_from_fitted(problem.gradient_function(self.target))
        of_rung = problem.rung_gradient(self.target)
        if of_rung is not None:

            def gradient_at_once(level: float, row: Floats, slopes: Floats, info: Floats) -> None:
                of_rung(row[:dimension].copy(), log_weight(level, 1.0), slopes)
                info[WORK] += 1.0

            return self.target.helper(gradient_at_once)
        of_value = problem.gradient_function(self.target)
        if isinstance(problem.reference, Prior):
            of_prior = log_prior_gradient(problem.reference, self.target)

            def gradient(level: float, row: Floats, slopes: Floats, info: Floats) -> None:
                theta, prior_slopes = row[:dimension].copy(), np.empty(dimension)
                of_value(theta, slopes)
                of_prior(theta, prior_slopes)
                weight = log_weight(level, 1.0)  # of the value, which it is proportional to
                for i in range(dimension):
                    slopes[i] = weight * slopes[i] + prior_slopes[i]
                info[WORK] += 1.0

            return self.target.helper(gradient)

        def gradient_alone(level: float, row: Floats, slopes: Floats, info: Floats) -> None:
            of_value(row[:dimension].copy(), slopes)
            weight = log_weight(level, 1.0)
            for i in range(dimension):
                slopes[i] = weight * slopes[i]
            info[WORK] += 1.0

        return self.target.helper(gradient_alone)

    def _gradient_from_fitted(self, of_value: Callable[..., Any]) -> Callable[..., None]:
        dimension, slopes_of = self.dimension, self.target.library(refer_slopes)
        reference = self.problem.reference
        if isinstance(reference, Prior):
            of_prior = log_prior_gradient(reference, self.target)

            def gradient(level: float, row: Floats, slopes: Floats, info: Floats) -> None:
                theta = row[:dimension].copy()
                value_slopes, prior_slopes = np.empty(dimension), np.empty(dimension)
                of_value(theta, value_slopes)
                of_prior(theta, prior_slopes)
                slopes_of(level, dimension, row, info, value_slopes, prior_slopes, slopes)
                info[WORK] += 1.0

            return self.target.helper(gradient)

        def gradient_alone(level: float, row: Floats, slopes: Floats, info: Floats) -> None:
            value_slopes = np.empty(dimension)
            of_value(row[:dimension].copy(), value_slopes)
            slopes_of(level, dimension, row, info, value_slopes, np.zeros(dimension), slopes)
            info[WORK] += 1.0

        return self.target.helper(gradient_alone)

    def _simulation(self, simulations: int, failures: int) -> Callable[..., bool]:
        simulate_into = self._once("simulation", lambda: self.problem.simulation(self.target))
        value, rejects_failures = self.value, self.problem.rejects_failures

        def simulate(row: Floats, rng: Any, tolerance: float, info: Floats) -> bool:
            info[WORK] += simulate_into(row, rng, tolerance)
            if simulations != NOWHERE:
                info[simulations] += 1.0
            if row[value] >= 0.0:
                return bool(row[value] <= tolerance)
            if not rejects_failures:
                info[STATUS] = BAD_VALUE
            elif failures != NOWHERE:
                info[failures] += 1.0
            return False

        return self.target.helper(simulate)


@compiled
def renew_nothing(level: float, rng: Generator, row: Floats, info: Floats) -> bool:
    """Stands in where there is no reference."""
    return False


@inlined
def _copied(target: Floats, source: Floats) -> None:
    for place in range(source.shape[0]):
        target[place] = source[place]
