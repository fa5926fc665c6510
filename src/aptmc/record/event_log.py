"""The event log: who took and who finished which move, and when.

Given the log, a whole run can be computed again, bit for bit, by anyone (see `backends.replay`),
and one can see what every processor did. Like the record, it is a buffer that is emptied now and
then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aptmc.compiled import Floats, Integers, inlined

TAKEN, COMPLETED = 0, 1


class EventLog(NamedTuple):
    """A buffer of events, one row each. A log without rows keeps nothing."""

    filled: Integers  # one number: how many rows are in use
    kind: Integers
    chain: Integers
    processor: Integers
    time: Floats  # at which the coordinator saw it
    began: Floats  # when the processor began and ended to compute; not numbers for TAKEN
    ended: Floats


class Events(NamedTuple):
    """Events in order."""

    kind: npt.NDArray[np.int8]
    chain: npt.NDArray[np.int32]
    processor: npt.NDArray[np.int32]
    time: npt.NDArray[np.float64]
    began: npt.NDArray[np.float64]
    ended: npt.NDArray[np.float64]

    @property
    def completions(self) -> Events:
        """Only the completions."""
        return Events(*(column[self.kind == COMPLETED] for column in self))


def empty_log(rows: int) -> EventLog:
    """A log with room for so many events."""
    return EventLog(
        filled=np.zeros(1, np.int64),
        kind=np.empty(rows, np.int64),
        chain=np.empty(rows, np.int64),
        processor=np.empty(rows, np.int64),
        time=np.empty(rows),
        began=np.empty(rows),
        ended=np.empty(rows),
    )


@inlined
def log_event(
    log: EventLog, kind: int, chain: int, processor: int, time: float, began: float, ended: float
) -> None:
    """Add an event, if the log keeps any."""
    row = log.filled[0]
    if row == log.kind.shape[0]:
        return
    log.filled[0] = row + 1
    log.kind[row] = kind
    log.chain[row] = chain
    log.processor[row] = processor
    log.time[row] = time
    log.began[row] = began
    log.ended[row] = ended


def events_in(log: EventLog) -> Events:
    """A copy of the events that are in the buffer now."""
    rows = slice(0, int(log.filled[0]))
    return Events(
        kind=log.kind[rows].astype(np.int8),
        chain=log.chain[rows].astype(np.int32),
        processor=log.processor[rows].astype(np.int32),
        time=log.time[rows].copy(),
        began=log.began[rows].copy(),
        ended=log.ended[rows].copy(),
    )


def joined_events(pieces: Sequence[Events]) -> Events:
    """Several pieces, one after the other."""
    return Events(*(np.concatenate(columns) for columns in zip(*pieces, strict=True)))
