"""The contract of backends, kept by worker processes."""

from __future__ import annotations

import aptmc
from tests.backends.process_contract import BriefProcessContract, ProcessContract


class TestOneWorker(BriefProcessContract):
    @staticmethod
    def backend():
        return aptmc.Processes(1, group=1)


class TestTwoWorkers(ProcessContract):
    @staticmethod
    def backend():
        return aptmc.Processes(2, group=1)


class TestTwoSynchronousWorkers(BriefProcessContract):
    schedule = aptmc.Synchronous(moves=2)

    @staticmethod
    def backend():
        return aptmc.Processes(2, group=1)
