"""The contract of backends, kept by those that need no other process.

In full by virtual time; by the others in brief, and in full in the validation.
"""

from __future__ import annotations

import pytest

import aptmc
from aptmc.clock import ManualClock
from tests.backends.contract import BriefContract, Contract, RaisesInTheEnd


class BriefVirtualContract(BriefContract):
    @staticmethod
    def backend():
        return aptmc.VirtualTime(2)

    def sample(self, problem, **changes):
        return super().sample(problem, log_events=True, **changes)


class TestVirtualTime(BriefVirtualContract, Contract):
    schedule = aptmc.Anytime(every=2.3)
    failing_schedule = aptmc.Anytime(every=2.3, exchange=RaisesInTheEnd())


class TestSynchronousVirtualTime(BriefVirtualContract):
    schedule = aptmc.Synchronous(moves=2)
    failing_schedule = aptmc.Synchronous(exchange=RaisesInTheEnd())


class TestInProcess(BriefContract):
    schedule = aptmc.Anytime(every=2.3)
    failing_schedule = aptmc.Anytime(every=2.3, exchange=RaisesInTheEnd())

    @staticmethod
    def backend():
        return aptmc.InProcess(ManualClock(step=1.0))

    @staticmethod
    def leave(backend, session):
        # A request to stop is heard between two moves; only a budget cuts one off.
        return backend.run(session, 100.5)


class TestInProcessByTheWallClock(BriefContract):
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


@pytest.mark.validation
class TestAllOfSynchronousVirtualTime(TestSynchronousVirtualTime, Contract):
    """In full."""


@pytest.mark.validation
class TestAllOfInProcess(TestInProcess, Contract):
    """In full."""


@pytest.mark.validation
class TestAllOfInProcessByTheWallClock(TestInProcessByTheWallClock, Contract):
    """In full."""


@pytest.mark.validation
class TestAllOfSynchronousInProcess(TestSynchronousInProcess, Contract):
    """In full."""
