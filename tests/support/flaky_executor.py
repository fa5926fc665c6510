"""An executor of threads that breaks now and then, as a pool of processes does if one is killed."""

from __future__ import annotations

import threading
from concurrent.futures import Executor, Future, InvalidStateError, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress


class FlakyExecutor(Executor):
    """Breaks when so many tasks were begun: nothing that is under way is ever answered.

    :param lifetime: how many tasks are begun; the last of them breaks it
    :param breaks_on: results that break it, too
    """

    def __init__(self, workers, lifetime, breaks_on=lambda result: False):
        self.lifetime, self.breaks_on = lifetime, breaks_on
        self.is_shut_down = False
        self._begun = 0
        self._is_broken = False
        self._threads = ThreadPoolExecutor(workers)
        self._lock = threading.Lock()
        self._pending = set()

    def submit(self, function, /, *arguments, **options):
        future = Future()
        with self._lock:
            if self._is_broken:
                raise BrokenProcessPool("broken")
            self._pending.add(future)
        self._threads.submit(self._work, future, function, arguments, options)
        return future

    def shutdown(self, wait=True, *, cancel_futures=False):
        self.is_shut_down = True
        self._threads.shutdown(wait, cancel_futures=cancel_futures)

    def _work(self, future, function, arguments, options):
        with self._lock:
            self._begun += 1
            breaks = self._begun >= self.lifetime
            if self._is_broken:
                return
        result = None if breaks else function(*arguments, **options)
        if breaks or self.breaks_on(result):
            self._break()
            return
        with self._lock:
            self._pending.discard(future)
        with suppress(InvalidStateError):  # it was broken meanwhile, or the task given up
            future.set_result(result)

    def _break(self):
        with self._lock:
            self._is_broken = True
            lost, self._pending = self._pending, set()
        for future in lost:
            with suppress(InvalidStateError):
                future.set_exception(BrokenProcessPool("broken"))
