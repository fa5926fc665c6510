"""What every backend offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import final

from typing_extensions import override

from aptmc.pools import Pools
from aptmc.problem import Problem
from aptmc.session.control import Control
from aptmc.session.descent import Errand
from aptmc.session.session import Session, Usage


class Engine(ABC):
    """A backend that is ready: it runs the phases of a run, one session after the other."""

    unit: str = ""  # of the budget, if that is no time

    @abstractmethod
    def run(self, session: Session, budget: float) -> Usage:
        """Compute moves until this part of the budget is spent."""

    @abstractmethod
    def left(self) -> float:
        """What is left of the budget of the whole run, once all is ready."""

    @abstractmethod
    def search(self, session: Session, errand: Errand) -> Usage:
        """Compute what an errand asks for until it is over; nothing of it counts."""

    @abstractmethod
    def over(self) -> None:
        """No phase will come: whoever has computed may go, while what was found is put away."""


@final
class LoopEngine(Engine):
    """The engine of a backend that is always ready: its own loop, once for each phase."""

    def __init__(
        self,
        run: Callable[[Session, float], Usage],
        search: Callable[[Session, Errand, float], Usage],
        budget: float,
    ) -> None:
        self._run, self._search = run, search
        self._left = budget

    @override
    def run(self, session: Session, budget: float) -> Usage:
        usage = self._run(session, budget)
        self._left -= usage.elapsed
        return usage

    @override
    def search(self, session: Session, errand: Errand) -> Usage:
        usage = self._search(session, errand, self._left)
        self._left -= usage.elapsed
        return usage

    @override
    def over(self) -> None:
        """Nobody is to go."""

    @override
    def left(self) -> float:
        """The budget without what the phases before have spent."""
        return self._left


class Backend(ABC):
    """Who computes the moves. Each backend is a thin loop around the same coordinator."""

    processors: int
    time_unit: str = "s"
    logs_events: bool = True  # unless the user decides otherwise
    own_pools: Pools | None = None  # how chains stand, where only one way will do
    pools_in_warmup: Pools | None = None  # where fewer chains will do to find settings
    descends = False  # whether it finds first states of simulators at any tolerance, quickly
    # The time between deadlines for a problem, where no warm-up need find it.
    own_deadlines: Callable[[Problem], float] | None = None
    computes_any_kernel: bool = True
    settles_itself: bool = False  # before draws count, in a way of its own
    compiles_aside: bool = False  # the coordinator, while compiled moves are computed already
    computes_errands_alone: bool = False  # one order after the other, however many processors
    remark: str = ""  # which the summary of a run makes on who computed it
    made_by: str = ""  # the compiler, where the last bits of draws depend on it

    @final
    @property
    def is_in_real_time(self) -> bool:
        """Whether budgets are seconds by the clock."""
        return self.time_unit == "s"

    @final
    @property
    def searchers(self) -> int:
        """How many orders of an errand are computed at a time."""
        return 1 if self.computes_errands_alone else self.processors

    @abstractmethod
    def start_early(self, *, compiles: bool) -> None:
        """Begin with what takes time and needs no problem, while others prepare the run.

        :param compiles: whether moves are machine code
        """

    @abstractmethod
    def check(self, session: Session) -> None:
        """Refuse what cannot work, before the budget starts to run."""

    @abstractmethod
    def run(self, session: Session, budget: float, control: Control | None = None) -> Usage:
        """Compute moves until the budget is spent or `control` says stop."""

    @abstractmethod
    def open(
        self, session: Session, budget: float, control: Control
    ) -> AbstractContextManager[Engine]:
        """Make ready to run this session, and others of the same problem and kind of kernel."""


class LoopBackend(Backend):
    """A backend that computes in this process and is always ready."""

    @override
    def start_early(self, *, compiles: bool) -> None:
        """Nothing is to be started."""

    @abstractmethod
    def engine(self, budget: float, control: Control) -> Engine:
        """Its own loop, once for each phase: `LoopEngine`, where a budget is not by the clock."""

    @final
    @contextmanager
    @override
    def open(self, session: Session, budget: float, control: Control) -> Iterator[Engine]:
        with control.signals(interrupt=True):
            control.do_once()
            yield self.engine(budget, control)
