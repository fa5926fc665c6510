"""Random walk Metropolis with Gaussian proposals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from typing_extensions import override

from aptmc.arguments import class_named_clearly
from aptmc.checks import whole_number
from aptmc.compiled import Floats, FloatTable
from aptmc.errors import InputError
from aptmc.kernels.learned import usual_scale
from aptmc.kernels.parts import Parts
from aptmc.kernels.proposals import propose_normal
from aptmc.kernels.proposing import Proposing, need_density
from aptmc.kernels.stages import Stages, in_one_step
from aptmc.ladder import Ladder
from aptmc.problem.base import Problem
from aptmc.problem.chain_state import accepts

# Places in the tuning after the number of steps.
SPREAD, FACTOR = 1, 2


@class_named_clearly
@final
@dataclass(frozen=True)
class RandomWalk(Proposing):
    """Propose a Gaussian step, accept or reject it.

    On a rung with power 0 of a `Tempered` problem each step is a fresh draw from the prior.

    :param scale: standard deviation of the steps. A number; a mapping from names to numbers; or a
        sequence with one entry per rung, each a number or one number per parameter; or "auto": a
        covariance for each rung is found in the warm-up, with the best acceptance
    :param covariance: covariance matrix of the steps, in place of `scale`: one matrix, or one per
        rung
    :param spread: draw the size of each step at random, down to 10 ** -spread of the given one,
        evenly on a logarithmic scale: slower where that is just right, far better where it is too
        large, as it is in each of several narrow modes
    :param steps: how many local steps make one move. A fixed count: a rule that stops by elapsed
        time would be biased

    >>> RandomWalk(0.5), RandomWalk({"x": 0.5, "y": 2.0}), RandomWalk([0.5, 0.7, 1.0], steps=10)
    (RandomWalk(scale=0.5),
     RandomWalk(scale={'x': 0.5, 'y': 2.0}),
     RandomWalk(scale=[0.5, 0.7, 1.0], steps=10))
    """

    spread: float = 0.0
    steps: int = 1

    tunes_acceptance = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.spread, int | float) or not 0.0 <= self.spread < math.inf:
            raise InputError(f"spread must be a number from 0 on, got {self.spread!r}")
        whole_number("steps", self.steps)

    @override
    def first_scale(self, dimension: int) -> float:
        """The length of steps that is best for a normal target."""
        return usual_scale(dimension)

    @override
    def tuning(self, problem: Problem, ladder: Ladder) -> FloatTable:
        """The number of steps, their spread, then the factor of the covariance row by row."""
        need_density(problem, "RandomWalk")
        return self._table(problem, ladder, [self.steps, self.spread])

    @override
    def step(self, parts: Parts) -> Callable[..., bool]:
        """Propose a normal step from the present state, and accept it as Metropolis does.

        With a `spread` the step is first shortened by a random factor. That factor does not look at
        the state, so the way there stays as likely as the way back.
        """
        need_density(parts.problem, "RandomWalk")
        dimension, value, log_prior = parts.dimension, parts.value, parts.log_prior
        evaluate, log_weight = parts.evaluate, parts.log_weight
        propose = parts.target.library(propose_normal)

        def step(
            level: float, tuning: Floats, here: Floats, rng: Any, there: Floats, info: Floats
        ) -> bool:
            propose(rng, dimension, tuning, FACTOR, here, there)
            if tuning[SPREAD] > 0.0:
                size = 10.0 ** (-tuning[SPREAD] * rng.random())
                for i in range(dimension):
                    there[i] = here[i] + size * (there[i] - here[i])
            evaluate(there, info)
            log_ratio = (
                log_weight(level, there[value])
                - log_weight(level, here[value])
                + there[log_prior]
                - here[log_prior]
            )
            return accepts(log_ratio, rng.random())

        return step

    @override
    def stages(self, parts: Parts) -> Stages:
        """One."""
        return in_one_step(self.step(parts), parts.target)

    def __repr__(self) -> str:
        options: dict[str, Any] = {}
        if self.spread > 0.0:
            options["spread"] = self.spread
        if self.steps > 1:
            options["steps"] = self.steps
        return self._described(**options)
