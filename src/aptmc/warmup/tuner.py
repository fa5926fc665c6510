"""Runs the rounds of a warm-up and adapts between them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np

from aptmc.backends.base import Engine
from aptmc.compiled import Floats, FloatTable, FloatTables
from aptmc.coordinator.state import Coordinator, mean_per_move, moves_done
from aptmc.errors import InputError, StopReason
from aptmc.kernels import Kernel
from aptmc.kernels.base import STEPS
from aptmc.keys import WARMUP, Key
from aptmc.ladder import AutoLadder, Ladder
from aptmc.pools import Layout, Pools, Shared
from aptmc.problem import Abc, Problem
from aptmc.problem.density import DensityProblem
from aptmc.problem.state import ACCEPTED
from aptmc.schedule import Schedule
from aptmc.session.build import build_session
from aptmc.session.session import Session, Usage, empty_states
from aptmc.store import Draws, MemoryStore
from aptmc.warmup import proposals
from aptmc.warmup.approach import FEWEST_DRAWS, Approach, Seen, scale_of
from aptmc.warmup.outcome import Round, Tuned, WarmUp
from aptmc.warmup.powers import PowersApproach
from aptmc.warmup.tolerances import TolerancesApproach
from aptmc.warmup.wishes import Wishes

ROUNDS = 10
SHARE = 0.25  # of the budget
FOLLOWING = 0.3  # deadlines find their share of a sweep quickly
JITTER = 0.5
DEADLINES_AT_FIRST = 20.0
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

    def __init__(
        self, problem: Problem, wishes: Wishes, processors: int, seed: int, length: float | None
    ) -> None:
        """Prepare to find what is wished for.

        :param length: of the warm-up; a share of the budget by default
        """
        self.problem, self.wishes, self.seed = problem, wishes, seed
        self.processors, self.length = processors, length
        rng = Key(seed, 0, 0, WARMUP).generator()
        self.approach = _approach(problem)
        given = wishes.ladder
        self.levels = given.levels if isinstance(given, Ladder) else self.approach.first_levels()
        covariance, rungs = self.approach.first_covariance(rng), len(self.levels)
        self.covariances: FloatTables = np.tile(covariance, (rungs, 1, 1))
        self.scales: Floats = np.full(rungs, proposals.usual_scale(problem.dimension))
        self.every = math.nan
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
        store: MemoryStore,
        after_round: Callable[[list[Draws]], None],
    ) -> WarmUp:
        """All rounds that are left; the session of the first has been built already.

        :param after_round: is given the draws of the coldest rung of each
        """
        if self.plan is None:
            left = engine.left()
            length = SHARE * left if self.length is None else self.length
            self.plan = length, left - length
        length, sampling = self.plan
        parts = 2.0 ** np.arange(ROUNDS) / (2.0**ROUNDS - 1.0)
        session: Session | None = first
        stopped = None
        while self.epoch < ROUNDS:
            if session is None:
                store = MemoryStore()
                session = self.session(store)
            usage = engine.run(session, parts[self.epoch] * length)
            session.flush()
            if usage.failure is not None:
                raise usage.failure
            if usage.stopped is not StopReason.BUDGET_SPENT:
                stopped = usage.stopped
                break
            cold_draws = self.learn(session, store, usage, sampling, self.spent)
            self.cold_draws += cold_draws
            self.spent += usage.elapsed
            self.epoch += 1
            after_round(cold_draws)
            session = None
        tuned = self.tuned()
        layout = tuned.pools.layout(tuned.ladder, self.processors)
        states = self.states(tuned.ladder, layout)
        return WarmUp(tuned, states, self.rounds, self.cold_draws, stopped, self.epoch + 1)

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

    @property
    def count(self) -> int:
        """How many rounds there are."""
        return ROUNDS

    def so_far(self) -> WarmUp:
        """What the rounds that are complete have shown."""
        tuned = self.tuned()
        chains = tuned.pools.layout(tuned.ladder, self.processors).rung.size
        nothing = empty_states(chains, self.problem.width)
        return WarmUp(tuned, nothing, list(self.rounds), list(self.cold_draws), None, 0)

    def tuned_at_first(self, budget: float) -> Tuned:
        """The settings of the first round, in which deadlines have to begin somewhere."""
        first_round = (self.length or SHARE * budget) / 2.0**ROUNDS
        self.every = first_round / DEADLINES_AT_FIRST
        return self.tuned()

    def session(self, store: MemoryStore) -> Session:
        """A session with the settings as they stand."""
        tuned = self.tuned()
        layout = tuned.pools.layout(tuned.ladder, self.processors)
        session = build_session(
            self.problem, tuned.ladder, tuned.kernel, tuned.schedule, layout, "all", self.seed,
            store, 1, False, self.epoch, FOLLOWING if self.wishes.every_is_auto else None,
        )  # fmt: skip
        if self.remembered:
            session.begin_from(self.states(tuned.ladder, layout))
        return session

    def states(self, ladder: Ladder, layout: Layout) -> FloatTable:
        """States for chains on a ladder, from what the last round has seen."""
        states = empty_states(layout.rung.size, self.problem.width)
        if not self.remembered:  # stopped before the first round was complete
            return states
        # Each round has random numbers of its own, so that one can go on after any of them.
        rng = Key(self.seed, 0, self.epoch, WARMUP).generator()
        for rung, level in enumerate(ladder.levels):
            mine = np.flatnonzero(layout.rung == rung)
            rows = self.approach.states_for(level, self.remembered)
            # The later half, so that what was far from the target at first is forgotten.
            later = rows[len(rows) // 2 :]
            states[mine] = later[rng.integers(len(later), size=mine.size)]
        return states

    # --- learning -----------------------------------------------------------------------------

    def learn(
        self, session: Session, store: MemoryStore, usage: Usage, sampling: float, spent: float
    ) -> list[Draws]:
        """Adapt to what a round has shown; gives its draws on the coldest rung."""
        machine, width = session.machine, self.problem.width
        if usage.elapsed <= 0.0:
            return []
        by_rung: list[list[Draws]] = [[] for _ in self.levels]
        for chain, rung in enumerate(machine.rung.tolist()):
            by_rung[rung].append(store.draws(chain, width))
        cold_draws = [_shifted(draws, spent) for draws in by_rung[0]]
        rows = [settled(chains, width) for chains in by_rung]
        for rung, table in enumerate(rows):
            if len(table) == 0:  # nobody moved there: what they hold must do
                mine = machine.replica[machine.rung == rung]
                rows[rung] = machine.states[mine].copy()
        self.remembered = list(zip(self.levels, map(_some, rows), strict=True))
        accepted = mean_per_move(machine, session.record, ACCEPTED) / session.tuning[:, STEPS]
        self._learn_proposals(rows, accepted, moves_done(machine))
        if self.wishes.every_is_auto:
            self._learn_deadlines(machine, usage)
        rates = self.approach.swap_rates(self.levels, rows)
        completions = int(machine.completed.sum())
        self.rounds.append(
            Round(self._ladder(), usage.elapsed, completions, rates, accepted, self.every)
        )
        wish = self.wishes.ladder
        if isinstance(wish, AutoLadder) and min(map(len, rows)) >= FEWEST_DRAWS:
            seen = Seen(self.levels, rows, by_rung[0], usage.elapsed, sampling)
            self._move_to(self.approach.respaced(wish, seen, rates))
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

    def tuned(self) -> Tuned:
        """The settings as they stand."""
        ladder = self._ladder()
        pools = self.wishes.pools or self._pools(ladder)
        return Tuned(ladder, self._kernel(), self._schedule(), pools)

    def _ladder(self) -> Ladder:
        if isinstance(self.wishes.ladder, Ladder):
            return self.wishes.ladder
        return self.approach.ladder(self.levels)

    def _kernel(self) -> Kernel:
        if isinstance(self.wishes.kernel, Kernel):
            return self.wishes.kernel
        return self.approach.kernel(self.covariances, self.scales)

    def _schedule(self) -> Schedule:
        schedule = self.wishes.schedule
        if not schedule.wants_deadlines:
            return schedule
        return schedule.with_deadlines(self.every, jitter=JITTER, shortest=self.shortest)

    def _pools(self, ladder: Ladder) -> Pools:
        """So many chains that about as many wait as are in flight, or more."""
        movers = ladder.rungs - len(ladder.idle_rungs)
        return Shared(math.ceil((2 * self.processors + 2) / movers))


def settled(chains: list[Draws], width: int) -> FloatTable:
    """What the later half of the moves of a rung's chains led to.

    Draws of exchanges would be the same states over and over, and look like more than they are.
    """
    moved = [draws.state[~draws.exchanged] for draws in chains]
    later = [states[len(states) // 2 :] for states in moved]
    return np.concatenate(later) if later else np.empty((0, width))


def _approach(problem: Problem) -> Approach:
    if isinstance(problem, Abc):
        return TolerancesApproach(problem)
    if isinstance(problem, DensityProblem):
        return PowersApproach(problem)
    raise InputError(
        f"no way is known to find the settings of a problem of kind {type(problem).__name__}: "
        "give ladder, kernel and the time between deadlines"
    )


def _some(rows: FloatTable) -> FloatTable:
    """Enough rows to choose states from, and not more."""
    return rows[:: max(len(rows) // MOST_REMEMBERED, 1)].copy()


def _shifted(draws: Draws, by: float) -> Draws:
    return draws._replace(time=draws.time + by)
