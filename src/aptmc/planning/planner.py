"""The planner: predictions for one way to run, and for the best."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np

from aptmc.backends.workers.trials import LONG_UNIT, shortest_unit
from aptmc.compiled import Floats, Integers
from aptmc.planning.choices import Choice, PlanRequest, changes, usual
from aptmc.planning.pilot import Pilot
from aptmc.planning.prediction import Prediction
from aptmc.planning.surrogate import Surrogate, surrogate_of
from aptmc.planning.virtual_run import (
    FEWEST_SWEEPS,
    SWEEPS_TO_MIX,
    Setting,
    Simulated,
    check_setting,
    shared_setting,
    simulate,
)

# Up to so many processors effective draws are simulated; beyond, draws per move stay as they are.
MOST_SIMULATED = 64
ROUGH = 0.3  # the relative error of effective draws where exchanges cannot be simulated


@final
@dataclass(frozen=True)
class Planner:
    """Predicts runs from a pilot's moves."""

    pilot: Pilot
    request: PlanRequest

    # --- the pilot itself, simulated ----------------------------------------------------------

    @cached_property
    def surrogate(self) -> Surrogate:
        """A stand-in for the pilot's problem and kernel, made of its moves."""
        return surrogate_of(self.pilot)

    @cached_property
    def own(self) -> Simulated:
        """The pilot's own run, simulated, as a check."""
        return self._simulate(self._own_setting)

    @cached_property
    def correction(self) -> Floats:
        """By parameter, the pilot's effective draws over those of its simulation."""
        return self.pilot.effective.per_second / self.own.effective.per_second

    @cached_property
    def _own_setting(self) -> Setting:
        pilot = self.pilot
        cost = pilot.cost
        if pilot.schedule.can_change_deadlines:
            rounds_per_move = 1.0 / pilot.schedule.interval / pilot.moves_per_second
            cost += pilot.exchange_cost * pilot.chains * rounds_per_move
        steps = np.ones(pilot.ladder.rungs, np.int64)
        ladder = tuple(range(pilot.ladder.rungs))
        return Setting(
            pilot.processors, ladder, pilot.pools, pilot.schedule, steps,
            pilot.ahead, pilot.latency, cost,
        )  # fmt: skip

    def _simulate(self, setting: Setting) -> Simulated:
        mixes = self.pilot.transitions is not None and setting.processors <= MOST_SIMULATED
        return simulate(
            self.pilot, self.surrogate, setting,
            completions=self.request.effort, seed=self.request.seed,
            sweeps=SWEEPS_TO_MIX if mixes else FEWEST_SWEEPS,
        )  # fmt: skip

    # --- one way to run -----------------------------------------------------------------------

    @property
    def latency(self) -> float:
        """From the end of a move until its processor has the next: as requested, or as measured."""
        return self.pilot.latency if self.request.latency is None else self.request.latency

    @property
    def cost(self) -> float:
        """The coordinator's time for a completion, exchanges apart: as requested or measured."""
        return self.pilot.cost if self.request.cost is None else self.request.cost

    def steps(self, processors: int) -> Integers:
        """By rung, how many of the pilot's moves make one: what worker processes would choose."""
        steps = np.ones(self.pilot.ladder.rungs, np.int64)
        if self.request.group and self.pilot.time_unit == "s":
            unit = shortest_unit(processors, math.inf)
            hold = self.pilot.mean_hold
            wanted = np.divide(unit, hold, out=np.ones_like(hold), where=hold > 0.0)
            steps = np.maximum(wanted.astype(np.int64), 1)
        return steps

    def ahead(self, processors: int, movers: int) -> int:
        """How many moves wait at each processor: what worker processes would choose."""
        if self.request.ahead is not None:
            return self.request.ahead
        if self.pilot.time_unit != "s" or not self.pilot.schedule.never_waits:
            return 0
        longest = float((self.steps(processors) * self.pilot.mean_hold).max())
        return int(longest < LONG_UNIT and movers >= 2 * processors + max(processors, 2))

    def setting(self, processors: int, choice: Choice, steps: Integers | None = None) -> Setting:
        """A choice as a complete way to run, on so many processors."""
        steps = self.steps(processors) if steps is None else steps
        movers = [rung for rung in choice.rungs if rung in self.pilot.movers]
        moving = int(self.pilot.standing(choice.chains_per_rung, movers).sum())
        ahead = self.ahead(processors, moving)
        exchange_cost = self.pilot.exchange_cost if self.request.cost is None else 0.0
        setting = shared_setting(
            self.pilot, processors, choice.chains_per_rung,
            rungs=choice.rungs, deadlines=choice.deadlines, every=self.request.every,
            steps=steps, ahead=ahead, latency=self.latency,
            cost=self.cost, exchange_cost=exchange_cost,
        )  # fmt: skip
        schedule = setting.schedule
        if schedule.can_change_deadlines and choice.exchange is not None:
            setting = setting._replace(schedule=replace(schedule, exchange=choice.exchange))
        return setting

    def predict(self, processors: int, choice: Choice) -> Prediction:
        """What a run with this choice would be like: simulated, and corrected by the pilot."""
        setting = self.setting(processors, choice)
        check_setting(self.pilot, setting)
        found = small = self._simulate(setting)
        if processors > MOST_SIMULATED and self.pilot.transitions is not None:
            share = MOST_SIMULATED / processors
            fewer = choice._replace(chains_per_rung=math.ceil(choice.chains_per_rung * share))
            small = self._simulate(self.setting(MOST_SIMULATED, fewer, setting.steps))
        pilot, effective = self.pilot, small.effective
        rate = effective.per_second * self.correction * found.moves_per_second
        rate = rate / small.moves_per_second
        own_error, pilot_error = self.own.effective.error, pilot.effective.error
        # Half of the correction may not hold here.
        model_error = 0.5 * np.log(self.correction)
        error = np.sqrt(effective.error**2 + own_error**2 + pilot_error**2 + model_error**2)
        simulation_error = effective.error
        if pilot.transitions is None:
            standing = pilot.standing(choice.chains_per_rung, choice.rungs)
            share = standing[0] / standing.sum() * pilot.chains / pilot.coldest
            steps = float(setting.steps[0])
            moves = found.moves_per_second * share * steps / pilot.moves_per_second
            rate = pilot.effective.per_second * moves
            error = np.sqrt(pilot_error**2 + ROUGH**2)
            simulation_error = np.zeros_like(error)
        worst = int(np.nanargmin(rate)) if np.isfinite(rate).any() else 0
        chains = int(pilot.standing(choice.chains_per_rung, choice.rungs).sum())
        schedule = setting.schedule
        return Prediction(
            processors=processors,
            coordinators=1,
            rungs=len(choice.rungs),
            chains_per_rung=choice.chains_per_rung,
            chains=chains,
            every=schedule.interval,
            exchange=type(schedule.rule(pilot.ladder.kind)).__name__,
            ahead=setting.ahead,
            steps=float(setting.steps[list(choice.rungs)].mean()),
            utilisation=float(found.utilisation),
            moves_per_second=float(found.moves_per_second),
            moves_error=float(pilot.hold_error * found.utilisation),
            coordinator_load=float(found.load),
            ess_per_hour=3600.0 * float(rate[worst]),
            ess_error=float(error[worst]),
            simulation_error=float(simulation_error[worst]),
            parameter=pilot.names[worst],
            warmup=float(self._warmup(chains, found.moves_per_second)),
        )

    def _warmup(self, chains: int, moves_per_second: float) -> float:
        """Each chain makes as many moves as in the pilot's warm-up, and all make no fewer."""
        more = max(chains / self.pilot.chains, 1.0)
        return self.pilot.warmup_moves * more / moves_per_second

    # --- the best way to run ------------------------------------------------------------------

    def best(self, processors: int) -> Prediction:
        """The best found. What is best for many processors is looked for with fewer of them."""
        if processors <= MOST_SIMULATED or self.request.chains_per_rung is not None:
            return self._search(processors)[1]
        choice, _ = self._best_of_many
        per_rung = math.ceil(choice.chains_per_rung * processors / MOST_SIMULATED)
        return self.predict(processors, choice._replace(chains_per_rung=per_rung))

    @cached_property
    def _best_of_many(self) -> tuple[Choice, Prediction]:
        return self._search(MOST_SIMULATED)

    def _search(self, processors: int) -> tuple[Choice, Prediction]:
        """One thing after the other is changed, and kept if clearly better."""
        choice = usual(self.pilot, self.request, processors)
        best = self.predict(processors, choice)
        if self.pilot.transitions is None or not self.pilot.schedule.can_change_deadlines:
            return choice, best
        if self.request.chains_per_rung is not None and self.request.every is not None:
            return choice, best
        for change in changes(self.pilot, self.request, processors):
            other = change(choice)
            if other is None or other == choice:
                continue
            found = self.predict(processors, other)
            if found.is_clearly_better_than(best):
                best, choice = found, other
        return choice, best
