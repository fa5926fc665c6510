"""An engine that does what a test says, and a clock that shows what it is set to."""

from __future__ import annotations

from typing import Any, NamedTuple

from aptmc.backends.cluster.dispatch import Dispatch, Lost, Seat
from aptmc.backends.cluster.task import DONE, READY, UNKNOWN, _head
from aptmc.session.orders import Outcome


class Sent(NamedTuple):
    """A task that was submitted."""

    seat: Seat
    task: Any
    done: Any


class ScriptedDispatch(Dispatch):
    """Seats come and go as the test wants; tasks are answered by the test."""

    def __init__(self, *homes):
        self.places = [Seat(home) for home in homes]
        self.sent = []
        self.abandoned = []
        self.is_closed = False

    def start(self, changed, gone):
        self.changed, self.gone = changed, gone

    def is_complete(self):
        return True

    def interrupt(self, seat):
        return False

    def seats(self):
        return self.places

    def submit(self, seat, task, done):
        sent = Sent(seat, task, done)
        self.sent.append(sent)
        return lambda: self.sent.remove(sent) if sent in self.sent else None

    def abandon(self, home):
        self.abandoned.append(home)
        self.places = [seat for seat in self.places if seat.home is not home]

    def close(self):
        self.is_closed = True

    # --- for tests ------------------------------------------------------------------------------

    def add(self, home):
        self.places = [*self.places, Seat(home)]
        self.changed()

    def greet(self):
        """All who were asked to get ready are."""
        for sent in [sent for sent in self.sent if not sent.task.message]:
            self.sent.remove(sent)
            sent.done(_head(READY))

    def orders(self, wire, home=None):
        """The moves under way, in the order in which they were sent."""
        return [
            wire.read_order(sent.task.message).key
            for sent in self.sent
            if sent.task.message and home in (None, sent.seat.home)
        ]

    def answer(self, wire, key, began=0.0, ended=0.0):
        """A move is done, by the clock of its worker."""
        sent = self._take(wire, key)
        order = wire.read_order(sent.task.message)
        outcome = Outcome(order.state, order.state[:0])
        sent.done(_head(DONE) + wire.outcome_bytes(key, outcome, began, ended))
        return sent

    def say_unknown(self, wire, key):
        self._take(wire, key).done(_head(UNKNOWN))

    def lose(self, home):
        """Whatever is under way at a home is lost, one by one."""
        lost = [sent for sent in self.sent if sent.seat.home is home]
        self.sent = [sent for sent in self.sent if sent.seat.home is not home]
        for sent in lost:
            sent.done(Lost("gone"))

    def _take(self, wire, key):
        (sent,) = [
            sent
            for sent in self.sent
            if sent.task.message and wire.read_order(sent.task.message).key == key
        ]
        self.sent.remove(sent)
        return sent
