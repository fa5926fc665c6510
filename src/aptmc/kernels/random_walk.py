"""Random walk Metropolis with Gaussian proposals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from aptmc.checks import whole_number
from aptmc.compiled import Floats, FloatTable, at_speed
from aptmc.errors import InputError
from aptmc.kernels.base import STEPS, Kernel
from aptmc.kernels.densities import density_parts, stepping_table
from aptmc.kernels.proposals import (
    Scale,
    check_one_given,
    described,
    propose_normal,
)
from aptmc.ladder import Ladder
from aptmc.problem import Problem
from aptmc.problem.state import (
    ACCEPTED,
    BAD_VALUE,
    STATUS,
    WORK,
    accepts,
)

# Places in the tuning after the number of steps.
SPREAD, FACTOR = 1, 2


@final
@dataclass(frozen=True)
class RandomWalk(Kernel):
    """Propose a Gaussian step, accept or reject it.

    On a rung with power 0 of a `Tempered` problem each step is a fresh draw from the prior.

    :param scale: standard deviation of the steps. A number; a mapping from names to numbers; or a
        sequence with one entry per rung, each a number or one number per parameter
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

    scale: Scale | None = None
    covariance: npt.ArrayLike | None = None
    spread: float = 0.0
    steps: int = 1

    def __post_init__(self) -> None:
        check_one_given("RandomWalk", self.scale, self.covariance)
        if not isinstance(self.spread, int | float) or not 0.0 <= self.spread < math.inf:
            raise InputError(f"spread must be a number from 0 on, got {self.spread!r}")
        whole_number("steps", self.steps)

    def tuning(self, problem: Problem, ladder: Ladder) -> FloatTable:
        """The number of steps, their spread, then the factor of the covariance row by row."""
        numbers = [self.steps, self.spread]
        return stepping_table("RandomWalk", problem, ladder, numbers, self.scale, self.covariance)

    def body(self, problem: Problem, *, compiled: bool) -> Callable[..., None]:
        """Random walk Metropolis."""
        dimension, evaluate, log_weight, value, log_prior, has_prior, draw_from_prior = (
            density_parts(problem, "RandomWalk", compiled=compiled)
        )
        propose = at_speed(propose_normal, compiled=compiled)

        def move(
            level: float,
            tuning: Floats,
            state: Floats,
            rng: np.random.Generator,
            outcome: Floats,
            info: Floats,
        ) -> None:
            steps = int(tuning[STEPS])
            spread = tuning[SPREAD]
            factor = tuning[FACTOR:].reshape(dimension, dimension)
            proposal = np.empty_like(state)
            outcome[:] = state
            info[:] = 0.0
            info[WORK] = steps
            for _ in range(steps):
                if level == 0.0 and has_prior:
                    draw_from_prior(rng, proposal)
                else:
                    propose(rng, dimension, factor, outcome, proposal)
                    if spread > 0.0:
                        size = 10.0 ** (-spread * rng.random())
                        for i in range(dimension):
                            proposal[i] = outcome[i] + size * (proposal[i] - outcome[i])
                evaluate(proposal)
                if not (proposal[value] < math.inf and proposal[log_prior] < math.inf):
                    outcome[:] = proposal
                    info[STATUS] = BAD_VALUE
                    return
                if level == 0.0 and has_prior:
                    outcome[:] = proposal
                    info[ACCEPTED] += 1.0
                    continue
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

    def __repr__(self) -> str:
        options = [described(self.scale, self.covariance)]
        if self.spread > 0.0:
            options.append(f"spread={self.spread:g}")
        if self.steps > 1:
            options.append(f"steps={self.steps}")
        return f"RandomWalk({', '.join(options)})"
