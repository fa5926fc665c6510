"""What is known of executors beyond what they say in public."""

from __future__ import annotations

import threading
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import loky
import pytest

from aptmc.backends.cluster.executors import end, workers_of
from tests.backends.contract import eventually

MAKERS = {
    "processes": lambda: ProcessPoolExecutor(2, mp_context=get_context("spawn")),
    "loky": lambda: loky.ProcessPoolExecutor(2),
    "threads": lambda: ThreadPoolExecutor(2),
}


def wait_for_good() -> None:
    threading.Event().wait()


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_the_number_of_workers_is_known(make):
    with make() as executor:
        assert workers_of(executor) == 2


def test_whoever_does_not_tell_has_to_be_asked_about():
    assert workers_of(Executor()) is None


@pytest.mark.parametrize("kind", ["processes", "loky"])
def test_processes_that_compute_for_ever_are_ended(kind):
    executor = MAKERS[kind]()
    futures = [executor.submit(wait_for_good) for _ in range(2)]
    eventually(lambda: all(future.running() for future in futures))
    processes = list(executor._processes.values())
    assert len(processes) == 2
    end(executor)
    eventually(lambda: not any(process.is_alive() for process in processes))
