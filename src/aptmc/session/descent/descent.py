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
from aptmc.session.descent.goal import Goal
from aptmc.session.descent.population import Population
from aptmc.session.descent.stages import Stage
from aptmc.session.descent.step_sizes import VARIANCES, StepSizes
from aptmc.session.orders import Order, Outcome

KEPT = 0.5  # of the particles, from one stage to the next
# If hardly any draw from the prior has a distance within reach, so many particles must do.
FEWEST = 0.25
RARE = 0.25
# Where all hit equally often, so many have moved when there are as many hits as copies. Of these
# there are to be as many, too: turns spread hits evenly, so that fewer would do for that.
EVENLY = 1.0 - math.exp(-1.0)
MOST_HITS = 100.0  # for each copy on a stage, whoever has moved
SOME = 0.25  # of the particles have to move before one looks again whether there is a way down
FIRST_DISTANCES = 8  # after so many a simulator that can stop early is told when
# A unit of work should not take longer than this, so that all of them soon come home.
LONGEST_UNIT = 0.02
MOST_STEPS = 1000
TINY = 1e-9
KNOWN_BEFORE = 16.0  # what a step took on the stage before counts as much as so many steps
LONG_AWAY = 5.0  # mean lengths of a draw from the prior
FRESH = -1  # stands for a particle that is yet to be found


class InFlight(NamedTuple):
    """An order that was given out."""

    particle: int
    size: int  # of steps
    log_mass: float  # of the tolerance then
    left_at: float


