"""A session: the coordinator and all that it is wired to, as a backend sees it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from aptmc.clock import WallClock
from aptmc.compiled import Floats, FloatTable, Integers, source_of
from aptmc.coordinator.transitions import Coordinator, take_next
from aptmc.errors import ExchangeFailed, MoveFailed, RunFailed, StopReason
from aptmc.kernels import Kernel
from aptmc.keys import Key, Streams, open_streams
from aptmc.problem import Problem
from aptmc.problem.state import HOLD_TIME, PROCESSOR
from aptmc.record.event_log import COMPLETED, TAKEN, EventLog, log_event
from aptmc.record.record import NOBODY, Record
from aptmc.session.orders import ComputeAll, Mover, Order, Outcome
from aptmc.session.standing_by import Desk

note_event = source_of(log_event)


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


class UnderWay(NamedTuple):
    """A move that was being computed when the session was left."""

    processor: int
    age: float  # how long it had been computed by then


@dataclass
class Progress:
    """How far a session has come; a backend that goes on with it begins there."""

    elapsed: float = 0.0
    exchange_seconds: float = 0.0
    has_states: bool = False
    first_states: FloatTable | None = None  # from which the run can be computed again
    units: Any = None  # worker processes: how much is sent at a time
    flight: Any = None  # virtual time: what the processors were doing
    # By chain. A chain in flight that is missing was waiting for its processor.
    under_way: dict[int, UnderWay] = field(default_factory=dict)


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
    tuning: FloatTable  # of each rung: the kernel's numbers
    choose_pairs: Callable[..., int]
    choose_pairs_within: Callable[..., int]
    log_weight: Callable[[float, float], float]
    find_states: Callable[[ComputeAll | None], FloatTable]
    store: Callable[[Record, EventLog], None]  # keeps what is in the buffers
    started_from: dict[int, int] = field(default_factory=dict)  # by chain in flight: its replica
    progress: Progress = field(default_factory=Progress)

    @property
    def processors(self) -> int:
        """How many processors compute moves."""
        return int(self.served.size)

    @cached_property
    def mover(self) -> Mover:
        """Computes moves in this process. Compiled when it is first used."""
        return Mover(self.problem, self.kernel, self.seed)

    @cached_property
    def streams(self) -> Streams:
        """The random streams of exchanges."""
        return open_streams(self.seed)

    @cached_property
    def desk(self) -> Desk:
        """Where the coordinator is spoken to."""
        return Desk(
            self.machine, self.record, self.streams,
            self.choose_pairs, self.choose_pairs_within, self.log_weight,
        )  # fmt: skip

    def begin(self, compute_all: ComputeAll | None = None) -> None:
        """Give the chains their first states, unless they have them."""
        if not self.progress.has_states:
            self.begin_from(self.find_states(compute_all or self.mover.compute_all))

    def begin_from(self, states: FloatTable) -> None:
        """Give the chains these first states."""
        self.machine.states[:] = states
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
        if self._deadline_has_passed(time):
            self.catch_up(time)
        chain = take_next(self.machine, pool)
        if chain != NOBODY:
            self.started_from[chain] = int(self.machine.replica[chain])
            self._note(TAKEN, chain, processor, time, math.nan, math.nan)
        return chain

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
        if self._deadline_has_passed(time):
            self.catch_up(time)
        if self.machine.plan.swaps_in_flight and (
            self.machine.replica[chain] != self.started_from[chain]
        ):
            # Only the uncorrected schedule swaps a chain in flight: its move is applied to the
            # state that it holds by now.
            outcome = self.compute(chain)
        outcome.info[HOLD_TIME] = ended - began
        outcome.info[PROCESSOR] = processor
        del self.started_from[chain]
        clock, barriers = WallClock(), self.machine.passed[0]
        before = clock.now()
        try:
            while not self.desk.complete(chain, outcome, time):
                self.flush()
        except RunFailed:
            raise
        except Exception as error:
            raise failed_exchange(error) from error
        if self.machine.passed[0] > barriers:
            self.progress.exchange_seconds += clock.now() - before
        self._note(COMPLETED, chain, processor, time, began, ended)

    def catch_up(self, time: float) -> None:
        """Carry out the exchanges of all deadlines up to a time."""
        clock = WallClock()
        before = clock.now()
        try:
            while not self.desk.catch_up(time):
                self.flush()
        except RunFailed:
            raise
        except Exception as error:
            raise failed_exchange(error) from error
        self.progress.exchange_seconds += clock.now() - before

    def key(self, chain: int) -> Key:
        """The random key of a chain's current move."""
        return Key(self.seed, chain, int(self.machine.moves[chain]))

    def failed_move(self, chain: int, error: Exception | None = None) -> MoveFailed:
        """The error that explains why a chain's current move cannot be computed."""
        return self.mover.failure(self.order(chain), error)

    def _deadline_has_passed(self, time: float) -> bool:
        return bool(self.machine.deadline[0] <= time)

    def _note(
        self, kind: int, chain: int, processor: int, time: float, began: float, ended: float
    ) -> None:
        if self.log.filled[0] == self.log.kind.size > 0:
            self.flush()
        note_event(self.log, kind, chain, processor, time, began, ended)


def failed_exchange(error: Exception) -> ExchangeFailed:
    """The error that says that an exchange rule is to blame."""
    return ExchangeFailed(
        f"an exchange rule failed with {type(error).__name__}: {error}; a rule writes pairs of "
        "positions of waiting chains and returns how many"
    )


def empty_states(chains: int, width: int) -> FloatTable:
    """States that nobody has found yet."""
    return np.full((chains, width), np.nan)
