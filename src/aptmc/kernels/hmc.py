"""Hamiltonian Monte Carlo with trajectories of a given length, of which the shortest is Mala."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from typing_extensions import override

from aptmc.arguments import class_named_clearly
from aptmc.compiled import Floats
from aptmc.errors import InputError
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
from aptmc.kernels.searched_leap import searched_leap
from aptmc.kernels.stages import GOES, GOES_ON, STAYS, Stages, run_whole
from aptmc.problem.chain_state import accepts

# Places in the memory of a move: how many leaps it has, and how many are left; the log density and
# energy at its beginning; then place, momentum and force.
COUNT, LEFT, LOG_HERE, PLACE = range(4)


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
        return run_whole(trajectory(parts), parts.target)

    @override
    def stages(self, parts: Parts) -> Stages:
        """Each a leap."""
        return trajectory(parts)


@class_named_clearly
@final
@dataclass(frozen=True, repr=False)
class Mala(Hamiltonian):
    """One leap along the gradient, accepted or rejected: Langevin's algorithm (MALA).

    :param metric: "auto", or that of an earlier run
    :param steps: how many leaps make one move
    :param search: whether the size of each leap is searched for, from the one that was learnt, as
        autoMALA does (Biron-Lattes and others 2024): for places of very different widths, at the
        price of three to five leaps in place of one

    >>> Mala(steps=10), Mala(search=True)
    (Mala(steps=10), Mala(search=True))
    """

    search: bool = False

    best_acceptance = 0.574
    compiled_options = ("search",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.search, bool):
            raise InputError(f"search must be True or False, got {self.search!r}")

    @property
    @override
    def extent(self) -> int:
        """One leap."""
        return 1

    @override
    def step(self, parts: Parts) -> Callable[..., bool]:
        """One leap."""
        return run_whole(self.stages(parts), parts.target)

    @override
    def stages(self, parts: Parts) -> Stages:
        """Each a leap."""
        return searched_leap(parts) if self.search else trajectory(parts)


def trajectory(parts: Parts) -> Stages:
    """Stages whose number is drawn before they begin: each is a leap."""
    dimension = parts.dimension
    begin_at, leap = leaping(parts)
    push, energy = parts.target.library(draw_momentum), parts.target.library(energy_of)
    leaps, divergences = parts.place("leaps"), parts.place("divergences")
    acceptance, tell = parts.place("acceptance"), parts.target.library(tell_force)
    momentum_at = PLACE + dimension
    force_at = momentum_at + dimension
    size = force_at + dimension

    def begin(
        level: float, tuning: Floats, here: Floats, rng: Any, there: Floats, memory: Floats,
        info: Floats,
    ) -> None:  # fmt: skip
        place, momentum = memory[PLACE:momentum_at], memory[momentum_at:force_at]
        force = memory[force_at:size]
        memory[COUNT] = memory[LEFT] = 1 + int(tuning[EXTENT] * rng.random())
        log_here = begin_at(level, tuning, here, there, place, force, info)
        if tuning[EXTENT] == 0.0:
            tell(dimension, here, force, there)
            return
        memory[LOG_HERE] = log_here - push(rng, dimension, momentum)

    def advance(
        level: float, tuning: Floats, here: Floats, rng: Any, there: Floats, memory: Floats,
        info: Floats,
    ) -> int:  # fmt: skip
        if tuning[EXTENT] == 0.0:  # all was told at the beginning
            return GOES
        place, momentum = memory[PLACE:momentum_at], memory[momentum_at:force_at]
        force = memory[force_at:size]
        log_there = leap(level, tuning, tuning[STEP_SIZE], there, place, momentum, force, info)
        info[leaps] += 1.0
        memory[LEFT] -= 1.0
        if memory[LEFT] > 0.0 and log_there > -math.inf:
            return GOES_ON
        log_ratio = log_there - energy(dimension, momentum) - memory[LOG_HERE]
        if not log_ratio > -MOST_OFF:
            info[divergences] += 1.0
            return STAYS
        info[acceptance] += memory[COUNT] * math.exp(min(log_ratio, 0.0))
        return GOES if accepts(log_ratio, rng.random()) else STAYS

    return Stages(size, begin, advance)
