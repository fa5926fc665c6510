"""The contract of backends, kept by worker processes."""

from __future__ import annotations

import aptmc
from tests.backends.contract import RaisesInTheEnd
from tests.backends.process_contract import ProcessContract


class TestOneWorker(ProcessContract):
    @staticmethod
    def backend():
        return aptmc.Processes(1, group=1)


class TestTwoWorkers(ProcessContract):
    @staticmethod
    def backend():
        return aptmc.Processes(2, group=1)


class TestOneSynchronousWorker(TestOneWorker):
    schedule = aptmc.Synchronous(moves=2)
    failing_schedule = aptmc.Synchronous(exchange=RaisesInTheEnd())


class TestTwoSynchronousWorkers(TestTwoWorkers):
    schedule = aptmc.Synchronous(moves=2)
    failing_schedule = aptmc.Synchronous(exchange=RaisesInTheEnd())
