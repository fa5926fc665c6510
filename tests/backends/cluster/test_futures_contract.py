"""The contract of backends, kept by the workers of executors."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from importlib import import_module

import pytest

import aptmc
from tests.backends.process_contract import BriefEngineContract, EngineContract

# One for all tests: to start Python and to load libraries takes seconds.
POOLS = {
    "processes": lambda: ProcessPoolExecutor(2, multiprocessing.get_context("spawn")),
    "threads": lambda: ThreadPoolExecutor(2),
    "loky": lambda: import_module("loky").ProcessPoolExecutor(2),
}
_made = {}


def pool(kind):
    return _made.get(kind) or _made.setdefault(kind, POOLS[kind]())


@pytest.fixture(scope="module", autouse=True)
def _end_pools():
    yield
    for executor in _made.values():
        executor.shutdown()
    _made.clear()


class TestProcessPool(BriefEngineContract):
    @staticmethod
    def backend():
        return aptmc.Futures(pool("processes"), 2, group=1)


class TestThreadsAndBarriers(BriefEngineContract):
    schedule = aptmc.Synchronous(moves=2)

    @staticmethod
    def backend():
        return aptmc.Futures(pool("threads"), 2, group=1)


class TestLoky(BriefEngineContract):
    @staticmethod
    def backend():
        pytest.importorskip("loky")
        return aptmc.Futures(pool("loky"), 2, group=1)


@pytest.mark.validation
class TestAllOfProcessPool(TestProcessPool, EngineContract):
    """In full."""
