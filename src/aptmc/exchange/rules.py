"""Exchange rules: which waiting chains are paired.

A rule sees what it may see and nothing else: the number of the round, the rungs and pools of the
chains that are waiting *now*, coldest first, and a random stream. It has no memory. That is what
keeps exchanges exact: who was in flight at earlier deadlines tells how long moves took, and hence
something about the states.

A rule of your own is one small class:

>>> class ColdestTwo(Rule):
...     '''Only the two coldest waiting chains are ever paired.'''
...
...     @staticmethod
...     def choose_pairs(round_number, rungs, pools, rng, pairs):
...         pairs[0, 0], pairs[0, 1] = 0, 1
...         return 1
>>> ColdestTwo(rounds=2).rounds
2
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar, final

from aptmc.checks import whole_number
from aptmc.compiled import Generator, Integers, IntegerTable, compiled, pointer_to


@dataclass(frozen=True, kw_only=True)
class Rule(ABC):
    """Which waiting chains are paired, and how many rounds are held at each deadline."""

    rounds: int = 1
    least_pools: ClassVar[int] = 1

    def __post_init__(self) -> None:
        whole_number("rounds", self.rounds)

    @staticmethod
    @abstractmethod
    def choose_pairs(
        round_number: int, rungs: Integers, pools: Integers, rng: Generator, pairs: IntegerTable
    ) -> int:
        """Write pairs of positions into `pairs`, one row each, and return how many.

        `round_number` counts from 0. Position i stands on `rungs[i]` and in `pools[i]`; positions
        are sorted by rung, coldest first. The function is compiled with numba.
        """


ChoosePairs = Annotated[Callable[..., int], pointer_to(Rule.choose_pairs)]


@compiled
def neighbours(first: int, rungs: Integers, pairs: IntegerTable) -> int:
    """Pair (first, first + 1), (first + 2, first + 3), …"""
    count = 0
    for position in range(first, rungs.shape[0] - 1, 2):
        pairs[count, 0] = position
        pairs[count, 1] = position + 1
        count += 1
    return count


@final
class Alternating(Rule):
    """All odd, then all even neighbouring pairs of waiting chains, in turn. The default."""

    @staticmethod
    @compiled
    def choose_pairs(
        round_number: int, rungs: Integers, pools: Integers, rng: Generator, pairs: IntegerTable
    ) -> int:
        """Pair neighbours from position 0, and from position 1 in every second round."""
        return neighbours(round_number % 2, rungs, pairs)


@final
class RandomParity(Rule):
    """All odd or all even neighbouring pairs of waiting chains, by the toss of a coin."""

    @staticmethod
    @compiled
    def choose_pairs(
        round_number: int, rungs: Integers, pools: Integers, rng: Generator, pairs: IntegerTable
    ) -> int:
        """Pair neighbours from position 0 or 1."""
        return neighbours(1 if rng.random() < 0.5 else 0, rungs, pairs)


@final
class OneRandomPair(Rule):
    """One neighbouring pair of waiting chains, all equally likely."""

    @staticmethod
    @compiled
    def choose_pairs(
        round_number: int, rungs: Integers, pools: Integers, rng: Generator, pairs: IntegerTable
    ) -> int:
        """Pick the colder position of the pair at random."""
        if rungs.shape[0] < 2:
            return 0
        first = int(rng.random() * (rungs.shape[0] - 1))
        pairs[0, 0] = first
        pairs[0, 1] = first + 1
        return 1


@final
class RungParity(Rule):
    """Pairs of fixed rung parity: rungs (0, 1), (2, 3), …, then (1, 2), (3, 4), …, in turn.

    Waiting chains are matched with waiting chains of the partner rung only. Where a rung has more
    of them than its partner, those left over are chosen at random.
    """

    @staticmethod
    @compiled
    def choose_pairs(
        round_number: int, rungs: Integers, pools: Integers, rng: Generator, pairs: IntegerTable
    ) -> int:
        """Match each colder rung's run of positions with the run that follows it."""
        positions = rungs.shape[0]
        count = 0
        start = 0
        while start < positions:
            middle = start
            while middle < positions and rungs[middle] == rungs[start]:
                middle += 1
            is_colder_of_pair = rungs[start] % 2 == round_number % 2
            if not is_colder_of_pair or middle == positions or rungs[middle] != rungs[start] + 1:
                start = middle
                continue
            end = middle
            while end < positions and rungs[end] == rungs[middle]:
                end += 1
            colder, warmer = middle - start, end - middle
            # A random rotation of the longer side leaves each of its positions out equally often.
            shift = int(rng.random() * max(colder, warmer))
            for i in range(min(colder, warmer)):
                pairs[count, 0] = start + ((i + shift) % colder if colder > warmer else i)
                pairs[count, 1] = middle + ((i + shift) % warmer if warmer >= colder else i)
                count += 1
            start = end
        return count


@final
class BetweenPools(Rule):
    """One random pair of adjacent pools: the warmest waiting chain of the first, the coldest of
    the second. The paper's third scenario, where exchanges between workers are costly.
    """

    least_pools: ClassVar[int] = 2

    @staticmethod
    @compiled
    def choose_pairs(
        round_number: int, rungs: Integers, pools: Integers, rng: Generator, pairs: IntegerTable
    ) -> int:
        """List the places where one pool ends and the next begins, and pick one."""
        borders = 0
        for position in range(rungs.shape[0] - 1):
            if pools[position] != pools[position + 1]:
                pairs[borders, 0] = position
                pairs[borders, 1] = position + 1
                borders += 1
        if borders == 0:
            return 0
        chosen = int(rng.random() * borders)
        pairs[0, 0] = pairs[chosen, 0]
        pairs[0, 1] = pairs[chosen, 1]
        return 1
