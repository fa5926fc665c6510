"""An errand: orders that are thought of one by one, each in the light of what has come back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from aptmc.clock import Clock
from aptmc.session.orders import Order, Outcome

Tell = Callable[[str, float], None]  # takes words, and the share of all that is done


def say_nothing(words: str, share: float) -> None:
    """For an errand that nobody waits for."""


class Errand(ABC):
    """What asks for moves until it knows enough. Whoever computes them, in whatever order."""

    tell: Tell = staticmethod(say_nothing)  # is told how far it has come

    @property
    @abstractmethod
    def is_over(self) -> bool:
        """Whether nothing more is wanted; what is still under way may be given up."""

    @abstractmethod
    def next_order(self) -> Order:
        """The next move to be computed. There always is one: nobody has to wait."""

    @abstractmethod
    def report(self, order: Order, outcome: Outcome | None, seconds: float, elapsed: float) -> None:
        """What came of an order.

        :param outcome: None, if it took far too long and was given up
        :param seconds: that it took
        :param elapsed: since the errand began
        """


RunErrand = Callable[[Errand], None]


def carry_out(
    errand: Errand, compute: Callable[[Order], Outcome], clock: Clock | None = None
) -> None:
    """Compute an errand's orders in this process, one after the other.

    :param clock: by which they take time. Without one, what comes of it is the same every time
    """
    began = 0.0 if clock is None else clock.now()
    before = now = began
    while not errand.is_over:
        order = errand.next_order()
        if clock is not None:
            before = clock.now()
        outcome = compute(order)
        if clock is not None:
            now = clock.now()
        errand.report(order, outcome, now - before, now - began)
