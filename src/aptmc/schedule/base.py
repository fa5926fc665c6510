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
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, ClassVar, NamedTuple, Self, dataclass_transform, final

import numpy as np

from aptmc.checks import counted
from aptmc.compiled import Generator, compiled, pointer_to, source_of
from aptmc.errors import InputError
from aptmc.exchange import NeighbouringRungs, Reassignment, Rule
from aptmc.exchange.parameters import as_dataclass, bound, settings_of
from aptmc.pools import Layout
from aptmc.targets import NUMBA, Numba, interpreted

# Measured: docs/tuning.md. Exchanges are cheap, and the more of them the better, up to about this.
DEADLINES_PER_SWEEP = 16
# What a completion calls for. A sum of them calls for both.
NOTHING, WITHIN_POOL, BARRIER = 0, 1, 2


class Numbers(NamedTuple):
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
    settings: Numbers = Numbers()


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

    swaps_in_flight: ClassVar[bool] = False  # the error that Uncorrected makes

    @property
    def never_waits(self) -> bool:
        """Whether chains go on after each move. One with barriers says `never_waits = False`."""
        return True

    @final
    @property
    def settles(self) -> bool:
        """Whether a run begins exact only once it has settled: `aptmc.coordinator.settling`."""
        return self.never_waits and not self.swaps_in_flight

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
        number: int, time: float, sweep_share: float, rng: Generator, settings: Numbers
    ) -> float:
        """When the next deadline comes: `number` have passed so far, the last of them at `time`.

        What it may look at is what keeps exchanges exact: the number, the time and a random stream
        of its own tell nothing of how long moves took. `sweep_share` does, a 16th of what a sweep
        of the slowest pool takes, followed slowly if `follows` is positive; deadlines that depend
        on it are exact only in the limit. Infinity means that there are none.
        """

    @staticmethod
    def after_completion(moves: int, completed: int, sweep: int, settings: Numbers) -> int:
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
        is_own = not isinstance(self.settings, Numbers)
        return Plan(
            first_deadline=self._first_deadline(rng or np.random.default_rng(0)),
            never_waits=self.never_waits,
            swaps_in_flight=self.swaps_in_flight,
            rounds=1 if self.exchange is None else self.exchange.rounds,
            rounds_within_pool=0 if self.within is None else self.within.rounds,
            follows=self.follows,
            settings=Numbers() if is_own else self.settings,
        )

    @final
    def functions(self, target: Numba = NUMBA) -> tuple[NextDeadline, AfterCompletion]:
        """The two functions, to be compiled when they are first used.

        :param target: knows where machine code of a schedule of one's own is kept
        """
        settings, kind = self.settings, type(self)
        if isinstance(settings, Numbers):
            return kind.next_deadline, kind.after_completion
        next_deadline = bound(kind, "next_deadline", Schedule.next_deadline, settings, target)
        after_completion: AfterCompletion = after_each_sweep
        if kind.after_completion is not Schedule.after_completion:
            model = Schedule.after_completion
            after_completion = bound(kind, "after_completion", model, settings, target)
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
        settings = self.settings
        if isinstance(settings, Numbers):
            function: Any = source_of(type(self).next_deadline)
        else:
            function, settings = interpreted(self.functions()[0]), Numbers()
        try:
            first = float(function(0, 0.0, math.inf, rng, settings))
        except Exception as error:
            raise InputError(
                f"{type(self).__name__}.next_deadline raised {type(error).__name__}: {error} "
                "when it was asked for the first deadline, number 0, at time 0"
            ) from error
        if not first > 0.0:
            raise InputError(
                f"the first deadline must come after time 0, got {first} from "
                f"{type(self).__name__}.next_deadline: give a positive time, or math.inf for none"
            )
        return first


NextDeadline = Annotated[Callable[..., float], pointer_to(Schedule.next_deadline)]
AfterCompletion = Annotated[Callable[..., int], pointer_to(Schedule.after_completion)]


@compiled
def after_each_sweep(moves: int, completed: int, sweep: int, settings: Numbers) -> int:
    """Exchange within the pool after each of its sweeps: the default of `Schedule`, compiled."""
    return WITHIN_POOL if completed % sweep == 0 else NOTHING


@compiled
def every_so_often(
    number: int, time: float, sweep_share: float, rng: Generator, settings: Numbers
) -> float:
    """Deadlines at the same distance."""
    # A product has no rounding errors that add up.
    return settings.every * (number + 1)


@compiled
def never(number: int, time: float, sweep_share: float, rng: Generator, settings: Numbers) -> float:
    """The next deadline of schedules that have none: at infinity."""
    return math.inf


def _check_that_some_wait(layout: Layout) -> None:
    """Each pool must keep a chain waiting, and two must wait somewhere if there are rungs to swap.

    On a single rung there is nothing to exchange.
    """
    waiting = layout.waiting_at_deadlines()
    for pool in np.flatnonzero(waiting < 0):
        chains = int(np.count_nonzero(layout.moves & (layout.pool == pool)))
        processors = int(np.count_nonzero(layout.served == pool))
        raise InputError(
            f"pool {pool} has {counted(chains, 'moving chain')} for "
            f"{counted(processors, 'processor')}, so none of them would ever wait and be free to "
            "exchange: a pool needs at least one chain more than processors; use more rungs, "
            "pools=aptmc.Shared(2), or fewer processors"
        )
    if waiting.sum() < 2 and layout.rung.max() > 0:
        raise InputError(
            f"with {counted(layout.rung.size, 'chain')} on "
            f"{counted(layout.served.size, 'processor')} two chains "
            "never wait together, so nothing could ever be exchanged: use more rungs, "
            "pools=aptmc.Shared(2), or fewer processors"
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
