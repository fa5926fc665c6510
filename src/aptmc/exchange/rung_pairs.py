"""Rules that match the waiting chains of one rung with those of another."""

from __future__ import annotations

from typing import final

from aptmc.arguments import class_named_clearly
from aptmc.compiled import Generator, Integers, IntegerTable, compiled
from aptmc.exchange.rule import Rule, Waiting


@compiled
def end_of_rung(rungs: Integers, start: int) -> int:
    """The position after the last waiting chain of the rung that begins at `start`."""
    end = start
    while end < rungs.shape[0] and rungs[end] == rungs[start]:
        end += 1
    return end


@compiled
def match_rungs(
    start: int, middle: int, end: int, rng: Generator, pairs: IntegerTable, count: int
) -> int:
    """Pair the chains of one rung, from `start` on, with those of another, from `middle` on."""
    colder, warmer = middle - start, end - middle
    # A random rotation of the longer side leaves each of its positions out equally often.
    longer = max(colder, warmer)
    shift = int(rng.random() * longer) if longer > 1 else 0
    for i in range(min(colder, warmer)):
        pairs[count, 0] = start + ((i + shift) % colder if colder > warmer else i)
        pairs[count, 1] = middle + ((i + shift) % warmer if warmer >= colder else i)
        count += 1
    return count


@class_named_clearly
@final
class NeighbouringRungs(Rule):
    """Neighbours among the rungs that have chains waiting, odd and even in turn. The default.

    With one chain on each rung this is `Alternating`. With several, chains are matched with those
    of the next rung that has any; where a rung has more than the other, those left over are chosen
    at random. `Alternating` would mostly swap chains of the same rung, which brings nothing.
    """

    @staticmethod
    @compiled
    def choose_pairs(
        round_number: int, waiting: Waiting, rng: Generator, pairs: IntegerTable
    ) -> int:
        """Match the rungs that are there, in every second round from the second on."""
        rungs = waiting.rung
        positions = rungs.shape[0]
        count = 0
        start = 0
        if round_number % 2 == 1:
            start = end_of_rung(rungs, 0)
        while start < positions:
            middle = end_of_rung(rungs, start)
            end = end_of_rung(rungs, middle)
            count = match_rungs(start, middle, end, rng, pairs, count)
            start = end
        return count


@class_named_clearly
@final
class RungParity(Rule):
    """Pairs of fixed rung parity: rungs (0, 1), (2, 3), …, then (1, 2), (3, 4), …, in turn.

    Waiting chains are matched with waiting chains of the partner rung only. Where a rung has more
    of them than its partner, those left over are chosen at random.
    """

    @staticmethod
    @compiled
    def choose_pairs(
        round_number: int, waiting: Waiting, rng: Generator, pairs: IntegerTable
    ) -> int:
        """Match each colder rung's run of positions with the run that follows it."""
        rungs = waiting.rung
        positions = rungs.shape[0]
        count = 0
        start = 0
        while start < positions:
            middle = end_of_rung(rungs, start)
            is_colder_of_pair = rungs[start] % 2 == round_number % 2
            if not is_colder_of_pair or middle == positions or rungs[middle] != rungs[start] + 1:
                start = middle
                continue
            end = end_of_rung(rungs, middle)
            count = match_rungs(start, middle, end, rng, pairs, count)
            start = end
        return count
