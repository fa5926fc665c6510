"""Schedules: when chains are exchanged, and by which rule.

A schedule of one's own is one small class with one or two functions, which numba compiles:

>>> class Bursts(Schedule):
...     '''Deadlines in bursts of so many, a short time apart, and a long time between bursts.'''
...
...     count: int = 4
...     short: float = 0.5
...     long: float = 8.0
...
...     @staticmethod
...     def next_deadline(number, time, sweep_share, rng, settings):
...         return time + (settings.long if number % settings.count == 0 else settings.short)
>>> Bursts(short=0.1).interval
8.0
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any, ClassVar, NamedTuple, Self, dataclass_transform, final

import numpy as np

from aptmc.checks import whole_number
from aptmc.clock import duration
from aptmc.compiled import Generator, at_speed, compiled, pointer_to
from aptmc.errors import InputError
from aptmc.exchange.rules import NeighbouringRungs, Reassignment, Rule
from aptmc.exchange.settings import as_dataclass, bound, settings_of
from aptmc.pools import Layout

AUTO = "auto"
# How far the time between deadlines moves, at each sweep, towards its share of that sweep's time.
FOLLOWING = 0.03
# Measured: docs/tuning.md. Exchanges are cheap, and the more of them the better, up to about this.
DEADLINES_PER_SWEEP = 16
# What a completion calls for. A sum of them calls for both.
NOTHING, WITHIN_POOL, BARRIER = 0, 1, 2


class Settings(NamedTuple):
    """The numbers of the library's own schedules, which only the schedule itself looks at."""

    every: float = math.inf
    follow: bool = False
    jitter: float = 0.0
    shortest: float = 0.0
    moves: int = 0


class Plan(NamedTuple):
    """A schedule as the coordinator sees it, beside its two functions."""

    first_deadline: float  # infinite if there are none
    never_waits: bool
    swaps_in_flight: bool  # the error that Uncorrected makes
    rounds: int
    rounds_within_pool: int  # when a completion calls for them; 0: none
    follows: float = 0.0  # how fast the share of a sweep's time is followed; 0: not at all
    settings: Settings = Settings()


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
@dataclass(frozen=True, repr=False)
class Schedule(ABC):
    """When exchanges take place.

    Fields of a class of your own that are numbers reach its functions as `settings`.

    :param exchange: which waiting chains are paired; by default `NeighbouringRungs` on a ladder of
        powers and `Reassignment` on one of tolerances
    :param within: which chains of a pool are paired when a completion calls for that
    """

    exchange: Rule | None = field(default=None, kw_only=True)
    within: Rule | None = field(default=None, kw_only=True)

    # Whether chains go on at once after each move. A schedule with barriers says that it is not so.
    never_waits: ClassVar[bool] = True
    # The error that Uncorrected makes.
    swaps_in_flight: ClassVar[bool] = False

    def __new__(cls, *_: object, **__: object) -> Self:
        """Before the first of its kind is made: its fields are settings."""
        as_dataclass(cls, repr=False)
        return super().__new__(cls)

    def __repr__(self) -> str:
        shown = sorted(fields(self), key=lambda one: one.kw_only is True)
        parts = (f"{one.name}={getattr(self, one.name)!r}" for one in shown)
        return f"{type(self).__qualname__}({', '.join(parts)})"

    @staticmethod
    @abstractmethod
    def next_deadline(
        number: int, time: float, sweep_share: float, rng: Generator, settings: Settings
    ) -> float:
        """When the next deadline comes: `number` have passed so far, the last of them at `time`.

        What it may look at is what keeps exchanges exact: the number, the time and a random stream
        of its own tell nothing of how long moves took. `sweep_share` does, a 16th of what a sweep
        of the slowest pool takes, followed slowly if `follows` is positive; deadlines that depend
        on it are exact only in the limit. Infinity means that there are none.
        """

    @staticmethod
    def after_completion(moves: int, completed: int, sweep: int, settings: Settings) -> int:
        """What the completion of a move calls for: NOTHING, WITHIN_POOL, BARRIER, or a sum.

        It may look at counts alone, never at times or states: how many `moves` the chain has made,
        how many were `completed` in its pool, of which `sweep` make one for each chain. At a
        BARRIER the chain waits until all others have come to one, too; then all exchange and go on.
        By default a pool exchanges within after each sweep, if there is a rule for that.
        """
        return WITHIN_POOL if completed % sweep == 0 else NOTHING

    @final
    def rule(self, ladder_kind: str) -> Rule:
        """The rule by which chains are paired on a ladder of this kind."""
        if self.exchange is not None:
            return self.exchange
        return Reassignment() if ladder_kind == "tolerances" else NeighbouringRungs()

    @property
    def follows(self) -> float:
        """How fast `sweep_share` follows the time that a sweep takes; 0: not at all."""
        return 0.0

    @property
    def settings(self) -> Any:
        """What the functions of this schedule see of it."""
        return settings_of(self, leave_out=("exchange", "within"))

    @property
    def wants_deadlines(self) -> bool:
        """Whether the time between deadlines is to be found in the warm-up."""
        return False

    def with_deadlines(
        self,
        every: float,
        *,
        jitter: float = 0.0,
        shortest: float = 0.0,
        follow: bool | None = None,
    ) -> Self:
        """The same with so much time between deadlines, where that can be changed."""
        return self

    @property
    def can_change_deadlines(self) -> bool:
        """Whether one may choose when deadlines come, and how often."""
        return False

    @property
    def moves_per_barrier(self) -> int | None:
        """How many moves each chain makes before all wait, if that is always the same."""
        return None

    @property
    @final
    def interval(self) -> float:
        """The time until the first deadline, and usually between any two."""
        return self._first_deadline(np.random.default_rng(0))

    @final
    def plan(self, rng: np.random.Generator | None = None) -> Plan:
        """The schedule as the coordinator sees it.

        :param rng: the stream of the first deadline
        """
        is_own = not isinstance(self.settings, Settings)
        return Plan(
            first_deadline=self._first_deadline(rng or np.random.default_rng(0)),
            never_waits=self.never_waits,
            swaps_in_flight=self.swaps_in_flight,
            rounds=1 if self.exchange is None else self.exchange.rounds,
            rounds_within_pool=0 if self.within is None else self.within.rounds,
            follows=self.follows,
            settings=Settings() if is_own else self.settings,
        )

    @final
    def functions(self) -> tuple[NextDeadline, AfterCompletion]:
        """The two functions, compiled."""
        settings, kind = self.settings, type(self)
        if isinstance(settings, Settings):
            return kind.next_deadline, kind.after_completion
        next_deadline = bound(kind, "next_deadline", Schedule.next_deadline, settings)
        after_completion: AfterCompletion = after_each_sweep
        if kind.after_completion is not Schedule.after_completion:
            after_completion = bound(kind, "after_completion", Schedule.after_completion, settings)
        return next_deadline, after_completion

    @final
    def check(self, layout: Layout) -> None:
        """Refuse a layout with which this schedule cannot work."""
        if self.swaps_in_flight and layout.rung.size < 2:
            raise InputError("a single chain has nobody to exchange with: use more rungs")
        if self.never_waits and not self.swaps_in_flight:
            _check_that_some_wait(layout)
        _check_rules(self, layout)

    def _first_deadline(self, rng: np.random.Generator) -> float:
        function: Any = at_speed(type(self).next_deadline, compiled=False)
        return float(function(0, 0.0, math.inf, rng, self.settings))


