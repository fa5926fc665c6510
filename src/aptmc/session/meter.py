"""How much of a budget that is no time is used, and how much a phase may use."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, final

from aptmc.problem.chain_state import WORK
from aptmc.quota import MOVES, SIMULATIONS, Quota


@final
class Meter:
    """How much of a quota is used, and how much a phase may use."""

    def __init__(self, quota: Quota) -> None:
        self.quota = quota
        self.used_before = 0.0  # by phases that have ended, and by searches
        self.limit = math.inf  # of the present session's own count
        self._count: Callable[[], float] = lambda: 0.0
        self._counted_from = 0.0

    def follow(self, session: Any, most: float) -> None:
        """A phase begins, which may use so much."""
        self._count = counter(session, self.quota.unit)
        self._counted_from = self._count()
        self.limit = self._counted_from + most

    def end_phase(self) -> float:
        """How much the phase has used."""
        used = self._count() - self._counted_from
        self.used_before += used
        self._count, self._counted_from = lambda: 0.0, 0.0
        return used

    @property
    def used(self) -> float:
        """How much was used up to now."""
        return self.used_before + self._count() - self._counted_from

    @property
    def left_in_phase(self) -> float:
        """How much the present phase may yet use."""
        return self.limit - self._count()

    @property
    def left(self) -> float:
        """How much is left in all."""
        return max(self.quota.most - self.used, 0.0)


def counter(session: Any, unit: str) -> Callable[[], float]:
    """What counts the moves of a session, or what they compute."""
    machine, totals = session.machine, session.record.totals
    if unit == MOVES:
        return lambda: float(machine.completed.sum())
    place = session.kernel.places.get("simulations", WORK) if unit == SIMULATIONS else WORK
    return lambda: float(totals[:, place].sum())
