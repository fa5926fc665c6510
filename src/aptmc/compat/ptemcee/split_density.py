"""A log likelihood and a log prior as ptemcee takes them: two functions, and no draws."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from typing_extensions import override

from aptmc.compiled import Floats
from aptmc.errors import InputError, MoveFailed
from aptmc.problem.chain_state import log_prior_column, value_column
from aptmc.problem.density import DensityProblem
from aptmc.problem.variables import scalars
from aptmc.problem.weights import power_log_weight
from aptmc.targets import INTERPRETED, Target


@final
@dataclass(frozen=True)
class SplitDensity:
    """Two functions of a point, each with further arguments."""

    logl: Callable[..., Any]
    logp: Callable[..., Any]
    loglargs: Sequence[Any] = ()
    logpargs: Sequence[Any] = ()
    loglkwargs: Mapping[str, Any] = field(default_factory=dict)
    logpkwargs: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, x: Floats) -> tuple[float, float]:
        """The log likelihood and the log prior density.

        Both are -inf outside the support of either: where the likelihood is zero, no temperature is
        so high that a walker may go there.
        """
        prior = _number(self.logp(x, *self.logpargs, **self.logpkwargs), "log prior", x)
        if prior == -math.inf:
            return -math.inf, -math.inf
        found = self.logl(x, *self.loglargs, **self.loglkwargs)
        likelihood = _number(found, "log likelihood", x)
        return likelihood, prior if likelihood > -math.inf else -math.inf


@final
class Walked(DensityProblem):
    """The problem of walkers: rung densities are prior * likelihood ** beta, all reached by moves.

    As the prior is a function that one cannot draw from, walkers at an infinite temperature move
    like the others.
    """

    value_name = "log_likelihood"
    ladder_kind = "powers"

    def __init__(self, density: SplitDensity, dimension: int) -> None:
        self.density = density
        names = [f"x{place}" for place in range(dimension)]
        super().__init__(scalars(names), "log_likelihood", target=INTERPRETED)

    @property
    @override
    def reference(self) -> None:
        """None: nobody can draw from a function."""
        return None

    @override
    def check_levels(self, levels: tuple[float, ...]) -> None:
        """Any powers will do."""

    @override
    def log_weight(self) -> Callable[[float, float], float]:
        """Exchanges look at the log likelihood, weighed by beta."""
        return power_log_weight

    @override
    def evaluation(self, target: Target) -> Callable[[Floats], None]:
        """Both functions, called from Python."""
        value, log_prior = value_column(self.dimension), log_prior_column(self.dimension)

        def evaluate(row: Floats) -> None:
            theta = row[: self.dimension].copy()
            try:
                row[value], row[log_prior] = self.density(theta)
            except Exception as error:
                reason = f"{type(error).__name__}: {error}"
                raise MoveFailed(reason, self.describe(row)) from error

        return evaluate

    @override
    def draw_start(self, rng: np.random.Generator) -> Floats:
        """There is none: walkers begin where they are told to."""
        raise InputError("walkers need positions to begin from: give p0")


def _number(found: Any, name: str, x: Floats) -> float:
    """What a function gave, if that is a number, or an array of one."""
    try:
        value = np.asarray(found, dtype=np.float64)
        number = float(value.reshape(()))
    except (TypeError, ValueError):
        raise InputError(f"the {name} must be a number, got {found!r} at {x}") from None
    if math.isnan(number) or number == math.inf:
        raise InputError(f"the {name} must be finite or -inf, got {number!r} at {x}")
    return number
