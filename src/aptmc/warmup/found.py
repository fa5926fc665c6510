"""What a warm-up has found so far, and how it learns more from each round."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np

from aptmc.compiled import Floats, FloatTable
from aptmc.coordinator.state import Coordinator, moves_done
from aptmc.errors import InputError
from aptmc.kernels import Kernel, Seen
from aptmc.kernels.base import STEPS
from aptmc.problem.chain_state import ACCEPTED
from aptmc.session.session import Session, Usage
from aptmc.settings import Settings
from aptmc.warmup.approach import nearest, scale_of
from aptmc.warmup.guess import (
    DEADLINES_AT_FIRST,
    approach_to,
    enough_chains,
    first_deadlines,
    first_kernel,
    with_deadlines,
)

# Exchanges may take a 50th of the time of whoever carries them out.
COST_OF_DEADLINES = 0.02


@final
class Found:
    """Levels, kernel and deadlines, as they are after the rounds so far."""

    remembers = ("levels", "kernel", "every", "shortest")

    def __init__(self, settings: Settings) -> None:
        self.asked = settings  # with the first guess of what is to be found
        self.problem, self.to_find = settings.problem, settings.to_find
        self.approach = approach_to(settings.problem)
        self.levels = settings.ladder.levels
        learns = self.to_find.kernel
        self.kernel = settings.kernel if learns is None else first_kernel(settings, learns)
        self.every = first_deadlines(settings)
        self.shortest = 0.0  # time between deadlines that does not cost too much

    def memory(self) -> dict[str, Any]:
        """All that was found so far, by name, as `recall` takes it."""
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
        if self.to_find.kernel is not None:
            # One of the user's own, which no store holds, begins again.
            self.kernel = first_kernel(self.settings(), self.kernel)

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
            support=self.problem.support,
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
        if self.to_find.deadlines is None:
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

    def settings(self) -> Settings:
        """The settings as they stand."""
        found, to_find = self.asked, self.to_find
        if to_find.ladder is not None:
            found = found.found(ladder=self.approach.ladder(self.levels))
        if to_find.kernel is not None:
            found = found.found(kernel=self.kernel.frozen())
        if to_find.deadlines is not None:
            schedule = with_deadlines(to_find.deadlines, self.every, self.shortest)
            found = found.found(schedule=schedule)
        if to_find.pools:
            found = found.found(pools=enough_chains(found))
        return found
