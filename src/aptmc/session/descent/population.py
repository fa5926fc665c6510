"""The particles of a descent: who is left behind, and who takes their place."""

from __future__ import annotations

import math
from typing import final

import numpy as np

from aptmc.compiled import Floats, FloatTable


@final
class Population:
    """States within a level, some of them copies of others that have yet to move away.

    A particle that is in the midst of its moves keeps its place, and is judged when it comes home:
    until then nobody knows where it is, and it is neither copied nor left behind. So parameters at
    which simulations are slow are counted, and copied, like all others.
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
        self.has_turn = is_copy  # is to move on this stage, and has not begun
        self.is_away = np.zeros(len(rows), np.bool_)  # in the midst of its moves

    @property
    def size(self) -> int:
        """How many particles there are."""
        return len(self.rows)

    @property
    def distances(self) -> Floats:
        """Of each particle at home."""
        distances: Floats = self.rows[~self.is_away, self._value]
        return distances

    def next_level(self, share: float, level: float) -> float:
        """The tolerance that so many of the particles lie within, and smaller than the present."""
        distances = np.sort(self.distances)
        if distances.size == 0:
            return level
        chosen = float(distances[max(math.ceil(share * distances.size) - 1, 0)])
        if chosen < level:
            return chosen
        smaller = distances[distances < level]
        return float(smaller[-1]) if smaller.size > 0 else level

    def drop(self, level: float) -> float:
        """Leave behind who is at home and not within a level; gives the share that is."""
        is_within = self.rows[:, self._value] <= level
        alive = np.flatnonzero(~self.is_away & is_within)
        dead = np.flatnonzero(~self.is_away & ~is_within)
        if alive.size == 0:
            return 0.0
        # Each of them as often as any other, but for one: what is left to chance adds up.
        rounds = math.ceil(dead.size / alive.size)
        copied = np.concatenate([self._rng.permutation(alive) for _ in range(rounds)] or [alive])
        self.rows[dead] = self.rows[copied[: dead.size]]
        self.has_turn[:] = False
        self.has_turn[dead] = True
        return alive.size / (alive.size + dead.size)

    def come_home(self, place: int, row: Floats, level: float, grown: float) -> None:
        """The moves of a particle are over.

        If the level has gone down since they began, the others have been left behind or copied
        meanwhile. So is who arrives now: or the quick would become more and more.

        :param grown: how much fewer there are within the level of now than within that of then
        """
        self.is_away[place] = False
        is_within = bool(row[self._value] <= level)
        if is_within:
            self.rows[place] = row
            self._copy(row, place, grown)
        elif (~self.is_away).sum() > 1:
            others = np.flatnonzero(~self.is_away & (np.arange(self.size) != place))
            self.rows[place] = self.rows[self._rng.choice(others)]
            self.has_turn[place] = True

    def take_in(self, row: Floats, level: float, grown: float) -> None:
        """Somebody who had no place yet, but belongs to those with whom it all began."""
        if row[self._value] <= level and not self.is_away.all():
            place = int(self._rng.choice(np.flatnonzero(~self.is_away)))
            self.rows[place] = row
            self.has_turn[place] = True
            self._copy(row, place, grown)

    def _copy(self, row: Floats, place: int, grown: float) -> None:
        """Somebody stands for so many, and takes the places of any of the others at home."""
        more = int(grown - 1.0 + self._rng.random())
        if more <= 0:
            return
        others = np.flatnonzero(~self.is_away & (np.arange(self.size) != place))
        places = self._rng.permutation(others)[:more]
        self.rows[places] = row
        self.has_turn[places] = True

    def complete_rows(self, level: float) -> FloatTable:
        """All states; for who is away, that of anybody at home if its own is not within a level."""
        rows = self.rows.copy()
        unknown = np.flatnonzero(self.is_away & ~(rows[:, self._value] <= level))
        home = np.flatnonzero(~self.is_away)
        if home.size > 0:
            rows[unknown] = rows[self._rng.choice(home, unknown.size)]
        return rows

    def covariance(self, dimension: int) -> FloatTable:
        """Of the parameters."""
        return np.atleast_2d(np.cov(self.rows[:, :dimension], rowvar=False))

    def distinct(self, dimension: int) -> FloatTable:
        """The parameters without copies, in no order: who looks at them takes it for time."""
        parameters = np.unique(self.rows[:, :dimension], axis=0)
        return self._rng.permutation(parameters)

    def choose(self, last: Floats) -> int | None:
        """Who begins next: whose turn it is, or else who has not begun for longest; if anybody.

        :param last: when each began
        """
        rank = np.lexsort((last, ~self.has_turn, self.is_away))
        chosen = int(rank[0])
        return None if self.is_away[chosen] else chosen

    def begin(self, place: int) -> None:
        """A particle goes away to move."""
        self.has_turn[place] = False
        self.is_away[place] = True
