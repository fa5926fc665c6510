"""What travels between the coordinating process and its workers: rows of numbers, no pickles.

Only a failure, which ends the run, carries a pickle, from a worker to the process that started it.
All is bytes: how they get there is the business of others.
"""

from __future__ import annotations

import struct
from typing import NamedTuple, final

import cloudpickle
import numpy as np

from aptmc.backends.workers.settings_rows import EMPTY_ROW, KnownRows, RowNames
from aptmc.compiled import Floats
from aptmc.errors import AptmcError
from aptmc.kernels.base import STEPS
from aptmc.keys import Key
from aptmc.session.orders import Order, Outcome

DONE, FAILED, GREETING, GOING = 0, 1, 2, 3
# Sent before an order on which a worker is to say where it is going: see `session.last_words`.
SAY_WHERE = b"where"
# What comes before the arrays. The order of bytes is said, since machines may differ in it.
_ORDER = struct.Struct("<5q2d")  # chain, number, purpose, rung, name of a row; level, steps
_REPLY = struct.Struct("<4q2d")  # kind, chain, number, purpose; began, ended
_NUMBER = np.dtype("<f8")


class Reply(NamedTuple):
    """What a worker says of an order."""

    key: Key
    outcome: Outcome | None
    failure: AptmcError | None
    began: float  # by the machine's clock
    ended: float
    latency: float = 0.0  # seconds that it was under way, there and back, in which nobody computed


@final
class Wire:
    """Orders and replies of one run, as bytes and back."""

    def __init__(self, seed: int, width: int) -> None:
        self.shape = (seed, width)
        self.seed, self._width = seed, width
        self.bytes_per_order = _ORDER.size + 8 * width  # when the kernel's numbers are known
        self._names, self._rows = RowNames(), KnownRows()

    def order_bytes(self, order: Order, known: KnownRows | None = None) -> bytes:
        """The bytes of an order, for `read_order`.

        :param known: the rows of the kernel's numbers that are known where it goes, to which this
            one is added; without, it is sent along
        """
        _, chain, number, purpose = order.key
        name = self._names.of(order)
        row = b""
        if known is None or name not in known:
            row = _bytes(order.tuning[STEPS + 1 :])
            if known is not None:
                known.add(name)
        steps = float(order.tuning[STEPS])
        head = _ORDER.pack(chain, number, purpose, order.rung, name, order.level, steps)
        return head + row + _bytes(order.state)

    def read_order(self, message: bytes) -> Order | None:
        """The order that `order_bytes` wrote; None if it names a row that was never sent."""
        chain, number, purpose, rung, name, level, steps = _ORDER.unpack_from(message)
        numbers = message[_ORDER.size :]
        row, state = _arrays(numbers, len(numbers) // _NUMBER.itemsize - self._width)
        if row.size > 0 or name not in self._rows:
            if row.size == 0 and name != EMPTY_ROW:
                return None
            self._rows.add(name, row.copy())
        tuning = self._rows.tuning(name, steps)
        assert tuning is not None
        return Order(Key(self.seed, chain, number, purpose), rung, level, tuning, state)

    def outcome_bytes(self, key: Key, outcome: Outcome, began: float, ended: float) -> bytes:
        """The bytes of what came of an order, for `read_reply`."""
        _, chain, number, purpose = key
        head = _REPLY.pack(DONE, chain, number, purpose, began, ended)
        return head + _bytes(outcome.info) + _bytes(outcome.state)

    def failure_bytes(self, key: Key, failure: AptmcError, began: float, ended: float) -> bytes:
        """Says that an order cannot be computed."""
        _, chain, number, purpose = key
        head = _REPLY.pack(FAILED, chain, number, purpose, began, ended)
        return head + bytes(cloudpickle.dumps(failure))

    def greeting_bytes(self) -> bytes:
        """Says that one is ready for orders."""
        return _REPLY.pack(GREETING, 0, 0, 0, 0.0, 0.0)

    def going_bytes(self, coordinates: Floats) -> bytes:
        """Says where a move is going, for `read_going`."""
        return _REPLY.pack(GOING, 0, 0, 0, 0.0, 0.0) + _bytes(coordinates)

    def read_going(self, message: bytes) -> Floats | None:
        """Where a move is going, if that is what a worker says."""
        if _REPLY.unpack_from(message)[0] != GOING:
            return None
        rest = message[_REPLY.size :]
        return _arrays(rest, len(rest) // _NUMBER.itemsize)[0]

    def read_reply(self, message: bytes) -> Reply | None:
        """What a worker says; None for a greeting."""
        kind, chain, number, purpose, began, ended = _REPLY.unpack_from(message)
        if kind == GREETING:
            return None
        key = Key(self.seed, chain, number, purpose)
        rest = message[_REPLY.size :]
        if kind == FAILED:
            return Reply(key, None, cloudpickle.loads(rest), began, ended)
        info, state = _arrays(rest, len(rest) // _NUMBER.itemsize - self._width)
        return Reply(key, Outcome(state, info), None, began, ended)


def _bytes(numbers: Floats) -> bytes:
    return numbers.astype(_NUMBER, copy=False).tobytes()


def _arrays(numbers: bytes, first: int) -> tuple[Floats, Floats]:
    """Two arrays, of which the first has so many numbers, that may be written to."""
    both = np.frombuffer(bytearray(numbers), _NUMBER).astype(np.float64, copy=False)
    return both[:first], both[first:]
