"""Exchange rules: which waiting chains are paired.

A rule sees what it may see and nothing else: the number of the round, the chains that are waiting
*now*, coldest first, and a random stream. It has no memory. That is what keeps exchanges exact: who
was in flight at earlier deadlines tells how long moves took, and hence something about the states.

A rule of your own is one small class:

>>> class ColdestTwo(Rule):
...     '''Only the two coldest waiting chains are ever paired.'''
...
...     @staticmethod
...     def choose_pairs(round_number, waiting, rng, pairs):
...         pairs[0, 0], pairs[0, 1] = 0, 1
...         return 1
>>> ColdestTwo(rounds=2).rounds
2

It may have parameters. Those that are numbers reach its function as `settings`:

>>> class Nearby(Rule):
...     '''One random pair of waiting chains at most so many places apart.'''
...
...     reach: int = 3
...
...     @staticmethod
...     def choose_pairs(round_number, waiting, rng, pairs, settings):
...         first = int(rng.random() * waiting.rung.shape[0])
...         second = first + 1 + int(rng.random() * settings.reach)
...         if second >= waiting.rung.shape[0]:
...             return 0
...         pairs[0, 0], pairs[0, 1] = first, second
...         return 1
>>> Nearby(reach=5)
Nearby(rounds=1, reach=5)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple, Self, dataclass_transform, final

import numpy as np

from aptmc.checks import whole_number
from aptmc.compiled import (
    AtFirstUse,
    Floats,
    Generator,
    Integers,
    IntegerTable,
    compiled,
    pointer_to,
)
from aptmc.exchange.settings import as_dataclass, bound, settings_of


class Waiting(NamedTuple):
    """The chains that are waiting now, one position each, sorted by rung, coldest first."""

    rung: Integers
    pool: Integers
    level: Floats  # of the rung: its power or tolerance
    value: Floats  # of the state: its log likelihood, log density or distance


@dataclass_transform(frozen_default=True, kw_only_default=True)
@dataclass(frozen=True, kw_only=True)
class Rule(ABC):
    """Which waiting chains are paired, and how many rounds are held at each deadline."""

    rounds: int = 1
    least_pools: ClassVar[int] = 1
    kind: ClassVar[str | None] = None  # of ladder that the rule is for, if not for all

    def __new__(cls, *_: object, **__: object) -> Self:
        """Before the first of its kind is made: its fields are parameters."""
        as_dataclass(cls, kw_only=True)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        whole_number("rounds", self.rounds)

    @staticmethod
    @abstractmethod
    def choose_pairs(
        round_number: int, waiting: Waiting, rng: Generator, pairs: IntegerTable
    ) -> int:
        """Write pairs of positions into `pairs`, one row each, and return how many.

        `round_number` counts from 0. Each pair then swaps, in order, with the probability that
        leaves both targets invariant. A position paired with itself takes part and stays. A rule
        that looks at the values must take care that its choice is as likely after a swap as it was
        before. The function is compiled with numba; if it takes one argument more, it is given the
        rule's own numbers, by name.
        """

    @final
    def function(self) -> ChoosePairs:
        """Its function, compiled, with its parameters."""
        choose_pairs = type(self).choose_pairs
        if isinstance(choose_pairs, AtFirstUse):  # one of the library's own
            return choose_pairs
        settings = settings_of(self, leave_out=("rounds",))
        compiled_rule: ChoosePairs = bound(type(self), "choose_pairs", Rule.choose_pairs, settings)
        return compiled_rule


ChoosePairs = Annotated[Callable[..., int], pointer_to(Rule.choose_pairs)]


@compiled
def neighbours(first: int, waiting: Waiting, pairs: IntegerTable) -> int:
    """Pair (first, first + 1), (first + 2, first + 3), …"""
    count = 0
    for position in range(first, waiting.rung.shape[0] - 1, 2):
        pairs[count, 0] = position
        pairs[count, 1] = position + 1
        count += 1
    return count


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
        by_distance = np.argsort(waiting.value)
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
