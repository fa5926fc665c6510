"""Hamiltonian Monte Carlo with trajectories of a given length, of which the shortest is Mala."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from typing_extensions import override

from aptmc.arguments import class_named_clearly
from aptmc.compiled import Floats
from aptmc.kernels.hamiltonian import Hamiltonian
from aptmc.kernels.leaping import (
    EXTENT,
    MOST_OFF,
    STEP_SIZE,
    draw_momentum,
    energy_of,
    leaping,
    tell_force,
)
from aptmc.kernels.parts import Parts
from aptmc.problem.chain_state import accepts


@class_named_clearly
@final
@dataclass(frozen=True, repr=False)
class Hmc(Hamiltonian):
    """Leap along the gradient for a random number of leaps, and accept where one gets to.

    Needs a problem with a gradient. Covariance and size of leaps are learnt in the warm-up, for
    each rung. `run.statistics` has the leaps, their acceptance and the trajectories that went
    astray ("divergences") by rung.

    :param metric: "auto", or that of an earlier run
    :param steps: how many trajectories make one move
    :param leaps: of a trajectory, at most: from 1 to so many, evenly

    >>> Hmc(), Hmc(leaps=20)
    (Hmc(), Hmc(leaps=20))
    """

    leaps: int = 8

    @property
    @override
    def extent(self) -> int:
        """The most leaps of a trajectory."""
        return self.leaps

    @override
    def step(self, parts: Parts) -> Callable[..., bool]:
        """One trajectory."""
        return trajectory(parts)


@class_named_clearly
@final
@dataclass(frozen=True, repr=False)
class Mala(Hamiltonian):
    """One leap along the gradient, accepted or rejected: Langevin's algorithm (MALA).

    :param metric: "auto", or that of an earlier run
    :param steps: how many leaps make one move

    >>> Mala(steps=10)
    Mala(steps=10)
    """

    best_acceptance = 0.574

    @property
    @override
    def extent(self) -> int:
        """One leap."""
        return 1

    @override
    def step(self, parts: Parts) -> Callable[..., bool]:
        """One leap."""
        return trajectory(parts)


def trajectory(parts: Parts) -> Callable[..., bool]:
    """A step whose number of leaps is drawn before it begins."""
    dimension = parts.dimension
    begin, leap = leaping(parts)
    push, energy = parts.target.library(draw_momentum), parts.target.library(energy_of)
    leaps, divergences = parts.place("leaps"), parts.place("divergences")
    acceptance, tell = parts.place("acceptance"), parts.target.library(tell_force)

    def step(
        level: float, tuning: Floats, here: Floats, rng: Any, there: Floats, info: Floats
    ) -> bool:
        place, momentum, force = np.empty(dimension), np.empty(dimension), np.empty(dimension)
        count = 1 + int(tuning[EXTENT] * rng.random())
        log_here = begin(level, tuning, here, there, place, force, info)
        if tuning[EXTENT] == 0.0:
            return tell(dimension, here, force, there)
        log_here -= push(rng, dimension, momentum)
        log_there = log_here
        for _ in range(count):
            log_there = leap(level, tuning, tuning[STEP_SIZE], there, place, momentum, force, info)
            info[leaps] += 1.0
            if log_there == -math.inf:
                break
        log_ratio = log_there - energy(dimension, momentum) - log_here
        if not log_ratio > -MOST_OFF:
            info[divergences] += 1.0
            return False
        info[acceptance] += count * math.exp(min(log_ratio, 0.0))
        return accepts(log_ratio, rng.random())

    return step
