"""Where answers arrive, from whatever thread."""

from __future__ import annotations

from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, final

from aptmc.clock import Clock

LONGEST_WAIT = 3600.0  # seconds; the system refuses to wait for more than some weeks


class News(NamedTuple):
    """Something that was said about a subject."""

    subject: Any
    what: Any
    arrived: float  # by the clock of this process


@final
class Mailbox:
    """A queue for one reader, who can be woken up although there is nothing to read."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._queue: SimpleQueue[News | None] = SimpleQueue()

    def post(self, subject: Any, what: Any = None) -> None:
        """Leave a message. The time is noted now, however late it is read."""
        self._queue.put(News(subject, what, self._clock.now()))

    def wake(self) -> None:
        """End the current `wait` early. May be called from a signal handler."""
        self._queue.put(None)

    def wait(self, until: float) -> list[News]:
        """All that has arrived; if there is nothing, the next, at most until so late."""
        found: list[News | None] = []
        patience = min(max(until - self._clock.now(), 0.0), LONGEST_WAIT)
        try:
            found.append(self._queue.get(timeout=patience))
            while True:
                found.append(self._queue.get_nowait())
        except Empty:
            return [news for news in found if news is not None]
