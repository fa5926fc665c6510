"""Units of work: how many cheap moves are sent at a time, and whether the next waits at the worker.

Both are decided before the run begins, from moves that do not count, and stay as they are. A unit
that ended "when so many milliseconds have passed" would be biased: of the moves under way at any
moment, slow ones are the more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from aptmc.backends.session import Session
from aptmc.backends.wire import Reply
from aptmc.compiled import Integers
from aptmc.coordinator import Coordinator
from aptmc.kernels.base import STEPS
from aptmc.keys import PILOT, Key
from aptmc.moves import Order

# A unit should last so long that sending it, which costs about a tenth of a millisecond of the
# coordinating process, does not matter; the more workers there are, the longer.
SHORTEST_UNIT = 2e-3
UNIT_PER_PROCESSOR = 0.25e-3
# From here on the time that a worker waits for its next order does not matter.
LONG_UNIT = 20e-3
MOST_GROWTH = 32
MOST_ROUNDS = 6

ComputeTimed = Callable[[list[Order]], list[Reply | None]]


class Units(NamedTuple):
    """What was decided."""

    steps: Integers  # of each rung: local steps that make one move
    ahead: int  # orders that wait at each worker


def measure_units(
    session: Session, compute: ComputeTimed, *, group: bool, ahead: int | None
) -> Units:
    """Choose units from the time that moves take from the chains' first states."""
    machine = session.machine
    target = max(SHORTEST_UNIT, UNIT_PER_PROCESSOR * session.processors)
    tuning = session.tuning.copy()
    movers = np.flatnonzero(machine.is_mover)
    first = {int(machine.rung[chain]): chain for chain in movers[::-1].tolist()}
    longest = dict.fromkeys(first, 0.0)
    unmeasured = set(first)
    for turn in range(MOST_ROUNDS):
        rungs = sorted(unmeasured)
        orders = []
        for rung in rungs:
            state, key = machine.states[first[rung]], Key(session.seed, first[rung], turn, PILOT)
            orders.append(Order(key, rung, float(machine.level[rung]), tuning[rung], state))
        for rung, reply in zip(rungs, compute(orders), strict=True):
            if reply is None or reply.failure is not None:
                # It takes far longer than any unit has to, or it fails; a failure of a move that
                # does not count is no reason to stop.
                longest[rung] = np.inf
                unmeasured.discard(rung)
                continue
            seconds = max(reply.ended - reply.began, 1e-6)
            longest[rung] = max(longest[rung], seconds)
            if not group or seconds > 0.5 * target:
                unmeasured.discard(rung)
            else:
                growth = min(max(int(target / seconds), 1), MOST_GROWTH)
                tuning[rung, STEPS] *= growth
        if not unmeasured:
            break
    if ahead is None:
        is_short = max(longest.values()) < LONG_UNIT
        ahead = int(is_short and can_queue_ahead(machine, session.served))
    return Units(tuning[:, STEPS].astype(np.int64), ahead)


def can_queue_ahead(machine: Coordinator, served: Integers) -> bool:
    """Whether enough chains wait in every pool if each processor holds two of them."""
    pools = machine.completed.size
    movers = np.bincount(machine.pool[machine.is_mover], minlength=pools)
    processors = np.bincount(served, minlength=pools)
    has_barriers = machine.plan.moves_per_barrier > 0
    return not has_barriers and bool((movers >= 2 * processors + np.maximum(processors, 2)).all())
