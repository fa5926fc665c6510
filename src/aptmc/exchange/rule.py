"""What a rule is: which waiting chains are paired.

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

from aptmc.checks import whole_number
from aptmc.compiled import (
    AtFirstUse,
    Floats,
    Generator,
    Integers,
    IntegerTable,
    pointer_to,
)
from aptmc.exchange.parameters import as_dataclass, bound, settings_of
from aptmc.targets import NUMBA, Numba


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
    def function(self, target: Numba = NUMBA) -> ChoosePairs:
        """Its function, with its parameters, to be compiled when it is first used.

        :param target: knows where machine code of a rule of one's own is kept
        """
        choose_pairs = type(self).choose_pairs
        if isinstance(choose_pairs, AtFirstUse):  # one of the library's own
            return choose_pairs
        settings = settings_of(self, leave_out=("rounds",))
        return bound(type(self), "choose_pairs", Rule.choose_pairs, settings, target)


ChoosePairs = Annotated[Callable[..., int], pointer_to(Rule.choose_pairs)]
