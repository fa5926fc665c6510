"""Gaussian proposals: scales or covariances, for all rungs alike or for each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from aptmc.checks import numbers
from aptmc.compiled import Floats, FloatTables, Generator, compiled
from aptmc.errors import InputError
from aptmc.kernels.truncated import draw_truncated, log_mass
from aptmc.problem.base import Problem

Scale = float | str | Mapping[str, float] | npt.ArrayLike


def proposal_factors(
    scale: Any, covariance: Any, names: tuple[str, ...], rungs: int
) -> FloatTables:
    """By rung, the lower triangular factor that turns standard normals into steps."""
    dimension = len(names)
    if covariance is not None:
        return _covariance_factors(covariance, rungs, dimension)
    if isinstance(scale, Mapping):
        if set(scale) != set(names):
            raise InputError(f"scale must name each of {', '.join(names)}, got {dict(scale)!r}")
        scale = [[scale[name] for name in names]] * rungs
    scales = numbers(scale)
    if scales is None or not (scales > 0).all():
        raise InputError(f"scale must be positive, got {scale!r}")
    if scales.shape not in {(), (rungs,), (rungs, dimension)}:
        raise InputError(
            "scale must be one number, a mapping from parameter names, or one entry for each of "
            f"the {rungs} rungs, got shape {scales.shape}"
        )
    if scales.ndim == 1:
        scales = scales[:, None]
    by_rung = np.broadcast_to(scales, (rungs, dimension))
    return np.ascontiguousarray(by_rung[:, :, None] * np.eye(dimension))


def bounds(truncate: bool | tuple[Any, Any], problem: Problem) -> tuple[Floats, Floats]:
    """Between which proposals stay: those given, or those of the problem."""
    if isinstance(truncate, bool):
        return problem.support
    try:
        given = [np.broadcast_to(np.asarray(b, dtype=float), problem.dimension) for b in truncate]
    except (TypeError, ValueError):
        given = []
    if len(given) != 2 or not (given[0] < given[1]).all():
        raise InputError(f"truncate must be True or a pair (lower, upper), got {truncate!r}")
    return given[0], given[1]


def _covariance_factors(covariance: Any, rungs: int, dimension: int) -> FloatTables:
    matrices = numbers(covariance)
    if matrices is None:
        raise InputError(f"covariance must be made of finite numbers, got {covariance!r}")
    if matrices.shape not in {(dimension, dimension), (rungs, dimension, dimension)}:
        raise InputError(
            f"covariance must be a {dimension} x {dimension} matrix, or one for each of the "
            f"{rungs} rungs, got shape {matrices.shape}"
        )
    try:
        factors = np.linalg.cholesky(matrices)
        symmetric = np.allclose(matrices, np.swapaxes(matrices, -1, -2))
    except np.linalg.LinAlgError:
        symmetric = False
    if not symmetric:
        raise InputError(f"covariance must be symmetric and positive definite, got {covariance!r}")
    return np.ascontiguousarray(np.broadcast_to(factors, (rungs, dimension, dimension)))


@compiled
def propose_normal(
    rng: Generator, dimension: int, numbers: Floats, first: int, here: Floats, there: Floats
) -> None:
    """Write a normal proposal around `here` to the beginning of `there`.

    :param numbers: the factor, row by row from `first` on: to cut it out would take as long as all
        the rest
    """
    normals = np.empty(dimension)
    for i in range(dimension):
        normals[i] = rng.standard_normal()
    for i in range(dimension):
        step = 0.0
        for j in range(i + 1):
            step += numbers[first + i * dimension + j] * normals[j]
        there[i] = here[i] + step


@compiled
def propose_truncated(
    rng: Generator, dimension: int, numbers: Floats, first: int, here: Floats, there: Floats
) -> float:
    """The same between bounds; gives the log of the proposal densities' ratio, back over forth.

    From beyond the bounds no proposal leads back: the ratio is zero, and nothing is proposed.

    :param numbers: from `first` on, lower bounds, upper bounds and the factor row by row
    """
    log_ratio = 0.0
    above, factor = first + dimension, first + 2 * dimension
    for i in range(dimension):
        if not numbers[first + i] < here[i] < numbers[above + i]:
            return -math.inf
    for i in range(dimension):
        lower, upper = numbers[first + i], numbers[above + i]
        scale = numbers[factor + i * dimension + i]
        there[i] = draw_truncated(rng, here[i], scale, lower, upper)
        log_ratio += log_mass(here[i], scale, lower, upper)
        log_ratio -= log_mass(there[i], scale, lower, upper)
    return log_ratio
