"""What is installed in every Dask worker. Imported only where Dask is."""

from __future__ import annotations

import asyncio
from typing import Any, final

from distributed import WorkerPlugin
from distributed.threadpoolexecutor import ThreadPoolExecutor

from aptmc.backends.cluster.task import perform

NAME = "aptmc"
MOST_REMEMBERED = 1000


@final
class Orders(WorkerPlugin):  # type: ignore[misc]
    """Takes orders straight from the coordinating process, without a way through the scheduler."""

    name = NAME

    def setup(self, worker: Any) -> None:
        """Be there for orders. All runs share the same threads."""
        if not hasattr(worker, "aptmc_threads"):
            threads = worker.aptmc_threads = _OrderThreads(worker.state.nthreads)
            worker.handlers |= {"aptmc_perform": threads.perform, "aptmc_forget": threads.forget}


@final
class _OrderThreads:
    """Orders are computed in threads of their own, so that the worker can answer meanwhile.

    They are Dask's kind of threads, which a worker that ends does not wait for.
    """

    def __init__(self, threads: int) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=NAME)
        self._over: list[str] = []

    async def perform(self, run: str, token: str, message: bytes, payload: bytes | None) -> bytes:
        """Compute an order when its turn comes."""
        done = self._threads.submit(self._perform, run, token, bytes(message), payload)
        return bytes(await asyncio.wrap_future(done))

    async def forget(self, run: str) -> None:
        """A run is over: what it has left here is not worth computing."""
        self._over = [*self._over[-MOST_REMEMBERED:], run]

    def _perform(self, run: str, token: str, message: bytes, payload: bytes | None) -> bytes:
        return b"" if run in self._over else perform(token, message, payload)
