"""The rule for tolerances: all waiting states are dealt out anew."""

from __future__ import annotations

from typing import ClassVar, final

import numpy as np

from aptmc.arguments import class_named_clearly
from aptmc.compiled import Generator, IntegerTable, compiled
from aptmc.exchange.rule import Rule, Waiting
from aptmc.exchange.sorting import stable_order


@class_named_clearly
@final
class Reassignment(Rule):
    """For tolerances: a uniformly random valid assignment of the waiting states to their rungs.

    This is the limit of infinitely many swaps, at the price of a sort. Coldest rung first, each
    position takes a uniformly random state among those not yet taken whose distance is within its
    tolerance. Balls are nested, so the number of choices does not depend on earlier picks, and all
    valid assignments are equally likely. Taking is swapping, and each swap is valid in itself: the
    state that is given away lies within the colder tolerance, hence within the warmer one.
    """

    kind: ClassVar[str | None] = "tolerances"

    @staticmethod
    @compiled
    def choose_pairs(
        round_number: int, waiting: Waiting, rng: Generator, pairs: IntegerTable
    ) -> int:
        """Pair each position with the one that holds the state that it takes."""
        positions = waiting.rung.shape[0]
        by_distance = stable_order(waiting.value)
        holder = np.arange(positions)  # of each state: the position that holds it now
        held = np.arange(positions)  # of each position: the state that it holds now
        within = np.empty(positions, np.int64)  # states within the tolerance and not yet taken
        count = 0
        seen = 0
        for position in range(positions):
            while seen < positions and waiting.value[by_distance[seen]] <= waiting.level[position]:
                within[count] = by_distance[seen]
                count += 1
                seen += 1
            pick = int(rng.random() * count)
            state = within[pick]
            count -= 1
            within[pick] = within[count]
            other = holder[state]
            pairs[position, 0] = position
            pairs[position, 1] = other
            given = held[position]
            held[other], holder[given] = given, other
            held[position], holder[state] = state, position
        return int(positions)
