"""The way to the first draws: what happens there, told to whoever waits, and how long it takes.

Whoever does something that takes a while says so (`tell`) before it begins. A view shows the words;
the times say afterwards what a budget was spent on that was too short.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any, NamedTuple, final

from aptmc.clock import Clock


class StoppedEarly(Exception):
    """The budget was spent, or a request to stop came, before the first move that counts.

    `done` has the orders that were computed by then, and their outcomes.
    """

    def __init__(self, done: list[tuple[Any, Any]] | None = None) -> None:
        super().__init__("no moves count yet")
        self.done = done or []


class Part(Enum):
    """A part of the way to the first draws. The values are its names in a sentence."""

    SAMPLER = "compiling the sampler"  # once on a machine, and not in the budget
    PREPARING = "preparing the run"
    WORKERS = "starting the workers"
    PROBLEM = "compiling the problem"
    STATES = "finding first states"
    TRIALS = "trying how long moves take"
    WARMUP = "warming up"
    SAMPLING = "sampling"


class Spent(NamedTuple):
    """What one part of the way took."""

    what: str
    seconds: float
    share: float | None = 1.0  # of it that is done; None, if nobody can tell
    reached: str = ""  # how far it came, in words


@final
class StartUp:
    """Where a run is on the way to its first draws."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.part = Part.PREPARING
        self.words = ""  # what happens now; nothing, once moves count
        self.moves_are = Part.SAMPLING
        self.hear: Callable[[Part, str], None] = lambda part, words: None  # a view sets this
        # While this process is busy with something that never looks up, a view may tick.
        self.busy: Callable[[], None] = lambda: None
        self.idle: Callable[[], None] = lambda: None
        # Whether a first look has seen a simulator that gives the same data again and again.
        self.repeats_itself = False
        self._since = self._begun = clock.now()
        self._seconds: dict[Part, float] = {}
        self._reached: dict[Part, tuple[float | None, str]] = {}

    def tell(self, part: Part, words: str, share: float | None = None) -> None:
        """Say what happens from now on.

        :param share: how much of this part is done, if somebody can tell
        """
        self._turn_to(part)
        self._reached[part] = share, words
        if words != self.words:
            self.words = words
            self.hear(part, words)

    def over(self) -> None:
        """Moves count from now on, and a view has something better to show than words."""
        self._turn_to(self.moves_are)
        self._reached[self.part] = None, ""
        self.words = ""

    @contextmanager
    def without_looking_up(self, part: Part, words: str) -> Iterator[None]:
        """Something that takes all of this process's attention."""
        self.tell(part, words)
        self.busy()
        try:
            yield
        finally:
            self.idle()

    def seconds_in_part(self) -> float:
        """How long the present part has taken since it was last begun."""
        return self._clock.now() - self._begun

    def spent(self) -> tuple[Spent, ...]:
        """What the budget was spent on up to now, in order."""
        self._turn_to(self.part)
        return tuple(
            Spent(part.value, seconds, *self._reached.get(part, (1.0, "")))
            for part, seconds in self._seconds.items()
            if part is not Part.SAMPLER
        )

    def _turn_to(self, part: Part) -> None:
        now = self._clock.now()
        self._seconds[self.part] = self._seconds.get(self.part, 0.0) + now - self._since
        if part is not self.part:
            self._begun = now
            self._reached[self.part] = 1.0, ""  # which has come to its end
        self.part, self._since = part, now
