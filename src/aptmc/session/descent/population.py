"""The particles of a descent: who is left behind, who takes their place, and who moves next."""

from __future__ import annotations

import math
from typing import final

import numpy as np

from aptmc.compiled import Floats, FloatTable

NEVER = -1


@final
class Population:
    """States within a level, some of them copies of others that have yet to move away.

    A particle in flight keeps its state until its move comes home, so that parameters at which
    simulations are slow are counted, and copied, like all others.
    """

    def __init__(self, rows: FloatTable, size: int, value: int, rng: np.random.Generator) -> None:
        """Begin with some states, of which there are copies if they are fewer than wanted."""
        self._rng, self._value = rng, value
        if len(rows) < size:
            more = rng.integers(len(rows), size=size - len(rows))
            is_copy = np.arange(size) >= len(rows)
            rows = np.concatenate([rows, rows[more]])
        else:
            is_copy = np.zeros(len(rows), np.bool_)
        self.rows = rows
        self.is_copy = is_copy  # and has not moved since
        self._ordered = np.full(len(rows), NEVER)  # when it was last ordered to move
        self._under_way = np.zeros(len(rows), np.int64)
        self._count = 0

    @property
    def size(self) -> int:
        """How many particles there are."""
        return len(self.rows)

    @property
    def distances(self) -> Floats:
        """Of each particle."""
        return self.rows[:, self._value]

    def next_level(self, share: float, level: float) -> float:
        """The tolerance that so many of the particles lie within, and smaller than the present."""
        distances = np.sort(self.distances)
        chosen = float(distances[max(math.ceil(share * distances.size) - 1, 0)])
        if chosen < level:
            return chosen
        smaller = distances[distances < level]
        return float(smaller[-1]) if smaller.size > 0 else level

    def drop(self, level: float) -> float:
        """Leave behind who is not within a level; gives the share that is."""
        alive = np.flatnonzero(self.distances <= level)
        dead = np.flatnonzero(~(self.distances <= level))
        if alive.size == 0:
            return 0.0
        self.rows[dead] = self.rows[self._rng.choice(alive, dead.size)]
        self.is_copy[dead] = True
        return alive.size / self.size

    def choose(self) -> int:
        """Who moves next: a copy, or whoever has waited longest; of those at home, if any are."""
        rank = np.lexsort((self._ordered, ~self.is_copy, self._under_way))
        chosen = int(rank[0])
        self._ordered[chosen] = self._count
        self._under_way[chosen] += 1
        self._count += 1
        return chosen

    def come_home(self, particle: int, row: Floats | None, level: float) -> None:
        """A move is over. What it led to is taken if it lies within the level of now.

        :param row: None, if it led nowhere
        """
        self._under_way[particle] -= 1
        if row is None or not row[self._value] <= level:
            return
        self.rows[particle] = row
        self.is_copy[particle] = False

    def take_in(self, row: Floats) -> None:
        """Somebody who comes late takes the place of a copy, or of anybody."""
        copies = np.flatnonzero(self.is_copy)
        anybody = copies if copies.size > 0 else np.arange(self.size)
        place = int(self._rng.choice(anybody))
        self.rows[place] = row
        self.is_copy[place] = False

    def covariance(self, dimension: int) -> FloatTable:
        """Of the parameters."""
        return np.atleast_2d(np.cov(self.rows[:, :dimension], rowvar=False))

    def distinct(self, dimension: int) -> FloatTable:
        """The parameters without copies, in no order: who looks at them takes it for time."""
        parameters = np.unique(self.rows[:, :dimension], axis=0)
        return self._rng.permutation(parameters)
