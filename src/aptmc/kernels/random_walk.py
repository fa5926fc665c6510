"""Random walk Metropolis with Gaussian proposals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from aptmc.chain import (
    ACCEPTED,
    BAD_VALUE,
    FINE,
    STATUS,
    WORK,
    accepts,
    log_prior_column,
    value_column,
)
from aptmc.checks import numbers, whole_number
from aptmc.compiled import Floats, FloatTable, FloatTables
from aptmc.errors import InputError
from aptmc.kernels.base import Kernel
from aptmc.ladder import Ladder
from aptmc.problem.base import Problem


@final
@dataclass(frozen=True)
class RandomWalk(Kernel):
    """Propose a Gaussian step, accept or reject it.

    :param scale: standard deviation of the steps. A number; a mapping from names to numbers; or a
        sequence with one entry per rung, each a number or one number per parameter
    :param covariance: covariance matrix of the steps, in place of `scale`: one matrix, or one per
        rung
    :param steps: how many local steps make one move. A fixed count: a rule that stops by elapsed
        time would be biased

    >>> RandomWalk(0.5), RandomWalk({"x": 0.5, "y": 2.0}), RandomWalk([0.5, 0.7, 1.0], steps=10)
    (RandomWalk(scale=0.5),
     RandomWalk(scale={'x': 0.5, 'y': 2.0}),
     RandomWalk(scale=[0.5, 0.7, 1.0], steps=10))
    """

    scale: float | Mapping[str, float] | npt.ArrayLike | None = None
    covariance: npt.ArrayLike | None = None
    steps: int = 1

    def __post_init__(self) -> None:
        if (self.scale is None) == (self.covariance is None):
            raise InputError(
                "RandomWalk needs either scale or covariance, got "
                f"scale={self.scale!r} and covariance={self.covariance!r}"
            )
        whole_number("steps", self.steps)

    def tuning(self, problem: Problem, ladder: Ladder) -> FloatTable:
        """The number of steps, then the factor of the covariance row by row."""
        factors = self.factors(problem, ladder).reshape(ladder.rungs, -1)
        return np.column_stack([np.full(ladder.rungs, float(self.steps)), factors])

    def body(
        self,
        dimension: int,
        log_weight: Callable[[float, float], float],
        evaluate: Callable[[Floats], None],
    ) -> Callable[..., None]:
        """Random walk Metropolis."""
        value, log_prior = value_column(dimension), log_prior_column(dimension)

        def move(
            level: float,
            tuning: Floats,
            state: Floats,
            rng: np.random.Generator,
            outcome: Floats,
            info: Floats,
        ) -> None:
            steps = int(tuning[0])
            factor = tuning[1:].reshape(dimension, dimension)
            proposal = np.empty_like(state)
            normals = np.empty(dimension)
            outcome[:] = state
            info[ACCEPTED] = 0.0
            info[WORK] = steps
            info[STATUS] = FINE
            for _ in range(steps):
                for i in range(dimension):
                    normals[i] = rng.standard_normal()
                for i in range(dimension):
                    step = 0.0
                    for j in range(i + 1):
                        step += factor[i, j] * normals[j]
                    proposal[i] = outcome[i] + step
                evaluate(proposal)
                if not (proposal[value] < math.inf and proposal[log_prior] < math.inf):
                    outcome[:] = proposal
                    info[STATUS] = BAD_VALUE
                    return
                log_ratio = (
                    log_weight(level, proposal[value])
                    - log_weight(level, outcome[value])
                    + proposal[log_prior]
                    - outcome[log_prior]
                )
                if accepts(log_ratio, rng.random()):
                    outcome[:] = proposal
                    info[ACCEPTED] += 1.0

        return move

    def factors(self, problem: Problem, ladder: Ladder) -> FloatTables:
        """By rung, the lower triangular factor that turns standard normals into steps."""
        rungs, dimension = ladder.rungs, problem.dimension
        if self.covariance is not None:
            return _covariance_factors(self.covariance, rungs, dimension)
        scale: Any = self.scale
        if isinstance(scale, Mapping):
            if set(scale) != set(problem.names):
                raise InputError(
                    f"scale must name each of {', '.join(problem.names)}, got {dict(scale)!r}"
                )
            scale = [[scale[name] for name in problem.names]] * rungs
        scales = numbers(scale)
        if scales is None or not (scales > 0).all():
            raise InputError(f"scale must be positive, got {scale!r}")
        if scales.shape not in {(), (rungs,), (rungs, dimension)}:
            raise InputError(
                f"scale must be one number, a mapping from parameter names, or one entry for each "
                f"of the {rungs} rungs, got shape {scales.shape}"
            )
        if scales.ndim == 1:
            scales = scales[:, None]
        return np.ascontiguousarray(
            np.broadcast_to(scales, (rungs, dimension))[:, :, None] * np.eye(dimension)
        )

    def __repr__(self) -> str:
        given = (
            f"scale={self.scale!r}"
            if self.covariance is None
            else (f"covariance={self.covariance!r}")
        )
        return f"RandomWalk({given}{f', steps={self.steps}' if self.steps > 1 else ''})"


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
