"""A workplace: a workforce that is there for one shift after the other."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, final

from aptmc.backends.base import Engine
from aptmc.backends.control import Control
from aptmc.backends.nursery import pack
from aptmc.backends.session import Session, Usage
from aptmc.backends.shift import Shift
from aptmc.backends.units import ComputeTimed, Units
from aptmc.backends.wire import Wire
from aptmc.backends.workforce import Workforce
from aptmc.errors import InputError


@final
class Workplace(Engine):
    """Runs the phases of a run on one workforce. The budget counts from the call."""

    def __init__(
        self,
        units: Callable[[Session, ComputeTimed], Units],
        control: Control,
        workforce: Workforce[Any],
        budget: float,
    ) -> None:
        self._units, self._control, self._workforce = units, control, workforce
        self._end = control.called + budget  # by the clock
        self._idle_since = control.called
        self._startup = 0.0

    def run(self, session: Session, budget: float) -> Usage:
        """One shift. All time since the call in which no moves count is start-up."""
        shift = Shift(
            session, budget, self._end, self._control, self._workforce,
            partial(self._units, session), self._idle_since, self._startup,
        )  # fmt: skip
        usage = shift.run()
        self._idle_since, self._startup = shift.until, usage.overhead.startup
        return usage

    def left(self) -> float:
        """What is left by the clock, once workers can be started."""
        self._workforce.await_nursery(self._end, self._control)
        return self._end - self._control.clock.now()


def wire_of(session: Session) -> Wire:
    """How one speaks about the moves of a session."""
    return Wire(session.seed, session.problem.width, session.tuning.shape[1])


def payload_of(session: Session) -> bytes:
    """All that a worker needs to know, as bytes, or a clear error."""
    try:
        return pack((session.problem, session.kernel), wire_of(session))
    except Exception as error:
        raise InputError(
            f"the problem cannot be sent to worker processes ({type(error).__name__}: "
            f"{error}): something that its functions use, an open file or a lock perhaps, "
            "belongs to this process; open it inside the function, or use "
            "on=aptmc.InProcess()"
        ) from error
