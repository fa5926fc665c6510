"""Steps of all walkers, put together from moves that end in any order.

The library has no sweeps: a walker moves again when its turn comes, however long others take. The
k-th step of an ensemble is the k-th move of each of its walkers.
"""

from __future__ import annotations

from collections import deque
from threading import Condition
from typing import NamedTuple, final

import numpy as np

from aptmc.compiled import Floats, FloatTable
from aptmc.record.event_log import EventLog
from aptmc.record.record import Record


class Step(NamedTuple):
    """A move of each walker: one row for each, coldest temperature first."""

    rows: FloatTable  # the states that they moved to
    accepted: Floats  # how many of their proposals were accepted
    ratios: Floats  # of neighbouring temperatures: how likely their walkers swap, as seen since the
    # step before; NaN where none met


@final
class Steps:
    """The moves of walkers as they come in; a step is complete when all have made it.

    :param walkers: how many there are, on all temperatures together
    """

    def __init__(self, walkers: int) -> None:
        self._moves: list[deque[tuple[Floats, float]]] = [deque() for _ in range(walkers)]
        self._swaps = self._known = (np.zeros(1), np.zeros(1))
        self.come_in = Condition()  # somebody else may wait for them

    def append(self, record: Record, log: EventLog) -> None:
        """Take the draws in a record's buffer: what moves led to, not what exchanges did."""
        count = int(record.filled[0])
        chains, rows = record.chain[:count], record.state[:count]
        with self.come_in:
            for draw in np.flatnonzero(~record.draws["exchanged"][:count]).tolist():
                accepted = float(record.draws["accepted"][draw])
                self._moves[chains[draw]].append((rows[draw].copy(), accepted))
            self._swaps = (record.met.astype(np.float64), record.chance.copy())
            self.come_in.notify_all()

    @property
    def complete(self) -> int:
        """How many steps all walkers have made that nobody has taken yet."""
        return min(map(len, self._moves))

    def take(self) -> Step:
        """The first of them."""
        with self.come_in:
            moves = [mine.popleft() for mine in self._moves]
            rows, accepted = np.array([row for row, _ in moves]), [one for _, one in moves]
            met, chance = (now - known for now, known in zip(self._swaps, self._known, strict=True))
            self._known = self._swaps
        ratios = np.full(met.size, np.nan)
        np.divide(chance, met, out=ratios, where=met > 0.0)
        return Step(rows, np.array(accepted), np.clip(ratios, 0.0, 1.0))

    def forget(self) -> None:
        """Leave out what some walkers have done beyond the last step that is complete."""
        with self.come_in:
            for mine in self._moves:
                mine.clear()
            nothing = np.zeros_like(self._swaps[0])  # another record begins to count
            self._swaps = self._known = (nothing, nothing)
