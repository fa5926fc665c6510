"""Which of several moves ends the process that they share?

When a process with several threads is lost, each of the moves in it may be the one that ends it. So
that none is given up for the fault of another, the last chance of each is computed alone.
"""

from __future__ import annotations

from collections import deque
from typing import final

from aptmc.backends.cluster.seating import RemoteWorker
from aptmc.backends.cluster.tickets import Ticket
from aptmc.backends.workers.deaths import Deaths
from aptmc.session.orders import Order


@final
class Suspects:
    """Moves that are tried alone, one after the other, while others are held back."""

    def __init__(self, deaths: Deaths) -> None:
        self._deaths = deaths
        self._queue: deque[tuple[RemoteWorker, Order]] = deque()

    def __bool__(self) -> bool:
        return bool(self._queue)

    @property
    def first(self) -> tuple[RemoteWorker, Order]:
        """The worker and the move that is tried alone now."""
        return self._queue[0]

    def hold(self, tickets: list[Ticket]) -> None:
        """Queue those moves that have one chance left; meanwhile all of them are held back."""
        waiting = {id(order) for _, order in self._queue}
        for ticket in tickets:
            order = ticket.order
            if order is None or id(order) in waiting:
                continue
            if self._deaths.is_last_chance(order):
                self._queue.append((ticket.worker, order))
        if self._queue:
            for ticket in tickets:
                ticket.worker.is_held = True

    def acquit(self, order: Order) -> bool:
        """A move was computed; True if it was the one on trial."""
        if self._queue and self.first[1] is order:
            self._queue.popleft()
            return True
        return False

    def forget_move(self, order: Order) -> None:
        """Do not try a move that is given up."""
        self._queue = deque(one for one in self._queue if one[1] is not order)

    def forget_worker(self, worker: RemoteWorker) -> None:
        """Do not try the moves of a worker that has nothing to do any longer."""
        self._queue = deque(one for one in self._queue if one[0] is not worker)
