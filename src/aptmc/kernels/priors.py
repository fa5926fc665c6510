"""The prior as kernels use it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from aptmc.compiled import Floats, Target
from aptmc.problem.base import density_model
from aptmc.problem.prior.draws import draw_prior
from aptmc.problem.prior.log_densities import log_density
from aptmc.problem.prior.prior import Prior


def prior_functions(prior: Prior, target: Target) -> tuple[Callable[..., Any], ...]:
    """The log prior density, and a function that draws from the prior into a row."""
    dimension = prior.dimension
    if not prior.is_compiled:

        def plain_log_prior_at(theta: Floats) -> float:
            return float(prior.log_density(theta))

        def plain_draw(rng: np.random.Generator, row: Floats) -> None:
            row[:dimension] = prior.draw(rng)

        return plain_log_prior_at, plain_draw

    families, parameters = prior.families, prior.parameters

    def log_prior_at(theta: Floats) -> float:
        return log_density(theta, families, parameters)

    def draw_from_prior(rng: Any, row: Floats) -> None:
        draw_prior(rng, families, parameters, row[:dimension])

    return target.like(density_model, log_prior_at), target.helper(draw_from_prior)
