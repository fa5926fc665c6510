"""Errands in virtual time: each processor computes one order after the other, and none waits."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush

import numpy as np

from aptmc.compiled import Floats
from aptmc.errors import RunFailed, StopReason
from aptmc.session.control import Control, FixedProcessors
from aptmc.session.descent import Errand
from aptmc.session.orders import Order, Outcome
from aptmc.session.session import Session, Usage

BETWEEN_LOOKS = 256  # orders between two looks at what is asked for


def run_errand(
    session: Session,
    errand: Errand,
    budget: float,
    speed: Floats,
    duration: Callable[[Order, Outcome], float],
    control: Control,
) -> Usage:
    """Simulate the processors until an errand is over, or the budget is spent.

    :param speed: of each processor
    :param duration: how long an order takes at speed 1
    """
    busy, now, number = np.zeros(speed.size), 0.0, 0
    under_way: list[tuple[float, int, int, float, Order, Outcome]] = []
    free = list(range(speed.size))
    stopped, failure = StopReason.STILL_RUNNING, None
    try:
        while not errand.is_over:
            for processor in free:
                order = errand.next_order()
                outcome = session.mover.compute(order)
                takes = duration(order, outcome) / float(speed[processor])
                heappush(under_way, (now + takes, number, processor, takes, order, outcome))
                number += 1
            finish, _, processor, takes, order, outcome = heappop(under_way)
            if finish >= budget:
                now, stopped = budget, StopReason.BUDGET_SPENT
                break
            now, free = finish, [processor]
            busy[processor] += takes
            errand.report(order, outcome, takes, now)
            if number % BETWEEN_LOOKS == 0:
                control.serve(FixedProcessors(now, busy))
                if control.stopped is not None:
                    stopped = control.stopped
                    break
    except KeyboardInterrupt:
        stopped = StopReason.INTERRUPTED
    except RunFailed as error:
        stopped, failure = StopReason.FAILED, error
    return Usage(stopped, now, busy, failure)
