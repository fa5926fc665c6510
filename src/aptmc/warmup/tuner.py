"""Runs the rounds of a warm-up and adapts between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np

from aptmc.backends.base import Engine
from aptmc.compiled import FloatTable
from aptmc.coordinator.state import mean_per_move
from aptmc.errors import StopReason
from aptmc.kernels.base import STEPS
from aptmc.kernels.seen import FEWEST_DRAWS
from aptmc.keys import WARMUP, Key
from aptmc.problem.chain_state import ACCEPTED
from aptmc.session.build import build_session
from aptmc.session.session import Session, Usage, empty_states
from aptmc.settings import Settings
from aptmc.store import Draws, MemoryStore
from aptmc.warmup.found import Found
from aptmc.warmup.guess import ROUNDS, SHARE
from aptmc.warmup.outcome import Round, WarmUp
from aptmc.warmup.round_draws import RoundDraws, later_by, settled_or_held, some

FOLLOWING = 0.3  # deadlines find their share of a sweep quickly
# What a tuner must know to go on after a round, beside what was found.
REMEMBERED = ("remembered", "rounds", "epoch", "spent", "plan", "number", "in_round")
# A sitting may end in mid-round. The next one goes on with it, unless so much of it was done.
WHOLE = 0.99
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

    # --- running ------------------------------------------------------------------------------

    def run(
        self,
        engine: Engine,
        first: Session,
        after_round: Callable[[list[Draws]], None],
    ) -> WarmUp:
        """All rounds that are left; the session of the first has been built already.

        :param after_round: is given the draws of the coldest rung of each
        """
        length, sampling = self.planned(engine.left())
        parts = 2.0 ** np.arange(ROUNDS) / (2.0**ROUNDS - 1.0)
        session: Session | None = first
        stopped = None
        nothing = LEAST_LEFT * length
        while self.number < ROUNDS:
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
            self.in_round += usage.elapsed
            if self.in_round >= WHOLE * whole or engine.left() > nothing:
                self.number, self.in_round = self.number + 1, 0.0
            after_round(cold_draws)
            session = None
        settings = self.settings
        states = self.states(settings)
        return WarmUp(settings, states, self.rounds, self.cold_draws, stopped, self.epoch + 1)

    def planned(self, left: float) -> tuple[float, float]:
        """How long the warm-up is to be, and what follows.

        A plan was made in an earlier sitting, perhaps; one of a few seconds makes none for an hour.
        """
        if left > 0.0:
            given = self.to_find.length
            length = SHARE * left if given is None else given
            if self.plan is None or (given is None and length > self.plan[0]):
                self.plan = length, max(left - length, 0.0)
        return self.plan or (0.0, 0.0)

    def memory(self) -> dict[str, Any]:
        """All that was learnt in the rounds that are complete."""
        own = {name: getattr(self, name) for name in REMEMBERED}
        return own | self.found.memory()

    def recall(self, memory: Mapping[str, Any]) -> None:
        """Go on after the rounds of another tuner."""
        # Before rounds could be cut off, each had an epoch of its own.
        memory = {"number": memory["epoch"], "in_round": 0.0} | dict(memory)
        for name in REMEMBERED:
            setattr(self, name, memory[name])
        self.found.recall(memory)

    @property
    def present(self) -> int:
        """Which round is under way, from 1; the last one, when all are over."""
        return min(self.number + 1, ROUNDS)

    @property
    def count(self) -> int:
        """How many rounds there are."""
        return ROUNDS

    def so_far(self) -> WarmUp:
        """What the rounds that are complete have shown."""
        settings = self.settings
        nothing = empty_states(settings.layout().rung.size, self.problem.width)
        return WarmUp(settings, nothing, list(self.rounds), list(self.cold_draws), None, 0)

    @property
    def settings(self) -> Settings:
        """The settings as they stand."""
        return self.found.settings()

    def session(self) -> Session:
        """A session with the settings as they stand, for the next round."""
        settings, self.store = self.settings, MemoryStore()
        settings = settings.found(pools=settings.on.pools_in_warmup or settings.pools)
        session = build_session(
            settings.found(keep="all", thin=1, log_events=False),
            self.store,
            epoch=self.epoch,
            follows=None if self.to_find.deadlines is None else FOLLOWING,
        )
        states = self.states(settings)
        if not np.isnan(states).any():
            session.begin_from(states)
        return session

    def states(self, settings: Settings) -> FloatTable:
        """States for the chains of some settings, from what the last round has seen."""
        layout = settings.layout()
        states = empty_states(layout.rung.size, self.problem.width)
        if not self.remembered:  # stopped before the first round was complete
            return states
        if settings.on.descends and self.problem.needs_search:  # that is better than to remember
            return states
        # Each round has random numbers of its own, so that one can go on after any of them.
        rng = Key(self.seed, 0, self.epoch, WARMUP).generator()
        for rung, level in enumerate(settings.ladder.levels):
            mine = np.flatnonzero(layout.rung == rung)
            rows = self.found.approach.states_for(level, self.remembered)
            # The later half, so that what was far from the target at first is forgotten.
            later = rows[len(rows) // 2 :]
            states[mine] = later[rng.integers(len(later), size=mine.size)]
        return states

    def learn(self, session: Session, usage: Usage, sampling: float, spent: float) -> list[Draws]:
        """Adapt to what a round has shown; gives its draws on the coldest rung."""
        machine, found, width = session.machine, self.found, self.problem.width
        if not session.progress.has_states:
            return []
        by_rung: list[list[Draws]] = [[] for _ in found.levels]
        for chain, rung in enumerate(machine.rung.tolist()):
            by_rung[rung].append(self.store.draws(chain, width))
        rows = [settled_or_held(chains, machine, rung) for rung, chains in enumerate(by_rung)]
        self.remembered = list(zip(found.levels, map(some, rows), strict=True))
        if usage.elapsed <= 0.0:  # first states are worth keeping, too
            return []
        found.learn_kernel(session, rows)
        found.learn_deadlines(machine, usage)
        rates = found.swap_rates(rows)
        accepted = mean_per_move(machine, session.record, ACCEPTED) / session.tuning[:, STEPS]
        completions = int(machine.completed.sum())
        self.rounds.append(
            Round(self.settings.ladder, usage.elapsed, completions, rates, accepted, found.every)
        )
        wanted = self.to_find.ladder
        if wanted is not None and min(map(len, rows)) >= FEWEST_DRAWS:
            drawn = RoundDraws(found.levels, rows, by_rung[0], usage.elapsed, sampling)
            found.move_to(found.approach.respaced(wanted, drawn, rates))
        return [later_by(draws, spent) for draws in by_rung[0]]
