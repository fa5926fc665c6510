"""The settings of a run: what was asked for, what the warm-up has found of it, then frozen.

They are whole at every moment. What is still to be found has its first guess in place, so that a
session can be built from the settings at any time; `to_find` says what may yet change.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

from aptmc.kernels import Kernel
from aptmc.ladder import AutoLadder, Ladder
from aptmc.pools import Layout, Pools
from aptmc.problem import Problem
from aptmc.quota import Quota
from aptmc.schedule import Schedule

if TYPE_CHECKING:
    from aptmc.backends import Backend


@final
@dataclass(frozen=True)
class ToFind:
    """What was not given, and is left to the warm-up."""

    ladder: AutoLadder | None = None  # how it is to be found, if it is
    kernel: Kernel | None = None  # that learns, as asked for
    deadlines: Schedule | None = None  # the schedule whose deadlines are to be found, as asked for
    reference: bool = False  # what stands at the hot end of the ladder
    pools: bool = False  # how many chains there are on a rung
    length: float | None = None  # of the warm-up, if that was given

    @property
    def needs_warmup(self) -> bool:
        """Whether there is anything that takes draws to find; a number of chains does not."""
        parts = (self.ladder, self.kernel, self.deadlines)
        return self.reference or any(part is not None for part in parts)


NOTHING = ToFind()
SWEEPS_TO_SETTLE = 4  # measured: docs/method.md
MOST_TO_SETTLE = 0.25  # of the budget that do not count


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Settings:
    """Everything that defines a run."""

    problem: Problem
    ladder: Ladder
    kernel: Kernel
    schedule: Schedule
    pools: Pools
    on: Backend
    seed: int
    budget: float  # in seconds, or in units of virtual time
    warmup: float = 0.0  # the session's first time, whose draws are not part of the posterior
    settling: int = 0  # moves of each chain, about, in which the run settles; 0: it does not
    keep: str = "coldest"  # whose draws are kept, or "all"
    thin: int = 1  # one draw of so many is kept
    log_events: bool = True
    save_every: float = 5.0  # seconds between checkpoints
    progress: bool = False  # show how it goes on
    to_find: ToFind = NOTHING
    chosen: str = ""  # why the kernel is what it is, if that was left to us
    quota: Quota | None = None  # the budget, if that is no time
    until: str = ""  # what was to end the run before its budget, in words

    def __post_init__(self) -> None:
        # Moves have to be computed otherwise; a problem of which a store is left needs no moves.
        if self.ladder.reference is not None and not self.problem.is_stored:
            object.__setattr__(self, "problem", self.problem.with_fitted_reference())

    def counted_from(self, settled: float) -> float:
        """From when on draws count, of a session that is settled at this time.

        What is drawn before is not wrong, only less exact: a run of a few moves has nothing else.
        """
        return max(self.warmup, min(settled, MOST_TO_SETTLE * self.budget))

    def layout(self) -> Layout:
        """Where chains and processors stand, if schedule and pools fit together."""
        layout = self.pools.layout(self.ladder, self.on.processors)
        self.schedule.check(layout)
        return layout

    def found(self, **settings: Any) -> Settings:
        """The same with some settings as they were found by now."""
        return replace(self, **settings)

    def frozen(self) -> Settings:
        """The same with nothing left to find: the warm-up is over, and its draws are apart."""
        return replace(self, to_find=NOTHING)
