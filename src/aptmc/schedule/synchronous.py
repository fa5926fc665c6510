"""Barriers: all wait for all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

from typing_extensions import override

from aptmc.arguments import class_named_clearly
from aptmc.checks import whole_number
from aptmc.compiled import compiled
from aptmc.exchange import NeighbouringRungs, Rule
from aptmc.schedule.base import BARRIER, NOTHING, Numbers, Schedule, after_each_sweep, never


@class_named_clearly
@final
@dataclass(frozen=True, repr=False)
class Synchronous(Schedule):
    """Ordinary parallel tempering: all chains make their moves, all wait, then they exchange.

    Exact, but processors stand idle behind the slowest chain.

    :param moves: how many moves each chain makes between exchanges
    """

    never_waits = False

    moves: int = 1
    exchange: Rule = field(default_factory=NeighbouringRungs, kw_only=True)
    within: Rule | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        whole_number("moves", self.moves)

    next_deadline = staticmethod(never)

    @staticmethod
    @compiled
    def after_completion(moves: int, completed: int, sweep: int, settings: Numbers) -> int:
        """A barrier after so many moves of each chain."""
        calls_for = after_each_sweep(moves, completed, sweep, settings)
        return calls_for + (BARRIER if moves % settings.moves == 0 else NOTHING)

    @property
    @override
    def settings(self) -> Numbers:
        """The moves between two barriers, which is all that compiled code sees of it."""
        return Numbers(moves=self.moves)

    @property
    @override
    def moves_per_barrier(self) -> int | None:
        return self.moves
