"""A Dirichlet distribution: positive shares whose sum is 1.

K shares are held as K - 1 log odds: how much of what is left each takes (see `parametrisation`).
Any real numbers are such log odds, so a random walk meets no border, however small a share is. What
each share takes of the rest is beta distributed, independently of the others; the change of
variables is part of the density `LOG_ODDS`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from typing_extensions import override

from aptmc.compiled import Floats
from aptmc.errors import InputError
from aptmc.problem.prior import log_densities
from aptmc.problem.prior.draws import draw_priors
from aptmc.problem.prior.frozen import rounded
from aptmc.problem.prior.independent import compiled_tables
from aptmc.problem.prior.log_densities import LOG_ODDS
from aptmc.problem.prior.part import (
    Array,
    CompiledPart,
    Earlier,
    Part,
    Surroundings,
    Tables,
)
from aptmc.problem.variables import Variable


@final
@dataclass(frozen=True)
class Simplex(Part):
    """Shares with a Dirichlet distribution."""

    variables: tuple[Variable, ...]
    alpha: tuple[float, ...]

    @classmethod
    def of(cls, name: str, frozen: Any, dims: Any = (), coords: Any = ()) -> Simplex:
        """From a Dirichlet distribution that scipy has frozen, and checked."""
        alpha = tuple(np.asarray(frozen.alpha, dtype=np.float64).tolist())
        if len(alpha) < 2 or not all(0.0 < value < math.inf for value in alpha):
            raise InputError(
                f"a Dirichlet distribution of {name!r} needs two or more positive finite numbers, "
                f"got {list(alpha)}"
            )
        return cls((Variable(name, (len(alpha),), dims, dict(coords), "simplex"),), alpha)

    @property
    @override
    def is_compiled(self) -> bool:
        return True

    @override
    def tables(self) -> Tables:
        """The log odds of independent betas."""
        from scipy import special

        alpha = np.array(self.alpha)
        largest = float(np.finfo(np.float64).max)
        rows = []
        for place in range(alpha.size - 1):
            own, others = alpha[place], alpha[place + 1 :].sum()
            location = math.log(alpha.size - 1.0 - place)
            constant = -float(special.betaln(own, others))
            rows.append([location, 1.0, -largest, largest, constant, own, others])
        return Tables(np.full(alpha.size - 1, LOG_ODDS, dtype=np.int64), np.array(rows))

    @override
    def compiled(self, here: Surroundings) -> CompiledPart:
        """The compiled tables, on its own stretch of the coordinates."""
        return compiled_tables(self.tables(), here)

    @override
    def support(self) -> tuple[Floats, Floats]:
        """Shares are held as log odds, which may be any numbers."""
        return np.full(self.dimension, -math.inf), np.full(self.dimension, math.inf)

    @override
    def log_density(self, points: Array, earlier: Earlier) -> Array:
        """Compiled, also where other parts are not."""
        return log_densities.log_any_densities(np.array(points, order="C"), *self.tables())

    @override
    def draw(self, rng: np.random.Generator, points: Array, earlier: Earlier) -> None:
        """Compiled, also where other parts are not."""
        drawn = np.empty(points.shape)
        draw_priors(rng, *self.tables(), drawn)
        points[:] = drawn

    def __str__(self) -> str:
        return f"{self.variables[0].name}=dirichlet({rounded(self.alpha)})"
