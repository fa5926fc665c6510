"""Units of work: how many cheap moves are sent at a time, and whether the next waits at the worker.

Both are decided before the run begins, from moves that do not count, and stay as they are. A unit
that ended "when so many milliseconds have passed" would be biased: of the moves under way at any
moment, slow ones are the more.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from aptmc.backends.workers.wire import Reply
from aptmc.kernels.base import STEPS
from aptmc.keys import PILOT, Key
from aptmc.problem.chain_state import ACCEPTED
from aptmc.session.orders import Order
from aptmc.session.session import Session
from aptmc.session.units import Units, can_queue_ahead

# A unit is a draw, and to send it costs about a tenth of a millisecond. Where steps are cheap and
# forget soon, a run is worth as many draws as it has units, so that short ones pay. But what has
# more than so many units has draws enough: then what sending costs counts, up to where it does not
# matter any more. The more workers the coordinating process serves, the longer must a unit last.
SHORTEST_UNIT = 1e-3
MANY_UNITS = 500_000
LONG_ENOUGH = 5e-3
UNIT_PER_PROCESSOR = 0.25e-3
# From here on the time that a worker waits for its next order does not matter.
LONG_UNIT = 20e-3
# On a busy machine a process may be made to wait for some time, but hardly for so long: a step that
# takes this long once is long, one of LONG_UNIT must be found so twice.
VERY_LONG = 1.0
# The time on the way that is worth hiding, as a share of the longest unit.
WORTH_HIDING = 0.05
MOST_AHEAD = 16
MOST_GROWTH = 32
ENOUGH_TRIALS = 3
MOST_ROUNDS = 8

ComputeTimed = Callable[[list[Order]], list[Reply | None]]


def moves_are_long(session: Session) -> bool:
    """Whether the first states have shown that moves are long, so that none has to be tried.

    A search that comes down to the run's tolerances shows it best, in many moves. To try once more
    would take turns in which most workers wait.

    A simulation that is left as soon as it is a miss may be long at first and short on a cold rung,
    so that only a very long one tells.
    """
    if session.progress.step_length > LONG_UNIT:
        return True
    limit = VERY_LONG if session.problem.has_simulator else LONG_UNIT
    return session.progress.quickest_start > limit


def shortest_unit(processors: int, seconds: float) -> float:
    """How long a move of cheap steps should last, in a run of so many seconds."""
    wanted = min(max(SHORTEST_UNIT, seconds * processors / MANY_UNITS), LONG_ENOUGH)
    return max(wanted, UNIT_PER_PROCESSOR * processors)


def measure_units(
    session: Session,
    compute: ComputeTimed,
    *,
    seconds: float,
    group: bool,
    ahead: int | None,
    most_ahead: float = 1,
) -> Units:
    """Choose units from the time that moves take from the chains' first states.

    :param seconds: how long the run is to take
    :param ahead: how many orders wait at each worker; None: as many as hide the way there and back
    :param most_ahead: and at most so many
    """
    machine = session.machine
    shortest = shortest_unit(session.processors, seconds)
    tuning = session.tuning.copy()
    movers = np.flatnonzero(machine.is_mover)
    first = {int(machine.rung[chain]): chain for chain in movers[::-1].tolist()}
    longest = dict.fromkeys(first, 0.0)
    quickest = dict.fromkeys(first, np.inf)  # trial of a single step
    singles = dict.fromkeys(first, 0)  # trials of a single step
    # Steps are seldom alike, and one that the prior refuses costs nothing. So what counts is the
    # mean over all trials of a rung, and a unit must be found good enough several times.
    spent, steps, accepted, settled = (dict.fromkeys(first, 0.0) for _ in range(4))
    latencies: list[float] = []
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
            latencies.append(reply.latency)
            longest[rung] = max(longest[rung], reply.ended - reply.began)
            spent[rung] += max(reply.ended - reply.began, 1e-6)
            steps[rung] += order.tuning[STEPS]
            accepted[rung] += 0.0 if reply.outcome is None else reply.outcome.info[ACCEPTED]
            # Where the way there and back takes longer than a unit, so should the unit: then one
            # order that waits at the worker is enough to keep it busy. And a draw that is the one
            # before once more is worth nothing.
            to_change = spent[rung] / accepted[rung] if accepted[rung] else math.inf
            target = max(shortest, float(np.median(latencies)), min(to_change, LONG_ENOUGH))
            wanted = max(int(target * steps[rung] / spent[rung] / single), 1) * single
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
        latency = float(np.median(latencies)) if latencies else 0.0
        is_short = max(longest.values()) < max(LONG_UNIT, latency / WORTH_HIDING)
        unit = min((spent[r] / steps[r] * tuning[r, STEPS] for r in first if steps[r]), default=1)
        wanted = max(math.ceil(latency / max(unit, 1e-6)), 1) if is_short else 0
        ahead = min(wanted, int(min(most_ahead, MOST_AHEAD)))
        while ahead > 0 and not can_queue_ahead(machine, session.served, ahead):
            ahead -= 1
    return Units(tuning[:, STEPS].astype(np.int64), ahead)
