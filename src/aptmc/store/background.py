"""Work for the disk, done one after the other while the run goes on."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, final


@final
class Background:
    """A thread that waits for the disk, so that nobody else has to. It starts when it is needed."""

    def __init__(self) -> None:
        self._thread: ThreadPoolExecutor | None = None
        self._under_way: list[Future[None]] = []

    def begin(self, task: Callable[..., None], *arguments: Any) -> None:
        """Have something done after all that was begun before."""
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "aptmc store")
        self._under_way.append(self._thread.submit(task, *arguments))

    def finish(self) -> None:
        """Wait until all that was begun is done; what went wrong is raised here."""
        for task in self._under_way:
            task.result()
        self._under_way.clear()

    def close(self) -> None:
        """End the thread, after what it has begun."""
        if self._thread is not None:
            self._thread.shutdown()
            self._thread = None
