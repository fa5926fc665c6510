"""Several fleets as one: groups are independent, so each device has some of them.

What comes of it does not depend on how many devices there are, for keys go by the place of a group
among all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import final

import numpy as np
from typing_extensions import override

from aptmc.backends.lanes.fleet import Deadline, Fleet, Voyage
from aptmc.backends.lanes.tables import Lanes
from aptmc.compiled import Floats, FloatTable, FloatTables, Integers, IntegerTable


@final
class ManyFleets(Fleet):
    """The groups of a voyage, shared out over devices.

    :param makers: one for each device
    """

    def __init__(self, voyage: Voyage, makers: Sequence[Callable[[Voyage], Fleet]]) -> None:
        self.voyage = voyage
        count = min(len(makers), voyage.groups)
        self._edges = np.linspace(0, voyage.groups, count + 1).round().astype(int).tolist()
        self._pool = ThreadPoolExecutor(count)
        parts = [
            _part_of(voyage, first, last)
            for first, last in zip(self._edges, self._edges[1:], strict=False)
        ]
        self.fleets = [make(part) for make, part in zip(makers, parts, strict=False)]

    @override
    def retune(self, levels: Floats, tuning: FloatTable) -> None:
        for fleet in self.fleets:
            fleet.retune(levels, tuning)

    @override
    def load(self, lanes: Lanes) -> None:
        parts = zip(*(self._shared_out(columns) for columns in lanes), strict=True)
        for fleet, part in zip(self.fleets, parts, strict=True):
            fleet.load(Lanes(*part))

    @override
    def read(self) -> Lanes:
        read = self._pool.map(lambda fleet: fleet.read(), self.fleets)
        return Lanes(*(self._together(columns) for columns in zip(*read, strict=True)))

    @override
    def catch_up(self, ticks: Integers) -> None:
        parts = [part[0] for part in self._shared_out(ticks[None])]
        list(self._pool.map(lambda fleet, part: fleet.catch_up(part), self.fleets, parts))

    @override
    def run(self, deadlines: list[Deadline]) -> FloatTables:
        found = list(self._pool.map(lambda fleet: fleet.run(deadlines), self.fleets))
        kept, width = self.voyage.kept_lanes // self.voyage.groups, found[0].shape[2]
        tables = [rows.reshape(len(rows), kept, -1, width) for rows in found]
        together: FloatTables = np.concatenate(tables, axis=2)
        return together.reshape(len(together), -1, width)

    @override
    def sums(self) -> IntegerTable:
        total: IntegerTable = np.sum([fleet.sums() for fleet in self.fleets], axis=0)
        return total

    def _shared_out(self, columns: np.ndarray) -> list[np.ndarray]:
        by_place = columns.reshape(len(columns), self.voyage.positions, -1)
        return [
            np.ascontiguousarray(by_place[:, :, first:last].reshape(len(columns), -1))
            for first, last in zip(self._edges, self._edges[1:], strict=False)
        ]

    def _together(self, parts: Sequence[np.ndarray]) -> np.ndarray:
        positions = self.voyage.positions
        tables = [part.reshape(len(part), positions, -1) for part in parts]
        return np.concatenate(tables, axis=2).reshape(len(parts[0]), -1)


def _part_of(voyage: Voyage, first: int, last: int) -> Voyage:
    """Some of the groups."""
    groups = last - first
    return replace(
        voyage,
        groups=groups,
        kept_lanes=voyage.kept_lanes // voyage.groups * groups,
        first_group=voyage.first_group + first,
        groups_in_all=voyage.all_groups,
    )
