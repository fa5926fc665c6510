"""A worker: takes orders, computes moves, replies. It owns nothing that could be lost with it."""

from __future__ import annotations

import signal
import sys
import traceback
from multiprocessing.connection import Connection
from typing import Any, NoReturn

from aptmc.backends.wire import Wire
from aptmc.clock import WallClock
from aptmc.errors import AptmcError, MoveFailed
from aptmc.moves import Mover, Order, Outcome


class Dismissed(BaseException):
    """The run is over. Raised inside the user's function, so that it can put its things away."""


def serve(connection: Connection, mover: Mover, wire: Wire) -> None:
    """Compute orders until the other side hangs up."""
    clock = WallClock()
    signal.signal(signal.SIGTERM, _dismiss)
    try:
        wire.send_greeting(connection)
        while True:
            order = wire.receive_order(connection)
            began = clock.now()
            outcome = compute(mover, order)
            ended = clock.now()
            if isinstance(outcome, Outcome):
                wire.send_outcome(connection, order.key, outcome, began, ended)
            else:
                wire.send_failure(connection, order.key, outcome, began, ended)
    except (EOFError, OSError, Dismissed):
        return
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it has been heard, or is no longer needed
        for stream in (sys.stdout, sys.stderr):
            stream.flush()


def compute(mover: Mover, order: Order) -> Outcome | AptmcError:
    """The outcome, or the failure with a note of where in the user's code it happened."""
    try:
        return mover.compute(order)
    except AptmcError as failure:
        cause = failure.__cause__
        if cause is not None:
            lines = "".join(traceback.format_exception(cause))
            failure.add_note(f"In the worker process:\n{lines}")
        return failure
    except Dismissed:
        raise
    except BaseException as error:  # sys.exit() or an interrupt inside the user's function
        parameters = mover.problem.describe(order.state)
        reason = f"{mover.problem.function_name} raised {type(error).__name__}: {error}"
        return MoveFailed(reason + ", in a move", parameters, order.rung, order.key)


def _dismiss(_number: int, _frame: Any) -> NoReturn:
    raise Dismissed
