"""A session: the coordinator and all that it is wired to, as a backend sees it.

A request of a backend passes three layers. The session does what plain Python is for: it empties
buffers that are full, measures the time of exchanges and says in words what failed. `standing_by`
hands the request over to compiled code. `coordinator.transitions` carries it out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from aptmc.clock import WallClock
from aptmc.compiled import Floats, FloatTable, Integers
from aptmc.coordinator.state import Coordinator, Functions
from aptmc.errors import ExchangeFailed, MoveFailed, RunFailed, StopReason
from aptmc.kernels import Kernel
from aptmc.keys import Key, Streams, open_streams
from aptmc.problem import Problem
from aptmc.problem.chain_state import HOLD_TIME, PROCESSOR
from aptmc.record.event_log import EventLog
from aptmc.record.record import Record
from aptmc.session.compilation import Compilation
from aptmc.session.descent import (
    Descent,
    Reached,
    RunErrand,
    Tell,
    carry_out,
    reached_by,
    reached_so_far,
    say_nothing,
)
from aptmc.session.early_outcomes import EarlyOutcomes
from aptmc.session.meter import Meter
from aptmc.session.orders import ComputeAll, Mover, Order, Outcome
from aptmc.session.standing_by import StandingBy
from aptmc.session.start_up import Spent

CLOCK = WallClock()


class Overhead(NamedTuple):
    """What the run itself cost, in seconds of the coordinating process."""

    coordinator: float = 0.0  # in all, exchanges included
    exchanges: float = 0.0  # carrying out the exchanges of deadlines and barriers
    startup: float = 0.0  # in which no moves count: processes, compilation, first states, tuning


class Usage(NamedTuple):
    """What a backend reports at the end."""

    stopped: StopReason
    elapsed: float
    busy: Floats  # of each processor: time inside moves
    failure: RunFailed | None = None
    present: Floats | None = None  # of each processor: how long it was there, if not all the time
    overhead: Overhead = Overhead()
    start_up: tuple[Spent, ...] = ()  # what came before the first moves of this sitting
    charged: float | None = None  # what it took of a budget that is no time
    repeats_itself: bool = False  # whether a simulator gives the same data again and again
    others: float = 0.0  # processes of others that wanted each processor of the machine meanwhile

    @property
    def of_budget(self) -> float:
        """What it took of the budget: time, unless something else is counted."""
        return self.elapsed if self.charged is None else self.charged


@dataclass
class Progress:
    """How far a session has come; a backend that goes on with it begins there."""

    elapsed: float = 0.0
    exchange_seconds: float = 0.0
    has_states: bool = False
    first_states: FloatTable | None = None  # from which the run can be computed again
    units: Any = None  # worker processes: how much is sent at a time
    quickest_start: float = 0.0  # worker processes: seconds that no first state took less than
    step_length: float = 0.0  # worker processes: seconds that a step of a search took
    flight: Any = None  # virtual time: what the processors were doing
    early: EarlyOutcomes = field(default_factory=EarlyOutcomes)
    descent: Descent | None = None  # that is under way
    descended: dict[str, Any] = field(default_factory=dict)  # what an earlier sitting knew of it
    reached: Reached | None = None  # how far down a likelihood-free run came
    draws_globally: bool = False  # whether moves drew from generators that they were not given
    meter: Meter | None = None  # counts what a phase may use, if that is no time


@dataclass(frozen=True)
class Session:
    """One run's coordinator, record, streams and functions."""

    seed: int
    problem: Problem
    kernel: Kernel
    machine: Coordinator
    record: Record
    log: EventLog
    served: Integers  # of each processor: the pool that it serves
    apart: int  # as pools say it
    tuning: FloatTable  # of each rung: the kernel's numbers
    functions: Functions
    compilation: Compilation  # of the coordinator and these functions
    find_states: Callable[[ComputeAll, Tell], FloatTable]  # where any state will do
    descend: Callable[[], Descent]  # where they have to be searched for
    found_by: Callable[[Descent], FloatTable]
    store: Callable[[Record, EventLog], None]  # keeps what is in the buffers
    progress: Progress = field(default_factory=Progress)

    @property
    def processors(self) -> int:
        """How many processors compute moves."""
        return int(self.served.size)

    @cached_property
    def mover(self) -> Mover:
        """Computes moves in this process. Compiled when it is first used."""
        return Mover(self.problem, self.kernel, self.seed)

    @property
    def draws_globally(self) -> bool:
        """Whether the user's function draws from numpy's global generator, or another such."""
        here = self.__dict__.get("mover")
        return self.progress.draws_globally or (here is not None and bool(here.seeding.needed))

    @property
    def has_used_its_share(self) -> bool:
        """Whether a phase has counted as much as it may."""
        meter = self.progress.meter
        return meter is not None and meter.left_in_phase <= 0.0

    @property
    def reached(self) -> Reached | None:
        """How far down a likelihood-free run came; of a descent under way, so far."""
        descent = self.progress.descent
        if descent is None:
            return self.progress.reached
        return reached_so_far(descent, asked=descent.goal.coldest)

    @cached_property
    def streams(self) -> Streams:
        """The random streams of exchanges."""
        return open_streams(self.seed)

    @cached_property
    def coordinator(self) -> StandingBy:
        """The coordinator, ready to be asked."""
        return StandingBy(
            self.machine, self.record, self.log, self.streams, self.functions, self.compilation
        )

    def begin(
        self,
        compute_all: ComputeAll | None = None,
        run_errand: RunErrand | None = None,
        tell: Tell = say_nothing,
    ) -> None:
        """Give the chains their first states, unless they have them.

        :param compute_all: who computes moves that are known beforehand: this process, by default
        :param run_errand: who computes those that depend on each other, likewise
        :param tell: is told how many have been found
        """
        progress = self.progress
        if progress.has_states:
            return
        if not self.problem.needs_search:
            compute = progress.early.remembering(compute_all or self.mover.compute_all)
            self.begin_from(self.find_states(compute, tell))
            progress.early.forget()
            return
        descent = self.descend()
        descent.tell = tell
        if progress.descended:
            descent.recall(progress.descended)
        progress.descent = descent
        (run_errand or partial(carry_out, compute=self.mover.compute))(descent)
        progress.descent = None
        self.begin_from(self.found_by(descent))
        asked = descent.goal.coldest
        progress.reached = reached_by(descent, asked, asked=asked)

    def make_ready(self) -> None:
        """Have the coordinator ready: while a clock runs, that would miss deadlines."""
        _ = self.coordinator

    def begin_from(self, states: FloatTable) -> None:
        """Give the chains these first states."""
        self.machine.states[:] = states
        if np.isnan(self.machine.starts).all():  # there are no others from which it could settle
            self.machine.starts[:] = states
        self.progress.first_states = self.machine.states.copy()
        self.progress.has_states = True

    def flush(self) -> None:
        """Hand the draws and events recorded so far to the store."""
        try:
            self.store(self.record, self.log)
        finally:  # a store that cannot write has them all the same, in memory
            self.record.filled[0] = 0
            self.log.filled[0] = 0

    def take_next(self, pool: int, processor: int = 0, time: float = math.nan) -> int:
        """The next chain to move in a pool, now in flight; or NOBODY."""
        if self._deadline[0] <= time:
            self.catch_up(time)
        self._make_room_in_log()
        return self.coordinator.take_next(pool, processor, time)

    def order(self, chain: int) -> Order:
        """The current move of a chain in flight."""
        rung = int(self.machine.rung[chain])
        state = self.machine.states[self.machine.replica[chain]]
        level = float(self.machine.level[rung])
        return Order(self.key(chain), rung, level, self.tuning[rung], state)

    def compute(self, chain: int) -> Outcome:
        """Compute the current move of a chain, in this process."""
        return self.mover.compute(self.order(chain))

    def complete(
        self,
        chain: int,
        outcome: Outcome,
        time: float,
        processor: int = 0,
        began: float = math.nan,
        ended: float = math.nan,
    ) -> None:
        """Report a finished move, and what one knows of who computed it when."""
        if self.machine.plan.swaps_in_flight:
            # Only the uncorrected schedule swaps a chain in flight: its move is applied to the
            # state that it holds by now.
            self.catch_up(time)
            mine = self.machine.chains[chain]
            if mine["replica"] != mine["started_from"]:
                outcome = self.compute(chain)
        if outcome.info[PROCESSOR] != 0.0:
            self.progress.draws_globally = True
        outcome.info[HOLD_TIME] = ended - began
        outcome.info[PROCESSOR] = processor
        self._make_room_in_log()
        self._carry_out(self.coordinator.complete, chain, outcome, began, ended, time)

    def catch_up(self, time: float) -> None:
        """Carry out the exchanges of all deadlines up to a time."""
        self._carry_out(self.coordinator.catch_up, time)

    def key(self, chain: int) -> Key:
        """The random key of a chain's current move."""
        return Key(self.seed, chain, int(self.machine.moves[chain]))

    def failed_move(self, chain: int, error: Exception | None = None) -> MoveFailed:
        """The error that explains why a chain's current move cannot be computed."""
        return self.mover.failure(self.order(chain), error)

    @cached_property
    def _deadline(self) -> Floats:
        """One number: the next. Looking it up each time would take as long as an exchange."""
        return self.machine.deadline

    @cached_property
    def _passed(self) -> Integers:
        return self.machine.passed

    def _make_room_in_log(self) -> None:
        if self.log.filled[0] == self.log.rows.size > 0:
            self.flush()

    def _carry_out(self, ask: Callable[..., bool], *arguments: Any) -> None:
        """Ask until it is done; the time counts as that of exchanges if there were any."""
        before, passed = CLOCK.now(), self._passed[0]
        try:
            while not ask(*arguments):
                self.flush()
        except RunFailed:
            raise
        except Exception as error:
            raise failed_exchange(error) from error
        if self._passed[0] > passed:
            self.progress.exchange_seconds += CLOCK.now() - before


def failed_exchange(error: Exception) -> ExchangeFailed:
    """The error that says that an exchange rule is to blame."""
    return ExchangeFailed(
        f"an exchange rule or a schedule failed with {type(error).__name__}: {error}; a rule "
        "writes pairs of positions of waiting chains and returns how many, a schedule says when "
        "the next deadline comes"
    )


def empty_states(chains: int, width: int) -> FloatTable:
    """States that nobody has found yet."""
    return np.full((chains, width), np.nan)
