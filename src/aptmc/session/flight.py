"""What virtual processors are doing.

Which chains are in flight, and since when, the coordinator knows; here is what it cannot know: at
which place each is being computed, what will come of it, and when.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from aptmc.compiled import Floats, FloatTable, Integers, table_of
from aptmc.record.record import NOBODY

PROCESSOR_ROW = np.dtype([
    ("pool", np.int64),  # that it serves
    ("speed", np.float64),
    ("busy", np.float64),  # time inside completed moves
], align=True)  # fmt: skip
PLACE = np.dtype([
    ("chain", np.int64),  # whose move it holds, or NOBODY
    ("finish", np.float64),  # when that will be finished
], align=True)  # fmt: skip
CLOCK = np.dtype([
    ("now", np.float64),  # the time of the last completion
    ("suspect", np.int64),  # the chain that is being computed
    ("stage", np.int64),  # what is being computed
    ("standing", np.int64),  # completions in a row at the same time
], align=True)  # fmt: skip


class Flight(NamedTuple):
    """What each virtual processor is doing. Place p belongs to processor p modulo their number."""

    processors: Annotated[npt.NDArray[np.void], table_of(PROCESSOR_ROW)]
    places: Annotated[npt.NDArray[np.void], table_of(PLACE)]
    clock: Annotated[npt.NDArray[np.void], table_of(CLOCK)]  # one row
    outcome: FloatTable  # of each place
    info: FloatTable  # of each place

    @property
    def chain(self) -> Integers:
        """By place: whose move it holds, or NOBODY."""
        return self.places["chain"]

    @property
    def finish(self) -> Floats:
        """By place: when that will be finished."""
        return self.places["finish"]

    @property
    def speed(self) -> Floats:
        """By processor: what hold times are divided by."""
        return self.processors["speed"]

    @property
    def busy(self) -> Floats:
        """By processor: time inside completed moves."""
        return self.processors["busy"]

    @property
    def now(self) -> Floats:
        """One number: the time of the last completion."""
        return self.clock["now"]

    @property
    def standing(self) -> Integers:
        """One number: completions in a row at the same time."""
        return self.clock["standing"]


def empty_flight(
    pool: Integers, speed: Floats, width: int, info_length: int, now: float, ahead: int
) -> Flight:
    """All processors without work, with room for one order and for those that wait."""
    places = (1 + ahead) * pool.size
    flight = Flight(
        processors=np.zeros(pool.size, PROCESSOR_ROW),
        places=np.zeros(places, PLACE),
        clock=np.zeros(1, CLOCK),
        outcome=np.empty((places, width)),
        info=np.zeros((places, info_length)),
    )
    flight.processors["pool"], flight.processors["speed"] = pool, speed
    flight.places["chain"] = flight.clock["suspect"] = NOBODY
    flight.clock["now"] = now
    return flight
