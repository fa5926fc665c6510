"""What every view of a run offers."""

from __future__ import annotations

from abc import ABC, abstractmethod

from aptmc.progress.live import LiveState


class View(ABC):
    """Shows a run again and again while it goes on."""

    period: float  # seconds between two looks
    ticks = False  # whether words may be told again by another thread while the run is busy

    @abstractmethod
    def begin(self, budget: float, unit: str) -> None:
        """The run was called; it takes a while until there is something to show."""

    @abstractmethod
    def tell(self, words: str, *, is_news: bool) -> None:
        """Show what happens on the way to the first draws.

        :param is_news: something else happens than before, not only more of the same
        """

    @abstractmethod
    def show(self, live: LiveState) -> None:
        """Show the run as it is now, in place of what was shown before."""

    @abstractmethod
    def close(self, last_words: str) -> None:
        """Say how the run ended, unless there are no words, and show nothing any longer."""
