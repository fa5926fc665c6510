"""What every view of a run offers."""

from __future__ import annotations

from abc import ABC, abstractmethod

from aptmc.progress.live import LiveState


class View(ABC):
    """Shows a run again and again while it goes on."""

    period: float  # seconds between two looks

    @abstractmethod
    def begin(self, budget: float, unit: str) -> None:
        """The run was called; it takes a while until there is something to show."""

    @abstractmethod
    def show(self, live: LiveState) -> None:
        """Show the run as it is now, in place of what was shown before."""

    @abstractmethod
    def close(self, last_words: str) -> None:
        """Say how the run ended, and show nothing any longer."""
