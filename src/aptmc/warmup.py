"""The warm-up: rounds that double in length, between which settings are adapted, then frozen.

What is decided here looks at the past, so no draw of the warm-up is part of the posterior.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np

from aptmc.backends.base import Engine
from aptmc.backends.build import build_session
from aptmc.backends.session import Session, Usage
from aptmc.chain import ACCEPTED, value_column
from aptmc.compiled import Floats, FloatTable, FloatTables
from aptmc.diagnostics import effective_sample_size
from aptmc.errors import InputError, StopReason
from aptmc.kernels import Kernel, OneHit, RandomWalk
from aptmc.kernels.base import STEPS
from aptmc.keys import WARMUP, Key, first_number
from aptmc.ladder import AutoLadder, Ladder
from aptmc.pools import Layout, Pools, Shared
from aptmc.problem import Abc, Problem, Tempered
from aptmc.schedule import Anytime, Schedule
from aptmc.store import Draws, MemoryStore
from aptmc.tuning import powers, proposals, tolerances
from aptmc.tuning.wishes import Wishes

ROUNDS = 10
SHARE = 0.25  # of the budget
FIRST_POWERS = (1.0, 0.25, 0.06, 0.015, 0.004, 0.001, 0.0)
FIRST_POWERS_OF_DENSITY = (1.0, 0.6, 0.35, 0.2, 0.12, 0.07, 0.04)
FOLLOWING = 0.3  # deadlines find their share of a sweep quickly
SPREAD = 1.0
JITTER = 0.5
FEWEST_DRAWS = 8  # of a rung, before anything is learnt from them
ROUNDS_REMEMBERED = 3  # by ladders of tolerances
DEADLINES_AT_FIRST = 20.0
# Exchanges may take a 50th of the time of whoever carries them out.
COST_OF_DEADLINES = 0.02
PRIOR_DRAWS = 1000
# Autocorrelation makes chains that hand their states to one another look better than they are.
CAUTION = 4.0


class Round(NamedTuple):
    """What one round of the warm-up was like."""

    ladder: Ladder
    elapsed: float
    completions: int
    swap_rates: Floats  # of neighbours, as estimated from the draws
    acceptance_rates: Floats  # by rung, of local steps
    every: float


@dataclass(frozen=True)
class Tuned:
    """The settings as they stand."""

    ladder: Ladder
    kernel: Kernel
    schedule: Schedule
    pools: Pools


class WarmUp(NamedTuple):
    """What came out of it."""

    tuned: Tuned
    states: FloatTable  # for the chains of the run
    rounds: list[Round]
    draws: list[Draws]  # of the coldest rung, in order
    stopped: StopReason | None  # if it was stopped before its end
    epoch: int  # of the phase that follows


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
        self.rng = Key(seed, 0, 0, WARMUP).generator()
        self.levels = self._first_levels()
        dimension = problem.dimension
        self.covariances: FloatTables = np.tile(self._first_covariance(), (len(self.levels), 1, 1))
        self.scales: Floats = np.full(len(self.levels), proposals.usual_scale(dimension))
        self.every = math.nan
        self.shortest = 0.0  # time between deadlines that does not cost too much
        self.remembered: list[tuple[float, FloatTable]] = []  # by level: draws of the last round
        self.rounds: list[Round] = []
        self.yields: list[tuple[float, float]] = []  # by round: its length, and a log yield
        self.curves: list[tuple[Floats, Floats]] = []  # by round: the mass within tolerances
        self.cold_draws: list[Draws] = []

    # --- running ------------------------------------------------------------------------------

    def run(self, engine: Engine, first: Session, store: MemoryStore) -> WarmUp:
        """All rounds; the first session has been built already."""
        left = engine.left()
        length = SHARE * left if self.length is None else self.length
        parts = 2.0 ** np.arange(ROUNDS) / (2.0**ROUNDS - 1.0)
        session, spent, stopped, epoch = first, 0.0, None, 0
        for epoch, part in enumerate(parts.tolist()):
            if epoch > 0:
                store = MemoryStore()
                session = self.session(store, epoch)
            usage = engine.run(session, part * length)
            session.flush()
            if usage.failure is not None:
                raise usage.failure
            if usage.stopped is not StopReason.BUDGET_SPENT:
                stopped = usage.stopped
                break
            self.learn(session, store, usage, left - length, spent)
            spent += usage.elapsed
        tuned = self.tuned()
        layout = tuned.pools.layout(tuned.ladder, self.processors)
        states = self.states(tuned.ladder, layout)
        return WarmUp(tuned, states, self.rounds, self.cold_draws, stopped, epoch + 1)

    def tuned_at_first(self, budget: float) -> Tuned:
        """The settings of the first round, in which deadlines have to begin somewhere."""
        first_round = (self.length or SHARE * budget) / 2.0**ROUNDS
        self.every = first_round / DEADLINES_AT_FIRST
        return self.tuned()

    def session(self, store: MemoryStore, epoch: int) -> Session:
        """A session with the settings as they stand."""
        tuned = self.tuned()
        layout = tuned.pools.layout(tuned.ladder, self.processors)
        session = build_session(
            self.problem, tuned.ladder, tuned.kernel, tuned.schedule, layout, "all", self.seed,
            store, 1, False, epoch, FOLLOWING if self.wishes.every_is_auto else None,
        )  # fmt: skip
        if self.remembered:
            session.machine.states[:] = self.states(tuned.ladder, layout)
            session.progress.has_states = True
        return session

    def tuned(self) -> Tuned:
        """The settings as they stand."""
        ladder = self._ladder()
        pools = self.wishes.pools or self._pools(ladder)
        return Tuned(ladder, self._kernel(), self._schedule(), pools)

    # --- learning -----------------------------------------------------------------------------

    def learn(
        self, session: Session, store: MemoryStore, usage: Usage, sampling: float, spent: float
    ) -> None:
        """Adapt to what a round has shown."""
        machine, width = session.machine, self.problem.width
        if usage.elapsed <= 0.0:
            return
        by_rung: list[list[Draws]] = [[] for _ in self.levels]
        for chain, rung in enumerate(machine.rung.tolist()):
            by_rung[rung].append(store.draws(chain, width))
        self.cold_draws += [_shifted(draws, spent) for draws in by_rung[0]]
        rows = [self._settled(chains, width) for chains in by_rung]
        for rung, table in enumerate(rows):
            if len(table) == 0:  # nobody moved there: what they hold must do
                mine = machine.replica[machine.rung == rung]
                rows[rung] = machine.states[mine].copy()
        self.remembered = list(zip(self.levels, rows, strict=True))
        steps = session.tuning[:, STEPS]
        done = np.zeros(len(self.levels))
        np.add.at(
            done, machine.rung, machine.moves - first_number(machine.epoch) - ~machine.waiting
        )
        accepted = np.full(done.size, math.nan)
        np.divide(session.record.totals[:, ACCEPTED], done * steps, out=accepted, where=done > 0)
        self._learn_proposals(rows, accepted, done)
        if self.wishes.every_is_auto:
            self._learn_deadlines(session, usage)
        rates = self._swap_rates(rows)
        ladder = self._ladder()
        self.rounds.append(
            Round(ladder, usage.elapsed, int(machine.completed.sum()), rates, accepted, self.every)
        )
        if isinstance(self.wishes.ladder, AutoLadder):
            self._learn_ladder(self.wishes.ladder, rows, rates, by_rung[0], usage, sampling)

    def _learn_deadlines(self, session: Session, usage: Usage) -> None:
        machine, passed = session.machine, int(session.machine.passed[0])
        if passed > 0:
            # Virtual time charges nothing. In real time the first deadlines may be slow once.
            cost = session.progress.exchange_seconds / passed
            self.shortest = min(cost / COST_OF_DEADLINES, usage.elapsed / DEADLINES_AT_FIRST)
        if machine.completed.min() >= machine.sweep.max():
            self.every = float(machine.sweep_time.max())
        self.every = max(self.every, self.shortest)

    def _learn_proposals(self, rows: list[FloatTable], accepted: Floats, done: Floats) -> None:
        dimension = self.problem.dimension
        target = proposals.best_acceptance(dimension)
        for rung, table in enumerate(rows):
            if len(table) < FEWEST_DRAWS:
                continue
            self.covariances[rung] = proposals.covariance(
                table[:, :dimension], self.covariances[rung]
            )
            # An ABC step can be no more acceptable than simulations hit, whatever its size.
            is_density = not isinstance(self.problem, Abc)
            if is_density and done[rung] >= FEWEST_DRAWS and self.levels[rung] > 0.0:
                self.scales[rung] = proposals.better_scale(
                    self.scales[rung], accepted[rung], target
                )

    def _swap_rates(self, rows: list[FloatTable]) -> Floats:
        column = value_column(self.problem.dimension)
        values = [table[:, column] for table in rows]
        rates = np.empty(len(rows) - 1)
        for rung in range(rates.size):
            colder, warmer = values[rung], values[rung + 1]
            if isinstance(self.problem, Abc):
                within = np.count_nonzero(warmer <= self.levels[rung])
                rates[rung] = within / warmer.size if warmer.size else math.nan
            else:
                levels = self.levels[rung], self.levels[rung + 1]
                rates[rung] = powers.swap_rate(colder, warmer, *levels)
        return rates

    def _learn_ladder(
        self,
        wish: AutoLadder,
        rows: list[FloatTable],
        rates: Floats,
        cold: list[Draws],
        usage: Usage,
        sampling: float,
    ) -> None:
        if min(len(table) for table in rows) < FEWEST_DRAWS:
            return
        fewest, most = wish.range
        if isinstance(self.problem, Abc):
            column = value_column(self.problem.dimension)
            values = [table[:, column] for table in rows]
            self.curves.append(tolerances.mass_curve(np.array(self.levels), values))
            curve = tolerances.averaged(self.curves[-ROUNDS_REMEMBERED:])
            coldest = self._affordable(wish, curve, cold, usage, sampling)
            new = tolerances.respaced(curve, coldest, wish.swap_rate, fewest=fewest, most=most)
        else:
            levels = np.array(self.levels)
            new = powers.respaced(levels, rates, wish.swap_rate, fewest=fewest, most=most)
        self._move_to(new)

    def _affordable(
        self,
        wish: AutoLadder,
        curve: tuple[Floats, Floats],
        cold: list[Draws],
        usage: Usage,
        sampling: float,
    ) -> float:
        """The coldest tolerance of the next round: as wanted, or as the budget affords."""
        reach = float(curve[0].min())  # no further than draws have been seen
        if wish.coldest is not None:
            return max(wish.coldest, reach)
        present = self.levels[0]
        series = [draws.state for draws in cold if len(draws.state) >= FEWEST_DRAWS]
        if not series or math.isinf(present):
            return reach
        effective = min(
            effective_sample_size([state[:, parameter] for state in series])
            for parameter in range(self.problem.dimension)
        )
        distinct = sum(len(np.unique(state[:, 0])) for state in series)
        # The cost of an effective draw grows about as the mass within the tolerance shrinks, so
        # what is the same in all rounds is the yield: effective draws per time and mass.
        rate = max(min(effective, distinct), 1.0) / CAUTION / usage.elapsed
        log_mass = tolerances.log_mass_within(present, curve)
        self.yields.append((usage.elapsed, math.log(rate) - log_mass))
        weights, log_yields = zip(*self.yields, strict=True)
        log_yield = float(np.average(log_yields, weights=weights))
        wanted = math.log(wish.effective_draws / max(sampling, 1e-300)) - log_yield
        return max(tolerances.tolerance_with(min(wanted, -0.1), curve), reach)

    def _move_to(self, levels: tuple[float, ...]) -> None:
        old, new = np.array(self.levels), np.array(levels)
        nearest = proposals.nearest(_scale_of(old), _scale_of(new))
        self.covariances = self.covariances[nearest].copy()
        self.scales = self.scales[nearest].copy()
        self.levels = levels

    # --- settings -----------------------------------------------------------------------------

    def _ladder(self) -> Ladder:
        if isinstance(self.wishes.ladder, Ladder):
            return self.wishes.ladder
        if isinstance(self.problem, Abc):
            return Ladder(self.levels, kind="tolerances")
        return Ladder(self.levels, kind="powers")

    def _kernel(self) -> Kernel:
        if isinstance(self.wishes.kernel, Kernel):
            return self.wishes.kernel
        covariance = self.covariances * (self.scales**2)[:, None, None]
        if isinstance(self.problem, Abc):
            return OneHit(covariance=covariance)
        return RandomWalk(covariance=covariance, spread=SPREAD)

    def _schedule(self) -> Schedule:
        schedule = self.wishes.schedule
        if not isinstance(schedule, Anytime) or not self.wishes.every_is_auto:
            return schedule
        return replace(
            schedule,
            every=self.every,
            jitter=schedule.jitter or JITTER,
            shortest=schedule.shortest or self.shortest,
        )

    def _pools(self, ladder: Ladder) -> Pools:
        """So many chains that about as many wait as are in flight, or more."""
        movers = ladder.rungs - len(ladder.idle_rungs)
        return Shared(math.ceil((2 * self.processors + 2) / movers))

    def _first_levels(self) -> tuple[float, ...]:
        if isinstance(self.wishes.ladder, Ladder):
            return self.wishes.ladder.levels
        if isinstance(self.problem, Abc):
            return (math.inf,)
        return FIRST_POWERS if isinstance(self.problem, Tempered) else FIRST_POWERS_OF_DENSITY

    def _first_covariance(self) -> FloatTable:
        if isinstance(self.problem, Abc | Tempered):
            draws = self.problem.prior.draw(self.rng, PRIOR_DRAWS)
            # Heavy tails have no variance; quartiles they have.
            low, high = np.quantile(draws, [0.25, 0.75], axis=0)
            return np.diag(np.maximum((high - low) / 1.349, 1e-300) ** 2)
        return np.eye(self.problem.dimension)

    # --- states -------------------------------------------------------------------------------

    def states(self, ladder: Ladder, layout: Layout) -> FloatTable:
        """States for chains on a ladder, from what the last round has seen."""
        column = value_column(self.problem.dimension)
        states = np.empty((layout.rung.size, self.problem.width))
        for rung, level in enumerate(ladder.levels):
            mine = np.flatnonzero(layout.rung == rung)
            if isinstance(self.problem, Abc):
                rows = self._within(level, column)
            else:
                old = np.array([level for level, _ in self.remembered])
                place = int(np.abs(_scale_of(old) - _scale_of(np.array([level]))).argmin())
                rows = self.remembered[place][1]
                rows = rows[rows[:, column] > -math.inf] if level > 0.0 else rows
                if len(rows) == 0:
                    raise InputError(
                        "no state of positive likelihood was seen in the warm-up: give a prior "
                        "(or a start) that is nearer to where the likelihood is"
                    )
            # The later half, so that what was far from the target at first is forgotten.
            later = rows[len(rows) // 2 :]
            states[mine] = later[self.rng.integers(len(later), size=mine.size)]
        return states

    def _within(self, tolerance: float, column: int) -> FloatTable:
        """Draws within a tolerance, from the coldest rung that has some."""
        for level, rows in self.remembered:
            if level >= tolerance:
                rows = rows[rows[:, column] <= tolerance]
                if len(rows) > 0:
                    return rows
        rows = np.concatenate([rows for _, rows in self.remembered])
        rows = rows[rows[:, column] <= tolerance]
        if len(rows) == 0:
            raise InputError(
                f"no simulation came within tolerance {tolerance:g} in the warm-up: use a longer "
                "budget, or larger tolerances"
            )
        return rows

    def _settled(self, chains: list[Draws], width: int) -> FloatTable:
        """What the later half of the moves of a rung's chains led to.

        Draws of exchanges would be the same states over and over, and look like more than they are.
        """
        moved = [draws.state[~draws.exchanged] for draws in chains]
        later = [states[len(states) // 2 :] for states in moved]
        return np.concatenate(later) if later else np.empty((0, width))


def _scale_of(levels: Floats) -> Floats:
    """Levels on a scale on which their distances mean something."""
    with np.errstate(divide="ignore"):
        return np.log(np.clip(levels, 1e-6, 1e300))


def _shifted(draws: Draws, by: float) -> Draws:
    return draws._replace(time=draws.time + by)
