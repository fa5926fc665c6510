"""First states, found in this process, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import final

import numpy as np

from aptmc.errors import RunFailed, StopReason
from aptmc.session.control import Control
from aptmc.session.descent import Errand, Tell, carry_out
from aptmc.session.first_states import how_many
from aptmc.session.orders import Order, Outcome
from aptmc.session.session import Session, Usage
from aptmc.session.start_up import Part, StoppedEarly


def find_states_here(session: Session, control: Control, until: float) -> None:
    """Give the chains of a session first states, and say how far one is.

    StoppedEarly if the budget ends before, by the clock, or a request to stop comes.
    """

    def tell(words: str, share: float) -> None:
        control.start_up.tell(Part.STATES, words, share)

    compile_here(session, control)
    here = _EarlyHere(session, control, until, tell)
    session.begin(here.compute_all, here.run_errand, tell)
    session.make_ready()


def search_here(session: Session, errand: Errand, control: Control, until: float) -> None:
    """Carry out an errand in this process; StoppedEarly as above."""

    def tell(words: str, share: float) -> None:
        control.start_up.tell(Part.STATES, words, share)

    compile_here(session, control)
    errand.tell = tell
    _EarlyHere(session, control, until, tell).run_errand(errand)


def before_moves_count(find: Callable[[], None], control: Control, processors: int = 1) -> Usage:
    """Do what comes before moves that count, and say how that ended."""
    stopped, failure = StopReason.STILL_RUNNING, None
    before = control.clock.now()
    try:
        find()
    except StoppedEarly:
        stopped = control.stopped or StopReason.BUDGET_SPENT
    except KeyboardInterrupt:
        stopped = StopReason.INTERRUPTED
    except RunFailed as error:
        stopped, failure = StopReason.FAILED, error
    return Usage(stopped, control.clock.now() - before, np.zeros(processors), failure)


def compile_here(session: Session, control: Control) -> None:
    """Compile the moves of a compiled problem, and say so."""
    if session.problem.is_compiled:
        words = f"compiling {session.problem.its_function}"
        with control.start_up.without_looking_up(Part.PROBLEM, words):
            _ = session.mover.move


@final
class _EarlyHere:
    """Computes orders as long as there is time."""

    def __init__(self, session: Session, control: Control, until: float, tell: Tell) -> None:
        self._mover, self._control, self._until = session.mover, control, until
        self._tell = None if session.problem.needs_search else tell

    def compute_all(self, orders: list[Order]) -> list[Outcome | None]:
        """Compiled moves by one call; between others one looks up."""
        if self._mover.target.is_compiled and len(orders) > 1:
            self._look_up(0, len(orders))
            return self._mover.compute_all(orders)
        outcomes: list[Outcome | None] = []
        for order in orders:
            try:
                self._look_up(len(outcomes), len(orders))
            except StoppedEarly:
                done = zip(orders, outcomes, strict=False)
                raise StoppedEarly(list(done)) from None
            outcomes.append(self._mover.compute(order))
        return outcomes

    def run_errand(self, errand: Errand) -> None:
        """Orders that depend on each other, as long as there is time."""

        def compute(order: Order) -> Outcome:
            self._control.do_duties()
            if self._control.stopped is not None or self._control.clock.now() >= self._until:
                raise StoppedEarly
            return self._mover.compute(order)

        carry_out(errand, compute, self._control.clock)

    def _look_up(self, done: int, wanted: int) -> None:
        if self._tell is not None:
            self._tell(how_many(done, wanted), done / wanted)
        self._control.do_duties()
        if self._control.stopped is not None or self._control.clock.now() >= self._until:
            raise StoppedEarly
