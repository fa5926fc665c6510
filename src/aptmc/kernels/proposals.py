"""Gaussian proposals: scales or covariances, for all rungs alike or for each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from aptmc.checks import numbers
from aptmc.compiled import Floats, FloatTable, FloatTables, Generator, compiled
from aptmc.errors import InputError
from aptmc.kernels.truncated import draw_truncated, log_mass

Scale = float | Mapping[str, float] | npt.ArrayLike


def check_one_given(kernel: str, scale: Any, covariance: Any) -> None:
    """Refuse both, or neither."""
    if (scale is None) == (covariance is None):
        raise InputError(
            f"{kernel} needs either scale or covariance, got scale={scale!r} and "
            f"covariance={covariance!r}"
        )


def described(scale: Any, covariance: Any) -> str:
    """Whichever was given, as it is written in a call."""
    return f"scale={scale!r}" if covariance is None else f"covariance={covariance!r}"


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
    rng: Generator, dimension: int, factor: FloatTable, here: Floats, there: Floats
) -> None:
    """Write a normal proposal around `here` to the beginning of `there`."""
    normals = np.empty(dimension)
    for i in range(dimension):
        normals[i] = rng.standard_normal()
    for i in range(dimension):
        step = 0.0
        for j in range(i + 1):
            step += factor[i, j] * normals[j]
        there[i] = here[i] + step


@compiled
def propose_truncated(
    rng: Generator,
    dimension: int,
    factor: FloatTable,
    lower: Floats,
    upper: Floats,
    here: Floats,
    there: Floats,
) -> float:
    """The same between bounds; gives the log of the proposal densities' ratio, back over forth.

    From beyond the bounds no proposal leads back: the ratio is zero, and nothing is proposed.
    """
    log_ratio = 0.0
    for i in range(dimension):
        if not lower[i] < here[i] < upper[i]:
            return -math.inf
    for i in range(dimension):
        scale = factor[i, i]
        there[i] = draw_truncated(rng, here[i], scale, lower[i], upper[i])
        log_ratio += log_mass(here[i], scale, lower[i], upper[i])
        log_ratio -= log_mass(there[i], scale, lower[i], upper[i])
    return log_ratio
