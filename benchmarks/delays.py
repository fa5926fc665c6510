"""An executor of threads that is far away: messages take a while, there and back."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, InvalidStateError, ThreadPoolExecutor
from contextlib import suppress
from typing import Any


class DelayingExecutor(Executor):
    """Threads whose tasks arrive late and whose results come back late.

    :param delay: of a message, one way, in seconds
    """

    def __init__(self, workers: int, delay: float) -> None:
        self.delay = delay
        self._cut = (math.inf, math.inf)
        self._threads = ThreadPoolExecutor(workers)
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    def cut(self, begin: float, end: float) -> None:
        """Let nothing get through between two times, in seconds from now."""
        now = time.perf_counter()
        self._cut = (now + begin, now + end)

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Any:
        """Send a task on its way."""
        future: Future[Any] = Future()

        def compute() -> None:
            self._later(future.set_result, function(*arguments, **options))

        self._later(self._threads.submit, compute)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the threads."""
        self._threads.shutdown(wait, cancel_futures=cancel_futures)
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _later(self, what: Callable[..., Any], *arguments: Any) -> None:
        now = time.perf_counter()
        begin, end = self._cut
        held = end - now if begin <= now < end else 0.0

        def arrive() -> None:
            with suppress(InvalidStateError, RuntimeError):  # it was given up, or all is over
                what(*arguments)

        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._loop.call_later, self.delay + held, arrive)
