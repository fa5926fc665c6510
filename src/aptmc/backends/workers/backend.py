"""Backends with workers: one workforce serves all phases of a run, one after the other."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from typing import Any, final

from typing_extensions import override

from aptmc.backends.base import Backend, Engine
from aptmc.backends.workers.belongings import OPEN_INSIDE, belonging_in, unsendable_in
from aptmc.backends.workers.grouping import Grouping
from aptmc.backends.workers.payload import pack
from aptmc.backends.workers.replay_workers import ByWorkers
from aptmc.backends.workers.trials import ComputeTimed
from aptmc.backends.workers.wire import Wire
from aptmc.backends.workers.worker_loop import WorkerLoop
from aptmc.backends.workers.workforce import Workforce
from aptmc.errors import InputError, RunFailed
from aptmc.kernels import Kernel
from aptmc.session.compilation import Aside
from aptmc.session.control import Control
from aptmc.session.descent import Errand
from aptmc.session.session import Session, Usage
from aptmc.session.start_up import Part
from aptmc.session.units import Units


@final
class WorkerEngine(Engine):
    """Runs the phases of a run on one workforce. The budget counts from the call."""

    def __init__(
        self,
        units: Callable[[Session, float, ComputeTimed], Units],
        control: Control,
        workforce: Workforce[Any],
        budget: float,
        renewed: Callable[[Session], Workforce[Any]],
        kernel: type[Kernel],
    ) -> None:
        """Begin.

        :param renewed: closes the workforce, and gives one for another session
        :param kernel: whose moves the workforce computes; a warm-up may have taken another since
        """
        self._units, self._control, self._workforce = units, control, workforce
        self._renewed, self._kernel = renewed, kernel
        self._end = control.called + budget  # by the clock
        self._budget = budget
        self._idle_since = control.called
        self._startup = 0.0
        self._quickest_start = self._step_length = 0.0  # of an earlier phase

    def run(self, session: Session, budget: float) -> Usage:
        """One phase. All time since the call in which no moves count is start-up."""
        loop = self._loop(session, budget)
        session.progress.quickest_start = self._quickest_start
        session.progress.step_length = self._step_length
        usage = loop.run()
        self._quickest_start = session.progress.quickest_start
        self._idle_since, self._startup = loop.until, usage.overhead.startup
        return usage

    def search(self, session: Session, errand: Errand) -> Usage:
        """An errand is no start-up: it is where a warm-up begins."""
        usage = self._loop(session, self._end - self._control.clock.now()).search(errand)
        self._step_length = session.progress.step_length
        self._idle_since += usage.elapsed
        return usage

    @override
    def over(self) -> None:
        self._workforce.begin_to_close()

    def _loop(self, session: Session, budget: float) -> WorkerLoop:
        if type(session.kernel) is not self._kernel:
            self._workforce, self._kernel = self._renewed(session), type(session.kernel)
        return WorkerLoop(
            session, budget, self._end, self._control, self._workforce,
            partial(self._units, session, self._budget), self._idle_since, self._startup,
        )  # fmt: skip

    def left(self) -> float:
        """What is left by the clock, once workers can be started."""
        self._workforce.await_ready(self._end, self._control)
        return self._end - self._control.clock.now()


class WorkforceBackend(Backend):
    """A backend with workers, wherever they are. The problem is sent to each of them once."""

    grouping: Grouping

    @abstractmethod
    def workforce(self, session: Session) -> Workforce[Any]:
        """Workers for one run; they are started when they are waited for."""

    @abstractmethod
    def units(self, session: Session, seconds: float, compute: ComputeTimed) -> Units:
        """How much is sent to a worker at a time: as wanted, or found by a trial.

        :param seconds: how long the run is to take
        """

    def check(self, session: Session) -> None:
        """Can the problem travel, and do groups and queues fit?"""
        payload_of(session)
        self.grouping.check(session)

    def run(self, session: Session, budget: float, control: Control | None = None) -> Usage:
        """Keep all workers busy until the budget is spent."""
        with self.open(session, budget, control or Control()) as engine:
            return engine.run(session, engine.left())

    @contextmanager
    @override
    def open(self, session: Session, budget: float, control: Control) -> Iterator[Engine]:
        """Start a workforce, which serves all phases of a run."""
        count = self.processors
        workers = "1 worker" if count == 1 else f"{count} workers"
        control.start_up.tell(Part.WORKERS, f"starting {workers}")
        with control.signals(), ExitStack() as present:

            def renewed(session: Session) -> Workforce[Any]:
                present.close()
                workforce = present.enter_context(closing(self.workforce(session)))
                control.wake = workforce.wake
                return workforce

            self.look_first(session, control, control.called + budget)
            workforce = renewed(session)
            try:
                self._make_ready(session, workforce, control)
                kernel = type(session.kernel)
                yield WorkerEngine(self.units, control, workforce, budget, renewed, kernel)
            finally:
                control.wake = lambda: None

    @abstractmethod
    def look_first(self, session: Session, control: Control, until: float) -> None:
        """Refuse a problem that cannot be sampled, if that can be seen before there are workers.

        :param until: when the budget ends, by the clock
        """

    def _make_ready(self, session: Session, workforce: Workforce[Any], control: Control) -> None:
        """Do what is done once on a machine, which does not count.

        Where the coordinator is compiled aside, that is as long as the problem is compiled.
        """
        if control.once is not None and isinstance(session.compilation, Aside):
            session.compilation.is_done()  # it begins
            control.once = partial(workforce.await_ready, math.inf, control)
        with suppress(RunFailed):  # workers that die will do so again, where that is told
            control.do_once()

    @contextmanager
    def computing(self, session: Session) -> Iterator[ByWorkers]:
        """Workers that compute the moves of a replay."""
        with closing(self.workforce(session)) as workforce:
            yield ByWorkers(session, workforce, self.processors)


def wire_of(session: Session) -> Wire:
    """How one speaks about the moves of a session."""
    return Wire(session.seed, session.problem.width)


def payload_of(session: Session) -> bytes:
    """All that a worker needs to know, as bytes, or a clear error."""
    parts = session.problem, session.kernel
    found = belonging_in(*parts)
    if found is not None:
        raise InputError(f"the problem cannot be sent to worker processes: {found}; {found.remedy}")
    try:
        return pack(parts, wire_of(session))
    except Exception as error:
        found = unsendable_in(*parts)
        words = (
            "something that its functions use, an open file or a lock perhaps, belongs to this "
            "process"
        )
        raise InputError(
            f"the problem cannot be sent to worker processes ({type(error).__name__}: "
            f"{error}): {found or words}; {OPEN_INSIDE}"
        ) from error
