"""Runs the rounds of a warm-up and adapts between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np

from aptmc.backends.base import Engine
from aptmc.compiled import Floats, FloatTable, FloatTables
from aptmc.coordinator.state import Coordinator, mean_per_move, moves_done
from aptmc.errors import StopReason
from aptmc.kernels.base import STEPS
from aptmc.keys import WARMUP, Key
from aptmc.pools import Layout
from aptmc.problem.state import ACCEPTED
from aptmc.session.build import build_session
from aptmc.session.session import Session, Usage, empty_states
from aptmc.settings import Settings
from aptmc.store import Draws, MemoryStore
from aptmc.warmup import proposals
from aptmc.warmup.approach import FEWEST_DRAWS, Seen, scale_of
from aptmc.warmup.guess import (
    DEADLINES_AT_FIRST,
    ROUNDS,
    SHARE,
    approach_to,
    enough_chains,
    first_deadlines,
    with_deadlines,
)
from aptmc.warmup.outcome import Round, WarmUp

FOLLOWING = 0.3  # deadlines find their share of a sweep quickly
# Exchanges may take a 50th of the time of whoever carries them out.
COST_OF_DEADLINES = 0.02
MOST_REMEMBERED = 500  # rows of a rung, about
# What a tuner must know to go on after a round.
REMEMBERED = (
    "levels", "covariances", "scales", "every", "shortest", "remembered", "rounds", "epoch",
    "spent", "plan",
)  # fmt: skip


@final
class Tuner:
    """Runs the rounds and adapts between them."""

    def __init__(self, settings: Settings) -> None:
        """Prepare to find what the settings leave open."""
        self.settings = settings  # as they stand
        self.problem, self.seed, self.to_find = settings.problem, settings.seed, settings.to_find
        problem = self.problem
        rng = Key(self.seed, 0, 0, WARMUP).generator()
        self.approach = approach_to(problem)
        self.levels = settings.ladder.levels
        covariance, rungs = self.approach.first_covariance(rng), len(self.levels)
        self.covariances: FloatTables = np.tile(covariance, (rungs, 1, 1))
        self.scales: Floats = np.full(rungs, proposals.usual_scale(problem.dimension))
        self.every = first_deadlines(settings)
        self.shortest = 0.0  # time between deadlines that does not cost too much
        self.remembered: list[tuple[float, FloatTable]] = []  # by level: draws of the last round
        self.rounds: list[Round] = []
        self.cold_draws: list[Draws] = []
        self.epoch = 0  # of the present round
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
        if self.plan is None:
            left = engine.left()
            length = SHARE * left if self.to_find.length is None else self.to_find.length
            self.plan = length, left - length
        length, sampling = self.plan
        parts = 2.0 ** np.arange(ROUNDS) / (2.0**ROUNDS - 1.0)
        session: Session | None = first
        stopped = None
        while self.epoch < ROUNDS:
            if session is None:
                session = self.session()
            usage = engine.run(session, parts[self.epoch] * length)
            session.flush()
            if usage.failure is not None:
                raise usage.failure
            if usage.stopped is not StopReason.BUDGET_SPENT:
                stopped = usage.stopped
                break
            cold_draws = self.learn(session, usage, sampling, self.spent)
            self.cold_draws += cold_draws
            self.spent += usage.elapsed
            self.epoch += 1
            after_round(cold_draws)
            session = None
        states = self.states(self.settings.layout())
        return WarmUp(self.settings, states, self.rounds, self.cold_draws, stopped, self.epoch + 1)

    def memory(self) -> dict[str, Any]:
        """All that was learnt in the rounds that are complete."""
        own = {name: getattr(self, name) for name in REMEMBERED}
        return own | {name: getattr(self.approach, name) for name in self.approach.remembers}

    def recall(self, memory: Mapping[str, Any]) -> None:
        """Go on after the rounds of another tuner."""
        for name in REMEMBERED:
            setattr(self, name, memory[name])
        for name in self.approach.remembers:
            setattr(self.approach, name, memory[name])
        # There may be more or fewer processors than there were.
        self.settings = self._found()

    @property
    def count(self) -> int:
        """How many rounds there are."""
        return ROUNDS

    def so_far(self) -> WarmUp:
        """What the rounds that are complete have shown."""
        nothing = empty_states(self.settings.layout().rung.size, self.problem.width)
        return WarmUp(self.settings, nothing, list(self.rounds), list(self.cold_draws), None, 0)

    def session(self) -> Session:
        """A session with the settings as they stand, for the next round."""
        self.store = MemoryStore()
        session = build_session(
            self.settings.found(keep="all", thin=1, log_events=False),
            self.store,
            epoch=self.epoch,
            follows=None if self.to_find.deadlines is None else FOLLOWING,
        )
        if self.remembered:
            session.begin_from(self.states(self.settings.layout()))
        return session

    def states(self, layout: Layout) -> FloatTable:
        """States for chains on a ladder, from what the last round has seen."""
        states = empty_states(layout.rung.size, self.problem.width)
        if not self.remembered:  # stopped before the first round was complete
            return states
        # Each round has random numbers of its own, so that one can go on after any of them.
        rng = Key(self.seed, 0, self.epoch, WARMUP).generator()
        for rung, level in enumerate(self.settings.ladder.levels):
            mine = np.flatnonzero(layout.rung == rung)
            rows = self.approach.states_for(level, self.remembered)
            # The later half, so that what was far from the target at first is forgotten.
            later = rows[len(rows) // 2 :]
            states[mine] = later[rng.integers(len(later), size=mine.size)]
        return states

    # --- learning -----------------------------------------------------------------------------

    def learn(self, session: Session, usage: Usage, sampling: float, spent: float) -> list[Draws]:
        """Adapt to what a round has shown; gives its draws on the coldest rung."""
        machine, width = session.machine, self.problem.width
        if usage.elapsed <= 0.0:
            return []
        by_rung: list[list[Draws]] = [[] for _ in self.levels]
        for chain, rung in enumerate(machine.rung.tolist()):
            by_rung[rung].append(self.store.draws(chain, width))
        cold_draws = [_shifted(draws, spent) for draws in by_rung[0]]
        rows = [settled(chains, width) for chains in by_rung]
        for rung, table in enumerate(rows):
            if len(table) == 0:  # nobody moved there: what they hold must do
                mine = machine.replica[machine.rung == rung]
                rows[rung] = machine.states[mine].copy()
        self.remembered = list(zip(self.levels, map(_some, rows), strict=True))
        accepted = mean_per_move(machine, session.record, ACCEPTED) / session.tuning[:, STEPS]
        self._learn_proposals(rows, accepted, moves_done(machine))
        if self.to_find.deadlines is not None:
            self._learn_deadlines(machine, usage)
        rates = self.approach.swap_rates(self.levels, rows)
        completions = int(machine.completed.sum())
        self.rounds.append(
            Round(self.settings.ladder, usage.elapsed, completions, rates, accepted, self.every)
        )
        wanted = self.to_find.ladder
        if wanted is not None and min(map(len, rows)) >= FEWEST_DRAWS:
            seen = Seen(self.levels, rows, by_rung[0], usage.elapsed, sampling)
            self._move_to(self.approach.respaced(wanted, seen, rates))
        self.settings = self._found()
        return cold_draws

    def _learn_proposals(self, rows: list[FloatTable], accepted: Floats, done: Floats) -> None:
        dimension = self.problem.dimension
        target = proposals.best_acceptance(dimension)
        tuned = self.approach.tuned_acceptance(accepted)
        for rung, table in enumerate(rows):
            if len(table) < FEWEST_DRAWS:
                continue
            self.covariances[rung] = proposals.covariance(
                table[:, :dimension], self.covariances[rung]
            )
            is_moving = done[rung] >= FEWEST_DRAWS and self.levels[rung] > 0.0
            if tuned is not None and is_moving:
                self.scales[rung] = proposals.better_scale(self.scales[rung], tuned[rung], target)

    def _learn_deadlines(self, machine: Coordinator, usage: Usage) -> None:
        passed = int(machine.passed[0])
        if passed > 0:
            # Virtual time charges nothing. In real time the first deadlines may be slow once.
            cost = usage.overhead.exchanges / passed
            self.shortest = min(cost / COST_OF_DEADLINES, usage.elapsed / DEADLINES_AT_FIRST)
        if machine.completed.min() >= machine.sweep.max():
            self.every = float(machine.sweep_time.max())
        self.every = max(self.every, self.shortest)

    def _move_to(self, levels: tuple[float, ...]) -> None:
        old, new = np.array(self.levels), np.array(levels)
        nearest = proposals.nearest(scale_of(old), scale_of(new))
        self.covariances = self.covariances[nearest].copy()
        self.scales = self.scales[nearest].copy()
        self.levels = levels

    # --- settings -----------------------------------------------------------------------------

    def _found(self) -> Settings:
        """The settings with all that was learnt by now."""
        found, to_find = self.settings, self.to_find
        if to_find.ladder is not None:
            found = found.found(ladder=self.approach.ladder(self.levels))
        if to_find.kernel:
            found = found.found(kernel=self.approach.kernel(self.covariances, self.scales))
        if to_find.deadlines is not None:
            found = found.found(
                schedule=with_deadlines(to_find.deadlines, self.every, self.shortest)
            )
        if to_find.pools:
            found = found.found(pools=enough_chains(found))
        return found


def settled(chains: list[Draws], width: int) -> FloatTable:
    """What the later half of the moves of a rung's chains led to.

    Draws of exchanges would be the same states over and over, and look like more than they are.
    """
    moved = [draws.state[~draws.exchanged] for draws in chains]
    later = [states[len(states) // 2 :] for states in moved]
    return np.concatenate(later) if later else np.empty((0, width))


def _some(rows: FloatTable) -> FloatTable:
    """Enough rows to choose states from, and not more."""
    return rows[:: max(len(rows) // MOST_REMEMBERED, 1)].copy()


def _shifted(draws: Draws, by: float) -> Draws:
    return draws._replace(time=draws.time + by)
