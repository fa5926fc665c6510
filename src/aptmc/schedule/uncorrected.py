"""Deadlines without the correction, to show what it corrects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, final

from typing_extensions import override

from aptmc.arguments import class_named_clearly
from aptmc.clock import duration
from aptmc.exchange import NeighbouringRungs, Rule
from aptmc.schedule.base import Numbers, Schedule, after_each_sweep, every_so_often


@class_named_clearly
@final
@dataclass(frozen=True, repr=False)
class Uncorrected(Schedule):
    """WRONG on purpose: exchanges at deadlines take chains in flight too.

    What is found half-done at a deadline is more often a slow state, so this is biased towards
    parameters whose moves take long. It is here to show the bias that `Anytime` does not have; a
    move whose chain was exchanged under way is applied to the state that the chain holds when it
    ends.
    """

    swaps_in_flight: ClassVar[bool] = True

    every: float | str
    exchange: Rule = field(default_factory=NeighbouringRungs, kw_only=True)
    within: Rule | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        duration(self.every, "every")

    next_deadline = staticmethod(every_so_often)
    after_completion = staticmethod(after_each_sweep)

    @property
    @override
    def settings(self) -> Numbers:
        """The time between deadlines in seconds, which is all that compiled code sees of it."""
        return Numbers(duration(self.every, "every"))
