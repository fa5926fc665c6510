"""Any executor of the `concurrent.futures` kind: the standard library's, loky's, mpi4py's."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from functools import partial
from typing import Any, final

from typing_extensions import override

from aptmc.arguments import class_named_clearly
from aptmc.backends.cluster.backend import ClusterBackend
from aptmc.backends.cluster.dispatch import Dispatch, Done, Interrupted, Lost, Seat
from aptmc.backends.cluster.executors import end, workers_of
from aptmc.backends.cluster.task import Task, perform
from aptmc.backends.workers.grouping import Ahead, Group, Grouping
from aptmc.backends.workers.workforce import MOST_DEATHS
from aptmc.checks import whole_number
from aptmc.errors import InputError, RunFailed


@class_named_clearly
@final
class Futures(ClusterBackend):
    """Workers of an executor: a process pool, loky, MPI ranks (`mpi4py.futures`), threads.

    An executor that you give stays yours: it is not shut down, and moves that it computes when the
    budget ends are left to it. In a process pool one worker that is killed breaks the whole pool.
    Give a function that makes the executor, and another one is made then, and what was lost is
    computed again with the same random keys; such an executor is ended with the run.

    :param executor: an executor, or a function without arguments that makes one
    :param workers: how many workers it has
    :param group: local steps that are sent as one move; by default ("auto") cheap moves are grouped
    :param ahead: how many moves wait for each worker; by default ("auto") as many as hide the time
        that messages take, if there are chains enough
    :param most_losses: a move that loses its worker so often ends the run (`WorkerDied`): it seems
        to kill whoever computes it. Allow more where workers are often taken away

    >>> from concurrent.futures import ProcessPoolExecutor
    >>> Futures(lambda: ProcessPoolExecutor(4), workers=4)
    Futures(4)
    """

    def __init__(
        self,
        executor: Executor | Callable[[], Executor],
        workers: int | None = None,
        *,
        group: Group = "auto",
        ahead: Ahead = "auto",
        most_losses: int = MOST_DEATHS,
    ) -> None:
        is_executor = hasattr(executor, "submit")
        if not is_executor and not callable(executor):
            raise InputError(
                "executor must be a concurrent.futures executor or a function that makes one, "
                f"got {executor!r}"
            )
        if workers is None:
            workers = workers_of(executor)
            if workers is None:
                raise InputError("say how many workers the executor has: workers=4, say")
        self.processors = whole_number("workers", workers)
        self.grouping = Grouping(group, ahead)
        self.most_losses = whole_number("most_losses", most_losses)
        self._executor: Any = executor if is_executor else None
        self._make: Any = None if is_executor else executor

    def __repr__(self) -> str:
        return f"Futures({self.processors})"

    @override
    def dispatch(self) -> Dispatch:
        return FuturesDispatch(self._executor, self._make, self.processors)


@final
class FuturesDispatch(Dispatch):
    """An executor as an engine. All of it is lost at once, if at all."""

    def __init__(
        self, executor: Executor | None, make: Callable[[], Executor] | None, workers: int
    ) -> None:
        self._executor, self._make, self._workers = executor, make, workers
        self._seats: list[Seat] = []

    @override
    def start(self, changed: Callable[[], None], gone: Callable[[Any], None]) -> None:
        """Make the executor, if a function was given that makes one."""
        self._begin()

    @override
    def is_complete(self) -> bool:
        """Always: an executor says nothing of its workers."""
        return True

    @override
    def seats(self) -> list[Seat]:
        """As many as there are workers. Whoever is free computes what was submitted first."""
        return self._seats

    @override
    def submit(self, seat: Seat, task: Task, done: Done) -> Callable[[], object]:
        try:
            future = seat.home.submit(perform, *task)
        except (BrokenExecutor, RuntimeError) as error:  # broken, or shut down by somebody
            done(Lost(str(error)))
            return _nothing
        future.add_done_callback(partial(_tell, done))
        # A process pool that breaks while a task of its own was cancelled forgets to tell of the
        # others (Python 3.11). One that is ours is ended as a whole, so nothing need be cancelled.
        withdraw: Callable[[], object] = _nothing if self._make is not None else future.cancel
        return withdraw

    @override
    def abandon(self, home: Any) -> None:
        """Make another executor in its place, if a function was given that makes one."""
        if self._make is None:
            raise RunFailed(
                f"the executor {type(home).__name__} is broken: one of its workers was killed, "
                "perhaps because there was not enough memory, or somebody has shut it down; give a "
                "function that makes the executor, aptmc.Futures(lambda: ..., workers), and "
                "another one is made when that happens"
            )
        end(home)
        self._begin()

    @override
    def interrupt(self, seat: Seat) -> bool:
        """Never: an executor has no way to end a call."""
        return False

    @override
    def close(self) -> None:
        """End the executor, if it was made here; one of the user goes on."""
        if self._make is not None and self._executor is not None:
            end(self._executor)

    def _begin(self) -> None:
        if self._make is not None:
            try:
                self._executor = self._make()
            except Exception as error:
                raise RunFailed(
                    f"the executor could not be made: {type(error).__name__}: {error}"
                ) from error
        self._seats = [Seat(self._executor) for _ in range(self._workers)]


def _tell(done: Done, future: Future[bytes]) -> None:
    try:
        done(future.result())
    except (BrokenExecutor, CancelledError) as error:
        done(Lost(str(error)))
    except KeyboardInterrupt:
        # Ctrl-C reaches all processes of a terminal; what it means for the run is decided here.
        done(Interrupted())
    except BaseException as error:
        done(error)


def _nothing() -> None:
    pass
