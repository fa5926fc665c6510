"""The density of a prior and draws from it, from tables or in plain Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aptmc.compiled import Floats
from aptmc.errors import InputError, MoveFailed
from aptmc.problem.base import density_model
from aptmc.problem.parametrisation import Parametrisation
from aptmc.problem.prior.draws import ATTEMPTS, draws_of
from aptmc.problem.prior.log_densities import log_any_density, log_density
from aptmc.problem.prior.part import Array, Part, Tables
from aptmc.problem.reference import ReferenceFunctions
from aptmc.targets import Target

if TYPE_CHECKING:
    from aptmc.problem.prior.prior import Prior


def table_functions(tables: Tables, target: Target) -> ReferenceFunctions:
    """For independent coordinates of known families."""
    families, parameters = tables.families.copy(), tables.parameters.copy()
    dimension = families.size
    evaluate = log_density if tables.are_usual else log_any_density
    fill = draws_of(families)

    def log_density_at(theta: Floats) -> float:
        return evaluate(theta, families, parameters)

    def draw(rng: Any, row: Floats) -> None:
        fill(rng, families, parameters, row[:dimension])

    return ReferenceFunctions(target.brief(density_model, log_density_at), target.helper(draw))


def plain_functions(prior: Prior) -> ReferenceFunctions:
    """To be called from Python; errors name the parameters."""
    dimension = prior.dimension

    def log_density_at(theta: Floats) -> float:
        try:
            return float(prior.log_density(theta))
        except Exception:
            return _explained(prior, theta)

    def draw(rng: np.random.Generator, row: Floats) -> None:
        row[:dimension] = prior.draw(rng)

    return ReferenceFunctions(log_density_at, draw)


def _explained(prior: Prior, theta: Floats) -> float:
    """The same once more, part after part, to say what is wrong with it and where."""
    whole = prior.parametrisation
    try:
        return float(log_density_by_parts(prior.parts, whole, theta[None])[0])
    except InputError as error:
        raise MoveFailed(f"{error},", whole.describe(theta)) from error


def log_density_by_parts(parts: Sequence[Part], whole: Parametrisation, points: Array) -> Array:
    """Part after part; where one has no density, the later ones are not evaluated."""
    total, coordinate = np.zeros(len(points)), 0
    values = whole.arrays(points) if any(part.looks_back for part in parts) else {}
    for part in parts:
        own = points[:, coordinate : coordinate + part.dimension]
        alive = np.flatnonzero(total > -math.inf)
        if alive.size == len(points):
            total += part.log_density(own, values)
        elif alive.size > 0:
            some = {name: value[alive] for name, value in values.items()}
            total[alive] += part.log_density(own[alive], some)
        coordinate += part.dimension
    return total


def draw_by_parts(
    parts: Sequence[Part], whole: Parametrisation, rng: np.random.Generator, draws: Array
) -> None:
    """Fill each row with a draw of finite log density."""
    wanting = np.arange(len(draws))
    for _ in range(ATTEMPTS):
        rows, coordinate = np.zeros((wanting.size, whole.dimension)), 0
        for part in parts:
            # Only what stands before has been drawn; nobody looks at the rest.
            earlier = whole.arrays(rows) if part.looks_back else {}
            own = rows[:, coordinate : coordinate + part.dimension]
            part.draw(rng, own, earlier)
            coordinate += part.dimension
        draws[wanting] = rows
        wanting = wanting[np.isneginf(log_density_by_parts(parts, whole, rows))]
        if wanting.size == 0:
            return
    raise InputError(
        f"the prior drew no point of finite log density in {ATTEMPTS} attempts, the last was "
        f"{draws[wanting[0]]}: choose distributions that floating-point numbers can hold"
    )
