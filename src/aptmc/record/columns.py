"""The columns of draws and of events, written once.

Whoever records, stores, shows or compares draws takes their columns from here: a new column is one
new line. What a column holds on disk is what the record holds in memory.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple, get_type_hints

import numpy as np
import numpy.typing as npt


class Kind(NamedTuple):
    """What a column holds, as numpy writes it."""

    code: str
    is_row: bool = False  # many numbers for each draw, not one


Chain = Annotated[npt.NDArray[np.int32], Kind("<i4")]


class Draws(NamedTuple):
    """Draws of one chain, or of several, in order."""

    state: Annotated[npt.NDArray[np.float64], Kind("<f8", is_row=True)]
    time: Annotated[npt.NDArray[np.float64], Kind("<f8")]
    # Recorded after an exchange, or after a local move?
    exchanged: Annotated[npt.NDArray[np.bool_], Kind("|b1")]
    # Local moves: how many of the steps; exchanges: 0 or 1.
    accepted: Annotated[npt.NDArray[np.int32], Kind("<i4")]
    replica: Annotated[npt.NDArray[np.int32], Kind("<i4")]
    # Local moves: who computed it; exchanges: NOBODY.
    processor: Annotated[npt.NDArray[np.int32], Kind("<i4")]
    hold_time: Annotated[npt.NDArray[np.float64], Kind("<f8")]  # local moves: how long it took
    # Local moves: how much was computed, in the kernel's own unit.
    work: Annotated[npt.NDArray[np.float64], Kind("<f8")]

    def between(self, start: float, end: float) -> Draws:
        """Only the draws with start < time <= end; times never decrease."""
        first, last = np.searchsorted(self.time, [start, end], side="right")
        return self.rows(slice(first, last))

    def rows(self, which: slice | npt.NDArray[np.intp]) -> Draws:
        """Only some of the draws."""
        columns: list[Any] = [column[which] for column in self]
        return Draws(*columns)


class Events(NamedTuple):
    """Moves taken and moves completed, in the order in which the coordinator saw them."""

    kind: Annotated[npt.NDArray[np.int8], Kind("|i1")]
    chain: Chain
    processor: Annotated[npt.NDArray[np.int32], Kind("<i4")]
    time: Annotated[npt.NDArray[np.float64], Kind("<f8")]  # at which the coordinator saw it
    # When the processor began and ended to compute; not numbers for TAKEN.
    began: Annotated[npt.NDArray[np.float64], Kind("<f8")]
    ended: Annotated[npt.NDArray[np.float64], Kind("<f8")]

    @property
    def completions(self) -> Events:
        """Only the events in which a move was completed."""
        return Events(*(column[self.kind == COMPLETED] for column in self))


TAKEN, COMPLETED = 0, 1  # kinds of events


def _kinds(table: Any) -> dict[str, Kind]:
    hints = get_type_hints(table, include_extras=True)
    return {name: hints[name].__metadata__[-1] for name in table._fields}


DRAW_COLUMNS = {"chain": Kind("<i4"), **_kinds(Draws)}
EVENT_COLUMNS = _kinds(Events)
# What is known of a draw beside its state.
STATISTICS = tuple(name for name, kind in _kinds(Draws).items() if not kind.is_row)


def row_of(columns: dict[str, Kind]) -> np.dtype[np.void]:
    """One row of a table in memory; what takes many numbers has a table of its own."""
    single = [(name, kind.code) for name, kind in columns.items() if not kind.is_row]
    return np.dtype(single, align=True)


def no_draws(width: int) -> Draws:
    """Columns for draws of states of this width, without a row."""
    return Draws(
        *(np.empty((0, width) if kind.is_row else 0, kind.code) for kind in _kinds(Draws).values())
    )
