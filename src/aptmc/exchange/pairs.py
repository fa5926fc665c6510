"""Rules that pair neighbours among the waiting chains, whatever their rungs."""

from __future__ import annotations

from typing import ClassVar, final

from aptmc.arguments import class_named_clearly
from aptmc.compiled import Generator, IntegerTable, compiled
from aptmc.exchange.rule import Rule, Waiting


@compiled
def neighbours(first: int, waiting: Waiting, pairs: IntegerTable) -> int:
    """Pair (first, first + 1), (first + 2, first + 3), …"""
    count = 0
    for position in range(first, waiting.rung.shape[0] - 1, 2):
        pairs[count, 0] = position
        pairs[count, 1] = position + 1
        count += 1
    return count


@class_named_clearly
@final
class Alternating(Rule):
    """All odd, then all even neighbouring pairs of waiting chains, in turn: the paper's rule."""

    @staticmethod
    @compiled
    def choose_pairs(
        round_number: int, waiting: Waiting, rng: Generator, pairs: IntegerTable
    ) -> int:
        """Pair neighbours from position 0, and from position 1 in every second round."""
        return neighbours(round_number % 2, waiting, pairs)


@class_named_clearly
@final
class RandomParity(Rule):
    """All odd or all even neighbouring pairs of waiting chains, by the toss of a coin."""

    @staticmethod
    @compiled
    def choose_pairs(
        round_number: int, waiting: Waiting, rng: Generator, pairs: IntegerTable
    ) -> int:
        """Pair neighbours from position 0 or 1."""
        return neighbours(1 if rng.random() < 0.5 else 0, waiting, pairs)


@class_named_clearly
@final
class OneRandomPair(Rule):
    """One neighbouring pair of waiting chains, all equally likely."""

    @staticmethod
    @compiled
    def choose_pairs(
        round_number: int, waiting: Waiting, rng: Generator, pairs: IntegerTable
    ) -> int:
        """Pick the colder position of the pair at random."""
        positions = waiting.rung.shape[0]
        if positions < 2:
            return 0
        first = int(rng.random() * (positions - 1))
        pairs[0, 0] = first
        pairs[0, 1] = first + 1
        return 1


@class_named_clearly
@final
class BetweenPools(Rule):
    """One random pair of adjacent pools: the warmest waiting chain of the first, the coldest of
    the second. The paper's third scenario, where exchanges between workers are costly.
    """

    least_pools: ClassVar[int] = 2

    @staticmethod
    @compiled
    def choose_pairs(
        round_number: int, waiting: Waiting, rng: Generator, pairs: IntegerTable
    ) -> int:
        """List the places where one pool ends and the next begins, and pick one."""
        borders = 0
        for position in range(waiting.pool.shape[0] - 1):
            if waiting.pool[position] != waiting.pool[position + 1]:
                pairs[borders, 0] = position
                pairs[borders, 1] = position + 1
                borders += 1
        if borders == 0:
            return 0
        chosen = int(rng.random() * borders)
        pairs[0, 0] = pairs[chosen, 0]
        pairs[0, 1] = pairs[chosen, 1]
        return 1
