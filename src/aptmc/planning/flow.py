"""The flow of moves through processors that never idle, without a simulation.

A chain is in flight for as long as its move takes, and then waits in the queue, as long as any
other. So chains whose moves are short make more of them: rungs do not have equal shares of moves
unless there is one processor only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from aptmc.compiled import Floats

HALVINGS = 100


class Flow(NamedTuple):
    """How many moves are completed in a second, and which share of them by each rung."""

    moves_per_second: float
    shares: Floats  # by rung


def flow(in_flight: Floats, chains_per_rung: int, processors: int) -> Flow:
    """The flow, from how long a move occupies its processor, by moving rung.

    All processors are occupied: the chains' shares of time in flight add up to their number.

    >>> round(flow(np.array([1.0, 1.0]), 2, 2).moves_per_second, 6)
    2.0
    """
    longest = float(in_flight.max())
    if chains_per_rung * in_flight.size <= processors or longest == 0.0:
        rates = 1.0 / np.maximum(in_flight, 1e-300)
    else:
        low, high = 0.0, longest * chains_per_rung * in_flight.size
        for _ in range(HALVINGS):
            waiting = 0.5 * (low + high)
            occupied = chains_per_rung * float((in_flight / (in_flight + waiting)).sum())
            low, high = (waiting, high) if occupied > processors else (low, waiting)
        rates = 1.0 / (in_flight + 0.5 * (low + high))
    total = float(rates.sum())
    return Flow(chains_per_rung * total, rates / total)
