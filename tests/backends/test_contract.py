"""The contract of backends, kept by those that need no other process."""

from __future__ import annotations

import aptmc
from aptmc.clock import ManualClock
from tests.backends.contract import Contract, RaisesInTheEnd


class TestVirtualTime(Contract):
    schedule = aptmc.Anytime(every=2.3)
    failing_schedule = aptmc.Anytime(every=2.3, exchange=RaisesInTheEnd())

    @staticmethod
    def backend():
        return aptmc.VirtualTime(2)

    def sample(self, problem, **changes):
        return super().sample(problem, log_events=True, **changes)


class TestSynchronousVirtualTime(TestVirtualTime):
    schedule = aptmc.Synchronous(moves=2)
    failing_schedule = aptmc.Synchronous(exchange=RaisesInTheEnd())


class TestInProcess(Contract):
    schedule = aptmc.Anytime(every=2.3)
    failing_schedule = aptmc.Anytime(every=2.3, exchange=RaisesInTheEnd())

    @staticmethod
    def backend():
        return aptmc.InProcess(ManualClock(step=1.0))

    @staticmethod
    def leave(backend, session):
        # A request to stop is heard between two moves; only a budget cuts one off.
        return backend.run(session, 100.5)


class TestInProcessByTheWallClock(Contract):
    schedule = aptmc.Anytime(every="1 ms")
    failing_schedule = aptmc.Anytime(every="1 ms", exchange=RaisesInTheEnd())
    budget = 0.1

    @staticmethod
    def backend():
        return aptmc.InProcess()

    @staticmethod
    def leave(backend, session):
        return backend.run(session, 0.05)


class TestSynchronousInProcess(TestInProcessByTheWallClock):
    schedule = aptmc.Synchronous(moves=2)
    failing_schedule = aptmc.Synchronous(exchange=RaisesInTheEnd())
