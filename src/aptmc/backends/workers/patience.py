"""How long moves may take that do not count, before their workers are replaced.

To give up what takes long is no bias as long as nothing counts, and a simulation that never ends
must not spend the budget. Moves that count are never given up.
"""

from __future__ import annotations

from typing import final

from aptmc.backends.workers.workforce import Worker

# A move that takes this many times longer than others did is given up.
TIMES = 20.0
LEAST = 0.01  # of the budget
# The same, before anybody knows how long moves take. Twice as long for the next on a processor: it
# may be that all of them are long, or that a function loads and compiles when it is first called.
AT_FIRST, GROWTH = 0.125, 2.0
# What a new worker computes first may take as many times longer than that of others did.
FIRST_OF_A_WORKER = 2.0
A_DAY = 86_400.0  # seconds


@final
class Patience:
    """With the workers of one phase."""

    def __init__(self, count: int, budget: float) -> None:
        """Nobody knows anything yet.

        :param count: how many moves must be done before one can tell what takes too long
        :param budget: what is left of that of the whole run
        """
        self._count, self._budget = count, min(budget, A_DAY)  # a count knows no time
        self._finished, self._seconds = 0, 0.0
        self._known: set[Worker] = set()  # who have computed something
        self._longest_first = 0.0
        self._given_up: dict[int, int] = {}  # by processor: how often, before one could tell

    def heard(self, worker: Worker, seconds: float) -> None:
        """A move is finished."""
        self._finished += 1
        self._seconds += seconds
        if worker not in self._known:
            self._known.add(worker)
            self._longest_first = max(self._longest_first, seconds)

    def gave_up(self, worker: Worker) -> None:
        """A worker was replaced."""
        if not self._can_tell:
            self._given_up[worker.processor] = self._given_up.get(worker.processor, 0) + 1

    def ends(self, worker: Worker) -> float:
        """When a worker is to be replaced, by the clock, if it is still at the same move then."""
        return worker.since + self._with(worker)

    @property
    def _can_tell(self) -> bool:
        return self._finished >= self._count

    def _with(self, worker: Worker) -> float:
        if not self._can_tell:
            return self._budget * AT_FIRST * GROWTH ** self._given_up.get(worker.processor, 0)
        usual = max(TIMES * self._seconds / self._finished, LEAST * self._budget)
        if worker in self._known:
            return usual
        return max(usual, FIRST_OF_A_WORKER * self._longest_first)
