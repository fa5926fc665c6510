"""A session: the coordinator and all that it is wired to, as a backend sees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from aptmc.chain import INFO_LENGTH, STATUS
from aptmc.compiled import Floats, FloatTable, Integers, interpreted
from aptmc.coordinator import NOBODY, Coordinator, catch_up, complete, take_next
from aptmc.errors import ExchangeFailed, MoveFailed, RunFailed, StopReason
from aptmc.kernels import Kernel
from aptmc.keys import MOVE, Key, Streams, rewind
from aptmc.problem import Problem
from aptmc.record import Record

# From Python, handing over functions costs more than a completion that needs none of them.
plain_complete = interpreted(complete)


class Usage(NamedTuple):
    """What a backend reports at the end."""

    stopped: StopReason
    elapsed: float
    busy: Floats  # of each processor: time inside moves
    failure: RunFailed | None = None


class Outcome(NamedTuple):
    """What became of a move."""

    state: Floats
    info: Floats


@dataclass(frozen=True)
class Session:
    """One run's coordinator, record, streams and functions."""

    seed: int
    problem: Problem
    kernel: Kernel
    machine: Coordinator
    record: Record
    streams: Streams
    served: Integers  # of each processor: the pool that it serves
    is_compiled: bool
    move: Callable[..., None]
    tuning: FloatTable  # of each rung: the kernel's numbers
    choose_pairs: Callable[..., int]
    choose_pairs_within: Callable[..., int]
    log_weight: Callable[[float, float], float]
    empty_record: Callable[[Record], None]
    started_from: dict[int, int] = field(default_factory=dict)  # replicas of chains in flight

    @property
    def processors(self) -> int:
        """How many processors compute moves."""
        return int(self.served.size)

    def flush(self) -> None:
        """Hand the draws recorded so far to the store."""
        self.empty_record(self.record)
        self.record.filled[0] = 0

    def take_next(self, pool: int) -> int:
        """The next chain to move in a pool, now in flight."""
        chain = take_next(self.machine, pool)
        if chain != NOBODY:
            self.started_from[chain] = int(self.machine.replica[chain])
        return chain

    def compute(self, chain: int) -> Outcome:
        """Compute the current move of a chain, in this process."""
        state = self.machine.states[self.machine.replica[chain]]
        outcome = Outcome(np.empty_like(state), np.empty(INFO_LENGTH))
        rewind(self.streams.dial, MOVE, chain, self.machine.moves[chain])
        rung = self.machine.rung[chain]
        level, tuning = self.machine.level[rung], self.tuning[rung]
        try:
            self.move(level, tuning, state, self.streams.generator, outcome.state, outcome.info)
        except Exception as error:
            raise self.failed_move(chain, error)  # noqa: B904 (its cause is the user's error)
        if outcome.info[STATUS]:
            raise self.failed_move(chain)
        return outcome

    def complete(self, chain: int, outcome: Outcome, time: float) -> None:
        """Report a finished move."""
        if self.machine.plan.swaps_in_flight:
            # Only the uncorrected schedule swaps a chain in flight: its move is applied to the
            # state that it holds by now.
            self.catch_up(time)
            if self.machine.replica[chain] != self.started_from[chain]:
                outcome = self.compute(chain)
        try:
            while not plain_complete(
                self.machine, chain, outcome.state, outcome.info, time, self.record, self.streams,
                self.choose_pairs, self.choose_pairs_within, self.log_weight,
            ):  # fmt: skip
                self.flush()
        except Exception as error:
            raise failed_exchange(error) from error

    def catch_up(self, time: float) -> None:
        """Carry out the exchanges of all deadlines up to a time."""
        try:
            while not catch_up(
                self.machine, time, self.record, self.streams, self.choose_pairs, self.log_weight
            ):
                self.flush()
        except Exception as error:
            raise failed_exchange(error) from error

    def key(self, chain: int) -> Key:
        """The random key of a chain's current move."""
        return Key(self.seed, chain, int(self.machine.moves[chain]))

    def failed_move(self, chain: int, error: Exception | None = None) -> MoveFailed:
        """The error that explains why a chain's current move cannot be computed.

        A plain Python function has already said at which parameters it failed. If a compiled one
        did, the move is computed once more in plain Python, with its own key, to find out.
        """
        rung, key = int(self.machine.rung[chain]), self.key(chain)
        state = self.machine.states[self.machine.replica[chain]]
        failure = error if isinstance(error, MoveFailed) else self._fail_again(rung, key, state)
        if failure is None:
            reason = "a move failed, once," if error is None else f"a move raised {error!r}, once,"
            failure = MoveFailed(reason, self.problem.describe(state))
            failure.__cause__ = error
        return failure.located(rung, key)

    def _fail_again(self, rung: int, key: Key, state: Floats) -> MoveFailed | None:
        outcome = Outcome(state.copy(), np.zeros(INFO_LENGTH))
        move = self.kernel.move(self.problem, compiled=False)
        level, tuning = self.machine.level[rung], self.tuning[rung]
        try:
            move(level, tuning, state, key.generator(), outcome.state, outcome.info)
            self.problem.check(outcome.state)
        except MoveFailed as failure:
            return failure
        return None


def failed_exchange(error: Exception) -> ExchangeFailed:
    """The error that says that an exchange rule is to blame."""
    return ExchangeFailed(
        f"an exchange rule failed with {type(error).__name__}: {error}; a rule writes pairs of "
        "positions of waiting chains and returns how many"
    )
