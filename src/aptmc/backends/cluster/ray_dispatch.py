"""A Ray cluster as an engine: one actor on each of its processors."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, final

from typing_extensions import override

from aptmc.backends.cluster.dispatch import Dispatch, Done, Interrupted, Lost, Seat
from aptmc.backends.cluster.ray_connection import library, processors_of
from aptmc.backends.cluster.task import Task, perform

LOOK_AROUND = 1.0  # seconds between two looks at how many processors there are


@final
class Performer:
    """The actor: a process of its own that computes one order after the other."""

    def perform(self, token: str, message: bytes, payload: bytes | None) -> bytes:
        """Compute an order, from bytes to bytes."""
        return perform(token, message, payload)


@final
class RayDispatch(Dispatch):
    """A Ray cluster as an engine. Each actor is a process of its own."""

    def __init__(self, actors: int, most: float) -> None:
        self._ray = library()
        self._wanted, self._most = actors, most
        self._kind = self._ray.remote(num_cpus=1, max_restarts=0)(Performer)
        self._starting: set[Any] = set()  # actors that wait for a processor
        self._seats: dict[Any, Seat] = {}  # by actor
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._changed: Callable[[], None] = lambda: None

    @override
    def start(self, changed: Callable[[], None], gone: Callable[[Any], None]) -> None:
        """Ask for as many actors as are wanted, and look for more processors now and then."""
        self._changed = changed
        for _ in range(self._wanted):
            self._ask_for_one()
        threading.Thread(target=self._keep_looking, name="aptmc-ray", daemon=True).start()

    @override
    def is_complete(self) -> bool:
        """Whether all actors are there, or as many as there are processors."""
        return len(self._seats) >= min(self._wanted, max(processors_of(self._ray), 1))

    @override
    def seats(self) -> list[Seat]:
        return list(self._seats.values())

    @override
    def submit(self, seat: Seat, task: Task, done: Done) -> Callable[[], object]:
        """Send a task to an actor. It cannot be withdrawn: actors end with the run."""
        try:
            reference = seat.home.perform.remote(*task)
        except self._ray.exceptions.RayError as error:
            done(Lost(str(error)))
            return lambda: None
        reference.future().add_done_callback(partial(self._tell, done))
        return lambda: None  # actors end with the run

    @override
    def abandon(self, home: Any) -> None:
        """Another one takes its place as soon as there is a processor for it."""
        with self._lock:
            if self._seats.pop(home, None) is None:
                return
        self._end(home)
        self._ask_for_one()

    @override
    def interrupt(self, seat: Seat) -> bool:
        """End the actor. Another one takes its place."""
        self._end(seat.home)
        return True

    @override
    def close(self) -> None:
        self._is_over.set()
        with self._lock:
            actors = [*self._seats, *self._starting]
            self._seats.clear()
            self._starting.clear()
        for actor in actors:
            self._end(actor)

    # --- from any thread ------------------------------------------------------------------------

    def _ask_for_one(self) -> None:
        actor = self._kind.remote()
        with self._lock:
            self._starting.add(actor)
        first = actor.__ray_ready__.remote()
        first.future().add_done_callback(partial(self._welcome, actor))

    def _welcome(self, actor: Any, future: Any) -> None:
        """An actor has started, or died before it did."""
        with self._lock:
            if actor not in self._starting:
                return
            self._starting.discard(actor)
            has_started = future.exception() is None
            if has_started:
                self._seats[actor] = Seat(actor)
        if has_started:
            self._changed()

    def _keep_looking(self) -> None:
        """More processors are there than before, or an actor died before it had started."""
        while not self._is_over.wait(LOOK_AROUND):
            with suppress(Exception):  # the cluster may be back later
                there = min(processors_of(self._ray), self._most)
                wanted = max(there, self._wanted)
                for _ in range(int(wanted) - len(self._seats) - len(self._starting)):
                    if not self._is_over.is_set():
                        self._ask_for_one()

    def _tell(self, done: Done, future: Any) -> None:
        errors = self._ray.exceptions
        try:
            done(future.result())
        except errors.RayTaskError as error:
            is_interrupt = isinstance(error.cause, KeyboardInterrupt)
            done(Interrupted() if is_interrupt else error)
        except errors.TaskCancelledError:
            done(Interrupted())
        except errors.RayError as error:
            done(Lost(str(error)))
        except BaseException as error:
            done(error)

    def _end(self, actor: Any) -> None:
        with suppress(Exception):
            self._ray.kill(actor, no_restart=True)
