"""How many processors one coordinator can serve, and what several of them would do."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import final

from aptmc.compiled import Integers
from aptmc.planning.choices import usual
from aptmc.planning.flow import flow
from aptmc.planning.planner import Planner
from aptmc.planning.prediction import Prediction

FULL = 0.8  # a coordinator that is at work for longer is about to be the limit
GOOD_LOAD = 0.5  # for each of several coordinators
MOST_PROCESSORS = 1 << 24
ROUNDING = 1e-9


@final
@dataclass(frozen=True)
class Coordinators:
    """What a planner's runs ask of those who coordinate them."""

    planner: Planner

    def offered_load(self, processors: int, steps: Integers | None = None) -> float:
        """The coordinator's time for all completions per second if nobody had to wait for it."""
        planner = self.planner
        choice = usual(planner.pilot, planner.request, processors)
        setting = planner.setting(processors, choice, steps)
        movers = planner.pilot.movers
        hold = (setting.steps * planner.pilot.mean_hold)[movers]
        occupied = hold + (0.0 if setting.ahead > 0 else setting.latency)
        chains = planner.pilot.standing(choice.chains_per_rung, movers)
        return setting.cost * flow(occupied, chains, processors).moves_per_second

    @cached_property
    def saturation(self) -> int | None:
        """How many processors one coordinator can just serve; None if any number."""
        if self.offered_load(MOST_PROCESSORS) < 1.0:
            return None
        low, high = 0, MOST_PROCESSORS
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.offered_load(middle) < 1.0 else (low, middle)
        return high

    def side_by_side(self, processors: int) -> Prediction | None:
        """Independent ladders, each with a part of the processors, if one is not enough.

        That moves can be made longer for the sake of a single coordinator does not count.
        """
        load = self.offered_load(processors, self.planner.steps(1))
        coordinators = math.ceil(load / GOOD_LOAD - ROUNDING)
        if load < FULL or processors < coordinators:
            return None
        part = self.planner.best(processors // coordinators)
        return part.times(coordinators, processors)
