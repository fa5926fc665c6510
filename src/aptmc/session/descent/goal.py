"""How far a descent is to go."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from typing_extensions import override

from aptmc.session.descent.stages import WIDE, Stage, still_moves_by

# Of the moves that hit, how many are worth an effective draw, before a run has shown it.
WORTH = 0.25
# How many effective draws there are to be if nobody says so. Fewer are enough where a smaller
# tolerance is worth more than draws, but never fewer than these.
USUAL_DRAWS, FEWEST_DRAWS = 400.0, 50.0
# That is so while a tolerance keeps more than such a share of the prior's simulations.
COARSE = 0.01
# While it keeps more than a tenth, many draws are many of what is hardly a posterior.
FEWEST_WIDE = 12.0
# Bias that is so many times the noise is worth a longer descent.
FAR = 4.0
# Simulations in all, for each particle of the descent.
PER_PARTICLE = 100.0
# Where they are few, more of them, for what each stage leaves to chance adds up: with 32 particles
# the weight of one of two equal modes comes down with a standard deviation of 0.2, with 100 of 0.1.
PER_ONE_OF_FEW, FEWEST_PARTICLES, MANY = 12.0, 32.0, 100.0


class Goal(ABC):
    """When a descent is over."""

    @property
    @abstractmethod
    def hottest(self) -> float:
        """The tolerance above which nothing need be looked at."""

    @property
    @abstractmethod
    def coldest(self) -> float:
        """The tolerance below which nothing need be looked at."""

    @property
    @abstractmethod
    def most_simulations(self) -> float:
        """How many there may be."""

    @abstractmethod
    def size(self, seconds: float) -> int:
        """How many particles, if a simulation from the prior takes so long."""

    @abstractmethod
    def latest(self, stages: Sequence[Stage]) -> float:
        """When to stop in any case, for all that the stages so far have shown."""

    @abstractmethod
    def is_enough(self, stages: Sequence[Stage], elapsed: float) -> bool:
        """Whether to stop here, above the coldest."""


@final
@dataclass(frozen=True)
class DownTo(Goal):
    """Down to the coldest rung of a ladder that was given, whatever that takes.

    :param levels: of the rungs, coldest first
    """

    levels: tuple[float, ...]
    simulations: float
    processors: int = 1

    @property
    @override
    def hottest(self) -> float:
        return self.levels[-1]

    @property
    @override
    def coldest(self) -> float:
        return self.levels[0]

    @property
    @override
    def most_simulations(self) -> float:
        return self.simulations

    @override
    def size(self, seconds: float) -> int:
        """So many that none is lost in a place that leads nowhere."""
        return max(64, 2 * self.processors)

    @override
    def latest(self, stages: Sequence[Stage]) -> float:
        return math.inf

    @override
    def is_enough(self, stages: Sequence[Stage], elapsed: float) -> bool:
        return False


@final
@dataclass(frozen=True)
class Affordable(Goal):
    """Down to the tolerance at which the time that is left gives enough effective draws.

    :param time: of the whole run, the descent included
    :param most_time: for the descent
    :param longest: the same where a smaller tolerance is worth more than draws are
    :param effective_draws: how many are wanted; None: as many as fit the tolerance
    :param wanted: down to here, at the cost of effective draws; None: as far as these allow
    :param top: above it nothing need be looked at
    """

    time: float
    most_time: float
    longest: float
    simulations: float
    processors: int
    dimension: int
    effective_draws: float | None = None
    wanted: float | None = None
    top: float = math.inf

    @property
    @override
    def hottest(self) -> float:
        return self.top

    @property
    @override
    def coldest(self) -> float:
        return 0.0 if self.wanted is None else self.wanted

    @property
    @override
    def most_simulations(self) -> float:
        return self.simulations

    @override
    def size(self, seconds: float) -> int:
        """So many that going down takes a small part of what can be simulated in all."""
        simulations = self.time * self.processors / max(seconds, 1e-9)
        # Of few particles, modes are lost by chance; so there is a part that is not so small.
        few = max(min(simulations / PER_ONE_OF_FEW, MANY), FEWEST_PARTICLES, 2.0 * self.processors)
        return int(max(min(simulations / PER_PARTICLE, 200.0), few))

    @override
    def latest(self, stages: Sequence[Stage]) -> float:
        """Later, if what the tolerance leaves of bias is far more than the noise of the draws.

        While the posterior is still far away, nobody needs draws.
        """
        if not stages or self.wanted is not None or self.effective_draws is not None:
            return self.most_time
        if stages[-1].log_mass > math.log(WIDE):
            return self.longest
        noise = self.affordable_draws(stages[-1], self.most_time) ** -0.5
        is_far = still_moves_by(stages, self.dimension) > FAR * noise
        return self.longest if is_far else self.most_time

    @override
    def is_enough(self, stages: Sequence[Stage], elapsed: float) -> bool:
        if self.wanted is not None:
            return False
        return self.affordable_draws(stages[-1], elapsed) < self.draws_at(stages)

    def draws_at(self, stages: Sequence[Stage]) -> float:
        """How many effective draws are to be had before one goes further down from the last stage.

        What a tolerance leaves of bias is an error like any other. While that is larger than the
        noise of so many draws, fewer at a smaller tolerance have the smaller error.
        """
        if self.effective_draws is not None:
            return self.effective_draws
        if stages[-1].log_mass > math.log(WIDE):
            return FEWEST_WIDE
        if stages[-1].log_mass > math.log(COARSE):
            return FEWEST_DRAWS
        shift = still_moves_by(stages, self.dimension)
        return min(max(FEWEST_DRAWS, shift**-2.0), USUAL_DRAWS) if shift > 0.0 else USUAL_DRAWS

    def chosen(self, stages: Sequence[Stage], elapsed: float) -> float:
        """The tolerance to sample at: where the draws that can be afforded are those wanted."""
        last = stages[-1]
        if self.wanted is not None or len(stages) < 2 or last.level <= 0.0:
            return last.level
        before, after = (self.affordable_draws(stage, elapsed) for stage in stages[-2:])
        wanted = self.aimed_at(stages)
        if stages[-2].accepted == 0.0 or not after < wanted < before:
            return last.level
        part = math.log(before / wanted) / math.log(before / after)
        return float(stages[-2].level ** (1.0 - part) * last.level**part)

    def aimed_at(self, stages: Sequence[Stage]) -> float:
        """For how many effective draws the tolerance is chosen: those of the last step down."""
        return self.draws_at(stages[: max(len(stages) - 1, 1)])

    def affordable_draws(self, stage: Stage, elapsed: float) -> float:
        """How many effective draws the rest of the time gives at a stage's level, about."""
        hits = self.processors * (self.time - elapsed) / max(stage.seconds_per_hit, 1e-12)
        return WORTH * hits
