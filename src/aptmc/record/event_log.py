"""The event log: who took and who finished which move, and when.

Given the log, a whole run can be computed again, bit for bit, by anyone (see
`session.event_replay`), and one can see what every processor did. Like the record, it is a buffer
that is emptied now and then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from aptmc.compiled import Integers, compiled, inlined, table_of
from aptmc.record.columns import COMPLETED, EVENT_COLUMNS, TAKEN, Events, row_of

__all__ = [
    "COMPLETED", "TAKEN", "EventLog", "Events", "empty_log", "events_in", "is_full",
    "joined_events", "log_event",
]  # fmt: skip

EVENT = row_of(EVENT_COLUMNS)


class EventLog(NamedTuple):
    """A buffer of events, one row each. A log without rows keeps nothing."""

    filled: Integers  # one number: how many rows are in use
    rows: Annotated[npt.NDArray[np.void], table_of(EVENT)]


def empty_log(rows: int) -> EventLog:
    """A log with room for so many events."""
    return EventLog(np.zeros(1, np.int64), np.empty(rows, EVENT))


@inlined
def is_full(log: EventLog, events: int) -> bool:
    """Whether so many more events do not fit; a log that keeps nothing is never full."""
    return bool(log.filled[0] + events > log.rows.shape[0] > 0)


@compiled
def log_event(
    log: EventLog, kind: int, chain: int, processor: int, time: float, began: float, ended: float
) -> None:
    """Add an event, if the log keeps any."""
    row = log.filled[0]
    if row == log.rows.shape[0]:
        return
    log.filled[0] = row + 1
    event = log.rows[row]
    event["kind"] = kind
    event["chain"] = chain
    event["processor"] = processor
    event["time"] = time
    event["began"] = began
    event["ended"] = ended


def events_in(log: EventLog) -> Events:
    """A copy of the events that are in the buffer now."""
    rows = log.rows[: int(log.filled[0])]
    return Events(*(rows[name].copy() for name in Events._fields))


def joined_events(pieces: Sequence[Events]) -> Events:
    """Several pieces, one after the other."""
    return Events(*(np.concatenate(columns) for columns in zip(*pieces, strict=True)))
