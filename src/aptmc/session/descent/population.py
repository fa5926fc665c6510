"""The particles of a descent: who is left behind, who takes their place, and who moves next."""

from __future__ import annotations

import math
from typing import final

import numpy as np

from aptmc.compiled import Flags, Floats, FloatTable

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
        self.has_turn = is_copy.copy()  # was made a copy on this stage, moved since or not
        self.moved = np.zeros(len(rows))  # on this stage, at most once
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
        # Each of them as often as any other, but for one: what is left to chance adds up.
        rounds = math.ceil(dead.size / alive.size)
        copied = np.concatenate([self._rng.permutation(alive) for _ in range(rounds)] or [alive])
        self.rows[dead] = self.rows[copied[: dead.size]]
        self.is_copy[dead] = True
        self.has_turn[:] = False
        self.has_turn[dead] = True
        return alive.size / self.size

    def choose(self) -> int:
        """Who moves next: of the copies of this stage, who has waited longest; of those at home.

        Copies that have moved take their turns like the others. If each went on until it has moved,
        and no longer, all would go where a move hits soon: of a wide and a narrow hill of the same
        weight the narrow one would have nearly all in the end.
        """
        rank = np.lexsort((self._ordered, ~self.has_turn, self._under_way))
        chosen = int(rank[0])
        self._ordered[chosen] = self._count
        self._under_way[chosen] += 1
        self._count += 1
        return chosen

    def begin_stage(self) -> None:
        """Nobody has moved."""
        self.moved[:] = 0.0

    def credit(self, particle: int, far: float) -> None:
        """A particle has moved, by a part of what is wanted of it."""
        self.moved[particle] = min(self.moved[particle] + far, 1.0)

    def even_hits(self, hits: float) -> float:
        """As many hits would have moved so many of the particles, if all hit equally often.

        Where some hit far more often than others, most hits are theirs and tell nothing new.

        :param hits: of all particles on this stage
        """
        whose = self.has_turn if self.has_turn.any() else np.ones(self.size, np.bool_)
        share = float((self.moved[whose] > 0.0).mean())
        return hits if share >= 1.0 else min(hits, -math.log1p(-share) * float(whose.sum()))

    def turns(self) -> FloatTable:
        """Whose turn it is, for another sitting: who is under way now is the first to go there."""
        ordered = np.where(self._under_way > 0, NEVER, self._ordered)
        return np.column_stack([self.is_copy, self.has_turn, self.moved, ordered])

    def recall(self, turns: FloatTable) -> None:
        """Go on with the turns of another."""
        self.is_copy, self.has_turn = turns[:, 0] > 0.0, turns[:, 1] > 0.0
        self.moved, self._ordered = turns[:, 2].copy(), turns[:, 3].astype(np.int64)
        self._count = int(self._ordered.max()) + 1

    def come_home(
        self, particle: int, row: Floats | None, level: float, left: Floats, grown: float
    ) -> None:
        """A move is over. What it led to is taken if it lies within the level of now.

        If the level has gone down since the move began, who arrived before has been copied, as
        often as others were left behind. So is who arrives now, in the places of copies of the
        state that it left, if there are any: or the quick would become more and more.

        :param row: None, if it led nowhere
        :param left: the state in which the move began
        :param grown: how much fewer there are within the level of now than within that of then
        """
        self._under_way[particle] -= 1
        if row is None or not row[self._value] <= level:
            return
        self._settle(particle, row, grown, before=self.is_copy & (self.rows == left).all(axis=1))

    def take_in(self, row: Floats, grown: float) -> None:
        """Somebody who comes late takes the place of a copy, or of anybody."""
        copies = np.flatnonzero(self.is_copy)
        anybody = copies if copies.size > 0 else np.arange(self.size)
        self._settle(int(self._rng.choice(anybody)), row, grown, before=self.is_copy)

    def _settle(self, place: int, row: Floats, grown: float, before: Flags) -> None:
        """Take a place, and for copies some more.

        :param before: whose places are taken before those of others
        """
        self.rows[place] = row
        self.is_copy[place] = False
        more = int(grown - 1.0 + self._rng.random())
        if more > 0:
            others = self._rng.permutation(self.size)
            others = others[others != place]
            places = others[np.argsort(~before[others], kind="stable")][:more]
            self.rows[places] = row
            self.is_copy[places] = True
            self.has_turn[places] = True

    def covariance(self, dimension: int) -> FloatTable:
        """Of the parameters."""
        return np.atleast_2d(np.cov(self.rows[:, :dimension], rowvar=False))

    def distinct(self, dimension: int) -> FloatTable:
        """The parameters without copies, in no order: who looks at them takes it for time."""
        parameters = np.unique(self.rows[:, :dimension], axis=0)
        return self._rng.permutation(parameters)
