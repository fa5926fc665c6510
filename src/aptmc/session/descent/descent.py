"""The descent itself: from draws of the prior to a population within the smallest tolerance."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from aptmc.compiled import Floats, FloatTable
from aptmc.kernels import Kernel
from aptmc.kernels.base import STEPS
from aptmc.kernels.seen import FEWEST_DRAWS
from aptmc.keys import START, WARMUP, Key
from aptmc.problem import Problem
from aptmc.problem.chain_state import ACCEPTED, value_column
from aptmc.session.descent.errand import Errand
from aptmc.session.descent.first_draws import FirstDraws
from aptmc.session.descent.goal import Goal
from aptmc.session.descent.population import Population
from aptmc.session.descent.spent import Spent
from aptmc.session.descent.stages import Stage
from aptmc.session.descent.step_sizes import VARIANCES, StepSizes
from aptmc.session.descent.turns import Turn, Turns
from aptmc.session.descent.words import out_of_reach, share_of_way
from aptmc.session.orders import Order, Outcome

KEPT = 0.5  # of the particles, from one stage to the next
# A unit of work should not take longer than this, so that all of them soon come home.
LONGEST_UNIT = 0.02
MOST_STEPS = 1000
TINY = 1e-9
# Who is away at the end is waited for, but not for more than such a part of the whole.
WAITING = 0.1
SMALLEST = 5  # distances that are remembered


class InFlight(NamedTuple):
    """An order that was given out."""

    turn: Turn | None  # None: it is to find a draw from the prior
    left_at: float


@final
class Descent(Errand):
    """A population that goes down.

    Draws from the prior come first. Then, again and again: the tolerance goes down to a quantile of
    the distances, particles that are left behind become copies of others, and each of these has a
    turn. Who is away when the others go on is judged when it comes home.
    """

    def __init__(
        self,
        problem: Problem,
        kernel: Kernel,
        seed: int,
        goal: Goal,
        tuning: Callable[[FloatTable | None], Floats],
        anywhere: Callable[[FloatTable], Floats | None],
    ) -> None:
        """Prepare to go down.

        :param tuning: from a covariance of the particles to the kernel's numbers
        :param anywhere: from the particles to its numbers for proposals like all of them, if any
        """
        self.problem, self.goal, self.seed = problem, goal, seed
        self._tuning_for, self._tuning_like = tuning, anywhere
        self._value = value_column(problem.dimension)
        self._counted = kernel.places.get("simulations")
        self._rng = Key(seed, 0, 0, WARMUP).generator()
        self._number = 0
        self._in_flight: dict[Key, InFlight] = {}
        self.level = goal.hottest if problem.can_stop_early else math.inf
        self.first = FirstDraws(goal.size(0.0), self._value)
        self.smallest: list[float] = []  # distances
        # The population, once there is one.
        self.population: Population | None = None
        self.turns = Turns()
        self.stages: list[Stage] = []
        self.simulations, self.given_up, self.elapsed = 0.0, 0, 0.0
        self._effort = 0.0
        self._log_mass = self._first_log_mass = 0.0
        self._spent = Spent()  # on the present stage
        self._sizes = StepSizes(self._rng)
        self._rows = [self._tuning_for(None)]
        self._waits_until: float | None = None  # for who is still away, when all else is over
        self._over = False
        self._latest = goal.latest([])

    @property
    @override
    def is_over(self) -> bool:
        return self._over

    @property
    def has_reached(self) -> float:
        """The smallest tolerance that a population stands on."""
        return self.stages[-1].level if self.stages else math.inf

    # --- orders -------------------------------------------------------------------------------

    @override
    def next_order(self) -> Order:
        key = Key(self.seed, 0, self._number, START)
        self._number += 1
        turn = self._next_turn() if self.population is not None else None
        self._in_flight[key] = InFlight(turn, self.elapsed)
        if turn is None:
            state, level, row = (
                np.full(self.problem.width, np.nan),
                self.level,
                self._rows[0].copy(),
            )
            row[STEPS] = self._tries_of_unit()
        else:
            # Proposals are fitted anew on each stage, and may be fewer.
            state, level = turn.state.copy(), turn.level
            row = self._rows[min(turn.size, len(self._rows) - 1)].copy()
            row[STEPS] = self._steps_of_unit(turn.to_go, self._spent.seconds_per_step)
        return Order(key, 0, level, row, state)

    def _next_turn(self) -> Turn:
        assert self.population is not None
        going_on = self.turns.going_on()
        if going_on is not None:
            return going_on
        now = self._sizes.choose(), self.level, self._log_mass, len(self.stages)
        if self._waits_until is None:
            return self.turns.begin(self.population, *now)
        place = int(self._rng.integers(self.population.size))
        return self.turns.idle(self.population.rows[place], *now)

    def _tries_of_unit(self) -> float:
        """About as many as it takes to hit, if that does not take long."""
        if self.level == math.inf:
            return 1.0
        return self._steps_of_unit(math.ceil(1.0 / self.first.hit_rate), self.first.mean_seconds)

    def _steps_of_unit(self, wanted: float, seconds_per_step: float) -> float:
        steps = min(wanted, MOST_STEPS, LONGEST_UNIT / max(seconds_per_step, TINY))
        steps = min(steps, self.goal.most_simulations - self._effort)
        return float(max(steps // 1, 1))

    @override
    def report(self, order: Order, outcome: Outcome | None, seconds: float, elapsed: float) -> None:
        flight = self._in_flight.pop(order.key)
        self.elapsed = elapsed
        counted = float(order.tuning[STEPS])
        if outcome is None:
            self.given_up += 1
        elif self._counted is not None:
            counted = float(outcome.info[self._counted])
        self.simulations += counted
        # A unit that the prior refuses counts as one, or a descent might never end.
        self._effort += max(counted, 1.0)
        if flight.turn is None:
            self._heard_of_fresh(order.key.number, outcome, counted, seconds)
        else:
            self._heard_of_move(flight.turn, order, outcome, counted, seconds)
        if self._effort >= self.goal.most_simulations:
            self._over = True
        elif self.population is None:
            self._begin_if_enough(elapsed)
        elif self._waits_until is not None:
            if not self.turns.under_way or elapsed > self._waits_until:
                self._conclude()
        elif self.turns.are_over(self.population, len(self.stages)):
            if self.turns.are_too_short:
                self.turns.again(self.population)
            else:
                self._end_stage(elapsed)
        elif elapsed > self._latest:
            self._end_stage(elapsed)
            self._wait_for_the_rest(elapsed)

    # --- draws from the prior -----------------------------------------------------------------

    def _heard_of_fresh(
        self, number: int, outcome: Outcome | None, tries: float, seconds: float
    ) -> None:
        first = self.first
        first.heard(tries, seconds)
        if outcome is None:
            return
        distance = float(outcome.state[self._value])
        self._note(distance)
        is_within = math.isfinite(distance) and distance <= self.level
        if self.population is not None:
            # It was under way when the others went on: it is one of them, all the same.
            if is_within and number < first.complete:
                grown = math.exp(self._first_log_mass - self._log_mass)
                self.population.take_in(outcome.state, self.level, grown)
            return
        if is_within:
            first.note(number, outcome.state)
        first.count()
        if first.are_some:
            # The first to come home are the quickest, so that this has to be looked at again.
            first.size = self.goal.size(first.mean_seconds)
            if self.problem.can_stop_early and math.isinf(self.level):
                self.level = first.farthest
        nearest = self.smallest[0] if self.smallest else math.inf
        self.tell(first.words(self.level, nearest), min(len(first.found) / first.size, 1.0) / 10.0)

    def _begin_if_enough(self, elapsed: float) -> None:
        first, in_haste = self.first, elapsed > self._latest
        rows = first.population(self._all_before(), in_haste=in_haste)
        if rows is None:
            # Where time has gone into other things, the budget ends it.
            has_distances = bool(self.smallest) and self.smallest[0] < math.inf
            self._over = in_haste and len(first.found) < 2 and first.are_hopeless(has_distances)
            return
        if math.isinf(self.level):
            self.level = float(rows[:, self._value].max())
        self.population = Population(rows, first.size, self._value, self._rng)
        self._log_mass = first.log_share
        self._spent = Spent(seconds_per_step_before=first.mean_seconds)
        # Each that was found stands for so many.
        self._first_log_mass = self._log_mass + math.log(self.population.size / len(rows))
        self._begin_stage()
        if not self.population.has_turn.any():
            self._end_stage(elapsed)

    def _all_before(self) -> int:
        """The number of an order before which all have come home, but for who is away for long."""
        since = self.first.awaited_since(self.elapsed)
        awaited = [key.number for key, flight in self._in_flight.items() if flight.left_at > since]
        return min(awaited, default=self._number)

    # --- moves --------------------------------------------------------------------------------

    def _heard_of_move(
        self, turn: Turn, order: Order, outcome: Outcome | None, counted: float, seconds: float
    ) -> None:
        assert self.population is not None
        row, hits, steps = None, 0.0, float(order.tuning[STEPS])
        if outcome is not None:
            hits = float(outcome.info[ACCEPTED])
            row = outcome.state if hits > 0.0 else None
        far = hits * self._sizes.worth(turn.size)
        # Whose moves take far too long stays where it is.
        gone = turn.to_go if outcome is None else steps
        is_home = self.turns.heard(turn, gone, row, far)
        if row is not None:
            self._note(float(row[self._value]))
            if not row[self._value] <= self.level:  # which has gone down meanwhile
                hits = 0.0
        self._spent.heard(steps, hits, counted, seconds)
        self._sizes.heard(turn.size, steps, counted, hits)
        if is_home:
            self._welcome(turn)

    def _welcome(self, turn: Turn) -> None:
        """A particle's turn is over."""
        assert self.population is not None
        if turn.stage == len(self.stages):
            self.turns.count(turn)
        for stage in self.stages[turn.stage :]:
            stage.take_in(turn.place, turn.state, self._value, turn.log_mass, self._rng)
        grown = math.exp(turn.log_mass - self._log_mass)
        self.population.come_home(turn.place, turn.state, self.level, grown)

    def _begin_stage(self) -> None:
        assert self.population is not None
        self.turns.begin_stage(self.population)
        self._fit_steps()
        self._sizes.fade()
        self._spent = self._spent.next_stage()

    def _fit_steps(self) -> None:
        assert self.population is not None
        dimension = self.problem.dimension
        covariance = self.population.covariance(dimension)
        rows = [self._tuning_for(variance * covariance) for variance in VARIANCES]
        distinct = self.population.distinct(dimension)
        anywhere = self._tuning_like(distinct) if len(distinct) >= FEWEST_DRAWS else None
        self._sizes.can_jump = anywhere is not None
        if anywhere is not None:
            rows = [np.append(row, np.zeros(anywhere.size - row.size)) for row in (*rows, anywhere)]
        self._rows = rows

    def _end_stage(self, elapsed: float) -> None:
        """The population stands on its level: keep it, and go on down unless that is enough."""
        population, spent, turns = self.population, self._spent, self.turns
        assert population is not None
        far = self._sizes.worth(self._sizes.best_step())
        self.stages.append(
            Stage(
                self.level, self._log_mass, population.complete_rows(self.level), spent.steps,
                turns.even_hits(spent.accepted, spent.steps), spent.simulations, spent.seconds, far,
            )
        )  # fmt: skip
        turns.adapt()
        self._latest = self.goal.latest(self.stages)
        if self.level <= self.goal.coldest or (
            spent.accepted > 0.0 and self.goal.is_enough(self.stages, elapsed)
        ):
            self._wait_for_the_rest(elapsed)
            return
        level = max(population.next_level(KEPT, self.level), self.goal.coldest)
        share = population.drop(level) if level < self.level else 1.0
        if 0.0 < share < 1.0:
            self.level = level
            self._log_mass += math.log(share)
        else:  # all at the same distance move on until some are nearer
            self.level = level if share == 1.0 else self.level
            population.has_turn[~population.is_away] = True
        self._begin_stage()
        first = self.stages[0].level
        words = f"looking for first states: {self.first.size} within {self.level:.3g}"
        self.tell(words, share_of_way(first, self.level, self.goal.coldest))

    # --- the end ------------------------------------------------------------------------------

    def _wait_for_the_rest(self, elapsed: float) -> None:
        """Go no farther; who is away belongs to the last population, too."""
        self._waits_until = elapsed * (1.0 + WAITING)
        if not self.turns.under_way:
            self._conclude()

    def _conclude(self) -> None:
        assert self.population is not None
        last = self.stages[-1]
        self.stages[-1] = last._replace(rows=self.population.complete_rows(last.level))
        self._over = True

    # --- for another sitting ------------------------------------------------------------------

    def memory(self) -> dict[str, npt.NDArray[Any]]:
        """All that another descent must know to go on; what is in flight is ordered again."""
        nobody = np.empty((0, self.problem.width))
        population, first = self.population, self.first
        numbers = [
            self.level, first.size, self.simulations, self._effort, self.given_up, self._number,
            first.tries, first.seconds, first.complete, self._log_mass, self._first_log_mass,
            math.nan if self._waits_until is None else self._waits_until, *self._spent.numbers(),
        ]  # fmt: skip
        return {
            "numbers": np.array(numbers, np.float64),
            "smallest": np.array(self.smallest),
            "found": first.memory(self.problem.width),
            "population": nobody if population is None else population.rows.copy(),
            "has_turn": np.zeros(0) if population is None else population.has_turn.astype(float),
            "turns": self.turns.memory(self.problem.width),
            "stages": np.array([stage[:2] + stage[3:] for stage in self.stages]).reshape(-1, 7),
            "rows": np.concatenate([nobody, *(stage.rows for stage in self.stages)]),
        }

    def recall(self, memory: Mapping[str, npt.NDArray[Any]]) -> None:
        """Go on where another was."""
        first = self.first
        (
            self.level, size, self.simulations, self._effort, given_up, number, first.tries,
            first.seconds, complete, self._log_mass, self._first_log_mass, waits_until, *spent,
        ) = memory["numbers"].tolist()  # fmt: skip
        first.size, self.given_up, self._number = int(size), int(given_up), int(number)
        first.complete = int(complete)
        self._waits_until = None if math.isnan(waits_until) else waits_until
        self.smallest = memory["smallest"].tolist()
        first.recall(memory["found"])
        rows, sizes = memory["rows"], len(memory["population"])
        for place, said in enumerate(memory["stages"].tolist()):
            mine = rows[place * sizes : (place + 1) * sizes]
            self.stages.append(Stage(said[0], said[1], mine.copy(), *said[2:]))
        if sizes > 0:
            # Random numbers that have been used are not used again.
            self._rng = Key(self.seed, 1, self._number, WARMUP).generator()
            self.population = Population(memory["population"].copy(), sizes, self._value, self._rng)
            self.population.has_turn = memory["has_turn"] > 0.0
            self.turns.recall(memory["turns"], self.population)
            self._fit_steps()
            self._latest = self.goal.latest(self.stages)
            self._spent = Spent.recalled(spent, first.mean_seconds)

    # --- words --------------------------------------------------------------------------------

    def _note(self, distance: float) -> None:
        if distance >= 0.0:
            self.smallest = sorted({*self.smallest, distance})[:SMALLEST]

    def out_of_reach(self, levels: Sequence[float]) -> str:
        """The message for a user of whose tolerances one was not reached."""
        return out_of_reach(
            [min(level, self.goal.hottest) for level in levels],
            self.smallest,
            reached=self.has_reached,
            simulations=self.simulations,
            most_simulations=self.goal.most_simulations,
        )
