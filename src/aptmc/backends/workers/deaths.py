"""Deaths of workers, counted: a move that ends whoever computes it is given up in the end."""

from __future__ import annotations

from collections import Counter
from typing import final

import numpy as np

from aptmc.backends.workers.workforce import MOST_IDLE_DEATHS
from aptmc.compiled import Floats
from aptmc.errors import RunFailed, WorkerDied
from aptmc.keys import Key
from aptmc.problem import Problem
from aptmc.session.orders import Order


@final
class Deaths:
    """How often workers died on which move, and in a row with nothing to do."""

    def __init__(self, problem: Problem, most: int) -> None:
        """Give up a move on which so many have died."""
        self._problem, self._most = problem, most
        self._on: Counter[Key] = Counter()
        self._in_a_row = 0

    def note_on(self, order: Order) -> bool:
        """Count one against a move; True if that is one too many."""
        self._on[order.key] += 1
        return self._on[order.key] >= self._most

    def is_last_chance(self, order: Order) -> bool:
        """Whether the next death on a move is one too many."""
        return self._on[order.key] == self._most - 1

    def verdict(self, order: Order, how: str, going: Floats | None = None) -> WorkerDied:
        """What is said of a move that is given up.

        :param how: the end of its workers, in words
        :param going: the coordinates to which it was going, where that is known
        """
        where = order.state if going is None else going
        died = WorkerDied(
            f"the worker process {how} each of {self._most} times that this move was computed,",
            {} if np.isnan(where[0]) else self._problem.describe(where),
            order.rung,
            order.key,
        )
        died.order = order
        return died

    def note_idle(self, message: str) -> None:
        """Count one that had nothing to do; too many in a row end the run, with this message."""
        self._in_a_row += 1
        if self._in_a_row == MOST_IDLE_DEATHS:
            raise RunFailed(message)

    def note_life(self) -> None:
        """A move was completed: whoever dies next is the first in a row."""
        self._in_a_row = 0
