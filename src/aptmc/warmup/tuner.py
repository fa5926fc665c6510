"""Runs the rounds of a warm-up and adapts between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np

from aptmc.backends.base import Engine
from aptmc.compiled import FloatTable
from aptmc.coordinator.state import Settling, mean_per_move
from aptmc.errors import StopReason
from aptmc.kernels.base import STEPS
from aptmc.kernels.hamiltonian import Hamiltonian
from aptmc.kernels.seen import FEWEST_DRAWS
from aptmc.keys import WARMUP, Key
from aptmc.problem.chain_state import ACCEPTED
from aptmc.session.build import build_session
from aptmc.session.descent import Reached
from aptmc.session.session import Session, Usage, empty_states
from aptmc.settings import Settings
from aptmc.store import Draws, MemoryStore
from aptmc.warmup.annealed import anneal
from aptmc.warmup.descending import Descending
from aptmc.warmup.found import Found
from aptmc.warmup.guess import ROUNDS
from aptmc.warmup.how_far_down import ROUNDS_AFTER_DESCENT, fitting_rounds
from aptmc.warmup.outcome import Round, WarmUp
from aptmc.warmup.plan import LEAST_LEFT, Plan
from aptmc.warmup.round_draws import RoundDraws, later_by, of_descent, settled_or_held, some
from aptmc.warmup.where_chains_begin import starts_of_rungs, states_of_chains

FOLLOWING = 0.3  # deadlines find their share of a sweep quickly
# What a tuner must know to go on after a round, beside what was found.
REMEMBERED = (
    "remembered", "rounds", "epoch", "spent", "number", "in_round", "rounds_after_descent",
    "round_trips", "has_annealed", "knows_shapes",
)  # fmt: skip
FEWEST_FOR_SLICES = 3  # dimensions
# A sitting may end in mid-round. The next one goes on with it, unless so much of it was done.
WHOLE = 0.99
# So much of a warm-up is left to the run itself, which settles with frozen settings.
SETTLING = 0.125
SWEEPS_OF_ROUNDS = 2  # in which they settle; they need not be exact
LATE_ROUNDS = 3  # after which it is looked at whether chains get about where draws count
FEWEST_TRIPS = 5  # of states from the coldest rung to the hottest and back, before one is fitted


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
        self.under_way: Session | None = None  # that of the present round
        self.in_round = 0.0  # how long it was run in earlier sittings
        self.spent = 0.0
        self.plan, self.descending = Plan(settings.to_find.length), Descending(settings)
        self.rounds_after_descent = ROUNDS_AFTER_DESCENT
        self.round_trips = 0  # that states have made in all rounds so far
        self.seconds_per_step = 0.0  # where a descent or an annealing ended
        self.has_annealed = False  # whether a population has gone from the prior to the posterior
        self.knows_shapes = False  # what it has learnt there is about as good as what rounds learn

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
        if self.plan.count_in(engine.unit):
            self.in_round = 0.0
        if self.problem.needs_search and not self.remembered:
            stopped = self.descend(engine, first)
            session = None
            if stopped is None:
                after_descent(self.cold_draws[-1:])
        elif self.is_to_anneal:
            stopped = self.anneal(engine, first)
            session = None
        length, sampling = self.plan.lengths(engine.left())
        pace = self.plan.pace
        if self.seconds_per_step * pace > 0.0:  # what comes before the rounds has just ended
            if self.problem.needs_search:
                self.rounds_after_descent = fitting_rounds(length, self.sweep)
            first_round = length / max(2.0**self.count - 1.0, 1.0)
            self.found.begin_deadlines(pace * self.sweep, pace * first_round)
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
            self.under_way = session
            usage = engine.run(session, min(whole - self.in_round, left))
            session.flush()
            if usage.failure is not None:
                raise usage.failure
            if usage.stopped is not StopReason.BUDGET_SPENT:
                stopped = usage.stopped
                break
            cold_draws = self.learn(session, usage, sampling, self.spent)
            self.under_way = None
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
        usage = self.descending.go(engine, first, self.found)
        if usage.stopped is not StopReason.STILL_RUNNING:
            return usage.stopped
        stages = self.descending.stages
        self.plan.searched(usage.of_budget, usage.elapsed)
        self.remembered = [(stage.level, stage.rows) for stage in reversed(stages)]
        self.cold_draws.append(of_descent(stages[-1], self.spent))
        self.seconds_per_step = stages[-1].seconds_per_step
        return None

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
        length, _ = self.plan.lengths(engine.left())
        went = anneal(engine, first, self.found, self.settings, length)
        if went.is_over:
            self.has_annealed = True
            self.plan.searched(went.of_budget, went.elapsed)
            self.plan.is_made_anew()
            self.spent += went.elapsed
            self.remembered = [(level, some(rows)) for level, rows in went.remembered]
            self.seconds_per_step, self.knows_shapes = went.seconds_per_move, went.knows_shapes
        return went.stopped

    @property
    def how_far(self) -> Reached | None:
        """How far down a descent came; of one under way, or cut off, so far."""
        return self.descending.how_far

    @property
    def sweep(self) -> float:
        """How long a step of each chain takes, as far as a descent has shown."""
        settings = self.settings
        return self.seconds_per_step * settings.layout().rung.size / settings.on.processors

    def memory(self) -> dict[str, Any]:
        """All that was learnt in the rounds that are complete."""
        own = {name: getattr(self, name) for name in REMEMBERED}
        return own | self.plan.memory() | self.descending.memory() | self.found.memory()

    def recall(self, memory: Mapping[str, Any]) -> None:
        """Go on after the rounds of another tuner."""
        # Before rounds could be cut off, each had an epoch of its own.
        before = {"number": memory["epoch"], "in_round": 0.0, "searched": 0.0, "counted_in": ""}
        before |= {"rounds_after_descent": ROUNDS_AFTER_DESCENT, "round_trips": 0}
        before |= {"has_annealed": False, "knows_shapes": False}
        memory = before | dict(memory)
        for name in REMEMBERED:
            setattr(self, name, memory[name])
        for part in (self.plan, self.descending, self.found):
            part.recall(memory)

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

    @property
    def moves(self) -> int:
        """How many the rounds have made so far, the present one among them."""
        present = 0 if self.under_way is None else int(self.under_way.machine.completed.sum())
        return sum(part.completions for part in self.rounds) + present

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
            is_warm_up=True,
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
            self.descending.stands_on(found.levels)
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
