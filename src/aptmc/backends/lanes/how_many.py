"""How many lanes there should be, by what each chain of so many accepts in a second.

However many chains there are, each must move often enough to forget where it began. Fewer lanes
are better where that leaves each more of the machine, and only there: below some number those of a
GPU get no faster.
"""

from __future__ import annotations

import math
from typing import NamedTuple, final

# Accepted moves of each chain: twice what the advice asks for, because in a short trial moves that
# end soon are seen too often.
WANTED = 40.0
FEWEST_GROUPS = 4  # so that chains can still be compared
MOST_TRIALS = 4
SHARE_OF_TRIAL, MOST_OF_TRIAL = 0.02, 30.0  # of what is left of the budget, and seconds


class Tried(NamedTuple):
    """What so many lanes have shown."""

    lanes: int
    rate: float  # accepted moves of each chain of the coldest rung in a second


@final
class HowMany:
    """A number of lanes that is being found, in a few trials.

    :param lanes: at the most
    :param of_group: how many lanes a group has, of which each number of lanes is a multiple
    """

    def __init__(self, lanes: int, of_group: int) -> None:
        self.of_group = of_group
        self.to_try: int | None = lanes // of_group * of_group
        self.tried: list[Tried] = []
        self.chosen = self.to_try
        self.left = 0.0

    def learn(self, rate: float, left: float) -> None:
        """What those that were to be tried accept in a second; and how many seconds are left."""
        assert self.to_try is not None
        now = Tried(self.to_try, rate)
        self.tried.append(now)
        self.left, self.to_try = left, None
        if len(self.tried) > 1:
            before = self.tried[-2]
            # Twice as many moves for a quarter of the lanes: what is lost must be worth it.
            if now.rate < before.rate * math.sqrt(before.lanes / now.lanes):
                return
        self.chosen = now.lanes
        expected = now.rate * left
        if expected >= WANTED or len(self.tried) == MOST_TRIALS:
            return
        halvings = math.ceil(math.log2(WANTED / expected)) if expected > 0.0 else math.inf
        groups = now.lanes // self.of_group
        while halvings > 0 and groups // 2 >= FEWEST_GROUPS:
            groups, halvings = groups // 2, halvings - 1
        if groups * self.of_group < now.lanes:
            self.to_try = groups * self.of_group

    @property
    def words(self) -> str:
        """Which number was chosen, and why."""
        accepted = {one.lanes: one.rate * self.left for one in self.tried}
        first, chosen = self.tried[0].lanes, self.chosen
        assert chosen is not None
        each = f"each chain is to accept some {accepted[chosen]:.2g} moves"
        if chosen < first:
            return f"{chosen} lanes chosen: {each}, of {first} lanes only {accepted[first]:.2g}"
        others = [one.lanes for one in self.tried if one.lanes < chosen]
        if others:
            return f"{chosen} lanes chosen: {each}, of {others[0]} lanes not many more"
        return f"{chosen} lanes chosen: {each}"
