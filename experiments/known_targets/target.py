"""A target: the problem, the truth, and how much work it is worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import aptmc
from experiments.known_targets.quantities import Quantity

PROCESSORS = 4


@dataclass(frozen=True)
class Target:
    """A problem with known answers."""

    name: str
    make_problem: Callable[[], aptmc.Problem]
    make_quantities: Callable[[], tuple[Quantity, ...]]
    budget: float  # virtual time of a run, on each processor
    coldest: float | None = None  # the tolerance, for likelihood-free problems

    @property
    def problem(self) -> aptmc.Problem:
        """Made once, so that it is compiled once."""
        return _once(self.make_problem)

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """What is compared with the truth."""
        return _once(self.make_quantities)  # type: ignore[no-any-return]

    def sample(self, budget: float, seed: int) -> aptmc.Run:
        """With defaults only."""
        on = aptmc.VirtualTime(PROCESSORS)
        if self.coldest is None:
            return aptmc.sample(self.problem, budget=budget, seed=seed, on=on)
        ladder = aptmc.Ladder.auto(coldest=self.coldest)
        return aptmc.sample(self.problem, budget=budget, seed=seed, on=on, ladder=ladder)

    def random_walk(self, budget: float, seed: int) -> aptmc.Run:
        """Without tempering: a few chains on the coldest rung, whose proposals are tuned alike."""
        only = [1.0] if self.coldest is None else [self.coldest]
        kind = aptmc.Ladder.powers if self.coldest is None else aptmc.Ladder.tolerances
        alone = partial(
            aptmc.sample,
            self.problem,
            ladder=kind(only),
            pools=aptmc.Shared(PROCESSORS + 2),  # two must wait
            on=aptmc.VirtualTime(PROCESSORS),
            seed=seed,
        )
        if self.coldest is not None:
            return alone(budget=budget)
        return alone(budget=budget, kernel=aptmc.RandomWalk("auto", spread=1.0))


@cache
def _once(make):  # type: ignore[no-untyped-def]
    return make()