@final
class Descent(Errand):
    """A population that goes down.

    Draws from the prior come first. Then, again and again: the tolerance goes down to a quantile of
    the distances, particles that are left behind become copies of others, and these move in turns
    until most of them have hit. What is in flight meanwhile counts when it comes home.
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
        # Draws from the prior.
        self.level = goal.hottest if problem.can_stop_early else math.inf
        self._found: list[Floats] = []
        self._numbers: list[int] = []  # of their orders
        self._tries, self._try_seconds = 0.0, 0.0
        self.size = goal.size(0.0)
        self.smallest: list[float] = []  # distances
        # The population, once there is one.
        self.population: Population | None = None
        self.stages: list[Stage] = []
        self.simulations, self.given_up, self.elapsed = 0.0, 0, 0.0
        self._effort = 0.0
        self._log_mass = 0.0
        self._wanted = 0  # hits before the next stage, or more of those that do not lead far
        self._steps = self._accepted = self._moved = 0.0
        self._stage_simulations = self._stage_seconds = 0.0
        self._seconds_per_step = self._seconds_per_step_before = 0.0
        self._hit_rate = 0.5  # of draws from the prior
        self._sizes = StepSizes(self._rng)
        self._rows = [self._tuning_for(None)]
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
        if self.population is None:
            particle, size, rate = FRESH, 0, self._hit_rate
            state = np.full(self.problem.width, np.nan)
        else:
            particle, size = self.population.choose(), self._sizes.choose()
            rate = self._sizes.hit_rate(size)
            state = self.population.rows[particle].copy()
        self._in_flight[key] = InFlight(particle, size, self._log_mass, self.elapsed)
        row = self._rows[size].copy()
        row[STEPS] = self._steps_of_unit(rate)
        return Order(key, 0, self.level, row, state)

    def _steps_of_unit(self, hit_rate: float) -> float:
        """About as many as it takes to hit, if that does not take long."""
        if self.population is None and self.level == math.inf:
            return 1.0
        steps = float(min(math.ceil(1.0 / hit_rate), MOST_STEPS))
        steps = min(steps, LONGEST_UNIT / max(self._seconds_per_step, TINY))
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
        if flight.particle == FRESH:
            self._heard_of_fresh(order.key.number, outcome, counted, seconds)
        else:
            self._heard_of_move(flight, order, outcome, counted, seconds)
        if self._over:
            return
        if self.population is None:
            self._begin_if_enough(elapsed)
        elif self._has_moved_enough:
            self._end_stage(elapsed)
        elif self._effort >= self.goal.most_simulations:
            self._over = True
        elif elapsed > self._latest:
            self._end_stage(elapsed)
            self._over = True

    # --- draws from the prior -----------------------------------------------------------------

    def _heard_of_fresh(
        self, number: int, outcome: Outcome | None, tries: float, seconds: float
    ) -> None:
        self._tries += tries
        self._try_seconds += seconds
        self._seconds_per_step = self._try_seconds / self._tries
        if outcome is None:
            return
        distance = float(outcome.state[self._value])
        self._note(distance)
        if self.population is None and math.isfinite(distance) and distance <= self.level:
            self._found.append(outcome.state)
            self._numbers.append(number)
        self._hit_rate = (len(self._found) + 0.5) / (self._tries + 1.0)
        if self.population is None and len(self._found) >= FIRST_DISTANCES:
            # The first to come home are the quickest, so that this has to be looked at again.
            self.size = self.goal.size(self._seconds_per_step)
            if self.problem.can_stop_early and math.isinf(self.level):
                self.level = max(float(row[self._value]) for row in self._found)
        self.tell(self._words_of_fresh(), min(len(self._found) / self.size, 1.0) / 10.0)
        if self._effort >= self.goal.most_simulations:
            self._over = True
        if self.population is not None and math.isfinite(distance) and distance <= self.level:
            # It was under way when the others went on: it is one of them, all the same.
            self.population.take_in(outcome.state, math.exp(-self._log_mass))

    def _begin_if_enough(self, elapsed: float) -> None:
        complete = self._all_before()
        found = [
            row for row, number in zip(self._found, self._numbers, strict=True) if number < complete
        ]
        few_must_do = self._tries > self.size / RARE and len(found) >= FEWEST * self.size
        if len(found) < self.size and not few_must_do and elapsed <= self._latest:
            return
        if len(found) < 2:
            found = self._found
        if len(found) < 2:
            # Where time has gone into other things, the budget ends it.
            self._over = elapsed > self._latest and self._is_hopeless
            return
        distances = np.array([row[self._value] for row in found])
        if math.isinf(self.level):
            self.level = float(distances.max())
        self._log_mass = math.log(len(self._found) / self._tries)
        self.population = Population(np.array(found), self.size, self._value, self._rng)
        self._begin_stage()
        self._wanted = int(self.population.is_copy.sum())
        if self._wanted == 0:
            self._end_stage(elapsed)

    @property
    def _is_hopeless(self) -> bool:
        """Whether so many draws from the prior have led nowhere that more would not, either."""
        return self._tries > self.size / (RARE if self._has_distances else 1.0)

    @property
    def _has_distances(self) -> bool:
        """Whether any simulation was at a distance from the data."""
        return bool(self.smallest) and self.smallest[0] < math.inf

    def _all_before(self) -> int:
        """The number of an order before which all have come home.

        The first to come home are the quickest: a population of these would have too few of the
        slow. Who is away for very long is not waited for; nor is any processor idle meanwhile.
        """
        longest = self.elapsed - LONG_AWAY * self._try_seconds / max(self._tries, 1.0)
        awaited = [
            key.number for key, flight in self._in_flight.items() if flight.left_at > longest
        ]
        return min(awaited, default=self._number)

    # --- moves --------------------------------------------------------------------------------

    def _heard_of_move(
        self,
        flight: InFlight,
        order: Order,
        outcome: Outcome | None,
        counted: float,
        seconds: float,
    ) -> None:
        assert self.population is not None
        row, hits, steps = None, 0.0, float(order.tuning[STEPS])
        self._steps += steps
        self._stage_simulations += counted
        self._stage_seconds += seconds
        # Steps that the prior refuses take no time. If a stage's first ones were all such, a unit
        # of very many steps would follow.
        before = KNOWN_BEFORE * self._seconds_per_step_before
        self._seconds_per_step = (before + self._stage_seconds) / (KNOWN_BEFORE + self._steps)
        if outcome is not None:
            hits = float(outcome.info[ACCEPTED])
            row = outcome.state if hits > 0.0 else None
            if row is not None:
                self._note(float(row[self._value]))
                if not row[self._value] <= self.level:  # which has gone down meanwhile
                    hits = 0.0
        self._accepted += hits
        far = hits * self._sizes.worth(flight.size)
        self._moved += far
        if hits > 0.0:
            self.population.credit(flight.particle, far)
        self._sizes.heard(flight.size, steps, counted, hits)
        grown = math.exp(flight.log_mass - self._log_mass)
        self.population.come_home(flight.particle, row, self.level, order.state, grown)

    @property
    def _has_moved_enough(self) -> bool:
        """Whether there are as many hits as copies, and of as many particles as when all hit alike.

        Particles that hit far less often than others are waited for, but not for ever.
        """
        assert self.population is not None
        if self._moved >= MOST_HITS * self._wanted:
            return True
        are_many = self._moved >= self._wanted
        return are_many and float(self.population.moved.sum()) >= EVENLY * self._wanted

    def _begin_stage(self) -> None:
        assert self.population is not None
        self.population.begin_stage()
        self._fit_steps()
        self._sizes.fade()
        self._seconds_per_step_before = self._seconds_per_step
        self._steps = self._accepted = self._moved = 0.0
        self._stage_simulations = self._stage_seconds = 0.0

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
        population = self.population
        assert population is not None
        hits = population.even_hits(self._accepted)
        counted = self._steps, hits, self._stage_simulations, self._stage_seconds
        far = self._sizes.worth(self._sizes.best_step())
        self.stages.append(Stage(self.level, self._log_mass, population.rows.copy(), *counted, far))
        self._latest = self.goal.latest(self.stages)
        if self.level <= self.goal.coldest or (
            self._accepted > 0.0 and self.goal.is_enough(self.stages, elapsed)
        ):
            self._over = True
            return
        level = max(population.next_level(KEPT, self.level), self.goal.coldest)
        share = population.drop(level) if level < self.level else 1.0
        if share > 0.0:
            self.level = level
            self._log_mass += math.log(share)
        else:
            share = 1.0
        self._begin_stage()
        # Where all distances are the same, moves go on until some are smaller. To look after each
        # would take longer than the moves: all is fitted anew then.
        at_least = 1 if share < 1.0 else max(int(SOME * self.size), 1)
        self._wanted = max(int(population.has_turn.sum()), at_least)
        self.tell(self._words(), self._share())

    # --- for another sitting ------------------------------------------------------------------

    def memory(self) -> dict[str, npt.NDArray[Any]]:
        """All that another descent must know to go on; what is in flight is ordered again."""
        nobody = np.empty((0, self.problem.width))
        population = self.population
        numbers = [
            self.level, self.size, self.simulations, self._effort, self.given_up, self._number,
            self._tries, self._try_seconds, self._log_mass, self._wanted, self._steps,
            self._accepted, self._moved, self._stage_simulations, self._stage_seconds,
        ]  # fmt: skip
        return {
            "numbers": np.array(numbers, np.float64),
            "smallest": np.array(self.smallest),
            "found": np.array(self._found) if self._found else nobody,
            "population": nobody if population is None else population.rows.copy(),
            "turns": np.empty((0, 4)) if population is None else population.turns(),
            "stages": np.array([stage[:2] + stage[3:] for stage in self.stages]).reshape(-1, 7),
            "rows": np.concatenate([nobody, *(stage.rows for stage in self.stages)]),
        }

    def recall(self, memory: Mapping[str, npt.NDArray[Any]]) -> None:
        """Go on where another was."""
        (
            self.level, size, self.simulations, self._effort, given_up, number, self._tries,
            self._try_seconds, self._log_mass, wanted, self._steps, self._accepted,
            self._moved, self._stage_simulations, self._stage_seconds,
        ) = memory["numbers"].tolist()  # fmt: skip
        self.size, self.given_up, self._number = int(size), int(given_up), int(number)
        self._wanted = int(wanted)
        self.smallest = memory["smallest"].tolist()
        self._found = list(memory["found"])
        self._numbers = [-1] * len(self._found)
        rows, sizes = memory["rows"], len(memory["population"])
        for place, said in enumerate(memory["stages"].tolist()):
            mine = rows[place * sizes : (place + 1) * sizes]
            self.stages.append(Stage(said[0], said[1], mine.copy(), *said[2:]))
        if sizes > 0:
            # Random numbers that have been used are not used again.
            self._rng = Key(self.seed, 1, self._number, WARMUP).generator()
            self.population = Population(memory["population"].copy(), sizes, self._value, self._rng)
            self.population.recall(memory["turns"])
            self._fit_steps()
            self._latest = self.goal.latest(self.stages)
            self._seconds_per_step_before = self._try_seconds / max(self._tries, 1.0)

    # --- words --------------------------------------------------------------------------------

    def _note(self, distance: float) -> None:
        if distance >= 0.0:
            self.smallest = sorted({*self.smallest, distance})[:5]

    def _words_of_fresh(self) -> str:
        words = f"looking for first states: {min(len(self._found), self.size)} of {self.size}"
        if math.isfinite(self.level):
            words += f" within {self.level:.3g}"
        if self._found or not self._tries >= FIRST_DISTANCES:
            return words
        if self._has_distances:
            return f"{words}, the nearest at {self.smallest[0]:.4g}"
        return f"{words}, {self._tries:.0f} simulations without a finite distance"

    def _words(self) -> str:
        return f"looking for first states: {self.size} within {self.level:.3g}"

    def _share(self) -> float:
        """How far down it is, by the logarithm of the tolerance, if it is known where to."""
        first, last = self.stages[0].level, self.goal.coldest
        if not 0.0 < last < first or self.level <= 0.0:
            return 0.5
        return 0.1 + 0.9 * min(math.log(first / self.level) / math.log(first / last), 1.0)

    def out_of_reach(self, levels: Sequence[float]) -> str:
        """The message for a user of whose tolerances one was not reached."""
        if not self.smallest:
            return (
                f"all of the first {self.simulations:.0f} simulations failed, and count as misses: "
                'use on_error="raise" to see how one of them fails'
            )
        levels = [min(level, self.goal.hottest) for level in levels]
        missed = [level for level in levels if self.smallest[0] > level]
        level = max(missed, default=min(levels))
        seen = ", ".join(f"{distance:.4g}" for distance in self.smallest)
        if math.isinf(level):  # within which everything is, and so no tolerance is to blame
            return (
                f"start_simulations={self.goal.most_simulations:.0f} are too few to begin with; "
                f"the smallest distances seen were {seen}: use more"
            )
        far = ""
        if self.stages:  # where it would go on
            within = sum(one >= self.has_reached for one in levels)
            far = f", which came down to {self.has_reached:.4g}, {within} of {len(levels)} rungs"
        return (
            f"no state within tolerance {level:g} was found in {self.simulations:.0f} "
            f"simulations{far}; the smallest distances seen were {seen}: use larger tolerances, or "
            "a larger start_simulations"
        )
