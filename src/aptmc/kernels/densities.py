"""What kernels for densities have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from aptmc.compiled import FloatTable, at_speed
from aptmc.errors import InputError
from aptmc.kernels.priors import draw_nothing
from aptmc.kernels.proposals import proposal_factors
from aptmc.ladder import Ladder
from aptmc.problem import Problem
from aptmc.problem.density import DensityProblem
from aptmc.problem.state import log_prior_column, value_column


def density_problem(problem: Problem, kernel: str) -> DensityProblem:
    """A problem with a density, or an error that says that the kernel needs one."""
    if not isinstance(problem, DensityProblem):
        raise InputError(
            f"{kernel} needs a density, got a problem of kind {type(problem).__name__}: "
            "use aptmc.OneHit for a simulator"
        )
    return problem


def stepping_table(
    kernel: str,
    problem: Problem,
    ladder: Ladder,
    numbers: Sequence[float],
    scale: Any,
    covariance: Any,
) -> FloatTable:
    """By rung: the kernel's own numbers, then the factor of the covariance row by row."""
    names, rungs = density_problem(problem, kernel).names, ladder.rungs
    factors = proposal_factors(scale, covariance, names, rungs)
    common = np.tile(np.asarray(numbers, np.float64), (rungs, 1))
    return np.column_stack([common, factors.reshape(rungs, -1)])


class DensityParts(NamedTuple):
    """A problem with a density as a kernel's move uses it, compiled or as plain Python."""

    dimension: int
    evaluate: Callable[..., Any]
    log_weight: Callable[[float, float], float]
    value: int  # the places in a state of what exchanges look at, and of the log prior
    log_prior: int
    has_prior: bool
    draw_from_prior: Callable[..., Any]


def density_parts(problem: Problem, kernel: str, *, compiled: bool) -> DensityParts:
    """Take a problem apart."""
    density = density_problem(problem, kernel)
    draw_from_prior = at_speed(draw_nothing, compiled=compiled)
    if density.reference is not None:
        draw_from_prior = density.reference.functions(compiled=compiled).draw
    return DensityParts(
        dimension=density.dimension,
        evaluate=density.evaluation(compiled=compiled),
        log_weight=density.log_weight(),
        value=value_column(density.dimension),
        log_prior=log_prior_column(density.dimension),
        has_prior=density.reference is not None,
        draw_from_prior=draw_from_prior,
    )
