"""The flow of moves through processors that never idle, without a simulation.

A chain is in flight for as long as its move takes, and then waits in the queue, as long as any
other. So chains whose moves are short make more of them: rungs do not have equal shares of moves
unless there is one processor only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from aptmc.compiled import Floats, Integers

HALVINGS = 100


class Flow(NamedTuple):
    """How many moves are completed in a second, and which share of them by each rung."""

    moves_per_second: float
    shares: Floats  # by rung


def flow(in_flight: Floats, chains: Integers, processors: int) -> Flow:
    """The flow, from how long a move occupies its processor, by moving rung.

    All processors are occupied: the chains' shares of time in flight add up to their number.

    :param chains: on each of these rungs

    >>> round(flow(np.array([1.0, 1.0]), np.array([2, 2]), 2).moves_per_second, 6)
    2.0
    """
    longest, all_chains = float(in_flight.max()), int(chains.sum())
    if all_chains <= processors or longest == 0.0:
        rates = chains / np.maximum(in_flight, 1e-300)
    else:
        low, high = 0.0, longest * all_chains
        for _ in range(HALVINGS):
            waiting = 0.5 * (low + high)
            occupied = float((chains * in_flight / (in_flight + waiting)).sum())
            low, high = (waiting, high) if occupied > processors else (low, waiting)
        rates = chains / (in_flight + 0.5 * (low + high))
    total = float(rates.sum())
    return Flow(total, rates / total)
