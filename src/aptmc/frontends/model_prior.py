"""The prior of a model in another language, from which hot chains draw."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from aptmc.compiled import Floats, FloatTable
from aptmc.frontends.model_functions import ModelFunction, drawing
from aptmc.problem.base import density_model
from aptmc.problem.reference import Reference, ReferenceFunctions
from aptmc.targets import Target


@final
@dataclass(frozen=True, eq=False)
class ModelPrior(Reference):
    """The prior of a model, in its coordinates."""

    size: int
    density: ModelFunction
    drawing: ModelFunction

    is_compiled = True

    @property
    @override
    def support(self) -> tuple[Floats, Floats]:
        """Coordinates are not constrained."""
        return np.full(self.size, -np.inf), np.full(self.size, np.inf)

    @override
    def log_density(self, theta: npt.ArrayLike) -> Any:
        """The log density at some coordinates, along the last axis."""
        points = np.array(theta, dtype=np.float64, order="C")
        density, found = self.density.function, np.empty(2)
        values = []
        for row in points.reshape(-1, self.size):
            density(row, found)
            values.append(-math.inf if math.isnan(found[0]) else found[0])
        return values[0] if points.ndim == 1 else np.reshape(values, points.shape[:-1])

    @override
    def draw(self, rng: np.random.Generator, size: int | None = None) -> Floats | FloatTable:
        """One draw of the coordinates, or `size` of them."""
        draws = np.empty((1 if size is None else size, self.size))
        draw = drawing(self.size, self.density.function, self.drawing.function)
        for row in draws:
            draw(rng, row)
        return draws[0] if size is None else draws

    @override
    def functions(self, target: Target) -> ReferenceFunctions:
        """Log density and draw for kernels."""
        density = target.of_model(self.density)

        def log_density_at(theta: Floats) -> float:
            found = np.empty(2)
            density(theta, found)
            return -math.inf if math.isnan(found[0]) else found[0]

        draw = drawing(self.size, density, target.of_model(self.drawing))
        return ReferenceFunctions(target.like(density_model, log_density_at), target.helper(draw))