NextDeadline = Annotated[Callable[..., float], pointer_to(Schedule.next_deadline)]
AfterCompletion = Annotated[Callable[..., int], pointer_to(Schedule.after_completion)]


@compiled
def after_each_sweep(moves: int, completed: int, sweep: int, settings: Settings) -> int:
    """As `Schedule.after_completion`."""
    return WITHIN_POOL if completed % sweep == 0 else NOTHING


@compiled
def every_so_often(
    number: int, time: float, sweep_share: float, rng: Generator, settings: Settings
) -> float:
    """Deadlines at the same distance."""
    # A product has no rounding errors that add up.
    return settings.every * (number + 1)


@compiled
def never(
    number: int, time: float, sweep_share: float, rng: Generator, settings: Settings
) -> float:
    """No deadlines."""
    return math.inf


@final
@dataclass(frozen=True, repr=False)
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

    @staticmethod
    @compiled
    def next_deadline(
        number: int, time: float, sweep_share: float, rng: Generator, settings: Settings
    ) -> float:
        """So long after the last, or a little earlier or later, or as long as the last took."""
        if number == 0:
            return settings.every
        if settings.jitter == 0.0 and not settings.follow:
            return every_so_often(number, time, sweep_share, rng, settings)
        every = max(sweep_share, settings.shortest) if settings.follow else settings.every
        early_or_late = 2.0 * rng.random() - 1.0 if settings.jitter > 0.0 else 0.0
        return time + every * (1.0 + settings.jitter * early_or_late)

    after_completion = staticmethod(after_each_sweep)

    @property
    def follows(self) -> float:
        """Slowly, if at all."""
        return FOLLOWING if self.follow else 0.0

    @property
    def settings(self) -> Settings:
        """Times in seconds."""
        if self.every == AUTO:
            raise InputError('every="auto" is found in the warm-up: there is no plan before')
        shortest = 0.0 if self.shortest == 0.0 else duration(self.shortest, "shortest")
        every = duration(self.every, "every")
        return Settings(every, self.follow, float(self.jitter), shortest)

    @property
    def wants_deadlines(self) -> bool:
        """If they are "auto"."""
        return self.every == AUTO

    @property
    def can_change_deadlines(self) -> bool:
        """They may come at any time."""
        return True

    def with_deadlines(
        self,
        every: float,
        *,
        jitter: float = 0.0,
        shortest: float = 0.0,
        follow: bool | None = None,
    ) -> Anytime:
        """The same with these, where the user has not said otherwise."""
        return replace(
            self,
            every=every,
            jitter=self.jitter or jitter,
            shortest=self.shortest or shortest,
            follow=self.follow if follow is None else follow,
        )


@final
@dataclass(frozen=True, repr=False)
class Synchronous(Schedule):
    """Ordinary parallel tempering: all chains make their moves, all wait, then they exchange.

    Exact, but processors stand idle behind the slowest chain.

    :param moves: how many moves each chain makes between exchanges
    """

    never_waits: ClassVar[bool] = False

    moves: int = 1
    exchange: Rule = field(default_factory=NeighbouringRungs, kw_only=True)
    within: Rule | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        whole_number("moves", self.moves)

    next_deadline = staticmethod(never)

    @staticmethod
    @compiled
    def after_completion(moves: int, completed: int, sweep: int, settings: Settings) -> int:
        """A barrier after so many moves of each chain."""
        calls_for = after_each_sweep(moves, completed, sweep, settings)
        return calls_for + (BARRIER if moves % settings.moves == 0 else NOTHING)

    @property
    def settings(self) -> Settings:
        """How many moves."""
        return Settings(moves=self.moves)

    @property
    def moves_per_barrier(self) -> int | None:
        """As many as were asked for."""
        return self.moves


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
    def settings(self) -> Settings:
        """The time in seconds."""
        return Settings(duration(self.every, "every"))


def _check_that_some_wait(layout: Layout) -> None:
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
