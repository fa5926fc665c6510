"""Where Ctrl-C may raise an exception, by the functions that a signal finds at work.

numba does not expect one while it hands arguments over to compiled code, or while a compiled
generator is asked for its next answer: it ignores it, and Python crashes a moment later. So an
exception is raised inside functions of the user, which may take hours, and not inside ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import FrameType

from aptmc.compiled import is_compiled
from aptmc.problem.density import checked_call
from aptmc.problem.simulator import call_checked
from aptmc.session.orders import Mover

# By whom functions of the user are called from plain Python: `function`, in both.
CALLERS = {checked_call.__code__, call_checked.__code__}
MOVERS = {Mover.compute.__code__, Mover.compute_all.__code__}
# Modules that call compiled code, and give back an answer soon.
UNBROKEN = ("aptmc.session.standing_by", "aptmc.backends.virtual.", "numba.")


def is_users(frame: FrameType | None) -> bool:
    """Whether a plain Python function of the user is at work, called by a move."""
    return any(
        one.f_code in CALLERS and not is_compiled(one.f_locals["function"]) for one in _stack(frame)
    )


def is_unbroken(frame: FrameType | None) -> bool:
    """Whether compiled code may be at work, which an exception would upset."""
    if is_users(frame):
        return False
    return any(
        one.f_globals.get("__name__", "").startswith(UNBROKEN)
        or one.f_code in CALLERS  # of a compiled function
        or one.f_code in MOVERS  # plain moves, too, call compiled functions of the library
        for one in _stack(frame)
    )


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back
