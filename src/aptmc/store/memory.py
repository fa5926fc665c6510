"""Draws in memory, sorted by chain when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from aptmc.record.event_log import EventLog, Events, empty_log, events_in, joined_events
from aptmc.record.record import Record
from aptmc.store.base import Arrays, Draws, Rows, Store, joined, no_draws, rows_in


@final
class MemoryStore(Store):
    """A store that ends with the process."""

    def __init__(self) -> None:
        self._pieces: dict[int, list[Draws]] = {}
        self._unsorted: list[Rows] = []
        self._events: list[Events] = []

    @property
    @override
    def path(self) -> None:
        """None: what is in memory has no folder."""

    @property
    @override
    def damage(self) -> None:
        """None: nothing in memory is ever left out."""

    @override
    def append(self, record: Record, log: EventLog) -> None:
        if log.filled[0] > 0:
            self._events.append(events_in(log))
        if record.filled[0] > 0:
            self._unsorted.append(rows_in(record))

    def _sort(self) -> None:
        """Have the draws by chain. Where chains are many, that takes longer than to keep them."""
        if not self._unsorted:
            return
        unsorted, self._unsorted = self._unsorted, []
        chains = np.concatenate([rows.chain for rows in unsorted])
        draws = joined([rows.draws for rows in unsorted], 0)
        order = np.argsort(chains, kind="stable")
        present, first = np.unique(chains[order], return_index=True)
        for chain, mine in zip(present.tolist(), np.split(order, first[1:]), strict=False):
            self._pieces.setdefault(chain, []).append(draws.rows(mine))

    @override
    def append_warmup(self, draws: Draws, chain: int) -> None:
        """Nothing: the warm-up has them in memory already."""

    @override
    def save(self, notes: dict[str, Any], arrays: Arrays, *, wait: bool = True) -> None:
        """Nothing: what is in memory ends with the process."""

    @override
    def close(self) -> None:
        """Nothing: there is nothing to let go of."""

    @override
    def copy(self) -> MemoryStore:
        self._sort()
        other = MemoryStore()
        other._pieces = {chain: list(pieces) for chain, pieces in self._pieces.items()}
        other._events = list(self._events)
        return other

    @override
    def events(self) -> Events:
        if len(self._events) != 1:
            self._events = [joined_events(self._events or [events_in(empty_log(0))])]
        return self._events[0]

    @override
    def chains(self, chains: Sequence[int], width: int) -> list[Draws]:
        self._sort()
        for chain in chains:
            pieces = self._pieces.get(chain, [])
            if len(pieces) != 1:
                self._pieces[chain] = [joined(pieces, width)]
        return [self._pieces[chain][0] for chain in chains]

    @override
    def column(self, name: str, place: int | slice | None, chain: int) -> npt.NDArray[Any]:
        self._sort()
        pieces = [getattr(draws, name) for draws in self._pieces.get(chain, [])]
        width = place.stop if isinstance(place, slice) else 1 + (place or 0)
        values = np.concatenate(pieces or [getattr(no_draws(width), name)])
        return values if place is None else values[:, place]

    @override
    def column_kinds(self) -> dict[str, str]:
        columns = no_draws(0)._asdict() | {"chain": np.empty(0, np.int32)}
        return {name: column.dtype.str for name, column in columns.items()}
