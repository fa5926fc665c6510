"""Variables with a joint density that a user has written: two functions, for density and draws."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from typing_extensions import override

from aptmc.checks import numbers
from aptmc.compiled import Floats, is_compiled
from aptmc.errors import InputError
from aptmc.in_words import in_words
from aptmc.problem.base import check_function
from aptmc.problem.masked import has_masked
from aptmc.problem.prior.part import (
    Array,
    CompiledPart,
    Earlier,
    Part,
    Surroundings,
    as_compiled,
)
from aptmc.problem.variables import Shape, Variable, checked_shape

_BAD_DENSITY = "the log density of the prior is NaN or plus infinity"
_BAD_DRAW = "a draw from the prior has the wrong number of values"


@final
@dataclass(frozen=True)
class Joint(Part):
    """Real variables, one after the other in an array, with a density and draws of one's own."""

    variables: tuple[Variable, ...]
    log_density_at: Callable[..., Any]
    draw_one: Callable[..., Any]
    is_padded: bool = False  # places that the present model does not use are NaN, but the first

    @override
    def tables(self) -> None:
        return None

    @property
    @override
    def is_compiled(self) -> bool:
        """If both are numba functions."""
        return is_compiled(self.log_density_at) and is_compiled(self.draw_one)

    @override
    def compiled(self, here: Surroundings) -> CompiledPart:
        """The functions themselves, with a check of what they return."""
        log_density_of, draw_one = self.log_density_at, self.draw_one
        start, size = here.coordinate, self.dimension

        def log_density_at(theta: Any, _parameters: Any) -> float:
            found = float(log_density_of(theta[start : start + size].copy()))
            if not found < math.inf:
                raise InputError(_BAD_DENSITY)
            return found

        def draw(rng: Any, theta: Any, _parameters: Any) -> None:
            values = np.asarray(draw_one(rng)).ravel()
            if values.size != size:
                raise InputError(_BAD_DRAW)
            for i in range(size):
                theta[start + i] = values[i]

        return CompiledPart(as_compiled(log_density_at), as_compiled(draw))

    @override
    def support(self) -> tuple[Floats, Floats]:
        """Unknown, so without ends: only the functions know where the density is zero."""
        return np.full(self.dimension, -math.inf), np.full(self.dimension, math.inf)

    @override
    def log_density(self, points: Array, earlier: Earlier) -> Array:
        """Computed for one point after the other, as the user's function takes them."""
        return np.array([self._log_density(point) for point in points])

    def _log_density(self, point: Array) -> float:
        try:
            found = self.log_density_at(point.copy())
            value = np.asarray(np.nan if has_masked(found) else found)
        except Exception as error:
            raise InputError(f"log_density of the prior raised {in_words(error)}") from error
        if value.ndim != 0 or value.dtype.kind not in "iufb" or not value < math.inf:
            raise InputError(
                f"log_density of the prior returned {value!r}, must be a number or -inf"
            )
        return float(value)

    @override
    def draw(self, rng: np.random.Generator, points: Array, earlier: Earlier) -> None:
        """Drawn one point after the other, as the user's function gives them."""
        for row in range(len(points)):
            try:
                found = self.draw_one(rng)
            except Exception as error:
                raise InputError(f"draw of the prior raised {in_words(error)}") from error
            values = _padded(found) if self.is_padded else numbers(found)
            if values is None or values.size != self.dimension:
                kind = "numbers, NaN in places not used," if self.is_padded else "finite numbers,"
                raise InputError(
                    f"draw of the prior must return {self.dimension} {kind} for "
                    f"{', '.join(variable.name for variable in self.variables)}, got {found!r}"
                )
            points[row] = values.ravel()

    def __str__(self) -> str:
        functions = (self.log_density_at, self.draw_one)
        words = [getattr(one, "__name__", "function") for one in functions]
        words += [f"{variable.name}={variable.shape}" for variable in self.variables]
        return ", ".join(words)


def joint_part(
    log_density: Callable[..., Any],
    draw: Callable[..., Any],
    shapes: Mapping[str, Shape],
    *,
    is_padded: bool = False,
) -> Joint:
    """Check two functions and the shapes of what they are about."""
    check_function(log_density, "log_density")
    check_function(draw, "draw", "rng")
    if not shapes:
        raise InputError(
            "a joint prior needs names and shapes, got none: use "
            "Prior.joint(log_density, draw, mean=(), slopes=3)"
        )
    variables = tuple(Variable(name, checked_shape(name, shape)) for name, shape in shapes.items())
    return Joint(variables, log_density, draw, is_padded)


def _padded(found: Any) -> Array | None:
    """Numbers of which some are NaN, in places that are not used; the first is always used."""
    try:
        values = np.asarray(found, np.float64).ravel()
    except (TypeError, ValueError):
        return None
    is_whole = values.size > 0 and not np.isinf(values).any() and not math.isnan(values[0])
    return values if is_whole else None
