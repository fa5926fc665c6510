"""One processor: this process, by the wall clock."""

from __future__ import annotations

from typing import final

import numpy as np

from aptmc.backends.base import Backend
from aptmc.backends.session import Session, Usage
from aptmc.clock import Clock, WallClock
from aptmc.errors import RunFailed, StopReason


@final
class InProcess(Backend):
    """Compute moves one after the other in the caller's process.

    A move that is under way when the budget ends is finished, but does not count: what a budget
    cuts off is more often slow, and counting it would be biased.

    :param clock: the clock to go by; the machine's own if none is given
    """

    processors = 1

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock = WallClock() if clock is None else clock

    def __repr__(self) -> str:
        return "InProcess()"

    def check(self, session: Session) -> None:
        """Nothing can be wrong here."""

    def run(self, session: Session, budget: float) -> Usage:
        """Take, compute, complete, until the budget is spent."""
        started = self.clock.now()
        stopped = StopReason.BUDGET_SPENT
        failure: RunFailed | None = None
        busy = 0.0
        now = 0.0
        try:
            while True:
                chain = session.take_next(0)
                outcome = session.compute(chain)
                finished = self.clock.now() - started
                busy += min(finished, budget) - now
                now = finished
                if finished > budget:
                    break
                session.complete(chain, outcome, finished)
            session.catch_up(budget)
        except KeyboardInterrupt:
            stopped = StopReason.INTERRUPTED
        except RunFailed as error:
            stopped, failure = StopReason.FAILED, error
        return Usage(stopped, min(now, budget), np.array([busy]), failure)
