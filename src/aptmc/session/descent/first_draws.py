"""Draws from the prior, of which the first population is made."""

from __future__ import annotations

import math
from typing import final

import numpy as np

from aptmc.compiled import Floats, FloatTable

FIRST_DISTANCES = 8  # after so many a simulator that can stop early is told when
RARE = 0.25
FEWEST = 0.25  # if hardly any draw has a distance within reach, so many of the particles must do
LONG_AWAY = 5.0  # mean lengths of a draw


@final
class FirstDraws:
    """Draws from the prior that have come home.

    The first to come home are the quickest: a population of these would have too few of the slow.
    So it is made of those that were sent out first.
    """

    def __init__(self, size: int, value: int) -> None:
        """Nothing has been drawn.

        :param size: how many are wanted
        :param value: the column of the distances
        """
        self.size, self._value = size, value
        self.found: list[Floats] = []
        self._numbers: list[int] = []  # of their orders
        self.tries, self.seconds = 0.0, 0.0
        self.hit_rate = 0.5
        self.complete = 0  # orders, of which the population was made

    def heard(self, tries: float, seconds: float) -> None:
        """What an order took."""
        self.tries += tries
        self.seconds += seconds

    def note(self, number: int, row: Floats) -> None:
        """A draw within reach."""
        self.found.append(row)
        self._numbers.append(number)

    def count(self) -> None:
        """How many tries lead to a draw within reach."""
        self.hit_rate = (len(self.found) + 0.5) / (self.tries + 1.0)

    @property
    def mean_seconds(self) -> float:
        """That a try takes."""
        return self.seconds / max(self.tries, 1.0)

    @property
    def are_some(self) -> bool:
        """Whether a simulator that can stop early may be told when."""
        return len(self.found) >= FIRST_DISTANCES

    @property
    def farthest(self) -> float:
        """The largest distance."""
        return max(float(row[self._value]) for row in self.found)

    def awaited_since(self, elapsed: float) -> float:
        """Who has left before is not waited for; nor is any processor idle meanwhile."""
        return elapsed - LONG_AWAY * self.mean_seconds

    def population(self, complete: int, *, in_haste: bool) -> FloatTable | None:
        """The first population, if it can be made by now.

        :param complete: the number of an order before which all have come home
        :param in_haste: whether that is to be now, if at all
        """
        numbered = zip(self.found, self._numbers, strict=True)
        first = [row for row, number in numbered if number < complete]
        few_must_do = self.tries > self.size / RARE and len(first) >= FEWEST * self.size
        if len(first) < self.size and not few_must_do and not in_haste:
            return None
        self.complete = complete
        if len(first) < 2:
            first = self.found
        return np.array(first) if len(first) >= 2 else None

    def are_hopeless(self, has_distances: bool) -> bool:
        """Whether so many have led nowhere that more would not, either."""
        return self.tries > self.size / (RARE if has_distances else 1.0)

    @property
    def log_share(self) -> float:
        """Of the prior's simulations, how many lie within reach."""
        return math.log(len(self.found) / self.tries)

    def words(self, level: float, nearest: float) -> str:
        """How far one is."""
        words = f"looking for first states: {min(len(self.found), self.size)} of {self.size}"
        if math.isfinite(level):
            words += f" within {level:.3g}"
        if self.found or not self.tries >= FIRST_DISTANCES:
            return words
        if math.isfinite(nearest):
            return f"{words}, the nearest at {nearest:.4g}"
        return f"{words}, {self.tries:.0f} simulations without a finite distance"

    def memory(self, width: int) -> FloatTable:
        """What was found, for another sitting."""
        return np.array(self.found) if self.found else np.empty((0, width))

    def recall(self, found: FloatTable) -> None:
        """Go on with what another has found."""
        self.found = list(found)
        self._numbers = [-1] * len(found)
