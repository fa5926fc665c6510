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
SHORTEST_UNIT = 5e-3
UNIT_PER_PROCESSOR = 0.25e-3
# From here on the time that a worker waits for its next order does not matter.
LONG_UNIT = 20e-3
# On a busy machine a process may be made to wait for some time, but hardly for so long: a step that
# takes this long once is long, one of LONG_UNIT must be found so twice.
VERY_LONG = 1.0
MOST_GROWTH = 32
ENOUGH_TRIALS = 3
MOST_ROUNDS = 8

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
    quickest = dict.fromkeys(first, np.inf)  # trial of a single step
    singles = dict.fromkeys(first, 0)  # trials of a single step
    # Steps are seldom alike, and one that the prior refuses costs nothing. So what counts is the
    # mean over all trials of a rung, and a unit must be found good enough several times.
    seconds, steps, settled = (dict.fromkeys(first, 0.0) for _ in range(3))
    unmeasured = set(first)
    for turn in range(MOST_ROUNDS):
        orders = []
        for rung in sorted(unmeasured):
            state, key = machine.states[first[rung]], Key(session.seed, first[rung], turn, PILOT)
            orders.append(Order(key, rung, float(machine.level[rung]), tuning[rung].copy(), state))
        for order, reply in zip(orders, compute(orders), strict=True):
            rung, single = order.rung, float(session.tuning[order.rung, STEPS])
            if reply is None or reply.failure is not None:
                # It takes far longer than any unit has to, or it fails; a failure of a move that
                # does not count is no reason to stop.
                longest[rung] = np.inf
                tuning[rung, STEPS] = single
                unmeasured.discard(rung)
                continue
            longest[rung] = max(longest[rung], reply.ended - reply.began)
            seconds[rung] += max(reply.ended - reply.began, 1e-6)
            steps[rung] += order.tuning[STEPS]
            wanted = max(int(target * steps[rung] / seconds[rung] / single), 1) * single
            settled[rung] += wanted <= 2.0 * order.tuning[STEPS]
            if group:
                tuning[rung, STEPS] = min(wanted, MOST_GROWTH * order.tuning[STEPS])
            if order.tuning[STEPS] == single:
                singles[rung] += 1
                quickest[rung] = min(quickest[rung], reply.ended - reply.began)
            is_long = quickest[rung] > (LONG_UNIT if singles[rung] > 1 else VERY_LONG)
            is_long &= singles[rung] > 0
            if not group or is_long or settled[rung] == ENOUGH_TRIALS:
                unmeasured.discard(rung)
        if not unmeasured:
            break
    if ahead is None:
        is_short = max(longest.values()) < LONG_UNIT
        ahead = int(is_short and can_queue_ahead(machine, session.served))
    return Units(tuning[:, STEPS].astype(np.int64), ahead)


def can_queue_ahead(machine: Coordinator, served: Integers, ahead: int = 1) -> bool:
    """Whether enough chains wait in every pool if each processor holds two of them, or more."""
    pools = machine.completed.size
    movers = np.bincount(machine.pool[machine.is_mover], minlength=pools)
    processors = np.bincount(served, minlength=pools)
    has_barriers = machine.plan.moves_per_barrier > 0
    in_flight = (1 + ahead) * processors
    return not has_barriers and bool((movers >= in_flight + np.maximum(processors, 2)).all())
