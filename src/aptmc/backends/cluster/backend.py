"""What the backends on engines have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import closing, contextmanager

from aptmc.backends.base import Backend, Engine
from aptmc.backends.cluster.dispatch import Dispatch
from aptmc.backends.cluster.workforce import RemoteWorkforce
from aptmc.backends.control import Control
from aptmc.backends.grouping import Grouping
from aptmc.backends.session import Session, Usage
from aptmc.backends.workplace import Workplace, payload_of, wire_of


class ClusterBackend(Backend):
    """Workers of an engine. The problem is sent to each of them once."""

    grouping: Grouping

    @abstractmethod
    def dispatch(self) -> Dispatch:
        """The engine, for one run."""

    def check(self, session: Session) -> None:
        """Can the problem travel, and do groups and queues fit?"""
        payload_of(session)
        self.grouping.check(session)

    def run(self, session: Session, budget: float, control: Control | None = None) -> Usage:
        """Keep all workers busy until the budget is spent."""
        with self.open(session, budget, control or Control()) as engine:
            return engine.run(session, engine.left())

    @contextmanager
    def open(self, session: Session, budget: float, control: Control) -> Iterator[Engine]:
        """Start a workforce, which serves all phases of a run."""
        workforce = RemoteWorkforce(
            payload_of(session), wire_of(session), session.problem, self.dispatch()
        )
        with control.signals(), closing(workforce):
            control.wake = workforce.wake
            try:
                yield Workplace(self.grouping.units, control, workforce, budget)
            finally:
                control.wake = lambda: None
