"""What is installed in every Dask worker. Imported only where Dask is."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any, final

from distributed import WorkerPlugin

from aptmc.backends.cluster.task import perform

NAME = "aptmc"
MOST_REMEMBERED = 1000


@final
class Orders(WorkerPlugin):  # type: ignore[misc]
    """Takes orders straight from the coordinating process, without a way through the scheduler.

    They are computed in threads of their own, as many as the worker has, so that the worker goes
    on to answer meanwhile.
    """

    name = NAME

    def setup(self, worker: Any) -> None:
        """Be there for orders. Whoever comes later finds those who came before."""
        self._worker = worker
        self._threads = ThreadPoolExecutor(worker.state.nthreads, thread_name_prefix=NAME)
        self._over: list[str] = []
        worker.handlers |= {"aptmc_perform": self.perform, "aptmc_forget": self.forget}

    def teardown(self, worker: Any) -> None:
        """Nothing more is begun."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def perform(self, run: str, token: str, message: bytes, payload: bytes | None) -> bytes:
        """Compute an order when its turn comes."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._threads, self._perform, run, token, bytes(message), payload
        )

    async def forget(self, run: str) -> None:
        """A run is over: what it has left here is not worth computing."""
        self._over = [*self._over[-MOST_REMEMBERED:], run]

    def _perform(self, run: str, token: str, message: bytes, payload: bytes | None) -> bytes:
        return b"" if run in self._over else perform(token, message, payload)
