"""Is a run that was computed again what is stored? Compared bit for bit, draw by draw."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

import numpy as np
import numpy.typing as npt

from aptmc.errors import RunFailed
from aptmc.record.event_log import EventLog
from aptmc.record.record import Record
from aptmc.store import Draws, Rows
from aptmc.store.base import rows_in


@final
class Comparison:
    """Stands in for a store: compares what it is given with what another one holds."""

    def __init__(self, stored: Iterator[Rows]) -> None:
        self.compared = 0
        self.difference: str | None = None
        self._stored = stored
        self._left: Rows | None = None

    def append(self, record: Record, _log: EventLog) -> None:
        """Compare the next rows. RunFailed means that they differ, so that no more are needed."""
        chain, draws = rows_in(record)
        position = 0
        while self.difference is None and position < chain.size:
            known = self._next()
            if known is None:
                self.difference = (
                    f"the store ends after draw {self.compared}, and the run computed again does "
                    "not"
                )
                break
            count = min(chain.size - position, known.chain.size)
            part = slice(position, position + count)
            self._compare(Rows(chain[part], draws.rows(part)), _first(known, count))
            self._left = _after(known, count)
            position += count
        if self.difference is not None:
            raise RunFailed(self.difference)

    def finish(self) -> str | None:
        """The first difference, also if the store holds more."""
        if self.difference is None:
            rest = self._next()
            if rest is not None:
                self.difference = (
                    f"the store goes on after draw {self.compared} (chain {rest.chain[0]}, time "
                    f"{rest.draws.time[0]}), and the run computed again does not"
                )
        return self.difference

    def _next(self) -> Rows | None:
        while self._left is None or self._left.chain.size == 0:
            self._left = next(self._stored, None)
            if self._left is None:
                return None
        return self._left

    def _compare(self, again: Rows, known: Rows) -> None:
        worst, what = again.chain.size, ""
        columns: list[tuple[str, Any, Any]] = [("chain", again.chain, known.chain)]
        columns += zip(Draws._fields, again.draws, known.draws, strict=True)
        for name, one, other in columns:
            rows = np.flatnonzero(_differs(one, other))
            if rows.size > 0 and rows[0] < worst:
                worst = int(rows[0])
                what = f"its {name} is {one[worst]}, stored is {other[worst]}"
        if what:
            self.difference = (
                f"draw {self.compared + worst} (chain {known.chain[worst]}, time "
                f"{known.draws.time[worst]}): {what}"
            )
        self.compared += worst


def _differs(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """By row, bit for bit: a NaN is equal to itself, and -0.0 is not 0.0."""
    size = one.shape[0]
    first = np.ascontiguousarray(one).reshape(size, -1).view(np.uint8)
    second = np.ascontiguousarray(other.astype(one.dtype, copy=False))
    different = first != second.reshape(size, -1).view(np.uint8)
    rows: npt.NDArray[np.bool_] = different.any(axis=1)
    return rows


def _first(rows: Rows, count: int) -> Rows:
    return Rows(rows.chain[:count], rows.draws.rows(slice(0, count)))


def _after(rows: Rows, count: int) -> Rows:
    return Rows(rows.chain[count:], rows.draws.rows(slice(count, None)))
