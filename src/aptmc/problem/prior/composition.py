"""Compiled parts of a prior, put together: one log density, one function that draws."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aptmc.errors import InputError
from aptmc.problem.base import density_model
from aptmc.problem.parametrisation import Parametrisation, constrain_into
from aptmc.problem.prior.draws import ATTEMPTS
from aptmc.problem.prior.part import Part, Surroundings, as_compiled
from aptmc.problem.reference import ReferenceFunctions
from aptmc.targets import Target, interpreted, quietly

_NOWHERE = (
    f"the prior drew no point of finite log density in {ATTEMPTS} attempts: "
    "choose distributions that floating-point numbers can hold"
)


def composed_functions(
    parts: Sequence[Part], whole: Parametrisation, target: Target
) -> ReferenceFunctions:
    """Evaluate or draw part after part, in compiled code or as its source.

    Where a part has no density the later ones, which may depend on it, are not evaluated.
    """
    log_density = as_compiled(lambda theta, parameters: 0.0)
    draw = as_compiled(lambda rng, theta, parameters: None)
    coordinate = parameter = 0
    for part in parts:
        functions = part.compiled(Surroundings(whole, coordinate, parameter))
        rows = [row for row, variable in enumerate(whole.variables) if variable in part.variables]
        log_density = _density_after(log_density, functions.log_density)
        draw = _draw_after(draw, functions.draw, whole.plan[rows])
        coordinate += part.dimension
        parameter += sum(variable.size for variable in part.variables)
    return _finished(log_density, draw, whole, target)


def _density_after(before: Callable[..., float], last: Callable[..., float]) -> Any:
    def both(theta: Any, parameters: Any) -> float:
        total = before(theta, parameters)
        return total if total == -math.inf else total + last(theta, parameters)

    return as_compiled(both)


def _draw_after(before: Callable[..., None], last: Callable[..., None], plan: Any) -> Any:
    def both(rng: Any, theta: Any, parameters: Any) -> None:
        before(rng, theta, parameters)
        last(rng, theta, parameters)
        constrain_into(theta, plan, parameters)

    return as_compiled(both)


def _finished(
    density: Callable[..., float], fill: Any, whole: Parametrisation, target: Target
) -> ReferenceFunctions:
    plan, size, dimension = whole.plan, whole.size, whole.dimension

    def log_density_at(theta: Any) -> float:
        parameters = np.empty(size)
        constrain_into(theta, plan, parameters)
        return density(theta, parameters)

    def draw(rng: Any, row: Any) -> None:
        parameters = np.empty(size)
        for _ in range(ATTEMPTS):
            fill(rng, row[:dimension], parameters)
            if density(row[:dimension], parameters) > -math.inf:
                return
        raise InputError(_NOWHERE)

    if not target.is_compiled:
        return ReferenceFunctions(quietly(interpreted(log_density_at)), quietly(interpreted(draw)))
    return ReferenceFunctions(target.brief(density_model, log_density_at), as_compiled(draw))
