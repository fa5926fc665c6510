"""Multivariate normal and Student distributions: vectors with correlations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np
from typing_extensions import override

from aptmc.compiled import Floats, FloatTable
from aptmc.errors import InputError
from aptmc.problem.prior.frozen import rounded
from aptmc.problem.prior.part import (
    Array,
    CompiledPart,
    Earlier,
    Part,
    Surroundings,
    as_compiled,
)
from aptmc.problem.variables import Variable


class _Factors(NamedTuple):
    factor: FloatTable  # turns standard normals into steps from the centre
    inverse: FloatTable
    constant: float


@final
@dataclass(frozen=True, eq=False)
class Elliptical(Part):
    """A vector around a centre, normal or with the tails of Student's t."""

    variables: tuple[Variable, ...]
    centre: Floats
    matrix: FloatTable
    degrees: float  # of freedom; infinite for a normal

    @classmethod
    def of(cls, name: str, frozen: Any, dims: Any = (), coords: Any = ()) -> Elliptical:
        """From a multivariate normal or t that scipy has frozen, and checked."""
        if hasattr(frozen, "cov_object"):
            centre, matrix, degrees = frozen.mean, frozen.cov_object.covariance, math.inf
        else:
            centre, matrix, degrees = frozen.loc, frozen.shape, float(frozen.df)
        centre = np.atleast_1d(np.array(centre, dtype=np.float64))
        matrix = np.array(matrix, dtype=np.float64).reshape(centre.size, centre.size)
        part = cls((Variable(name, (centre.size,), dims, dict(coords)),), centre, matrix, degrees)
        try:
            finite = all(map(math.isfinite, [part.factors.constant, *centre.tolist()]))
        except np.linalg.LinAlgError:
            finite = False
        if not finite:
            raise InputError(
                f"the distribution of {name!r} needs finite numbers and a positive definite "
                f"matrix, got the centre {rounded(centre)} and the matrix {matrix.tolist()}: "
                "without a density in all directions there is nothing to sample"
            )
        return part

    @cached_property
    def factors(self) -> _Factors:
        """Cholesky's, and the constant of the log density."""
        size, half = self.centre.size, 0.5 * self.degrees
        factor = np.linalg.cholesky(self.matrix)
        constant = -float(np.log(np.diag(factor)).sum())
        if self.degrees == math.inf:
            constant -= 0.5 * size * math.log(2.0 * math.pi)
        else:
            constant += math.lgamma(half + 0.5 * size) - math.lgamma(half)
            constant -= 0.5 * size * math.log(self.degrees * math.pi)
        inverse = np.linalg.solve(factor, np.eye(size))
        return _Factors(np.ascontiguousarray(factor), np.ascontiguousarray(inverse), constant)

    @override
    def tables(self) -> None:
        return None

    @property
    @override
    def is_compiled(self) -> bool:
        return True

    @override
    def compiled(self, here: Surroundings) -> CompiledPart:
        """A few loops, with the factors as constants."""
        factor, inverse, constant = self.factors
        centre, degrees, size = self.centre, self.degrees, self.centre.size
        start = here.coordinate

        def log_density_at(theta: Any, _parameters: Any) -> float:
            square = 0.0
            for i in range(size):
                z = 0.0
                for j in range(i + 1):
                    z += inverse[i, j] * (theta[start + j] - centre[j])
                square += z * z
            if not square < math.inf:
                return -math.inf
            if degrees == math.inf:
                return constant - 0.5 * square
            return constant - 0.5 * (degrees + size) * math.log1p(square / degrees)

        def draw(rng: Any, theta: Any, _parameters: Any) -> None:
            normals = np.empty(size)
            for i in range(size):
                normals[i] = rng.standard_normal()
            stretch = 1.0
            if degrees < math.inf:
                stretch = math.sqrt(0.5 * degrees / rng.standard_gamma(0.5 * degrees))
            for i in range(size):
                step = 0.0
                for j in range(i + 1):
                    step += factor[i, j] * normals[j]
                theta[start + i] = centre[i] + stretch * step

        return CompiledPart(as_compiled(log_density_at), as_compiled(draw))

    @override
    def support(self) -> tuple[Floats, Floats]:
        return np.full(self.dimension, -math.inf), np.full(self.dimension, math.inf)

    @override
    def log_density(self, points: Array, earlier: Earlier) -> Array:
        """The same formula for many points."""
        with np.errstate(all="ignore"):
            square = (((points - self.centre) @ self.factors.inverse.T) ** 2).sum(axis=1)
            if self.degrees == math.inf:
                found = self.factors.constant - 0.5 * square
            else:
                power = 0.5 * (self.degrees + self.centre.size)
                found = self.factors.constant - power * np.log1p(square / self.degrees)
        return np.where(square < math.inf, found, -math.inf)

    @override
    def draw(self, rng: np.random.Generator, points: Array, earlier: Earlier) -> None:
        """The same for many points."""
        steps = rng.standard_normal(points.shape) @ self.factors.factor.T
        if self.degrees < math.inf:
            half = 0.5 * self.degrees
            steps *= np.sqrt(half / rng.standard_gamma(half, (len(points), 1)))
        points[:] = self.centre + steps

    def __str__(self) -> str:
        name, given = self.variables[0].name, f"{rounded(self.centre)}, {rounded(self.matrix)}"
        if self.degrees == math.inf:
            return f"{name}=multivariate_normal({given})"
        return f"{name}=multivariate_t({given}, df={self.degrees:g})"
