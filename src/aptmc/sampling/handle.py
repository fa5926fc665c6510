"""The handle by which one can look at a run under way, stop it and change its workers."""

from __future__ import annotations

import threading
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Self, final

from aptmc.errors import RunFailed, StopReason
from aptmc.result.run import Run
from aptmc.sampling.phases import Phases
from aptmc.session.control import Control, RunningProcessors, WorkerStatus

if TYPE_CHECKING:
    import xarray


class Inspection(NamedTuple):
    """What a look at a run under way shows."""

    run: Run  # so far
    workers: list[WorkerStatus]


@final
class RunHandle:
    """A run in the background. Use it in a `with` block, which stops the run when it is left."""

    def __init__(self, phases: Phases, control: Control) -> None:
        self._phases, self._control = phases, control
        self._run: Run | None = None
        self._failure: BaseException | None = None
        # With what the caller's thread has set: numpy's errors, the digits of decimal numbers.
        work = partial(copy_context().run, self._work)
        self._thread = threading.Thread(target=work, name="aptmc run", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        try:
            self._run = self._phases.run(self._control)
        except BaseException as failure:
            self._failure = failure

    @property
    def is_running(self) -> bool:
        """Whether the run is still under way."""
        return self._thread.is_alive()

    def inspect(self) -> Inspection:
        """The run so far, and what each worker is doing. A run that has ended has no workers."""

        def look(processors: RunningProcessors) -> Inspection:
            return Inspection(self._phases.so_far(processors.usage()), processors.workers())

        if self.is_running:
            try:
                inspection: Inspection = self._control.ask(look)
                return inspection
            except RunFailed:  # it has just ended
                pass
        return Inspection(self.wait(), [])

    def snapshot(self) -> xarray.Dataset:
        """A set of draws, now: see `Run.snapshot`."""
        return self.inspect().run.snapshot()

    def wait(self, timeout: float | None = None) -> Run:
        """The result when the run has ended; TimeoutError if it has not in so many seconds.

        A failure of the run is raised here.
        """
        self._thread.join(timeout)
        if self._thread.is_alive():
            raise TimeoutError(f"the run is still under way after {timeout} s more")
        if self._failure is not None:
            raise self._failure.with_traceback(None)
        assert self._run is not None
        return self._run

    def stop(self) -> Run:
        """End the run now, and give the result so far. Moves in flight are left as they are."""
        self._control.stop(StopReason.STOPPED)
        return self.wait()

    def add_worker(self) -> int:
        """One more worker process, now; gives its number."""
        number: int = self._control.ask(lambda processors: processors.add_worker())
        return number

    def remove_worker(self) -> int:
        """One worker less: it goes when its present move is done. Gives its number."""
        number: int = self._control.ask(lambda processors: processors.remove_worker())
        return number

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._control.stop(StopReason.STOPPED)
        self._thread.join()
