"""How the world outside speaks to a run that is under way.

Whoever holds the handle may be in another thread. What they ask for is carried out by the thread
that owns the run, at a moment when everything is in order.
"""

from __future__ import annotations

import math
import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Any, NamedTuple, final

import numpy as np
from typing_extensions import override

from aptmc.clock import Clock, WallClock
from aptmc.compiled import Floats
from aptmc.errors import InputError, RunFailed, StopReason
from aptmc.session.interruption import is_unbroken, is_users
from aptmc.session.session import Usage
from aptmc.session.start_up import StartUp


class WorkerStatus(NamedTuple):
    """What a processor is doing now."""

    processor: int
    process: int | None  # its number at the operating system
    chain: int | None  # whose move it computes
    rung: int | None
    seconds: float  # for how long


class RunningProcessors(ABC):
    """The processors of a run, as the world outside may see and change them."""

    @abstractmethod
    def workers(self) -> list[WorkerStatus]:
        """What each is doing; nothing of those that are no processes of their own."""

    @abstractmethod
    def usage(self) -> Usage:
        """How the processors were used so far."""

    @abstractmethod
    def add_worker(self) -> int:
        """One more; gives its number."""

    @abstractmethod
    def remove_worker(self) -> int:
        """One less; gives the number of the one that goes as soon as its moves are done."""


@final
class FixedProcessors(RunningProcessors):
    """Processors of which there are as many as at the beginning, and no processes to look at."""

    def __init__(self, elapsed: float, busy: Floats) -> None:
        self._usage = Usage(StopReason.STILL_RUNNING, elapsed, busy)

    @override
    def workers(self) -> list[WorkerStatus]:
        return []

    @override
    def usage(self) -> Usage:
        """How the processors were used when this was made."""
        return self._usage

    @override
    def add_worker(self) -> int:
        raise InputError("this backend has a fixed number of processors: use on=aptmc.Processes()")

    @override
    def remove_worker(self) -> int:
        raise InputError("this backend has a fixed number of processors: use on=aptmc.Processes()")


@dataclass
class _Duty:
    """Something that is done now and then."""

    what: Callable[[RunningProcessors], None]
    period: float
    share: float
    due: float  # by the clock


@final
class Control:
    """Requests to a run, and the moment when it was called for."""

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock = WallClock() if clock is None else clock
        self.called = self.clock.now()  # budgets count from here
        self.start_up = StartUp(self.clock)
        self.once: Callable[[], Any] | None = None  # to be done once on a machine
        self.stopped: StopReason | None = None
        self.counted: Callable[[], float] | None = None  # of a budget that is no time: what is used
        self.wake: Callable[[], None] = lambda: None  # a backend that sleeps sets this
        self._requests: SimpleQueue[tuple[Callable[[RunningProcessors], Any], Future[Any]]] = (
            SimpleQueue()
        )
        self._counts = True
        self._has_ended = False
        self._lock = threading.Lock()
        self._duties: list[_Duty] = []
        self.due = math.inf  # by the clock: when to look up from work, even if nobody asked

    def stop(self, reason: StopReason = StopReason.STOPPED) -> None:
        """Ask the run to end at the next safe moment."""
        if self.stopped is None:
            self.stopped = reason
        self.wake()

    def ask(self, request: Callable[[RunningProcessors], Any]) -> Any:
        """Have something done by the thread that owns the run, and wait for the result."""
        future: Future[Any] = Future()
        with self._lock:
            if self._has_ended:
                raise RunFailed("the run has ended")
            self._requests.put((request, future))
        self.wake()
        return future.result()

    def regularly(
        self, period: float, what: Callable[[RunningProcessors], None], *, share: float = 1.0
    ) -> None:
        """Have something done every so many seconds, by the thread that owns the run.

        :param share: the most of that thread's time that it may take: it is then done less often
        """
        self._duties.append(_Duty(what, period, share, self.clock.now() + period))
        self.due = min(duty.due for duty in self._duties)

    def do_once(self) -> None:
        """Do what is done once on a machine, if it was not yet: it does not count.

        Backends ask for it when they have begun to make ready, so that workers do so meanwhile.
        """
        if self.once is not None:
            todo, self.once = self.once, None
            begun, self._counts = self.clock.now(), False
            todo()
            self._counts = True
            self.called += self.clock.now() - begun

    @property
    def elapsed(self) -> float:
        """How much of the budget is spent: nothing, while that is done which does not count."""
        return self.clock.now() - self.called if self._counts else 0.0

    @property
    def is_asked(self) -> bool:
        """Whether somebody waits for something."""
        return not self._requests.empty()

    def serve(self, processors: RunningProcessors) -> None:
        """Carry out what was asked for, and what is due."""
        self.do_duties(processors)
        while not self._requests.empty():
            try:
                request, future = self._requests.get_nowait()
            except Empty:
                return
            try:
                future.set_result(request(processors))
            except Exception as error:
                future.set_exception(error)

    def do_duties(self, processors: RunningProcessors | None = None) -> None:
        """Do what is due, also before there are any processors to speak of."""
        if self.clock.now() < self.due:
            return
        if processors is None:
            processors = FixedProcessors(0.0, np.zeros(1))
        for duty in self._duties:
            begun = self.clock.now()
            if begun < duty.due:
                continue
            duty.what(processors)
            done = self.clock.now()
            duty.due = done + max(duty.period, (done - begun) / duty.share)
        self.due = min(duty.due for duty in self._duties)

    def end(self) -> None:
        """The run is over: whoever still waits for something is told."""
        with self._lock:
            self._has_ended = True
        while not self._requests.empty():
            self._requests.get_nowait()[1].set_exception(RunFailed("the run has ended"))

    @contextmanager
    def signals(self, *, interrupt: bool = False) -> Iterator[None]:
        """Ctrl-C and a signal to terminate stop the run; a second Ctrl-C raises as usual.

        Not while compiled code may be at work, which comes back soon and would be upset.

        :param interrupt: the first one raises, too, inside a plain function of the user, since it
            is this process that computes it
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before: dict[int, Any] = {}

        def stop(number: int, frame: FrameType | None) -> None:
            was_asked_before = self.stopped is not None
            self.stop(_REASONS[number])
            if number != signal.SIGINT or is_unbroken(frame):
                return
            if was_asked_before or (interrupt and is_users(frame)):
                raise KeyboardInterrupt

        try:
            for number in _REASONS:
                if number == signal.SIGINT or not _is_users_own(signal.getsignal(number)):
                    before[number] = signal.signal(number, stop)
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _is_users_own(handler: Any) -> bool:
    """Whether a handler for SIGTERM stays. Ray sets one at its start that ends the process."""
    return handler is not signal.SIG_DFL and not _module_of(handler).startswith("ray.")


def _module_of(handler: Any) -> str:
    return getattr(handler, "__module__", None) or ""


_REASONS = {
    int(signal.SIGINT): StopReason.INTERRUPTED,
    int(signal.SIGTERM): StopReason.TERMINATED,
}
