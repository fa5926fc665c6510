"""What every backend offers."""

from __future__ import annotations

from abc import ABC, abstractmethod

from aptmc.backends.control import Control
from aptmc.backends.session import Session, Usage


class Backend(ABC):
    """Who computes the moves. Each backend is a thin loop around the same coordinator."""

    processors: int
    time_unit: str = "s"
    logs_events: bool = True  # unless the user decides otherwise

    @abstractmethod
    def check(self, session: Session) -> None:
        """Refuse what cannot work, before the budget starts to run."""

    @abstractmethod
    def run(self, session: Session, budget: float, control: Control | None = None) -> Usage:
        """Compute moves until the budget is spent or `control` says stop."""
