"""The state of a run under way: the few numbers that people want to see while it goes on."""

from __future__ import annotations

import math
from typing import NamedTuple, final

import numpy as np

from aptmc.compiled import Floats, FloatTable
from aptmc.diagnostics.error_of_mean import Timeline, effective_draws
from aptmc.record.record import Record
from aptmc.session.control import WorkerStatus

MOST_ROWS = 8192  # of a sketch
FEWEST_ROWS = 16  # from which anything can be told


class LiveState(NamedTuple):
    """What a view shows of a run at one moment."""

    elapsed: float  # since the call, or in virtual time
    budget: float
    unit: str
    draws: int  # on the coldest rung
    effective: float  # of the parameter that has the fewest; NaN if nobody knows yet
    moves: int
    utilisation: float
    levels: tuple[float, ...]
    swap_rates: Floats  # of neighbours
    workers: list[WorkerStatus]
    round: int | None  # of the warm-up, from 1; None when it is over
    rounds: int
    silence: float = 0.0  # seconds since there was news of the run, if it is seen from outside
    doing: str = ""  # on the way to the first draws: what happens now, in words
    reached: str = ""  # how far down a likelihood-free run came, in words

    @property
    def share(self) -> float:
        """The share of the budget that is spent, at most 1."""
        return min(self.elapsed / self.budget, 1.0) if self.budget > 0.0 else 0.0


@final
class Sketch:
    """The draws of the coldest rung, thinned so that there are never too many to look at."""

    def __init__(self, dimension: int, wanted: frozenset[int], *, apart: int = 0) -> None:
        """Prepare to listen to the chains that are wanted.

        :param apart: how many chains hand states to each other, if not all, as `Timeline` has it
        """
        self.draws = 0
        self._dimension, self._wanted, self._apart = dimension, wanted, apart
        self._every = 1
        self._heard = 0  # rows of the record
        self._rows: dict[int, list[FloatTable]] = {chain: [] for chain in sorted(wanted)}
        self._kept: dict[int, int] = dict.fromkeys(wanted, 0)
        self._seen: dict[int, int] = dict.fromkeys(wanted, 0)

    def listen(self, record: Record, after: float = -math.inf) -> None:
        """Take in what is new in a record since one last listened, and was drawn after a time."""
        first_row, rows = self._heard, int(record.filled[0])
        self._heard = rows
        for chain in self._wanted:
            new = record.draws[first_row:rows]
            mine = first_row + np.flatnonzero((new["chain"] == chain) & ~(new["time"] <= after))
            if mine.size == 0:
                continue
            self.draws += mine.size
            first = -self._seen[chain] % self._every
            self._seen[chain] += mine.size
            rows_of = mine[first :: self._every]
            times = record.draws["time"][rows_of]
            # The time is the last column.
            chosen = np.column_stack([record.state[rows_of, : self._dimension], times])
            self._rows[chain].append(chosen)
            self._kept[chain] += len(chosen)
        while max(self._kept.values(), default=0) > MOST_ROWS:
            self._every *= 2
            for chain, pieces in self._rows.items():
                nothing = np.empty((0, self._dimension + 1))
                thinned = np.concatenate(pieces)[::2] if pieces else nothing
                self._rows[chain], self._kept[chain] = [thinned], len(thinned)

    def turn_the_page(self) -> None:
        """The record is emptied now: its rows are filled anew."""
        self._heard = 0

    def effective_draws(self) -> float:
        """Effective draws of the parameter that has the fewest; NaN if there are too few."""
        chains = [np.concatenate(pieces) for pieces in self._rows.values() if pieces]
        chains = [rows for rows in chains if len(rows) > 0]
        if sum(map(len, chains)) < FEWEST_ROWS:
            return math.nan
        times = [rows[:, -1] for rows in chains]
        timeline = Timeline([len(rows) for rows in chains], times, apart=self._apart)
        return min(
            effective_draws([rows[:, place] for rows in chains], timeline)
            for place in range(self._dimension)
        )
