"""What travels between the coordinating process and its workers: rows of numbers, no pickles.

Only a failure, which ends the run, carries a pickle, from a worker to the process that started it.
All is bytes: how they get there is the business of others.
"""

from __future__ import annotations

import struct
from typing import NamedTuple, final

import cloudpickle
import numpy as np

from aptmc.compiled import Floats
from aptmc.errors import AptmcError
from aptmc.keys import Key
from aptmc.session.orders import Order, Outcome

DONE, FAILED, GREETING = 0, 1, 2
# What comes before the arrays. The order of bytes is said, since machines may differ in it.
_ORDER = struct.Struct("<4qd")  # chain, number, purpose, rung; level
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

    def __init__(self, seed: int, width: int, tuning_length: int) -> None:
        self.shape = (seed, width, tuning_length)
        self.seed, self._width, self._tuning_length = seed, width, tuning_length
        self.bytes_per_order = _ORDER.size + 8 * (tuning_length + width)

    def order_bytes(self, order: Order) -> bytes:
        """The bytes of an order, for `read_order`."""
        _, chain, number, purpose = order.key
        head = _ORDER.pack(chain, number, purpose, order.rung, order.level)
        return head + _bytes(order.tuning) + _bytes(order.state)

    def read_order(self, message: bytes) -> Order:
        """The order that `order_bytes` wrote."""
        chain, number, purpose, rung, level = _ORDER.unpack_from(message)
        tuning, state = _arrays(message[_ORDER.size :], self._tuning_length)
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
