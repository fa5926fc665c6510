"""Tasks under way, and the orders of a worker that they are for."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any, NamedTuple, final

from aptmc.backends.cluster.dispatch import Dispatch, Seat
from aptmc.backends.cluster.mailbox import Mailbox
from aptmc.backends.cluster.seating import RemoteWorker
from aptmc.backends.cluster.task import Task, token_of
from aptmc.backends.workers.settings_rows import KnownRows
from aptmc.backends.workers.wire import Wire
from aptmc.clock import Clock
from aptmc.session.orders import Order

FEW_NUMBERS = 1000  # of a kernel: they cost nothing on the way


class Ticket(NamedTuple):
    """A task that was sent and not yet answered."""

    worker: RemoteWorker
    order: Order | None  # None: get ready
    seat: Seat
    ordered: float
    withdraw: Callable[[], object]


@final
class Tickets:
    """Sends orders to the seats of workers, and knows which are under way."""

    def __init__(
        self, dispatch: Dispatch, mailbox: Mailbox, wire: Wire, payload: bytes, clock: Clock
    ) -> None:
        """Prepare to send; answers go to the mailbox, with the number of a ticket as subject."""
        self.under_way: dict[int, Ticket] = {}
        self._dispatch, self._mailbox, self._wire, self._clock = dispatch, mailbox, wire, clock
        self._payload, self._token = payload, token_of(payload)
        self._numbers = count()
        # By home: what was sent there. Another process may have taken its place, and asks for it.
        self._known: dict[int, KnownRows] = {}

    def send(self, worker: RemoteWorker, order: Order | None, *, whole: bool = False) -> None:
        """Send an order to a worker's seat; without one, get ready. With the problem, if whole."""
        if worker.seat is None:
            return  # it is sent when there is one
        message = b"" if order is None else self._message(worker.seat, order, whole=whole)
        task = Task(self._token, message, self._payload if whole or order is None else None)
        number, ordered = next(self._numbers), self._clock.now()
        # The answer may come before `submit` is back, but nobody reads it before we do.
        withdraw = self._dispatch.submit(worker.seat, task, partial(self._mailbox.post, number))
        self.under_way[number] = Ticket(worker, order, worker.seat, ordered, withdraw)

    def _message(self, seat: Seat, order: Order, *, whole: bool) -> bytes:
        """An order; with the kernel's numbers if they are few, or were not sent there before."""
        if whole or order.tuning.size <= FEW_NUMBERS:
            return self._wire.order_bytes(order)
        return self._wire.order_bytes(order, self._known.setdefault(id(seat.home), KnownRows()))

    def send_missing(self, workers: list[RemoteWorker]) -> None:
        """Send the orders of workers that are not under way, those first in line first."""
        under_way = {id(ticket.order) for ticket in self.under_way.values()}
        for place in range(max((len(worker.orders) for worker in workers), default=0)):
            for worker in workers:
                if place < len(worker.orders) and id(worker.orders[place]) not in under_way:
                    self.send(worker, worker.orders[place])

    def is_under_way(self, order: Order) -> bool:
        """Whether an order was sent and not yet answered."""
        return any(ticket.order is order for ticket in self.under_way.values())

    def taken_from(self, home: Any) -> list[Ticket]:
        """Those that are lost with a home; they are not under way any longer."""
        lost = [n for n, ticket in self.under_way.items() if ticket.seat.home is home]
        return [self.under_way.pop(number) for number in lost]

    def withdraw_from(self, worker: RemoteWorker) -> None:
        """Have nothing computed any longer that a worker was to do."""
        for number in [n for n, ticket in self.under_way.items() if ticket.worker is worker]:
            self.under_way.pop(number).withdraw()

    def withdraw_all(self) -> None:
        """Have nothing computed any longer, by anybody."""
        for ticket in self.under_way.values():
            ticket.withdraw()
        self.under_way.clear()


def place_of(orders: deque[Order], order: Order | None) -> int:
    """Where an order stands in a queue, itself and not one that is equal; -1 if it does not."""
    return next((place for place, other in enumerate(orders) if other is order), -1)


def holds(orders: deque[Order], order: Order | None) -> bool:
    """Whether a queue holds an order: itself, not one that is equal."""
    return order is not None and place_of(orders, order) >= 0


def remove(orders: deque[Order], order: Order) -> None:
    """Take an order out of a queue, wherever it stands there."""
    del orders[place_of(orders, order)]
