"""Lanes that this machine's processors compute."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import final

import numpy as np
from typing_extensions import override

from aptmc.backends.lanes.c_here import advance_here
from aptmc.backends.lanes.exchanges import exchange
from aptmc.backends.lanes.fleet import Deadline, Fleet, Voyage
from aptmc.backends.lanes.tables import Lanes, Whole
from aptmc.compiled import Floats, FloatTable, FloatTables, Integers, IntegerTable

WORTH_SHARING = 100_000  # ticks of all lanes that are worth handing to threads
TOGETHER = 8  # lanes that one thread may compute at once


@final
class ProcessorFleet(Fleet):
    """Lanes that this machine's processors compute, one after the other or several at once.

    What comes of it does not depend on how many threads share the work, nor on the compiler.
    """

    def __init__(self, voyage: Voyage, threads: int, compiler: str = "numba") -> None:
        self.voyage, self.threads = voyage, threads
        self._advance = advance_here(voyage, compiler)
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self._lanes: Lanes | None = None

    @override
    def retune(self, levels: Floats, tuning: FloatTable) -> None:
        self.voyage = replace(self.voyage, levels=levels, tuning=tuning)

    @override
    def load(self, lanes: Lanes) -> None:
        self._lanes = lanes

    @override
    def read(self) -> Lanes:
        assert self._lanes is not None
        lanes = self._lanes
        return Lanes(lanes.reals.copy(), lanes.wholes.copy(), lanes.words.copy())

    @override
    def sums(self) -> IntegerTable:
        assert self._lanes is not None
        wholes = self._lanes.wholes
        by_place = wholes.reshape(len(wholes), self.voyage.positions, -1).sum(axis=2)
        return self.voyage.by_rung(by_place)

    @override
    def catch_up(self, ticks: Integers) -> None:
        assert self._lanes is not None
        voyage, lanes = self.voyage, self._lanes

        def advance(first: int, last: int) -> None:
            self._advance(
                first, last, ticks, voyage.groups, voyage.first_group, voyage.all_groups,
                voyage.seed, voyage.levels, voyage.tuning, lanes.reals, lanes.wholes, lanes.words,
            )  # fmt: skip

        if self._pool is None or int(ticks.sum()) < WORTH_SHARING:
            advance(0, voyage.lanes)
            return
        # More pieces than threads: rungs differ in what a tick costs.
        pieces = np.linspace(0, -(-voyage.lanes // TOGETHER), 4 * self.threads + 1).astype(int)
        edges = np.unique(np.minimum(TOGETHER * pieces, voyage.lanes)).tolist()
        list(self._pool.map(advance, edges[:-1], edges[1:]))

    @override
    def run(self, deadlines: list[Deadline]) -> FloatTables:
        assert self._lanes is not None
        voyage, lanes = self.voyage, self._lanes
        kept = []
        for deadline in deadlines:
            self.catch_up(np.full(voyage.lanes, deadline.ticks))
            exchange(
                deadline.number, voyage.groups, voyage.first_group, voyage.seed,
                voyage.model.dimension, voyage.has_tolerances, voyage.takes_all, voyage.starts,
                voyage.levels, lanes.reals, lanes.wholes,
            )  # fmt: skip
            if deadline.is_kept:
                kept.append(waiting_states(lanes, voyage))
        return np.array(kept).reshape(len(kept), voyage.kept_lanes, voyage.model.dimension + 2)


def waiting_states(lanes: Lanes, voyage: Voyage) -> FloatTable:
    """The states that wait in the lanes whose draws are kept."""
    places, count = voyage.places, voyage.kept_lanes
    each = np.arange(count)
    side = 1 - lanes.wholes[Whole.FLYING, :count]
    columns = [lanes.reals[side * places.dimension + i, each] for i in range(places.dimension)]
    columns += [lanes.reals[first + side, each] for first in (places.value, places.log_prior)]
    return np.column_stack(columns)
