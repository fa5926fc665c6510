"""Deadlines, and nobody waits."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import final

from typing_extensions import override

from aptmc.arguments import class_named_clearly
from aptmc.clock import duration
from aptmc.compiled import Generator, compiled
from aptmc.errors import InputError
from aptmc.exchange import Rule
from aptmc.schedule.base import Numbers, Schedule, after_each_sweep, every_so_often

AUTO = "auto"
# How far the time between deadlines moves, at each sweep, towards its share of that sweep's time.
FOLLOWING = 0.03


@class_named_clearly
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
        number: int, time: float, sweep_share: float, rng: Generator, settings: Numbers
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
    @override
    def follows(self) -> float:
        """How fast `every` follows the time of a sweep: slowly with `follow`, else not at all."""
        return FOLLOWING if self.follow else 0.0

    @property
    @override
    def settings(self) -> Numbers:
        """What compiled code sees of it, with times in seconds."""
        if self.every == AUTO:
            raise InputError('every="auto" is found in the warm-up: there is no plan before')
        shortest = 0.0 if self.shortest == 0.0 else duration(self.shortest, "shortest")
        every = duration(self.every, "every")
        return Numbers(every, self.follow, float(self.jitter), shortest)

    @property
    @override
    def wants_deadlines(self) -> bool:
        """Whether `every` is "auto"."""
        return self.every == AUTO

    @property
    @override
    def can_change_deadlines(self) -> bool:
        return True

    @override
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
