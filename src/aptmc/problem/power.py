"""The paper's own tempering: rung densities are density ** beta."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np
import numpy.typing as npt

from aptmc.checks import numbers, parameter_name
from aptmc.compiled import Floats, Target, target_of
from aptmc.errors import InputError
from aptmc.problem.base import check_function
from aptmc.problem.density import (
    START_ATTEMPTS,
    DensityProblem,
    checked_call,
    evaluate_model,
)
from aptmc.problem.state import log_prior_column, value_column
from aptmc.problem.weights import power_log_weight

Start = float | Mapping[str, float] | npt.ArrayLike | Callable[[np.random.Generator], Any]


@final
class Power(DensityProblem):
    """Any unnormalised density, tempered as density ** beta (section 3.1).

    :param log_density: a function of the parameters, an array; compiled end to end if it is a numba
        function
    :param start: where all chains start: a mapping from names to numbers, an array, a number, or a
        function of a numpy generator that draws one of these

    >>> Power(lambda theta: -0.5 * theta[0] ** 2, start={"x": 0.0}).names
    ('x',)
    >>> Power(lambda theta: -0.5 * theta @ theta, start=[0.0, 0.0]).names
    ('x0', 'x1')
    """

    value_name = "log_density"
    ladder_kind = "powers"

    def __init__(self, log_density: Callable[[Floats], Any], start: Start) -> None:
        check_function(log_density, "log_density")
        self.log_density = log_density
        self._start = start
        example = self._example(np.random.default_rng(0))
        super().__init__(
            _names(example),
            "log_density",
            target=target_of(log_density),
            start_attempts=START_ATTEMPTS if callable(start) else 1,
        )
        self.draw_start(np.random.default_rng(0))

    def check_levels(self, levels: tuple[float, ...]) -> None:
        """A density to the power 0 is flat, and no chain could sample it."""
        if levels[-1] == 0.0:
            raise InputError(
                f"density ** 0 is flat and cannot be sampled, got powers {list(levels)}: end the "
                "ladder above 0, or use Tempered, whose rung with power 0 is the prior"
            )

    def log_weight(self) -> Callable[[float, float], float]:
        """Exchanges look at the log density, weighed by beta."""
        return power_log_weight

    def evaluation(self, target: Target) -> Callable[[Floats], None]:
        """The log density; there is no prior."""
        if target.is_compiled:
            return target.like(evaluate_model, _evaluation(self.dimension, self.log_density))

        def log_density_at(theta: Floats) -> float:
            return checked_call(self.log_density, self.function_name, theta, self.describe(theta))

        return _evaluation(self.dimension, log_density_at)

    def draw_start(self, rng: np.random.Generator) -> Floats:
        """The start, or a draw of it."""
        start = self._example(rng)
        is_mapping = isinstance(start, Mapping)
        if is_mapping and set(start) == set(self.names):
            theta = numbers([start[name] for name in self.names])
        else:
            theta = None if is_mapping else numbers(start)
        if theta is None or np.atleast_1d(theta).shape != (self.dimension,):
            raise InputError(
                f"start must give {self.dimension} finite numbers, for {', '.join(self.names)}, "
                f"got {start!r}"
            )
        return np.atleast_1d(theta)

    def _example(self, rng: np.random.Generator) -> Any:
        if not callable(self._start):
            return self._start
        try:
            return self._start(rng)
        except Exception as error:
            raise InputError(
                f"start raised {type(error).__name__}: {error}; it is called with a numpy "
                "generator, start(rng), and must return parameters"
            ) from error


def _names(start: Any) -> tuple[str, ...]:
    if isinstance(start, Mapping):
        if not start:
            raise InputError('start must map names to numbers, got {}: use {"x": 1.0}, say')
        try:
            return tuple(parameter_name(name) for name in start)
        except InputError as error:
            raise InputError(f"start must map names to numbers, got {start!r}: {error}") from None
    values = numbers(start)
    if values is None or values.ndim > 1 or values.size == 0:
        raise InputError(
            "start must be a finite number, a mapping from names to numbers, or a one-dimensional "
            f"array, got {start!r}"
        )
    return ("x",) if values.ndim == 0 else tuple(f"x{i}" for i in range(values.size))


def _evaluation(
    dimension: int, log_density_at: Callable[[Floats], float]
) -> Callable[[Floats], None]:
    value, log_prior = value_column(dimension), log_prior_column(dimension)

    def evaluate(row: Floats) -> None:
        row[value] = log_density_at(row[:dimension].copy())
        row[log_prior] = 0.0

    return evaluate
