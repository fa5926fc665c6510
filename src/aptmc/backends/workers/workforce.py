"""A workforce: those who compute moves, wherever they are.

All that the loop needs to know of them. Whoever dies is replaced, and what it was to do is ordered
again, with the same keys, before the loop hears of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from dataclasses import dataclass, field
from math import inf
from typing import Generic, TypeVar

from aptmc.backends.workers.wire import Reply
from aptmc.session.control import Control
from aptmc.session.orders import Order

MOST_DEATHS = 3  # on the same move
MOST_IDLE_DEATHS = 20  # in a row, of workers that had done nothing


@dataclass(eq=False)
class Worker:
    """A worker as the coordinating process knows it."""

    processor: int
    orders: deque[Order] = field(default_factory=deque)  # the first is being computed
    since: float = inf  # when it began with that one; not yet, before it is ready
    is_ready: bool = False
    process: int | None = None  # on its own machine; not yet known just after the start
    is_leaving: bool = False

    @property
    def is_idle(self) -> bool:
        """Whether it has nothing to do."""
        return not self.orders


AnyWorker = TypeVar("AnyWorker", bound=Worker)


class Workforce(ABC, Generic[AnyWorker]):
    """Workers, and how to speak to them."""

    def __init__(self) -> None:
        self.workers: dict[int, AnyWorker] = {}  # by processor
        self.waited = 0.0  # seconds in which there was nothing to do

    @abstractmethod
    def await_ready(self, until: float, control: Control) -> bool:
        """Wait until workers can be hired at once; False if that takes too long."""

    @abstractmethod
    def hire(self, processor: int) -> AnyWorker:
        """A new worker on a processor."""

    @abstractmethod
    def order(self, worker: AnyWorker, order: Order) -> None:
        """Give a worker something to do."""

    @abstractmethod
    def listen(self, until: float) -> list[tuple[AnyWorker, Reply]]:
        """Wait for replies, at most until so late by the clock. The dead are replaced."""

    @abstractmethod
    def dismiss(self, worker: AnyWorker) -> None:
        """Let a worker go that has nothing to do."""

    @abstractmethod
    def interrupt(self, worker: AnyWorker) -> AnyWorker:
        """Give up what a worker does now; another takes its place."""

    @abstractmethod
    def wake(self) -> None:
        """End the current `listen` early. May be called from any thread or signal handler."""

    @abstractmethod
    def begin_to_close(self) -> None:
        """Ask them to go, and do not wait for it; `close` does."""

    @abstractmethod
    def close(self) -> None:
        """End what was started for this workforce."""

    @abstractmethod
    def check_growth(self) -> None:
        """Refuse another worker that somebody asks for, if there is no place for it."""

    @abstractmethod
    def retire(self, worker: AnyWorker) -> None:
        """A worker was asked to leave: when it goes, nobody is to take its place."""

    @abstractmethod
    def vacancies(self) -> int:
        """How many more workers there is a place for now: others have joined the cluster."""

    @abstractmethod
    def crowded(self) -> list[AnyWorker]:
        """Workers that have lost their place and share that of another."""
