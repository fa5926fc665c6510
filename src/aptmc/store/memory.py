"""Draws in memory, sorted by chain when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from aptmc.record.event_log import EventLog, Events, empty_log, events_in, joined_events
from aptmc.record.record import Record
from aptmc.store.base import Draws, Store, joined, rows_in


@final
class MemoryStore(Store):
    """Keeps all draws that it is given."""

    def __init__(self) -> None:
        self._pieces: dict[int, list[Draws]] = {}
        self._events: list[Events] = []

    def append(self, record: Record, log: EventLog) -> None:
        """Keep the draws and events that are in the buffers now."""
        if log.filled[0] > 0:
            self._events.append(events_in(log))
        chains, draws = rows_in(record)
        order = np.argsort(chains, kind="stable")
        present, first = np.unique(chains[order], return_index=True)
        for chain, mine in zip(present.tolist(), np.split(order, first[1:]), strict=False):
            self._pieces.setdefault(chain, []).append(draws.rows(mine))

    def copy(self) -> MemoryStore:
        """What is kept so far; later draws do not show there."""
        other = MemoryStore()
        other._pieces = {chain: list(pieces) for chain, pieces in self._pieces.items()}
        other._events = list(self._events)
        return other

    def events(self) -> Events:
        """All events, in order."""
        if len(self._events) != 1:
            self._events = [joined_events(self._events or [events_in(empty_log(0))])]
        return self._events[0]

    def chains(self, chains: Sequence[int], width: int) -> list[Draws]:
        """All draws of some chains, in order."""
        for chain in chains:
            pieces = self._pieces.get(chain, [])
            if len(pieces) != 1:
                self._pieces[chain] = [joined(pieces, width)]
        return [self._pieces[chain][0] for chain in chains]
