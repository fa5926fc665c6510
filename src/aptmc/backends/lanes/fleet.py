"""A fleet: the lanes of a run on the machine that computes them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from aptmc.backends.lanes.model import LaneModel
from aptmc.backends.lanes.tables import Lanes, Places
from aptmc.compiled import Floats, FloatTable, FloatTables, Integers, IntegerTable


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
    levels: Floats  # of each lane of a group, coldest first
    tuning: FloatTable  # the same
    groups: int
    seed: int
    takes_all: bool  # whether chains in flight are exchanged: the error of `Uncorrected`
    kept_lanes: int  # whose draws are kept: those of the coldest rung come first
    first_group: int = 0  # the place of the first of these groups among all
    groups_in_all: int | None = None  # if there are more: other devices have them
    of_group: tuple[int, ...] = ()  # how many lanes a group has on each rung, if not one

    @property
    def positions(self) -> int:
        """How many lanes each group has."""
        return int(self.levels.size)

    @property
    def starts(self) -> Integers:
        """By rung: the place of the first lane there in a group; in the end, how many there are."""
        of_group = self.of_group or (1,) * self.positions
        return np.concatenate([[0], np.cumsum(of_group)])

    @property
    def rungs(self) -> int:
        """How many rungs each group has."""
        return len(self.of_group) or self.positions

    @property
    def all_groups(self) -> int:
        """How many groups there are on all devices."""
        return self.groups if self.groups_in_all is None else self.groups_in_all

    @property
    def lanes(self) -> int:
        """How many lanes there are."""
        return self.groups * self.positions

    @property
    def places(self) -> Places:
        """Where the columns are."""
        model = self.model
        return Places(model.dimension, model.size, len(model.statistics))

    @property
    def has_tolerances(self) -> bool:
        """Whether levels are tolerances, or powers."""
        return self.model.problem.ladder_kind == "tolerances"

    def by_rung(self, sums: IntegerTable) -> IntegerTable:
        """Sums over lanes of each place in a group as sums over those of each rung."""
        added: IntegerTable = np.add.reduceat(sums, self.starts[:-1], axis=1)
        return added


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
