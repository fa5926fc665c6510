"""The settings as they stand: what was wished for, and what has been found of the rest."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, final

import numpy as np

from aptmc.compiled import Floats, FloatTable
from aptmc.coordinator.transitions import Coordinator, moves_done
from aptmc.errors import InputError
from aptmc.kernels import Kernel, Seen
from aptmc.kernels.base import STEPS
from aptmc.keys import WARMUP, Key
from aptmc.ladder import Ladder
from aptmc.pools import Pools, Shared
from aptmc.problem import Problem
from aptmc.problem.state import ACCEPTED
from aptmc.schedule import Anytime, Schedule
from aptmc.session.session import Session, Usage
from aptmc.warmup.approach import Approach, nearest, scale_of
from aptmc.warmup.outcome import Tuned
from aptmc.warmup.powers import PowersApproach
from aptmc.warmup.tolerances import TolerancesApproach
from aptmc.warmup.wishes import Wishes

JITTER = 0.5
DEADLINES_AT_FIRST = 20.0
# Exchanges may take a 50th of the time of whoever carries them out.
COST_OF_DEADLINES = 0.02
APPROACHES: Mapping[str, type[Approach]] = {
    "powers": PowersApproach,
    "tolerances": TolerancesApproach,
}


@final
class Found:
    """Levels, kernel and deadlines, as they are after the rounds so far."""

    remembers = ("levels", "kernel", "every", "shortest")

    def __init__(self, problem: Problem, wishes: Wishes, processors: int, seed: int) -> None:
        self.problem, self.wishes, self.processors = problem, wishes, processors
        self.approach = APPROACHES[problem.ladder_kind](problem)
        given = wishes.ladder
        self.levels = given.levels if isinstance(given, Ladder) else self.approach.first_levels()
        self.spread = np.ones(problem.dimension)
        if problem.reference is not None:
            self.spread = problem.reference.spread(Key(seed, 0, 0, WARMUP).generator())
        wished = wishes.kernel
        kernel = wished if isinstance(wished, Kernel) else problem.default_kernel()
        self.kernel = kernel.at_first(self.spread, len(self.levels))
        self.every = math.nan
        self.shortest = 0.0  # time between deadlines that does not cost too much

    def memory(self) -> dict[str, Any]:
        """All that was found."""
        own = {name: getattr(self, name) for name in self.remembers}
        return own | {name: getattr(self.approach, name) for name in self.approach.remembers}

    def recall(self, memory: Mapping[str, Any]) -> None:
        """Go on with what another has found."""
        if "kernel" not in memory:
            raise InputError(
                "the warm-up of this run was begun by an earlier version of aptmc and cannot go "
                "on: sample anew, or go on with the version that began it"
            )
        for name in self.remembers:
            setattr(self, name, memory[name])
        for name in self.approach.remembers:
            setattr(self.approach, name, memory[name])
        # One of the user's own, which no store holds, begins again.
        self.kernel = self.kernel.at_first(self.spread, len(self.levels))

    # --- learning -----------------------------------------------------------------------------

    def learn_kernel(self, session: Session, rows: list[FloatTable]) -> None:
        """Have the kernel adapt to what a round has seen."""
        if not self.kernel.learns:
            return
        machine, totals, kernel = session.machine, session.record.totals, session.kernel
        moves = moves_done(machine)
        seen = Seen(
            levels=self.levels,
            states=[table[:, : self.problem.dimension] for table in rows],
            moves=moves,
            steps=moves * session.tuning[:, STEPS],
            accepted=totals[:, ACCEPTED].copy(),
            statistics={name: totals[:, place].copy() for name, place in kernel.places.items()},
            reference_level=self.problem.reference_level,
        )
        adapted = self.kernel.adapted(seen)
        if not isinstance(adapted, Kernel) or adapted.statistics != kernel.statistics:
            raise InputError(
                f"{type(self.kernel).__name__}.adapted must give a kernel with the same "
                f"statistics, {kernel.statistics}, got {adapted!r}"
            )
        self.kernel = adapted

    def learn_deadlines(self, machine: Coordinator, usage: Usage) -> None:
        """One deadline in each sweep, if that does not cost too much."""
        if not self.wishes.every_is_auto:
            return
        passed = int(machine.passed[0])
        if passed > 0:
            # Virtual time charges nothing. In real time the first deadlines may be slow once.
            cost = usage.overhead.exchanges / passed
            self.shortest = min(cost / COST_OF_DEADLINES, usage.elapsed / DEADLINES_AT_FIRST)
        if machine.completed.min() >= machine.sweep.max():
            self.every = float(machine.sweep_time.max())
        self.every = max(self.every, self.shortest)

    def move_to(self, levels: tuple[float, ...]) -> None:
        """Stand on other rungs, with what was learnt on the nearest of the old ones."""
        old, new = scale_of(np.array(self.levels)), scale_of(np.array(levels))
        self.kernel = self.kernel.respaced(nearest(old, new))
        self.levels = levels

    def swap_rates(self, rows: list[FloatTable]) -> Floats:
        """How often neighbours would swap, from draws of all rungs."""
        return self.approach.swap_rates(self.levels, rows)

    # --- settings -----------------------------------------------------------------------------

    def tuned(self) -> Tuned:
        """The settings as they stand."""
        pools = self.wishes.pools or self._pools(self.ladder)
        return Tuned(self.ladder, self.kernel.frozen(), self._schedule(), pools)

    @property
    def ladder(self) -> Ladder:
        """The one given, or the one found."""
        if isinstance(self.wishes.ladder, Ladder):
            return self.wishes.ladder
        return self.approach.ladder(self.levels)

    def _schedule(self) -> Schedule:
        schedule = self.wishes.schedule
        if not isinstance(schedule, Anytime) or not self.wishes.every_is_auto:
            return schedule
        return replace(
            schedule,
            every=self.every,
            jitter=schedule.jitter or JITTER,
            shortest=schedule.shortest or self.shortest,
        )

    def _pools(self, ladder: Ladder) -> Pools:
        """So many chains that about as many wait as are in flight, or more."""
        movers = ladder.rungs - len(ladder.idle_rungs)
        return Shared(math.ceil((2 * self.processors + 2) / movers))
