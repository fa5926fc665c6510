"""Independent numbers: one parameter, or a vector or table of them, real or whole."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from typing_extensions import override

from aptmc.compiled import Floats
from aptmc.errors import InputError
from aptmc.problem.prior.draws import draws_of
from aptmc.problem.prior.families import encode_parameters, is_whole
from aptmc.problem.prior.frozen import described, parameter_arrays, written
from aptmc.problem.prior.log_densities import log_any_density, log_density
from aptmc.problem.prior.part import (
    Array,
    CompiledPart,
    Earlier,
    Part,
    Surroundings,
    Tables,
    as_compiled,
)
from aptmc.problem.variables import Kind, Variable


@final
@dataclass(frozen=True)
class Independent(Part):
    """One variable whose numbers are independent, from one frozen distribution of scipy."""

    variables: tuple[Variable, ...]
    distribution: Any

    @classmethod
    def of(
        cls,
        name: str,
        frozen: Any,
        shape: tuple[int, ...] | None = None,
        dims: Any = (),
        coords: Any = (),
    ) -> Independent:
        """A variable of this shape, or of the shape of the distribution's parameters."""
        values = parameter_arrays(name, frozen).values()
        own = np.broadcast_shapes(*(value.shape for value in values))
        shape = own if shape is None else shape
        try:
            fits = np.broadcast_shapes(own, shape) == shape
        except ValueError:
            fits = False
        if not fits:
            raise InputError(
                f"the distribution of {name!r} has parameters of shape {own}, which do not fit a "
                f"parameter of shape {shape}: give one number, or one for each"
            )
        kind: Kind = "whole" if is_whole(frozen) else "real"
        part = cls((Variable(name, shape, dims, dict(coords), kind),), frozen)
        part.tables()  # so that errors come now
        return part

    @property
    @override
    def is_compiled(self) -> bool:
        """Whether the family is one that compiled code knows."""
        return self.tables() is not None

    @override
    def tables(self) -> Tables | None:
        """One row of parameters for each number of the variable, if the family is known."""
        return self._tables

    @cached_property
    def _tables(self) -> Tables | None:
        (variable,) = self.variables
        given = parameter_arrays(variable.name, self.distribution)
        spread = {key: np.broadcast_to(value, variable.shape) for key, value in given.items()}
        count = variable.size if any(value.ndim for value in given.values()) else 1
        rows = []
        for place in range(count):
            one = {key: float(value.ravel()[place]) for key, value in spread.items()}
            encoded = encode_parameters(self.distribution, one)
            if encoded is None:
                return None
            if not np.isfinite(encoded.row).all():
                raise InputError(
                    f"the density of {variable.name!r} cannot be computed in floating point, "
                    f"got {described(self.distribution)}: use less extreme parameters"
                )
            rows.append(encoded)
        rows *= variable.size // count
        families = np.array([encoded.family for encoded in rows], dtype=np.int64)
        return Tables(families, np.array([encoded.row for encoded in rows]))

    @override
    def compiled(self, here: Surroundings) -> CompiledPart:
        """The compiled tables, on its own stretch of the coordinates."""
        tables = self.tables()
        assert tables is not None
        return compiled_tables(tables, here)

    @override
    def support(self) -> tuple[Floats, Floats]:
        """A whole number k is held up to k + 1."""
        (variable,) = self.variables
        lower, upper = (
            np.broadcast_to(np.asarray(end, dtype=np.float64), variable.shape).ravel().copy()
            for end in self.distribution.support()
        )
        return lower, upper + 1.0 if variable.kind == "whole" else upper

    @override
    def log_density(self, points: Array, earlier: Earlier) -> Array:
        (variable,) = self.variables
        values = points.reshape(len(points), *variable.shape)
        # scipy computes with infinities at borders; the result is put right below.
        with np.errstate(all="ignore"):
            if variable.kind == "whole":
                found = self.distribution.logpmf(np.floor(values))
            else:
                found = self.distribution.logpdf(values)
        # The rule of `log_densities`: NaN and plus infinity are points without density.
        allowed = np.where(found < math.inf, found, -math.inf)
        total: Array = allowed.reshape(len(points), -1).sum(axis=1)
        return total

    @override
    def draw(self, rng: np.random.Generator, points: Array, earlier: Earlier) -> None:
        """Drawn by scipy; a whole number k is held as any number from k up to k + 1."""
        (variable,) = self.variables
        size = (len(points), *variable.shape)
        drawn = self.distribution.rvs(size=size, random_state=rng)
        points[:] = np.reshape(drawn, points.shape)
        if variable.kind == "whole":
            points += rng.random(points.shape)

    def __str__(self) -> str:
        (variable,) = self.variables
        values = parameter_arrays(variable.name, self.distribution).values()
        own = np.broadcast_shapes(*(value.shape for value in values))
        return written(variable, described(self.distribution), own)


def compiled_tables(tables: Tables, here: Surroundings) -> CompiledPart:
    """Density and draws of independent coordinates, at their place among others."""
    families, parameters = tables
    start, end = here.coordinate, here.coordinate + families.size
    evaluate = log_density if tables.are_usual else log_any_density
    fill = draws_of(families)

    def log_density_at(theta: Any, _parameters: Any) -> float:
        return evaluate(theta[start:end], families, parameters)

    def draw(rng: Any, theta: Any, _parameters: Any) -> None:
        fill(rng, families, parameters, theta[start:end])

    return CompiledPart(as_compiled(log_density_at), as_compiled(draw))
