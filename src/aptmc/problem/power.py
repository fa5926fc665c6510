"""The paper's own tempering: rung densities are density ** beta."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from aptmc.arguments import class_named_clearly
from aptmc.c_functions import DENSITY, GRADIENT, from_c
from aptmc.checks import numbers, parameter_name
from aptmc.compiled import Floats
from aptmc.errors import InputError
from aptmc.in_words import in_words
from aptmc.jax_programs.programs import density_of
from aptmc.problem.base import check_function
from aptmc.problem.chain_state import log_prior_column, value_column
from aptmc.problem.density import (
    START_ATTEMPTS,
    DensityProblem,
    checked_call,
    evaluate_model,
)
from aptmc.problem.variables import Variable, scalars
from aptmc.problem.weights import power_log_weight
from aptmc.problem.words import function_name, start_words
from aptmc.targets import Target, target_of

Start = float | Mapping[str, Any] | npt.ArrayLike | Callable[[np.random.Generator], Any]


@class_named_clearly
@final
class Power(DensityProblem):
    """Any unnormalised density, tempered as density ** beta (section 3.1).

    :param log_density: a function of the parameters, an array; compiled end to end if it is one of
        numba, of JAX or of C (a pointer that `ctypes` has from a library)
    :param start: where all chains start: a mapping from names to numbers or arrays, an array, a
        number, or a function of a numpy generator that draws one of these
    :param gradient: a function of the same array that gives the gradient of the log density, for
        kernels that use one. That of a function of JAX is found

    >>> Power(lambda theta: -0.5 * theta[0] ** 2, start={"x": 0.0})
    Power(<lambda>, start={'x': 0})
    >>> Power(lambda theta: -0.5 * theta @ theta, start=[0.0, 0.0]).names
    ('x0', 'x1')
    """

    value_name = "log_density"
    ladder_kind = "powers"

    def __init__(
        self,
        log_density: Callable[[Floats], Any],
        start: Start,
        *,
        gradient: Callable[[Floats], Any] | None = None,
    ) -> None:
        check_function(log_density, "log_density")
        self._start = start
        variables = _variables(self._example(np.random.default_rng(0)))
        size = sum(variable.size for variable in variables)
        log_density = from_c(log_density, DENSITY, "log_density")
        gradient = from_c(gradient, GRADIENT, "gradient")
        found = density_of(log_density, gradient, size, "log_density")
        self.log_density = found.function
        self.notes = found.notes
        super().__init__(
            variables,
            "log_density",
            target=target_of(found.function),
            start_attempts=START_ATTEMPTS if callable(start) else 1,
            gradient=found.gradient,
        )
        self.draw_start(np.random.default_rng(0))

    def __repr__(self) -> str:
        more = "" if self.gradient is None else f", gradient={function_name(self.gradient)}"
        name, start = function_name(self.log_density), start_words(self._start)
        return f"Power({name}, start={start}{more})"

    @property
    @override
    def reference(self) -> None:
        """None: nothing is known but the density."""
        return None

    @override
    def check_levels(self, levels: tuple[float, ...]) -> None:
        """A density to the power 0 is flat, and no chain could sample it."""
        if levels[-1] == 0.0 and not self.reference_is_fitted:
            raise InputError(
                f"density ** 0 is flat and cannot be sampled, got powers {list(levels)}: end the "
                'ladder above 0, give it reference="learned", or use Tempered, whose rung with '
                "power 0 is the prior"
            )

    @override
    def log_weight(self) -> Callable[[float, float], float]:
        """Exchanges look at the log density, weighed by beta."""
        return power_log_weight

    @override
    def evaluation(self, target: Target) -> Callable[[Floats], None]:
        """The log density; there is no prior."""
        if target.is_compiled:
            return target.within(evaluate_model, _evaluation(self.dimension, self.log_density))

        def log_density_at(theta: Floats) -> float:
            return checked_call(self.log_density, self.function_name, theta, self.describe(theta))

        return _evaluation(self.dimension, log_density_at)

    @override
    def draw_start(self, rng: np.random.Generator) -> Floats:
        """The start, or a draw of it."""
        start = self._example(rng)
        is_mapping = isinstance(start, Mapping)
        if is_mapping and set(start) == {variable.name for variable in self.variables}:
            theta = _joined(start, self.variables)
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
                f"start raised {in_words(error)}; it is called with a numpy "
                "generator, start(rng), and must return parameters"
            ) from error


def _joined(start: Mapping[str, Any], variables: tuple[Variable, ...]) -> Floats | None:
    """The values of a mapping one after the other, if they are numbers of the right shapes."""
    values = [numbers(start[variable.name]) for variable in variables]
    pairs = zip(values, variables, strict=True)
    if any(value is None or value.shape != variable.shape for value, variable in pairs):
        return None
    return np.concatenate([np.ravel(value) for value in values if value is not None])


def _variables(start: Any) -> tuple[Variable, ...]:
    if isinstance(start, Mapping):
        if not start:
            raise InputError('start must map names to numbers, got {}: use {"x": 1.0}, say')
        try:
            for name in start:
                parameter_name(name)
            shapes = {name: getattr(numbers(value), "shape", ()) for name, value in start.items()}
            return tuple(Variable(name, shape) for name, shape in shapes.items())
        except InputError as error:
            raise InputError(f"start must map names to numbers, got {start!r}: {error}") from None
    values = numbers(start)
    if values is None or values.ndim > 1 or values.size == 0:
        raise InputError(
            "start must be a finite number, a mapping from names to numbers, or a one-dimensional "
            f"array, got {start!r}"
        )
    return scalars(["x"] if values.ndim == 0 else [f"x{i}" for i in range(values.size)])


def _evaluation(
    dimension: int, log_density_at: Callable[[Floats], float]
) -> Callable[[Floats], None]:
    value, log_prior = value_column(dimension), log_prior_column(dimension)

    def evaluate(row: Floats) -> None:
        row[value] = log_density_at(row[:dimension].copy())
        row[log_prior] = 0.0

    return evaluate
