"""Draws in memory, sorted by chain when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, final

import numpy as np
import numpy.typing as npt

from aptmc.compiled import Floats, FloatTable
from aptmc.event_log import EventLog, Events, empty_log, events_in
from aptmc.record import EXCHANGE_MOVE, Record


class Draws(NamedTuple):
    """The draws of one chain, in order."""

    state: FloatTable
    time: Floats
    exchanged: npt.NDArray[np.bool_]  # recorded after an exchange, or after a local move?
    accepted: npt.NDArray[np.int32]
    replica: npt.NDArray[np.int32]

    def between(self, start: float, end: float) -> Draws:
        """Only the draws with start < time <= end; times never decrease."""
        first, last = np.searchsorted(self.time, [start, end], side="right")
        rows = slice(first, last)
        return Draws(
            self.state[rows],
            self.time[rows],
            self.exchanged[rows],
            self.accepted[rows],
            self.replica[rows],
        )


def joined(pieces: Sequence[Draws], width: int) -> Draws:
    """Several pieces, one after the other."""
    if not pieces:
        nothing = np.empty(0, np.int32)
        return Draws(np.empty((0, width)), np.empty(0), nothing.astype(bool), nothing, nothing)
    return Draws(*(np.concatenate(columns) for columns in zip(*pieces, strict=True)))


@final
class MemoryStore:
    """Keeps all draws that it is given."""

    def __init__(self) -> None:
        self._pieces: dict[int, list[Draws]] = {}
        self._events: list[Events] = []

    def append(self, record: Record, log: EventLog) -> None:
        """Keep the draws and events that are in the buffers now."""
        if log.filled[0] > 0:
            self._events.append(events_in(log))
        rows = slice(0, int(record.filled[0]))
        chains = record.chain[rows]
        order = np.argsort(chains, kind="stable")
        present, first = np.unique(chains[order], return_index=True)
        for chain, mine in zip(present.tolist(), np.split(order, first[1:]), strict=False):
            piece = Draws(
                state=record.state[mine],
                time=record.time[mine],
                exchanged=record.kind[mine] == EXCHANGE_MOVE,
                accepted=record.accepted[mine].astype(np.int32),
                replica=record.replica[mine].astype(np.int32),
            )
            self._pieces.setdefault(chain, []).append(piece)

    def copy(self) -> MemoryStore:
        """What is kept so far; later draws do not show there."""
        other = MemoryStore()
        other._pieces = {chain: list(pieces) for chain, pieces in self._pieces.items()}
        other._events = list(self._events)
        return other

    def events(self) -> Events:
        """All events, in order."""
        if len(self._events) != 1:
            pieces = self._events or [events_in(empty_log(0))]
            self._events = [
                Events(*(np.concatenate(columns) for columns in zip(*pieces, strict=True)))
            ]
        return self._events[0]

    def draws(self, chain: int, width: int) -> Draws:
        """All draws of a chain, in order."""
        pieces = self._pieces.get(chain, [])
        if len(pieces) != 1:
            pieces = self._pieces[chain] = [joined(pieces, width)]
        return pieces[0]
