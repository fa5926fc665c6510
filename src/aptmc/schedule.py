"""Schedules: when chains are exchanged, and by which rule."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import NamedTuple, final

import numpy as np

from aptmc.checks import whole_number
from aptmc.clock import duration
from aptmc.errors import InputError
from aptmc.exchange.rules import NeighbouringRungs, Reassignment, Rule
from aptmc.pools import Layout

AUTO = "auto"
# How far the time between deadlines moves, at each sweep, towards its share of that sweep's time.
FOLLOWING = 0.03
# Measured: docs/tuning.md. Exchanges are cheap, and the more of them the better, up to about this.
DEADLINES_PER_SWEEP = 16


class Plan(NamedTuple):
    """A schedule as the coordinator sees it."""

    every: float  # time between deadlines at first, infinite if there are none
    moves_per_barrier: int  # moves that each chain makes before all wait; 0: nobody ever waits
    swaps_in_flight: bool  # the error that Uncorrected makes
    rounds: int
    rounds_within_pool: int  # after each sweep of a pool; 0: none
    follows: float = 0.0  # how fast deadlines follow the time that a sweep takes; 0: not at all
    jitter: float = 0.0  # by how much of `every` deadlines come earlier or later, at random
    shortest: float = 0.0  # time between deadlines that follow, however fast sweeps become


class Schedule(ABC):
    """When exchanges take place."""

    exchange: Rule | None
    within: Rule | None

    def rule(self, ladder_kind: str) -> Rule:
        """The rule by which chains are paired on a ladder of this kind."""
        if self.exchange is not None:
            return self.exchange
        return Reassignment() if ladder_kind == "tolerances" else NeighbouringRungs()

    @property
    def finds_deadlines(self) -> bool:
        """Whether the time between deadlines is left to the warm-up."""
        return False

    def with_deadlines(self, every: float, shortest: float, jitter: float) -> Schedule:
        """The same with the time between deadlines that was found, if that was to be found."""
        return self

    @abstractmethod
    def plan(self) -> Plan:
        """The schedule as the coordinator sees it."""

    @abstractmethod
    def check(self, layout: Layout) -> None:
        """Refuse a layout with which this schedule cannot work."""


@final
@dataclass(frozen=True)
class Anytime(Schedule):
    """Exchange waiting chains at deadlines every so often, and leave those in flight alone.

    No processor ever waits, and no bias arises (Algorithms 1 and 3).

    :param every: time between deadlines, in seconds (or units of virtual time) or in words; "auto":
        a 16th of the time that a sweep of the slowest pool takes, found in the warm-up
    :param follow: go on to follow that time, slowly, for machines that become slower or faster in
        mid-run. Deadlines that depend on past hold times are exact only in the limit
    :param jitter: let deadlines come up to this share of `every` earlier or later, at random. Where
        all moves take equally long, chains can march in step with deadlines, and some would never
        meet. "auto" deadlines have a jitter of a half
    :param shortest: time between deadlines that follow, however fast sweeps become, in seconds or
        in words. "auto" deadlines keep it at 50 times what one costs
    :param exchange: which waiting chains are paired at a deadline; by default
        `NeighbouringRungs` on a ladder of powers and `Reassignment` on one of tolerances, which did
        best (docs/gain.md)
    :param within: also exchange inside a pool, by this rule, each time as many of its moves are
        complete as it has chains (the paper's third scenario)
    """

    every: float | str = AUTO
    exchange: Rule | None = field(default=None, kw_only=True)
    within: Rule | None = field(default=None, kw_only=True)
    follow: bool = field(default=False, kw_only=True)
    jitter: float = field(default=0.0, kw_only=True)
    shortest: float | str = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        if self.every != AUTO:
            duration(self.every, "every")
        if self.shortest != 0.0:
            duration(self.shortest, "shortest")
        if not isinstance(self.jitter, int | float) or not 0.0 <= self.jitter <= 1.0:
            raise InputError(f"jitter must be a share between 0 and 1, got {self.jitter!r}")

    @property
    def finds_deadlines(self) -> bool:
        """With every="auto"."""
        return self.every == AUTO

    def with_deadlines(self, every: float, shortest: float, jitter: float) -> Anytime:
        """With these deadlines; a jitter and a shortest time that were given stay."""
        return replace(
            self, every=every, jitter=self.jitter or jitter, shortest=self.shortest or shortest
        )

    def plan(self) -> Plan:
        """Deadlines, no barrier."""
        if self.every == AUTO:
            raise InputError('every="auto" is found in the warm-up: there is no plan before')
        every = duration(self.every, "every")
        follows = FOLLOWING if self.follow else 0.0
        rounds = 1 if self.exchange is None else self.exchange.rounds
        within = _rounds(self.within)
        shortest = 0.0 if self.shortest == 0.0 else duration(self.shortest, "shortest")
        return Plan(every, 0, False, rounds, within, follows, float(self.jitter), shortest)

    def check(self, layout: Layout) -> None:
        """Each pool must keep a chain waiting, and two must wait somewhere."""
        waiting = layout.waiting_at_deadlines()
        for pool in np.flatnonzero(waiting < 0):
            chains = np.count_nonzero(layout.moves & (layout.pool == pool))
            processors = np.count_nonzero(layout.served == pool)
            raise InputError(
                f"pool {pool} has {chains} moving chains for {processors} processors, so none of "
                "them would ever wait and be free to exchange: a pool needs at least one chain "
                "more than processors; use more rungs, chains_per_rung=2, or fewer processors"
            )
        if waiting.sum() < 2:
            raise InputError(
                f"with {layout.rung.size} chains on {layout.served.size} processors two chains "
                "never wait together, so nothing could ever be exchanged: use more rungs, "
                "chains_per_rung=2, or fewer processors"
            )
        _check_rules(self, layout)


@final
@dataclass(frozen=True)
class Synchronous(Schedule):
    """Ordinary parallel tempering: all chains make their moves, all wait, then they exchange.

    Exact, but processors stand idle behind the slowest chain.

    :param moves: how many moves each chain makes between exchanges
    """

    moves: int = 1
    exchange: Rule = field(default_factory=NeighbouringRungs, kw_only=True)
    within: Rule | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        whole_number("moves", self.moves)

    def plan(self) -> Plan:
        """A barrier, no deadlines."""
        return Plan(math.inf, self.moves, False, _rounds(self.exchange), _rounds(self.within))

    def check(self, layout: Layout) -> None:
        """Any layout will do: everyone waits in the end."""
        _check_rules(self, layout)


@final
@dataclass(frozen=True)
class Uncorrected(Schedule):
    """WRONG on purpose: exchanges at deadlines take chains in flight too.

    What is found half-done at a deadline is more often a slow state, so this is biased towards
    parameters whose moves take long. It is here to show the bias that `Anytime` does not have; a
    move whose chain was exchanged under way is applied to the state that the chain holds when it
    ends.
    """

    every: float | str
    exchange: Rule = field(default_factory=NeighbouringRungs, kw_only=True)
    within: Rule | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        duration(self.every, "every")

    def plan(self) -> Plan:
        """Deadlines, no barrier, and nobody is left alone."""
        every = duration(self.every, "every")
        return Plan(every, 0, True, _rounds(self.exchange), _rounds(self.within))

    def check(self, layout: Layout) -> None:
        """Two chains are enough, since none is left alone."""
        if layout.rung.size < 2:
            raise InputError("a single chain has nobody to exchange with: use more rungs")
        _check_rules(self, layout)


def _rounds(rule: Rule | None) -> int:
    return 0 if rule is None else rule.rounds


def _check_rules(schedule: Schedule, layout: Layout) -> None:
    if not all(isinstance(rule, Rule | None) for rule in (schedule.exchange, schedule.within)):
        raise InputError(
            f"exchange and within must be exchange rules, got {schedule.exchange!r} and "
            f"{schedule.within!r}: use aptmc.NeighbouringRungs(), say"
        )
    if schedule.exchange is not None and layout.pools < schedule.exchange.least_pools:
        raise InputError(
            f"{type(schedule.exchange).__name__}() exchanges between pools, but there is only "
            "one: use pools=aptmc.Partitioned() with at least two processors"
        )
    if schedule.within is not None and schedule.within.least_pools > 1:
        raise InputError(
            f"{type(schedule.within).__name__}() exchanges between pools, so it can do nothing "
            "within one: use within=aptmc.OneRandomPair(), say"
        )
