"""Moves of many states, each from where the last one has led: what is computed at a time."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Generator
from typing import NamedTuple, final

import numpy as np
from typing_extensions import override

from aptmc.compiled import Floats, FloatTable, FloatTables
from aptmc.keys import ANNEALING, START, Key
from aptmc.problem.chain_state import WORK
from aptmc.session.descent import Errand
from aptmc.session.orders import Order, Outcome


class Batch(NamedTuple):
    """Some moves of each of some states; from nowhere, a search for first states."""

    rows: FloatTable
    moves: int
    level: float
    numbers: Callable[[], Floats]  # the kernel's, which may change from move to move
    # Is told of a move, and whether it was in the later half. None: they lead nowhere, and each is
    # made from where the batch began.
    heard: Callable[[Outcome, bool], None] | None = None


Course = Generator[Batch, FloatTables, FloatTables]  # of batches, by the states that they led to


class Batches(Errand):
    """An errand that is one batch after the other. Nobody waits for the slowest of a batch: whoever
    is free makes moves that go beyond it.
    """

    def __init__(self, seed: int, most: float = math.inf) -> None:
        """Begin with the first batch.

        :param most: time after which it is given up
        """
        self.seed, self.elapsed, self._most = seed, 0.0, most
        self._number = self._batch_number = 0
        self._in_flight: dict[Key, tuple[int, int]] = {}  # a state's place, and the batch's number
        self._over = False
        # How long each move took of which anything is heard, and its work: of the present batch,
        # and of the last one.
        self._takes: list[tuple[float, float]] = []
        self.took = np.empty((0, 2))
        self._rest = self.course()
        self._begin(next(self._rest))

    @abstractmethod
    def course(self) -> Generator[Batch, FloatTables, None]:
        """All batches: each is thought of in the light of those before."""

    @abstractmethod
    def has_found(self, count: int, wanted: int) -> None:
        """So many first states have been found."""

    @property
    @override
    def is_over(self) -> bool:
        return self._over

    @property
    def seconds_per_move(self) -> float:
        """How long a move took, of the last batch of which anything is heard."""
        return float(self.took[:, 0].mean()) if len(self.took) > 0 else 0.0

    def go_on_after(self, other: Batches) -> None:
        """Moves have random keys of their own, beside those of another."""
        self._number = other._number

    def end(self) -> None:
        """No more batches."""
        self._over = True

    def _begin(self, batch: Batch) -> None:
        self._batch, self._batch_number = batch, self._batch_number + 1
        count, width = batch.rows.shape
        self._rows = batch.rows.copy()
        self._is_search = bool(np.isnan(batch.rows).all())
        self._done = np.zeros(count, np.int64)
        self._away = np.zeros(count, bool)
        self._seen = np.empty((count, batch.moves, width))
        self._takes = []

    @final
    @override
    def next_order(self) -> Order:
        free = np.flatnonzero(~self._away)
        if free.size == 0:
            free = np.arange(self._away.size)
        place = int(free[self._done[free].argmin()])
        self._away[place] = True
        self._number += 1
        key = Key(self.seed, place, self._number, START if self._is_search else ANNEALING)
        self._in_flight[key] = place, self._batch_number
        batch = self._batch
        return Order(key, 0, batch.level, batch.numbers(), self._rows[place].copy())

    @final
    @override
    def report(self, order: Order, outcome: Outcome | None, seconds: float, elapsed: float) -> None:
        self.elapsed = elapsed
        place, batch = self._in_flight.pop(order.key)
        if batch == self._batch_number:  # else nobody waits for it any more
            self._away[place] = False
            self._heard(place, outcome, seconds)
            self._go_on()
        if elapsed >= self._most:
            self.end()

    def _go_on(self) -> None:
        while not self._over and self._done.min() >= self._batch.moves:
            if self._takes:
                self.took = np.array(self._takes)
            try:
                self._begin(self._rest.send(self._seen))
            except StopIteration:
                self._over = True

    def _heard(self, place: int, outcome: Outcome | None, seconds: float) -> None:
        number, wanted = int(self._done[place]), self._batch.moves
        if outcome is None and self._is_search:  # it is ordered again
            return
        state = self._rows[place] if outcome is None else outcome.state
        if number < wanted:
            self._seen[place, number] = state
        self._done[place] = number + 1
        if self._is_search:
            self.has_found(int((self._done > 0).sum()), self._done.size)
            return
        if self._batch.heard is None:
            return
        self._rows[place] = state
        self._takes.append((seconds, 0.0 if outcome is None else float(outcome.info[WORK])))
        if outcome is not None:
            self._batch.heard(outcome, number >= wanted // 2)
