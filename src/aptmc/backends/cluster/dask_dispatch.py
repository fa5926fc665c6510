"""A Dask cluster as an engine, spoken to without the detour through its scheduler."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, final

from typing_extensions import override

from aptmc.backends.cluster.dispatch import Dispatch, Done, Interrupted, Lost, Seat
from aptmc.backends.cluster.task import Task

LOOK_AROUND = 0.5  # seconds between two looks at who is there
LOOKS_AWAY = 10  # before a worker that was lost and is still listed is given another chance
# A worker that has just joined may be listed a moment before it takes orders.
TRIES, PAUSE = 100, 0.1
REACH = 5.0  # seconds in which a worker that can be reached directly answers


@final
class DaskDispatch(Dispatch):
    """A Dask cluster as an engine. A worker process is lost at once, with all its threads."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._run = uuid.uuid4().hex
        self._seats: dict[str, list[Seat]] = {}  # by the worker's address, which is their home
        self._shunned: dict[str, int] = {}  # by address: for how many looks
        self._is_direct = True
        self._tasks: set[asyncio.Future[Any]] = set()
        self._changed: Callable[[], None] = _nothing
        self._gone: Callable[[Any], None] = _nothing

    # --- called by the thread that owns the run -------------------------------------------------

    @override
    def start(self, changed: Callable[[], None], gone: Callable[[Any], None]) -> None:
        """Install what takes orders in all workers, now and later."""
        from aptmc.backends.cluster.dask_worker import Orders

        self._changed, self._gone = changed, gone
        self._client.register_plugin(Orders())
        self._client.sync(self._look)
        self._client.sync(self._find_way)
        self._begin(self._keep_looking())

    @override
    def is_complete(self) -> bool:
        """Always: others may join later, and nobody knows when."""
        return True

    @override
    def seats(self) -> list[Seat]:
        """One for each thread of each worker."""
        return [seat for seats in list(self._seats.values()) for seat in seats]

    @override
    def submit(self, seat: Seat, task: Task, done: Done) -> Callable[[], object]:
        """Send a task straight to a worker, not by way of the scheduler."""
        sent: list[asyncio.Future[Any]] = []
        loop = self._client.loop.asyncio_loop

        def begin() -> None:
            sent.append(self._begin_here(self._perform(seat.home, task, done)))

        loop.call_soon_threadsafe(begin)
        return partial(loop.call_soon_threadsafe, lambda: [one.cancel() for one in sent])

    @override
    def abandon(self, home: Any) -> None:
        """Nobody is sent there for a while: the scheduler may not have heard of it as yet."""
        if self._seats.pop(home.address, None) is not None:
            self._shunned[home.address] = LOOKS_AWAY

    @override
    def interrupt(self, seat: Seat) -> bool:
        """Never: a thread cannot be ended."""
        return False

    @override
    def close(self) -> None:
        """Leave what is being computed, and drop what waits at the workers."""
        with suppress(Exception):
            self._client.sync(self._leave)

    # --- on the loop of the client --------------------------------------------------------------

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        self._client.loop.asyncio_loop.call_soon_threadsafe(self._begin_here, work)

    def _begin_here(self, work: Coroutine[Any, Any, None]) -> asyncio.Future[Any]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _perform(self, home: _Home, task: Task, done: Done) -> None:
        message = {"run": self._run, **task._asdict()}
        try:
            for _ in range(TRIES):
                try:
                    done(bytes(await self._call(home.address, "aptmc_perform", message)))
                    return
                except AttributeError:  # nobody takes orders there as yet
                    await asyncio.sleep(PAUSE)
            done(Lost(f"{home.address} takes no orders"))
        except asyncio.CancelledError:
            done(Interrupted())
            raise
        except OSError as error:
            done(Lost(str(error)))
        except BaseException as error:
            done(error)

    async def _call(self, address: str, what: str, message: dict[str, Any]) -> Any:
        if self._is_direct:
            return await getattr(self._client.rpc(address), what)(**message)
        return await self._client.scheduler.proxy(worker=address, msg={"op": what, **message})

    async def _find_way(self) -> None:
        """Behind a gateway workers cannot be reached; then the scheduler passes messages on."""
        for address in list(self._seats)[:1]:
            try:
                await asyncio.wait_for(self._client.rpc(address).identity(), REACH)
            except Exception:
                self._is_direct = False

    async def _keep_looking(self) -> None:
        while True:
            await asyncio.sleep(LOOK_AROUND)
            with suppress(OSError):  # the scheduler may be back later
                await self._look()

    async def _look(self) -> None:
        """Ask the scheduler which workers are there, and tell of those that came or went."""
        there: dict[str, int] = await self._client.scheduler.ncores()
        shunned = {one: looks - 1 for one, looks in self._shunned.items() if one in there}
        self._shunned = {one: looks for one, looks in shunned.items() if looks > 0}
        there = {one: threads for one, threads in there.items() if one not in self._shunned}
        left = [address for address in self._seats if address not in there]
        joined = [address for address in there if address not in self._seats]
        for address in left:
            seats = self._seats.pop(address)
            self._gone(seats[0].home)
        for address in joined:
            home = _Home(address)
            self._seats[address] = [Seat(home) for _ in range(there[address])]
        if left or joined:
            self._changed()

    async def _leave(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        forgetting = (
            self._call(address, "aptmc_forget", {"run": self._run}) for address in self._seats
        )
        await asyncio.wait_for(asyncio.gather(*forgetting, return_exceptions=True), REACH)


@final
class _Home:
    """A worker process. One that comes back under the same address is another."""

    def __init__(self, address: str) -> None:
        self.address = address


def _nothing(*_: Any) -> None:
    pass
