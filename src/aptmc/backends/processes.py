"""Worker processes on this machine, never idle, and a budget that is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import Literal, final

import numpy as np

from aptmc.backends.base import Backend, Engine
from aptmc.backends.control import Control
from aptmc.backends.nursery import pack
from aptmc.backends.replay import ByWorkers
from aptmc.backends.session import Session, Usage
from aptmc.backends.shift import Shift
from aptmc.backends.units import ComputeTimed, Units, can_queue_ahead, measure_units
from aptmc.backends.wire import Wire
from aptmc.backends.workforce import Workforce
from aptmc.checks import whole_number
from aptmc.errors import InputError
from aptmc.kernels.base import STEPS
from aptmc.processors import processors_available

FULL_SOCKET = 64 * 1024  # a message of this size may have to wait for its reader


@final
class Processes(Backend):
    """Worker processes on this machine: the default.

    The budget is kept even if every simulation is under way: it counts from the call of `sample`,
    and what is in flight at its end is left. A worker that dies is replaced, and its move computed
    again with the same random key.

    Any Python function will do, also from a notebook or a script without a `__main__` guard.

    :param workers: how many; by default as many as this process may use processors
    :param group: local steps that are sent to a worker as one move, for all rungs or for each.
        By default ("auto") cheap moves are grouped until they last a few milliseconds, by
        a trial before the run begins
    :param ahead: how many moves wait at each worker. By default ("auto") one, if moves are short
        and there are chains enough: waiting there, they cannot be exchanged

    >>> Processes(4)
    Processes(4)
    """

    def __init__(
        self,
        workers: int | None = None,
        *,
        group: Literal["auto"] | int | Sequence[int] = "auto",
        ahead: Literal["auto"] | int = "auto",
    ) -> None:
        self.processors = (
            processors_available() if workers is None else whole_number("workers", workers)
        )
        if group != "auto":
            for count in group if isinstance(group, Sequence) else [group]:
                whole_number("group", count)
        if ahead not in ("auto", 0, 1):
            raise InputError(f'ahead must be "auto", 0 or 1, got {ahead!r}')
        self.group = group
        self.ahead = ahead

    def __repr__(self) -> str:
        return f"Processes({self.processors})"

    def check(self, session: Session) -> None:
        """Can the problem travel, and do groups and queues fit?"""
        self._payload(session)
        if isinstance(self.group, Sequence) and self.group != "auto":
            rungs = session.tuning.shape[0]
            if len(self.group) != rungs:
                raise InputError(
                    f"group must have one entry for each of {rungs} rungs, got {self.group!r}"
                )
        if self.ahead == 1 and not can_queue_ahead(session.machine, session.served):
            raise InputError(
                "with ahead=1 two moves of each processor are in flight, and too few chains would "
                "be left to exchange (or the schedule has barriers): use more chains, fewer "
                "workers, or ahead=0"
            )

    def run(self, session: Session, budget: float, control: Control | None = None) -> Usage:
        """Keep all workers busy until the budget is spent."""
        with self.open(session, budget, control or Control()) as engine:
            return engine.run(session, engine.left())

    @contextmanager
    def open(self, session: Session, budget: float, control: Control) -> Iterator[Engine]:
        """Start a workforce, which serves all phases of a run."""
        with (
            control.signals(),
            closing(
                Workforce(self._payload(session), _wire(session), session.problem)
            ) as workforce,
        ):
            control.wake = workforce.wake
            try:
                yield _Workplace(self._units, control, workforce, budget)
            finally:
                control.wake = lambda: None

    @contextmanager
    def computing(self, session: Session) -> Iterator[ByWorkers]:
        """Workers that compute moves again, for a replay."""
        with closing(
            Workforce(self._payload(session), _wire(session), session.problem)
        ) as workforce:
            yield ByWorkers(session, workforce, self.processors)

    def _units(self, session: Session, compute: ComputeTimed) -> Units:
        """How much is sent at a time: as the user wants it, or as a trial shows."""
        steps = session.tuning[:, STEPS].astype(np.int64)
        if self.group != "auto":
            steps = steps * np.broadcast_to(np.asarray(self.group, np.int64), steps.shape)
        ahead = None if self.ahead == "auto" else self.ahead
        if _wire(session).bytes_per_order > FULL_SOCKET:
            ahead = 0
        if self.group != "auto" and ahead is not None:
            return Units(steps, ahead)
        group = self.group == "auto"
        measured = measure_units(session, compute, group=group, ahead=ahead)
        return measured if group else Units(steps, measured.ahead)

    def _payload(self, session: Session) -> bytes:
        try:
            return pack((session.problem, session.kernel), _wire(session))
        except Exception as error:
            raise InputError(
                f"the problem cannot be sent to worker processes ({type(error).__name__}: "
                f"{error}): something that its functions use, an open file or a lock perhaps, "
                "belongs to this process; open it inside the function, or use "
                "on=aptmc.InProcess()"
            ) from error


@final
class _Workplace(Engine):
    """A workforce that is there for one shift after the other. The budget counts from the call."""

    def __init__(
        self,
        units: Callable[[Session, ComputeTimed], Units],
        control: Control,
        workforce: Workforce,
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


def _wire(session: Session) -> Wire:
    return Wire(session.seed, session.problem.width, session.tuning.shape[1])
