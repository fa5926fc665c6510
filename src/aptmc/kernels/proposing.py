"""Kernels whose steps have a covariance on each rung: given by hand, or learnt in the warm-up."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from aptmc.compiled import Floats, FloatTable, FloatTables, Integers
from aptmc.errors import InputError
from aptmc.kernels.base import Kernel
from aptmc.kernels.learned import Learned
from aptmc.kernels.proposals import Scale, proposal_factors
from aptmc.kernels.seen import Seen
from aptmc.ladder import Ladder
from aptmc.problem.base import Problem

AUTO = "auto"


@dataclass(frozen=True)
class Proposing(Kernel):
    """A scale or a covariance, or "auto"; all that depends on them is numbers, none of it code."""

    scale: Scale | Learned | None = None
    covariance: npt.ArrayLike | None = None

    # Whether the acceptance tells how large steps should be.
    tunes_acceptance = False
    # Whether it proposes from a mixture like the target, too.
    fits_reference = False

    def __post_init__(self) -> None:
        if (self.scale is None) == (self.covariance is None):
            name = type(self).__name__
            raise InputError(
                f"{name} needs either scale or covariance, got scale={self.scale!r} and covariance="
                f'{self.covariance!r}: use {name}("auto") to have both found in the warm-up'
            )

    @abstractmethod
    def first_scale(self, dimension: int) -> float:
        """How long steps are at first, in standard deviations."""

    @property
    @override
    def code(self) -> Hashable:
        """Its kind alone: settings reach the step as numbers."""
        return (type(self),)

    @property
    @override
    def learns(self) -> bool:
        """Whether the scale is "auto", or has been learnt so far."""
        return isinstance(self.scale, Learned) or self._is_auto

    @override
    def at_first(self, spread: Floats, rungs: int) -> Self:
        """With "auto", steps that suit the first guess of how far the parameters spread."""
        if not self._is_auto:
            return self
        return replace(self, scale=Learned.begun(spread, rungs, self.first_scale(spread.size)))

    @override
    def adapted(self, seen: Seen) -> Self:
        """With "auto", steps that suit the spread of the draws seen on each rung."""
        if not isinstance(self.scale, Learned):
            return self
        learned = self.scale.after(
            seen, tunes_acceptance=self.tunes_acceptance, jumps=self.fits_reference
        )
        return replace(self, scale=learned)

    @override
    def respaced(self, nearest: Integers) -> Self:
        """With "auto", for each new rung what the nearest old one has learnt."""
        if not isinstance(self.scale, Learned):
            return self
        return replace(self, scale=self.scale.respaced(nearest))

    @override
    def frozen(self) -> Self:
        """With "auto", the covariances that were learnt, as if they were given by hand."""
        if not isinstance(self.scale, Learned):
            return self
        return replace(self, **self.scale.as_given)

    @property
    def _is_auto(self) -> bool:
        return isinstance(self.scale, str) and self.scale == AUTO

    def _factors(self, problem: Problem, rungs: int) -> FloatTables:
        """By rung, the lower triangular factor that turns standard normals into steps."""
        if self._is_auto:
            raise InputError(
                f'the scale of {type(self).__name__}("auto") is found in a warm-up, and there was '
                "none: leave out warmup=0, or give a scale"
            )
        if isinstance(self.scale, Learned):
            return proposal_factors(None, self.scale.steps, problem.names, rungs)
        return proposal_factors(self.scale, self.covariance, problem.names, rungs)

    def _table(self, problem: Problem, ladder: Ladder, numbers: Sequence[float]) -> FloatTable:
        """By rung: numbers that are common to all, then the factor row by row."""
        factors = self._factors(problem, ladder.rungs)
        common = np.tile(np.asarray(numbers, np.float64), (ladder.rungs, 1))
        return np.column_stack([common, factors.reshape(ladder.rungs, -1)])

    def _described(self, **options: Any) -> str:
        """As it is written in a call."""
        scale = AUTO if isinstance(self.scale, Learned) else self.scale
        given = {"scale": scale} if self.covariance is None else {"covariance": self.covariance}
        said = [f"{name}={value!r}" for name, value in (given | options).items()]
        return f"{type(self).__name__}({', '.join(said)})"


def need_density(problem: Problem, kernel: str) -> None:
    """Refuse a problem without a density."""
    if not problem.has_density:
        raise InputError(
            f"{kernel} needs a density, got a problem of kind {type(problem).__name__}: "
            "use aptmc.OneHit for a simulator"
        )
