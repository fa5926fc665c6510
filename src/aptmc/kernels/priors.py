"""The prior as kernels use it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from aptmc.compiled import Floats, Generator, compiled, compiled_like
from aptmc.problem import Abc, Tempered
from aptmc.problem.base import density_model
from aptmc.problem.prior.draws import draw_prior
from aptmc.problem.prior.log_densities import log_density


@compiled
def draw_nothing(rng: Generator, row: Floats) -> None:
    """Stands in where there is no prior to draw from."""


def prior_functions(problem: Abc | Tempered, *, compiled: bool) -> tuple[Callable[..., Any], ...]:
    """The log prior density, and a function that draws from the prior into a row."""
    dimension = problem.dimension
    if not problem.prior.is_compiled:

        def plain_log_prior_at(theta: Floats) -> float:
            return float(problem.prior.log_density(theta))

        def plain_draw(rng: np.random.Generator, row: Floats) -> None:
            row[:dimension] = problem.prior.draw(rng)

        return plain_log_prior_at, plain_draw

    families, parameters = problem.prior.families, problem.prior.parameters

    def log_prior_at(theta: Floats) -> float:
        return log_density(theta, families, parameters)

    def draw_from_prior(rng: Any, row: Floats) -> None:
        draw_prior(rng, families, parameters, row[:dimension])

    if not compiled:
        return log_prior_at, draw_from_prior

    from numba import njit

    return compiled_like(density_model, log_prior_at), njit(draw_from_prior, nogil=True)
