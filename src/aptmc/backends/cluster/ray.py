"""A Ray cluster: an actor on each of its processors."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, final

from aptmc.backends.cluster.backend import ClusterBackend
from aptmc.backends.cluster.dispatch import Dispatch, Done, Interrupted, Lost, Seat
from aptmc.backends.cluster.task import Task, perform
from aptmc.backends.workers.grouping import Ahead, Group, Grouping
from aptmc.backends.workers.workforce import MOST_DEATHS
from aptmc.checks import whole_number
from aptmc.errors import InputError

LOOK_AROUND = 1.0  # seconds between two looks at how many processors there are


@final
class Ray(ClusterBackend):
    """Workers of a Ray cluster: one for each of its processors.

    Nodes may join and leave in mid-run. Those that join are given work (where all chains share one
    queue); what was lost with those that leave is computed again elsewhere, with the same random
    keys.

    :param address: of the cluster, "auto" or "ray://host:10001" say. By default the one that this
        process is connected to, or else a new one on this machine alone
    :param workers: how many; by default as many as the cluster has processors, and more if it grows
    :param group: local steps that are sent as one move; by default ("auto") cheap moves are grouped
    :param ahead: how many moves wait at each worker; by default ("auto") as many as hide the time
        that messages take, if there are chains enough
    :param most_losses: a move that loses its worker so often ends the run (`WorkerDied`): it seems
        to kill whoever computes it. Allow more where workers are often taken away
    """

    def __init__(
        self,
        address: str | None = None,
        workers: int | None = None,
        *,
        group: Group = "auto",
        ahead: Ahead = "auto",
        most_losses: int = MOST_DEATHS,
    ) -> None:
        self.grouping = Grouping(group, ahead)
        self.most_losses = whole_number("most_losses", most_losses)
        if workers is not None:
            workers = whole_number("workers", workers)
        ray = _library()
        if not ray.is_initialized():
            _connect(ray, address, workers)
        there = processors_of(ray)
        if workers is None and there == 0:
            raise InputError(
                "the Ray cluster has no processors yet: wait for its nodes, or tell how many there "
                "will be, workers=4, say"
            )
        self.processors = there if workers is None else workers
        self._most = math.inf if workers is None else workers

    def __repr__(self) -> str:
        return f"Ray({self.processors})"

    def dispatch(self) -> Dispatch:
        """The cluster."""
        return RayDispatch(self.processors, self._most)


class Performer:
    """The actor."""

    def perform(self, token: str, message: bytes, payload: bytes | None) -> bytes:
        """Compute an order."""
        return perform(token, message, payload)


@final
class RayDispatch(Dispatch):
    """A Ray cluster as an engine. Each actor is a process of its own."""

    def __init__(self, actors: int, most: float) -> None:
        self._ray = _library()
        self._wanted, self._most = actors, most
        self._kind = self._ray.remote(num_cpus=1, max_restarts=0)(Performer)
        self._starting: set[Any] = set()  # actors that wait for a processor
        self._seats: dict[Any, Seat] = {}  # by actor
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._changed: Callable[[], None] = lambda: None

    def start(self, changed: Callable[[], None], gone: Callable[[Any], None]) -> None:
        """Ask for actors."""
        self._changed = changed
        for _ in range(self._wanted):
            self._ask_for_one()
        threading.Thread(target=self._keep_looking, name="aptmc-ray", daemon=True).start()

    def is_complete(self) -> bool:
        """Whether all actors are there, or as many as there are processors."""
        return len(self._seats) >= min(self._wanted, max(processors_of(self._ray), 1))

    def seats(self) -> list[Seat]:
        """One for each actor."""
        return list(self._seats.values())

    def submit(self, seat: Seat, task: Task, done: Done) -> Callable[[], object]:
        """Call an actor."""
        try:
            reference = seat.home.perform.remote(*task)
        except self._ray.exceptions.RayError as error:
            done(Lost(str(error)))
            return lambda: None
        reference.future().add_done_callback(partial(self._tell, done))
        return lambda: None  # actors end with the run

    def abandon(self, home: Any) -> None:
        """Another one takes its place as soon as there is a processor for it."""
        with self._lock:
            if self._seats.pop(home, None) is None:
                return
        self._end(home)
        self._ask_for_one()

    def interrupt(self, seat: Seat) -> bool:
        """End an actor."""
        self._end(seat.home)
        return True

    def close(self) -> None:
        """End all actors."""
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


def processors_of(ray: Any) -> int:
    """How many a cluster has."""
    return int(ray.cluster_resources().get("CPU", 0))


def _connect(ray: Any, address: str | None, workers: int | None) -> None:
    """To a cluster that is there, or to a new one that only this machine can see."""
    try:
        if address is not None:
            ray.init(address=address, log_to_driver=False)
        else:
            with _on_this_machine_alone(ray):
                ray.init(
                    address="local",
                    num_cpus=workers,
                    include_dashboard=False,
                    log_to_driver=False,
                    logging_level="ERROR",
                )
    except Exception as error:
        where = "on this machine" if address is None else f"at {address!r}"
        raise InputError(
            f"no Ray cluster {where} ({type(error).__name__}: {error}): give the address of one "
            "that runs, address='auto' say, or none at all for a new one"
        ) from error


@contextmanager
def _on_this_machine_alone(ray: Any) -> Iterator[None]:
    """A cluster that is made now can be reached from this machine only.

    That is how Ray does it by default on macOS and Windows. On Linux its processes listen to all
    the world, even if they are told to live at 127.0.0.1, which it takes for a mistake.
    """
    constants = ray._private.ray_constants
    name, before = constants.ENABLE_RAY_CLUSTERS_ENV_VAR, constants.ENABLE_RAY_CLUSTER
    said = os.environ.get(name)
    constants.ENABLE_RAY_CLUSTER, os.environ[name] = False, "0"
    try:
        yield
    finally:
        constants.ENABLE_RAY_CLUSTER = before
        del os.environ[name]
        if said is not None:
            os.environ[name] = said


def _library() -> Any:
    try:
        import ray
    except ImportError:
        raise InputError("Ray is not installed: pip install 'aptmc[ray]'") from None
    return ray
