"""What every store offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from aptmc.record.columns import STATISTICS, Draws, no_draws
from aptmc.record.event_log import EventLog, Events
from aptmc.record.record import Record

__all__ = ["Draws", "Rows", "Store", "joined", "no_draws", "rows_in"]


class Rows(NamedTuple):
    """Draws of all chains in the order in which they came, as they are recorded."""

    chain: npt.NDArray[np.int32]
    draws: Draws


def rows_in(record: Record) -> Rows:
    """A copy of the rows that are in a record now."""
    rows = slice(0, int(record.filled[0]))
    columns = {name: record.draws[name][rows].copy() for name in ("chain", *STATISTICS)}
    return Rows(columns.pop("chain"), Draws(state=record.state[rows].copy(), **columns))


def joined(pieces: Iterable[Draws], width: int) -> Draws:
    """Several pieces, one after the other."""
    pieces = list(pieces)
    if not pieces:
        return no_draws(width)
    return Draws(*(np.concatenate(columns) for columns in zip(*pieces, strict=True)))


class Store(ABC):
    """Keeps the draws and events of one phase of a run."""

    @abstractmethod
    def append(self, record: Record, log: EventLog) -> None:
        """Keep the draws and events that are in the buffers now."""

    @abstractmethod
    def chains(self, chains: Sequence[int], width: int) -> list[Draws]:
        """All draws of some chains, in order."""

    @abstractmethod
    def events(self) -> Events:
        """All events, in order."""

    @abstractmethod
    def copy(self) -> Self:
        """What is kept so far; later draws do not show there."""

    def draws(self, chain: int, width: int) -> Draws:
        """All draws of a chain, in order."""
        return self.chains([chain], width)[0]
