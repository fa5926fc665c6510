"""How an engine is spoken to: the little that differs between executors, Dask and Ray."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aptmc.backends.cluster.task import Task

Done = Callable[[bytes | BaseException], None]


@dataclass(eq=False)
class Seat:
    """A place at which one move at a time is computed."""

    home: Any  # what is lost at once: a pool of processes, a process with several threads


class Lost(Exception):
    """A task will never be answered, because its home is gone."""


class Interrupted(Exception):
    """A task will never be answered, but its home is still there."""


class Dispatch(ABC):
    """An engine. All but `submit`'s `done` is called by the thread that owns the run."""

    @abstractmethod
    def start(self, changed: Callable[[], None], gone: Callable[[Any], None]) -> None:
        """Begin; may take a while.

        :param changed: to be called, from any thread, when there may be other seats than before
        :param gone: the same when a home is known to be lost, although no task says so
        """

    @abstractmethod
    def is_complete(self) -> bool:
        """Whether all seats are there that can be hoped for now."""

    @abstractmethod
    def seats(self) -> list[Seat]:
        """Those that there are now, the same objects as before for those that stay."""

    @abstractmethod
    def submit(self, seat: Seat, task: Task, done: Done) -> Callable[[], object]:
        """Send a task. `done` is called once, from any thread, with an answer, `Lost`,
        `Interrupted`, or an error that would come again. What is given withdraws the task, if that
        can still be done.
        """

    @abstractmethod
    def abandon(self, home: Any) -> None:
        """A home is lost: find another if possible, or raise RunFailed if nothing can be done."""

    @abstractmethod
    def interrupt(self, seat: Seat) -> bool:
        """End what is computed on a seat, if this engine can; then True, and its home is lost."""

    @abstractmethod
    def close(self) -> None:
        """Let go of all, without waiting for what is being computed."""
