"""A fleet: the lanes of a run on the machine that computes them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np
from typing_extensions import override

from aptmc.backends.lanes.advance import compiled_advance
from aptmc.backends.lanes.exchanges import exchange
from aptmc.backends.lanes.model import LaneModel
from aptmc.backends.lanes.tables import Lanes, Places, Whole
from aptmc.compiled import Floats, FloatTable, FloatTables, Integers, IntegerTable

WORTH_SHARING = 100_000  # ticks of all lanes that are worth handing to threads


class Deadline(NamedTuple):
    """One deadline to come."""

    ticks: int  # until then
    number: int  # part of the random key of its exchanges
    is_kept: bool  # whether the waiting states are recorded after the exchanges


@final
@dataclass(frozen=True)
class Voyage:
    """All that a fleet must know of a run."""

    model: LaneModel
    levels: Floats  # of each rung
    tuning: FloatTable  # of each rung
    groups: int
    seed: int
    takes_all: bool  # whether chains in flight are exchanged: the error of `Uncorrected`
    kept_lanes: int  # whose draws are kept: those of the coldest rung come first
    first_group: int = 0  # the place of the first of these groups among all
    groups_in_all: int | None = None  # if there are more: other devices have them

    @property
    def rungs(self) -> int:
        """How many rungs each group has."""
        return int(self.levels.size)

    @property
    def all_groups(self) -> int:
        """How many groups there are on all devices."""
        return self.groups if self.groups_in_all is None else self.groups_in_all

    @property
    def lanes(self) -> int:
        """How many lanes there are."""
        return self.groups * self.rungs

    @property
    def places(self) -> Places:
        """Where the columns are."""
        model = self.model
        return Places(model.dimension, model.size, len(model.statistics))

    @property
    def has_tolerances(self) -> bool:
        """Whether levels are tolerances, or powers."""
        return self.model.problem.ladder_kind == "tolerances"


class Fleet(ABC):
    """Lanes that are on their way."""

    @abstractmethod
    def retune(self, levels: Floats, tuning: FloatTable) -> None:
        """Go on at other levels, with other proposals."""

    @abstractmethod
    def load(self, lanes: Lanes) -> None:
        """Begin with these columns."""

    @abstractmethod
    def read(self) -> Lanes:
        """The columns as they are now: copies."""

    @abstractmethod
    def catch_up(self, ticks: Integers) -> None:
        """Take each lane on by its own number of ticks, without exchanges."""

    @abstractmethod
    def run(self, deadlines: list[Deadline]) -> FloatTables:
        """Pass some deadlines: gives the states that were kept, [deadline, lane, number]."""

    @abstractmethod
    def sums(self) -> IntegerTable:
        """The columns of whole numbers, added up over the lanes of each rung."""


@final
class ProcessorFleet(Fleet):
    """Lanes that this machine's processors compute, one after the other.

    What comes of it does not depend on how many threads share the work.
    """

    def __init__(self, voyage: Voyage, threads: int) -> None:
        self.voyage, self.threads = voyage, threads
        self._advance = compiled_advance(voyage.model)
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
        sums: IntegerTable = wholes.reshape(len(wholes), self.voyage.rungs, -1).sum(axis=2)
        return sums

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
        edges = np.linspace(0, voyage.lanes, 4 * self.threads + 1).astype(int).tolist()
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
                voyage.model.dimension, voyage.has_tolerances, voyage.takes_all, voyage.levels,
                lanes.reals, lanes.wholes,
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
