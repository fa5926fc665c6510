"""Units of work: how many local steps make a move, and how many moves wait at a processor."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from aptmc.compiled import Integers
from aptmc.coordinator.state import Coordinator


class Units(NamedTuple):
    """How large a move is on each rung, and how many moves wait at each worker."""

    steps: Integers  # of each rung: local steps that make one move
    ahead: int  # orders that wait at each worker


def can_queue_ahead(machine: Coordinator, served: Integers, ahead: int = 1) -> bool:
    """Whether enough chains wait in every pool if so many wait at each processor."""
    pools = machine.completed.size
    movers = np.bincount(machine.pool[machine.is_mover], minlength=pools)
    processors = np.bincount(served, minlength=pools)
    in_flight = (1 + ahead) * processors
    enough_wait = bool((movers >= in_flight + np.maximum(processors, 2)).all())
    return machine.plan.never_waits and enough_wait
