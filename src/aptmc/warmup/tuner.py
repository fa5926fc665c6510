"""Runs the rounds of a warm-up and adapts between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, final

import numpy as np

from aptmc.backends.base import Engine
from aptmc.compiled import FloatTable
from aptmc.coordinator.state import Settling, mean_per_move
from aptmc.errors import InputError, StopReason
from aptmc.kernels.base import STEPS
from aptmc.kernels.hamiltonian import Hamiltonian
from aptmc.kernels.seen import FEWEST_DRAWS
from aptmc.keys import WARMUP, Key
from aptmc.problem.chain_state import ACCEPTED, value_column
from aptmc.session.build import build_session
from aptmc.session.descent import Affordable, Descent, Reached, reached_by, reached_so_far
from aptmc.session.first_states import descent_for
from aptmc.session.session import Session, Usage, empty_states
from aptmc.settings import Settings
from aptmc.store import Draws, MemoryStore
from aptmc.warmup.annealing import Annealing, guide_for
from aptmc.warmup.found import Found
from aptmc.warmup.guess import ROUNDS, SHARE
from aptmc.warmup.how_far_down import ROUNDS_AFTER_DESCENT, fitting_rounds, goal_of
from aptmc.warmup.outcome import Round, WarmUp
from aptmc.warmup.possible_distances import at_possible, possible_distances
from aptmc.warmup.round_draws import RoundDraws, later_by, of_descent, settled_or_held, some
from aptmc.warmup.where_chains_begin import starts_of_rungs, states_of_chains

FOLLOWING = 0.3  # deadlines find their share of a sweep quickly
# What a tuner must know to go on after a round, beside what was found.
REMEMBERED = (
    "remembered", "rounds", "epoch", "spent", "plan", "number", "in_round", "searched",
    "rounds_after_descent", "round_trips", "counted_in", "has_annealed", "knows_shapes",
)  # fmt: skip
ROUNDS_AT_LEAST = 0.1  # of what is left
FEWEST_FOR_SLICES = 3  # dimensions
# Of a warm-up, when no more windows of an annealing begin; and when it is given up in their midst.
WINDOWS, MOST_OF_ANNEALING = 0.7, 0.8
# A sitting may end in mid-round. The next one goes on with it, unless so much of it was done.
WHOLE = 0.99
# So much of a warm-up is left to the run itself, which settles with frozen settings.
SETTLING = 0.125
SWEEPS_OF_ROUNDS = 2  # in which they settle; they need not be exact
LATE_ROUNDS = 3  # after which it is looked at whether chains get about where draws count
FEWEST_TRIPS = 5  # of states from the coldest rung to the hottest and back, before one is fitted
LEAST_LEFT = 1e-9  # of a warm-up's length: what is less is the rest of a sum


@final
class Tuner:
    """Runs the rounds and adapts between them."""

    def __init__(self, settings: Settings) -> None:
        """Prepare to find what the settings leave open."""
        self.problem, self.seed, self.to_find = settings.problem, settings.seed, settings.to_find
        self.found = Found(settings)
        self.store = MemoryStore()  # of the present round
        self.remembered: list[tuple[float, FloatTable]] = []  # by level: draws of the last round
        self.rounds: list[Round] = []
        self.cold_draws: list[Draws] = []
        self.epoch = 0  # of the present part of a round: each has random keys of its own
        self.number = 0  # of the present round
        self.in_round = 0.0  # how long it was run in earlier sittings
        self.spent = 0.0
        self.plan: tuple[float, float] | None = None  # lengths of the warm-up and of what follows
        self.descent: Descent | None = None  # that is under way
        self.descended: dict[str, Any] = {}  # what an earlier sitting knew of it
        self.searched = 0.0  # how long the descent took
        self.rounds_after_descent = ROUNDS_AFTER_DESCENT
        self.round_trips = 0  # that states have made in all rounds so far
        self.seconds_per_step = 0.0  # where it ended
        self.reached: Reached | None = None
        self.has_annealed = False  # whether a population has gone from the prior to the posterior
        self.knows_shapes = False  # what it has learnt there is about as good as what rounds learn
        self.counted_in = ""  # the unit of the budget, if that is no time
        self.pace = 1.0  # seconds in such a unit, as a descent has shown

    # --- running ------------------------------------------------------------------------------

    def run(
        self,
        engine: Engine,
        first: Session,
        after_round: Callable[[list[Draws]], bool],
        after_descent: Callable[[list[Draws]], None] = lambda draws: None,
    ) -> WarmUp:
        """All rounds that are left; the session of the first has been built already.

        :param after_round: is given the draws of the coldest rung of each, and says whether that is
            enough
        :param after_descent: is given the particles with which it ended
        """
        session: Session | None = first
        stopped = None
        if engine.unit != self.counted_in:  # of an earlier sitting, in which others were planned
            self.counted_in, self.plan, self.in_round, self.searched = engine.unit, None, 0.0, 0.0
        if self.problem.needs_search and not self.remembered:
            stopped = self.descend(engine, first)
            session = None
            if stopped is None:
                after_descent(self.cold_draws[-1:])
        elif self.is_to_anneal:
            stopped = self.anneal(engine, first)
            session = None
        length, sampling = self.planned(engine.left())
        if self.seconds_per_step * self.pace > 0.0:  # what comes before the rounds has just ended
            if self.problem.needs_search:
                self.rounds_after_descent = fitting_rounds(length, self.sweep)
            first_round = length / max(2.0**self.count - 1.0, 1.0)
            self.found.begin_deadlines(self.pace * self.sweep, self.pace * first_round)
        parts = 2.0 ** np.arange(self.count) / (2.0**self.count - 1.0)
        if self.found.asked.settling > 0:
            parts *= 1.0 - SETTLING
        nothing = LEAST_LEFT * length
        while stopped is None and self.number < self.count:
            left = engine.left()
            if left <= nothing:
                stopped = StopReason.BUDGET_SPENT
                break
            if session is None:
                session = self.session()
            whole = parts[self.number] * length
            usage = engine.run(session, min(whole - self.in_round, left))
            session.flush()
            if usage.failure is not None:
                raise usage.failure
            if usage.stopped is not StopReason.BUDGET_SPENT:
                stopped = usage.stopped
                break
            cold_draws = self.learn(session, usage, sampling, self.spent)
            self.cold_draws += cold_draws
            self.spent += usage.elapsed
            self.epoch += int(usage.elapsed > 0.0)
            self.in_round += usage.of_budget
            if self.in_round >= WHOLE * whole or engine.left() > nothing:
                self.number, self.in_round = self.number + 1, 0.0
            session = None
            if after_round(cold_draws):
                break
        settings = self.settings
        states, starts = self.states(settings), self.starts(settings)
        rounds, draws, epoch = self.rounds, self.cold_draws, self.epoch + 1
        return WarmUp(settings, states, rounds, draws, stopped, epoch, starts, self.how_far)

    def descend(self, engine: Engine, first: Session) -> StopReason | None:
        """Go down from the prior to the tolerances of the run; a reason if one was stopped there.

        :param first: who computes needs to know of a session
        """
        left = engine.left()
        settings = self.settings
        descent = self.descent = descent_for(
            self.problem,
            settings.ladder,
            settings.kernel,
            self.seed,
            goal_of(settings, self.to_find, left),
        )
        if self.descended:
            descent.recall(self.descended)
        usage = engine.search(first, descent)
        if usage.failure is not None:
            raise usage.failure
        if usage.stopped is not StopReason.STILL_RUNNING:
            return usage.stopped
        coldest, draws = descent.has_reached, None
        if not descent.stages:
            raise InputError(descent.out_of_reach(settings.ladder.levels))
        if isinstance(descent.goal, Affordable):
            # All simulations of the prior may lie within what was asked for.
            coldest = descent.goal.chosen(descent.stages, usage.of_budget)
            coldest = max(coldest, descent.goal.coldest)
            draws = descent.goal.aimed_at(descent.stages)
            if descent.goal.wanted is None:
                column = value_column(self.problem.dimension)
                rows = [stage.rows for stage in descent.stages]
                coldest = at_possible(coldest, possible_distances(rows, column))
            if coldest == 0.0 and descent.goal.effective_draws is None:
                draws = None  # it was no choice: nothing is smaller
        elif coldest > descent.goal.coldest:
            raise InputError(descent.out_of_reach(settings.ladder.levels))
        self.descent, self.descended = None, {}
        self.searched = usage.of_budget
        self.pace = usage.elapsed / max(usage.of_budget, LEAST_LEFT)
        reached = reached_by(descent, coldest, asked=self.asked_for, effective_draws=draws)
        found = self.found
        # Draws from the prior that count are not given up: where some never end, no rejection.
        may_reject = reached.is_wide and reached.given_up == 0
        found.learn_from_descent(descent.stages, coldest, is_wide=may_reject)
        self.reached = self.on_ladder(reached)._replace(by_rejection=found.renews)
        self.remembered = [(stage.level, stage.rows) for stage in reversed(descent.stages)]
        self.cold_draws.append(of_descent(descent.stages[-1], self.spent))
        self.seconds_per_step = descent.stages[-1].seconds_per_step
        return None

    @property
    def asked_for(self) -> float | None:
        """The tolerance that was asked for; None, if the run is to choose."""
        wish, ladder = self.to_find.ladder, self.settings.ladder
        return ladder.levels[0] if wish is None else wish.coldest

    @property
    def how_far(self) -> Reached | None:
        """How far down it came; of a descent under way, or cut off, so far."""
        if self.descent is None:
            return self.reached
        return reached_so_far(self.descent, asked=self.asked_for)

    def on_ladder(self, reached: Reached) -> Reached:
        """What was reached, of the ladder as it stands."""
        wish = self.to_find.ladder
        return reached.on(self.found.levels, 1.0 if wish is None else wish.swap_rate)

    @property
    def is_to_anneal(self) -> bool:
        """Whether a population is to go from the prior to the posterior before the rounds."""
        if self.problem.needs_search or self.remembered or self.has_annealed:
            return False
        # Lanes learn from many chains at once, and a population would have one processor only.
        if self.settings.on.computes_errands_alone:
            return False
        kernel = self.found.kernel
        if self.to_find.kernel is None or not kernel.anneals:
            return False
        # With few parameters rungs are few, too, and rounds soon know their shapes.
        return self.problem.dimension >= FEWEST_FOR_SLICES or isinstance(kernel, Hamiltonian)

    def anneal(self, engine: Engine, first: Session) -> StopReason | None:
        """Go from the prior to the posterior; a reason if one was stopped on the way."""
        length, _ = self.planned(engine.left())
        settings, approach = self.settings, self.found.approach
        hottest = 0.0 if self.problem.reference is not None else approach.first_levels()[-1]
        alone = replace(settings.ladder, levels=(1.0,), idle_rungs=frozenset())
        other = self.found.other_kernel
        annealing = Annealing(
            self.problem, guide_for(self.found.kernel, self.problem, alone), self.seed,
            first_level=hottest, processors=settings.on.processors,
            windows_until=WINDOWS * length, most=MOST_OF_ANNEALING * length,
            has_other=other is not None,
        )  # fmt: skip
        usage = engine.search(first, annealing)
        if usage.failure is not None:
            raise usage.failure
        if usage.stopped is not StopReason.STILL_RUNNING:
            return usage.stopped
        self.has_annealed, self.plan = True, None  # which is made anew, less what this took
        self.searched = usage.of_budget
        self.pace = usage.elapsed / max(usage.of_budget, LEAST_LEFT)
        self.spent += usage.elapsed
        if annealing.stages:
            remembered = self.found.learn_from_annealing(annealing)
            self.remembered = [(level, some(rows)) for level, rows in remembered]
            self.seconds_per_step = annealing.seconds_per_move
            self.knows_shapes = annealing.mixes or not annealing.guide.gives_up
            if annealing.is_stuck and other is not None:
                self.found.change_kernel(other, self.remembered)
                self.knows_shapes = False
        return None

    def planned(self, left: float) -> tuple[float, float]:
        """How long the warm-up is to be, and what follows.

        A plan was made in an earlier sitting, perhaps; one of a few seconds makes none for an hour.
        """
        if left > 0.0:
            given = self.to_find.length
            length = SHARE * (left + self.searched) if given is None else given
            # Where a descent has found most of it, what it took comes off the rounds.
            if self.searched > 0.0:
                length = max(length - self.searched, ROUNDS_AT_LEAST * min(left, 10.0 * length))
            if self.plan is None or (given is None and length > self.plan[0]):
                self.plan = length, max(left - length, 0.0)
        return self.plan or (0.0, 0.0)

    @property
    def sweep(self) -> float:
        """How long a step of each chain takes, as far as a descent has shown."""
        settings = self.settings
        return self.seconds_per_step * settings.layout().rung.size / settings.on.processors

    def memory(self) -> dict[str, Any]:
        """All that was learnt in the rounds that are complete."""
        own = {name: getattr(self, name) for name in REMEMBERED}
        own["reached"] = None if self.how_far is None else self.how_far.notes()
        own["descended"] = self.descended if self.descent is None else self.descent.memory()
        return own | self.found.memory()

    def recall(self, memory: Mapping[str, Any]) -> None:
        """Go on after the rounds of another tuner."""
        # Before rounds could be cut off, each had an epoch of its own.
        before = {"number": memory["epoch"], "in_round": 0.0, "searched": 0.0, "counted_in": ""}
        before |= {"rounds_after_descent": ROUNDS_AFTER_DESCENT, "round_trips": 0}
        before |= {"has_annealed": False, "knows_shapes": False}
        memory = before | dict(memory)
        for name in REMEMBERED:
            setattr(self, name, memory[name])
        self.descended = memory.get("descended", {})
        self.reached = Reached.from_notes(memory.get("reached"))
        self.found.recall(memory)

    @property
    def present(self) -> int:
        """Which round is under way, from 1; the last one, when all are over."""
        return min(self.number + 1, self.count)

    @property
    def count(self) -> int:
        """How many rounds there are: none, if all is known."""
        if self.found.renews:
            return 0
        has_searched = self.problem.needs_search or self.knows_shapes
        return self.rounds_after_descent if has_searched else ROUNDS

    def so_far(self) -> WarmUp:
        """What the rounds that are complete have shown."""
        settings = self.settings
        nothing = empty_states(settings.layout().rung.size, self.problem.width)
        rounds, draws = list(self.rounds), list(self.cold_draws)
        return WarmUp(settings, nothing, rounds, draws, None, 0, None, self.how_far)

    @property
    def settings(self) -> Settings:
        """The settings as they stand."""
        return self.found.settings()

    def session(self) -> Session:
        """A session with the settings as they stand, for the next round."""
        settings, self.store = self.settings, MemoryStore()
        settings = settings.found(pools=settings.on.pools_in_warmup or settings.pools)
        sweeps = min(settings.settling, SWEEPS_OF_ROUNDS)
        session = build_session(
            settings.found(keep="all", thin=1, log_events=False),
            self.store,
            epoch=self.epoch,
            follows=None if self.to_find.deadlines is None else FOLLOWING,
            settling=Settling(sweeps, self.starts(settings)),
        )
        states = self.states(settings)
        if not np.isnan(states[:, 0]).any():
            session.begin_from(states)
        return session

    def states(self, settings: Settings) -> FloatTable:
        """States for the chains of some settings, from what the last round has seen."""
        # Each round has random numbers of its own, so that one can go on after any of them.
        rng = Key(self.seed, 0, self.epoch, WARMUP).generator()
        return states_of_chains(settings, self.found.approach, self.remembered, rng)

    def starts(self, settings: Settings) -> list[FloatTable] | None:
        """By rung, states from which the chains of some settings start anew while they settle."""
        rng = Key(self.seed, 1, self.epoch, WARMUP).generator()
        return starts_of_rungs(settings, self.found.approach, self.remembered, rng)

    def remember(self, session: Session, rows: list[FloatTable]) -> None:
        """Keep states from which chains can go on.

        What a round has drawn that was too short to settle is too often fast; the next one would
        begin there, and so on. So it begins where this one did.
        """
        machine, first = session.machine, session.progress.first_states
        if not settled_in_time(session):
            if self.remembered:
                return
            assert first is not None
            rows = [first[machine.rung == rung] for rung in range(len(rows))]
        self.remembered = list(zip(self.found.levels, map(some, rows), strict=True))

    def learn(self, session: Session, usage: Usage, sampling: float, spent: float) -> list[Draws]:
        """Adapt to what a round has shown; gives its draws on the coldest rung."""
        machine, found, width = session.machine, self.found, self.problem.width
        if not session.progress.has_states:
            return []
        # Before the round was settled, what was complete was too often fast.
        settled = float(machine.settles_until[0]) if settled_in_time(session) else 0.0
        start = settled or -np.inf
        by_rung: list[list[Draws]] = [[] for _ in found.levels]
        for chain, rung in enumerate(machine.rung.tolist()):
            draws = self.store.draws(chain, width)
            by_rung[rung].append(draws.between(start, np.inf))
        rows = [settled_or_held(chains, machine, rung) for rung, chains in enumerate(by_rung)]
        self.remember(session, rows)
        if usage.elapsed <= 0.0:  # first states are worth keeping, too
            return []
        # Where a descent has seen more than a round that was too short, that stays.
        tells = settled > 0.0 or not self.problem.needs_search
        completions = int(machine.completed.sum())
        if settled > 0.0 and self.number >= self.count - LATE_ROUNDS:
            moves_left = completions * sampling / max(usage.of_budget, LEAST_LEFT)
            found.see_whether_it_gets_about(by_rung[0], moves_left)
        if tells:
            found.learn_kernel(session, rows)
        found.learn_deadlines(machine, usage)
        rates = found.swap_rates(rows)
        accepted = mean_per_move(machine, session.record, ACCEPTED) / session.tuning[:, STEPS]
        self.rounds.append(
            Round(self.settings.ladder, usage.elapsed, completions, rates, accepted, found.every)
        )
        wanted = self.to_find.ladder
        self.round_trips += int(session.record.round_trips.sum())
        if self.may_fit():
            is_first = found.reference is None
            if found.learn_reference(rows) and is_first:
                coldest = self.remembered[0][1]
                self.remembered = [(level, coldest) for level in found.levels]
                tells = False  # of how a ladder on this reference is to be spaced
            self.remembered = [(level, found.brought(kept)) for level, kept in self.remembered]
        if tells and wanted is not None and min(map(len, rows)) >= FEWEST_DRAWS:
            drawn = RoundDraws(found.levels, rows, by_rung[0], usage.of_budget, sampling)
            found.move_to(found.approach.respaced(wanted, drawn, rates))
            if self.reached is not None:
                self.reached = self.on_ladder(self.reached)
        return [later_by(draws, spent) for draws in by_rung[0]]

    def may_fit(self) -> bool:
        """Whether a reference may be fitted to what this round has seen.

        What it lacks is hard to find from then on. So the prior has a quarter of the warm-up, and
        states must have come from the hot end several times, each of them anew. The last round is
        there to space the ladder by.
        """
        if not self.to_find.reference or not self.count - 3 <= self.number < self.count - 1:
            return False
        return self.round_trips >= FEWEST_TRIPS


def settled_in_time(session: Session) -> bool:
    """Whether at least half of a round came after it was settled."""
    settled = float(session.machine.settles_until[0])
    return bool(session.machine.is_settled[0]) and session.progress.elapsed >= 2.0 * settled
