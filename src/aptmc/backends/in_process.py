"""One processor: this process, by the wall clock."""

from __future__ import annotations

from functools import partial
from typing import final

import numpy as np
from typing_extensions import override

from aptmc.arguments import class_named_clearly
from aptmc.backends.base import Engine, LoopBackend, LoopEngine
from aptmc.backends.early_here import before_moves_count, find_states_here, search_here
from aptmc.clock import Clock, WallClock
from aptmc.errors import InputError, RunFailed, StopReason
from aptmc.session.control import Control, FixedProcessors
from aptmc.session.descent import Errand, carry_out
from aptmc.session.session import Overhead, Session, Usage


@class_named_clearly
@final
class InProcess(LoopBackend):
    """Compute moves one after the other in the caller's process.

    A move that is under way when the budget ends is finished, but does not count: what a budget
    cuts off is more often slow, and counting it would be biased.

    :param clock: the clock to go by; the machine's own if none is given
    """

    processors = 1

    def __init__(self, clock: Clock | None = None) -> None:
        if clock is not None and not isinstance(clock, Clock):
            raise InputError(f"clock must be an aptmc Clock, got {clock!r}: leave it out")
        self.clock = WallClock() if clock is None else clock

    def __repr__(self) -> str:
        return "InProcess()"

    def check(self, session: Session) -> None:
        """By a clock of one's own, first states take no time, as in virtual time."""
        if not isinstance(self.clock, WallClock) and not session.problem.needs_search:
            session.begin()

    @override
    def engine(self, budget: float, control: Control) -> Engine:
        if isinstance(self.clock, WallClock):
            return WallClockEngine(self, control, budget)
        return LoopEngine(partial(self.run, control=control), self._search, budget)

    def _search(self, session: Session, errand: Errand, budget: float) -> Usage:
        """By a clock of one's own: it takes no time."""
        try:
            carry_out(errand, session.mover.compute, self.clock)
        except KeyboardInterrupt:
            return Usage(StopReason.INTERRUPTED, 0.0, np.zeros(1))
        except RunFailed as failure:
            return Usage(StopReason.FAILED, 0.0, np.zeros(1), failure)
        return Usage(StopReason.STILL_RUNNING, 0.0, np.zeros(1))

    def run(self, session: Session, budget: float, control: Control | None = None) -> Usage:
        """Take, compute, complete, until the budget is spent."""
        try:
            session.begin()
        except KeyboardInterrupt:
            return Usage(StopReason.INTERRUPTED, 0.0, np.zeros(1))
        session.make_ready()
        control = control or Control()
        began = session.progress.elapsed
        until = began + budget
        called = self.clock.now()
        origin = called - began
        stopped = StopReason.BUDGET_SPENT
        failure: RunFailed | None = None
        busy = 0.0
        now = began
        # Moves that were cut off when the session was left are computed again, in order.
        cut_off = session.machine.in_flight[::-1]
        try:
            while True:
                chain = cut_off.pop() if cut_off else session.take_next(0, time=now)
                outcome = session.compute(chain)
                finished = self.clock.now() - origin
                busy += min(finished, until) - now
                started, now = now, min(finished, until)
                if finished > until:
                    session.catch_up(until)
                    break
                exchanging = session.progress.exchange_seconds
                session.complete(chain, outcome, finished, 0, started, finished)
                if isinstance(self.clock, WallClock):
                    # The session's clock stands still during exchanges. If their time counted as
                    # that of the next move, a move would take longer after a slow one, whose
                    # deadlines are many: hold times would depend on each other, which is biased.
                    origin += session.progress.exchange_seconds - exchanging
                    until = max(now, min(until, called + budget - origin))
                control.serve(FixedProcessors(now - began, np.array([busy])))
                if control.stopped is not None:
                    stopped = control.stopped
                    break
                if session.has_used_its_share:
                    break
        except KeyboardInterrupt:
            stopped = StopReason.INTERRUPTED
        except RunFailed as error:
            stopped, failure = StopReason.FAILED, error
        session.progress.elapsed = now
        # By another clock they take no time.
        by_the_wall = isinstance(self.clock, WallClock)
        overhead = Overhead(exchanges=session.progress.exchange_seconds if by_the_wall else 0.0)
        return Usage(stopped, now - began, np.array([busy]), failure, overhead=overhead)


@final
class WallClockEngine(Engine):
    """The engine of a process that computes by itself. The budget counts from the call."""

    def __init__(self, backend: InProcess, control: Control, budget: float) -> None:
        self._backend, self._control = backend, control
        self._end = control.called + budget

    @override
    def run(self, session: Session, budget: float) -> Usage:
        """First states, unless there are some, and then moves, in what is left by then."""
        control = self._control
        find = partial(find_states_here, session, control, self._end)
        usage = before_moves_count(find, control)
        if usage.stopped is not StopReason.STILL_RUNNING:
            return usage._replace(elapsed=0.0)
        control.start_up.over()
        return self._backend.run(session, min(budget, self.left()), control)

    @override
    def search(self, session: Session, errand: Errand) -> Usage:
        search = partial(search_here, session, errand, self._control, self._end)
        return before_moves_count(search, self._control)

    @override
    def over(self) -> None:
        """Nobody is to go."""

    @override
    def left(self) -> float:
        return self._end - self._control.clock.now()
