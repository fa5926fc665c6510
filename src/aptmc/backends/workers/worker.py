"""A worker: takes orders, computes moves, replies. It owns nothing that could be lost with it."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import closing
from types import FrameType
from typing import final

from aptmc.backends.workers.channel import WorkerChannel
from aptmc.backends.workers.wire import SAY_WHERE, Wire
from aptmc.clock import WallClock
from aptmc.errors import AptmcError, MoveFailed, frames_of_the_user
from aptmc.in_words import in_words, story
from aptmc.session.interruption import is_users
from aptmc.session.last_words import telling_mover
from aptmc.session.orders import Mover, Order, Outcome


class Dismissed(BaseException):
    """The run is over. Raised inside the user's function, so that it can put its things away."""


@final
class Dismissal:
    """Whether the run is over, as a signal says.

    It is raised where nothing but the user's function or the wait for an order goes on: elsewhere
    arguments may be on their way into compiled code, which an exception there would crash. Once is
    enough, however many say so: whoever puts his things away must not be disturbed.
    """

    def __init__(self) -> None:
        self._has_come = self._is_raised = self._is_waiting = False

    def hear(self, _number: int, frame: FrameType | None) -> None:
        """Raise it now, or else before the next wait."""
        self._has_come = True
        if not self._is_raised and (self._is_waiting or is_users(frame)):
            self._is_raised = True
            raise Dismissed

    def was_lost(self, unraisable: sys.UnraisableHookArgs) -> None:
        """Python drops what is raised in callbacks of libraries and in `__del__`, and prints it.

        Then nothing is printed, and it has not been raised.
        """
        if issubclass(unraisable.exc_type, Dismissed):
            self._is_raised = False
        else:
            sys.__unraisablehook__(unraisable)

    def wait_for_order(self, channel: WorkerChannel) -> bytes:
        """The next order."""
        self._is_waiting = True
        try:
            if self._has_come:
                raise Dismissed
            return channel.receive()
        finally:
            self._is_waiting = False


def serve(descriptor: int, mover: Mover, wire: Wire) -> None:
    """Compute orders that come through a socket, until the other side hangs up."""
    dismissal = Dismissal()
    signal.signal(signal.SIGTERM, dismissal.hear)
    sys.unraisablehook = dismissal.was_lost
    process = os.getpid()
    try:
        with closing(WorkerChannel(descriptor)) as channel:
            channel.send(wire.greeting_bytes())
            says_where = False
            while True:
                message = dismissal.wait_for_order(channel)
                if message == SAY_WHERE:
                    says_where = True
                    continue
                here = _who_says_where(message, mover, wire, channel) if says_where else mover
                says_where = False
                reply = answer(message, here, wire, Dismissed)
                if os.getpid() != process:  # a copy, from which the user's function returned, too
                    os._exit(0)
                assert reply is not None  # whoever sends to this process alone knows what it knows
                channel.send(reply)
    except (EOFError, OSError, Dismissed):
        return
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it has been heard, or is no longer needed
        for stream in (sys.stdout, sys.stderr):
            stream.flush()


def answer(
    message: bytes, mover: Mover, wire: Wire, interruption: type[BaseException]
) -> bytes | None:
    """Compute an order, from bytes to bytes; None if it names numbers that were never sent.

    :param interruption: what may break off a move and is no fault of the user's function
    """
    clock = WallClock()
    order = wire.read_order(message)
    if order is None:
        return None
    began = clock.now()
    outcome = _compute(mover, order, interruption)
    ended = clock.now()
    if isinstance(outcome, Outcome):
        return wire.outcome_bytes(order.key, outcome, began, ended)
    return wire.failure_bytes(order.key, outcome, began, ended)


def _who_says_where(message: bytes, mover: Mover, wire: Wire, channel: WorkerChannel) -> Mover:
    order = wire.read_order(message)
    if order is None:
        return mover
    return telling_mover(mover, order, lambda row: channel.send(wire.going_bytes(row)))


def _compute(mover: Mover, order: Order, interruption: type[BaseException]) -> Outcome | AptmcError:
    """The outcome, or the failure with a note of where in the user's code it happened."""
    try:
        return mover.compute(order)
    except AptmcError as failure:
        cause = failure.__cause__
        if cause is not None:
            failure.add_note(f"In the worker process:\n{story(frames_of_the_user(cause))}")
        return failure
    except interruption:
        raise
    except BaseException as error:  # sys.exit() or an interrupt inside the user's function
        parameters = error.__dict__.get("parameters") or mover.problem.describe(order.state)
        reason = f"{mover.problem.function_name} raised {in_words(error)}"
        return MoveFailed(reason, parameters).located(order.rung, order.key, order)
