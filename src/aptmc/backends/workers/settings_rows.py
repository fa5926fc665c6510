"""The kernel's numbers, which are sent once: afterwards orders call them by name.

In a hundred dimensions a rung has thousands of them, and a state a hundred. They change between the
rounds of a warm-up. The number of steps is no part of them: it is a part of every order.
"""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b
from typing import final

import numpy as np

from aptmc.compiled import Floats
from aptmc.kernels.base import STEPS
from aptmc.session.orders import Order

# So many rows are remembered, of which those that came first are forgotten first. Whoever sends
# goes by the same rule, and so knows what is known on the other side.
MOST_KEPT = 2000


EMPTY_ROW = 0  # the name of that of a kernel with nothing but a number of steps


@final
class RowNames:
    """Names of rows, by what is in them."""

    def __init__(self) -> None:
        self._last: dict[int, tuple[bytes, int]] = {}  # by rung: the row of the last order

    def of(self, order: Order) -> int:
        """The name of an order's row. To compare it with the last takes less than a new name.

        As bytes: numpy takes a hundred times as long to compare arrays, on each completion.
        """
        row = order.tuning[STEPS + 1 :].tobytes()
        if not row:
            return EMPTY_ROW
        last, name = self._last.get(order.rung, (b"", 0))
        if last != row:
            name = int.from_bytes(blake2b(row, digest_size=8).digest(), "little") >> 1
            self._last[order.rung] = row, name
        return name


@final
class KnownRows:
    """Rows by name, on the side that computes; on the other side, which names are known there."""

    def __init__(self) -> None:
        self._rows: OrderedDict[int, Floats | None] = OrderedDict()

    def __contains__(self, name: int) -> bool:
        return name in self._rows

    def add(self, name: int, row: Floats | None = None) -> None:
        """Remember one more."""
        if name not in self._rows:
            self._rows[name] = row
            if len(self._rows) > MOST_KEPT:
                self._rows.popitem(last=False)

    def tuning(self, name: int, steps: float) -> Floats | None:
        """The whole row of an order, or None if it was never heard of."""
        row = self._rows.get(name)
        return None if row is None else np.concatenate([[steps], row])
