"""A first look at the problem, before anything is asked of an engine.

To get workers of a cluster can take hours, and data that do not fit can be seen at once: a process
on this machine simulates once, in the way in which `Processes` has it done, and ends.
"""

from __future__ import annotations

import selectors
from contextlib import suppress
from typing import final

from aptmc.backends.processes.fork_server_link import ForkServerLink
from aptmc.backends.processes.messages import FAULTY, LOOK, REPEATS
from aptmc.clock import Clock
from aptmc.errors import InputError
from aptmc.problem import Problem
from aptmc.session.control import Control

SHARE = 0.2  # of the budget that is left, at most
LONGEST = 5.0  # seconds, to load the problem among other things
LOOK_UP = 0.1  # seconds


def has_something_to_see(problem: Problem) -> bool:
    """Whether a look can find anything: a simulation, or compiled code that leaves its arrays."""
    return problem.has_simulator or problem.target.is_compiled


def look_first(payload: bytes, control: Control, until: float) -> None:
    """Raise `InputError` if a process on this machine finds that the problem cannot be sampled.

    :param until: when the budget ends, by the clock
    """
    clock = control.clock
    patience = min(SHARE * (until - clock.now()), LONGEST)
    if patience <= 0.0:
        return
    try:
        look = _Look(payload)
    except (InputError, OSError):  # no process can be made here, which is no fault of the problem
        return
    try:
        look.listen(clock, clock.now() + patience, control)
    finally:
        look.link.end()


@final
class _Look:
    """A process that looks, and what it has said."""

    def __init__(self, payload: bytes) -> None:
        self.link = ForkServerLink(payload, task=LOOK)

    def listen(self, clock: Clock, until: float, control: Control) -> None:
        """Until it has ended, or as long as one waits for it."""
        with selectors.DefaultSelector() as selector, suppress(EOFError, OSError):
            while (now := clock.now()) < until and control.stopped is None:
                both = selectors.EVENT_READ | selectors.EVENT_WRITE
                selector.register(
                    self.link.socket, both if self.link.has_unsent else selectors.EVENT_READ
                )
                ready = selector.select(min(until - now, LOOK_UP))
                selector.unregister(self.link.socket)
                for _, events in ready:
                    if events & selectors.EVENT_WRITE:
                        self.link.send_rest()
                    if events & selectors.EVENT_READ:
                        news = self.link.hear()
                        if news.kind == FAULTY:
                            raise InputError(news.text)
                        if news.kind == REPEATS:
                            control.start_up.repeats_itself = True
                control.do_duties()
