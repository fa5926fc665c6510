"""How far a descent is to go."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from typing_extensions import override

from aptmc.session.descent.stages import Stage

# Of the moves that hit, how many are worth an effective draw, before a run has shown it.
WORTH = 0.25
# While a tolerance keeps more than such a share of the prior's simulations, a smaller one is worth
# more than draws: so large a part of those that are wanted is enough.
COARSE = ((0.01, 1.0 / 8.0), (0.001, 1.0 / 4.0))
FEWEST_DRAWS = 50.0


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
    def is_too_late(self, elapsed: float) -> bool:
        """Whether to stop in any case."""

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
    def is_too_late(self, elapsed: float) -> bool:
        return False

    @override
    def is_enough(self, stages: Sequence[Stage], elapsed: float) -> bool:
        return False


@final
@dataclass(frozen=True)
class Affordable(Goal):
    """Down to the tolerance at which the time that is left gives enough effective draws.

    :param time: of the whole run, the descent included
    :param most_time: for the descent
    :param wanted: down to here, at the cost of effective draws; None: as far as these allow
    :param top: above it nothing need be looked at
    """

    time: float
    most_time: float
    simulations: float
    processors: int
    effective_draws: float
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
        few = max(min(simulations / 40.0, 64.0), 32.0, 2.0 * self.processors)
        return int(max(min(simulations / 100.0, 200.0), few))

    @override
    def is_too_late(self, elapsed: float) -> bool:
        return elapsed > self.most_time

    @override
    def is_enough(self, stages: Sequence[Stage], elapsed: float) -> bool:
        if self.wanted is not None:
            return False
        return self.affordable_draws(stages[-1], elapsed) < self.draws_at(stages[-1])

    def draws_at(self, stage: Stage) -> float:
        """How many effective draws are to be had before one goes further down from a stage."""
        for share, part in COARSE:
            if stage.log_mass > math.log(share):
                return max(part * self.effective_draws, min(self.effective_draws, FEWEST_DRAWS))
        return self.effective_draws

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
        return self.draws_at(stages[max(len(stages) - 2, 0)])

    def affordable_draws(self, stage: Stage, elapsed: float) -> float:
        """How many effective draws the rest of the time gives at a stage's level, about."""
        hits = self.processors * (self.time - elapsed) / max(stage.seconds_per_hit, 1e-12)
        return WORTH * hits
