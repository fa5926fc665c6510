"""What every store offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from aptmc.errors import StoreDamaged
from aptmc.record.columns import STATISTICS, Draws, no_draws
from aptmc.record.event_log import EventLog, Events
from aptmc.record.record import Record

Arrays = dict[str, npt.NDArray[Any]]  # by name, of a checkpoint
__all__ = ["Arrays", "Draws", "Rows", "Store", "joined", "no_draws", "rows_in"]


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
        """All events, in the order in which they happened."""

    @abstractmethod
    def copy(self) -> Self:
        """What is kept so far; later draws do not show there."""

    @property
    @abstractmethod
    def path(self) -> Path | None:
        """The folder that it is in; None if it is in memory and ends with the process."""

    @property
    @abstractmethod
    def damage(self) -> list[StoreDamaged] | None:
        """What is left out because it cannot be read; None if nothing may be left out."""

    @abstractmethod
    def append_warmup(self, draws: Draws, chain: int) -> None:
        """Keep draws of the warm-up, apart from the others, if they would be lost otherwise."""

    @abstractmethod
    def save(self, notes: dict[str, Any], arrays: Arrays, *, wait: bool = True) -> None:
        """Write a checkpoint, if it is on disk: all that was appended is there from now on.

        :param wait: until it is durable. Otherwise the next one waits for it
        """

    @abstractmethod
    def close(self) -> None:
        """Let go of files and locks: nobody writes here any longer."""

    @abstractmethod
    def column(self, name: str, place: int | slice | None, chain: int) -> npt.NDArray[Any]:
        """One column of the draws of a chain; of the state, one place or a stretch of them."""

    @abstractmethod
    def column_kinds(self) -> dict[str, str]:
        """What each column of the draws holds, as numpy writes it."""

    def draws(self, chain: int, width: int) -> Draws:
        """All draws of one chain, in order."""
        return self.chains([chain], width)[0]
