"""Tasks under way, and the orders of a worker that they are for."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from aptmc.backends.cluster.dispatch import Seat
from aptmc.backends.cluster.seating import RemoteWorker
from aptmc.session.orders import Order


class Ticket(NamedTuple):
    """A task that was sent and not yet answered."""

    worker: RemoteWorker
    order: Order | None  # None: get ready
    seat: Seat
    ordered: float
    withdraw: Callable[[], object]


def place_of(orders: deque[Order], order: Order | None) -> int:
    """Where an order stands in a queue, itself and not one that is equal; -1 if it does not."""
    return next((place for place, other in enumerate(orders) if other is order), -1)


def holds(orders: deque[Order], order: Order | None) -> bool:
    """Whether a queue holds an order: itself, not one that is equal."""
    return order is not None and place_of(orders, order) >= 0


def remove(orders: deque[Order], order: Order) -> None:
    """Take an order out of a queue, wherever it stands there."""
    del orders[place_of(orders, order)]
