"""The draws of a round, or of a descent, and what is looked at of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from aptmc.compiled import FloatTable
from aptmc.coordinator.state import Coordinator
from aptmc.record.record import NOBODY
from aptmc.session.descent import Stage
from aptmc.store import Draws

MOST_REMEMBERED = 500  # rows of a rung, about


class RoundDraws(NamedTuple):
    """What a round has drawn."""

    levels: tuple[float, ...]  # of its ladder
    rows: list[FloatTable]  # by rung: states that its chains came to
    cold: list[Draws]  # of each chain on the coldest rung
    elapsed: float
    sampling: float  # how long the run goes on after the warm-up


def settled(chains: list[Draws], width: int) -> FloatTable:
    """What the later half of the moves of a rung's chains led to.

    Draws of exchanges would be the same states over and over, and look like more than they are.
    """
    moved = [draws.state[~draws.exchanged] for draws in chains]
    later = [states[len(states) // 2 :] for states in moved]
    return np.concatenate(later) if later else np.empty((0, width))


def settled_or_held(chains: list[Draws], machine: Coordinator, rung: int) -> FloatTable:
    """The same; if nobody moved on a rung, what its chains hold must do."""
    rows = settled(chains, machine.states.shape[1])
    if len(rows) > 0:
        return rows
    held: FloatTable = machine.states[machine.replica[machine.rung == rung]]
    return held.copy()


def some(rows: FloatTable) -> FloatTable:
    """Enough rows to choose states from, and not more."""
    return rows[:: max(len(rows) // MOST_REMEMBERED, 1)].copy()


def later_by(draws: Draws, time: float) -> Draws:
    """The same draws on another clock."""
    return draws._replace(time=draws.time + time)


def of_descent(last: Stage, time: float) -> Draws:
    """The particles with which a descent ended, as draws of one moment that nobody moved to."""
    count = len(last.rows)
    return Draws(
        state=last.rows.copy(),
        time=np.full(count, time),
        exchanged=np.ones(count, np.bool_),
        accepted=np.ones(count, np.int32),
        replica=np.arange(count, dtype=np.int32),
        processor=np.full(count, NOBODY, np.int32),
        hold_time=np.zeros(count),
        work=np.zeros(count),
    )
