"""What travels between the coordinating process and its workers: rows of numbers, no pickles.

Only a failure, which ends the run, carries a pickle, from a worker to the process that started it.
"""

from __future__ import annotations

import struct
from multiprocessing.connection import Connection
from typing import NamedTuple, final

import cloudpickle
import numpy as np

from aptmc.chain import INFO_LENGTH
from aptmc.compiled import Floats
from aptmc.errors import AptmcError
from aptmc.keys import Key
from aptmc.moves import Order, Outcome

DONE, FAILED, GREETING = 0, 1, 2
# What comes before the arrays, in the machine's own order of bytes: nothing leaves the machine.
_ORDER = struct.Struct("=4qd")  # chain, number, purpose, rung; level
_REPLY = struct.Struct("=4q2d")  # kind, chain, number, purpose; began, ended


class Reply(NamedTuple):
    """What a worker says of an order."""

    key: Key
    outcome: Outcome | None
    failure: AptmcError | None
    began: float  # by the machine's clock
    ended: float


@final
class Wire:
    """Orders and replies of one run, as bytes and back."""

    def __init__(self, seed: int, width: int, tuning_length: int) -> None:
        self.shape = (seed, width, tuning_length)
        self.seed, self._tuning_length = seed, tuning_length
        self.bytes_per_order = _ORDER.size + 8 * (tuning_length + width)

    def send_order(self, connection: Connection, order: Order) -> None:
        """Ask a worker to compute an order."""
        _, chain, number, purpose = order.key
        head = _ORDER.pack(chain, number, purpose, order.rung, order.level)
        connection.send_bytes(head + order.tuning.tobytes() + order.state.tobytes())

    def receive_order(self, connection: Connection) -> Order:
        """Wait for an order. EOFError means that there will be none."""
        message = connection.recv_bytes()
        chain, number, purpose, rung, level = _ORDER.unpack_from(message)
        tuning, state = _arrays(message[_ORDER.size :], self._tuning_length)
        return Order(Key(self.seed, chain, number, purpose), rung, level, tuning, state)

    def send_outcome(
        self, connection: Connection, key: Key, outcome: Outcome, began: float, ended: float
    ) -> None:
        """Report the outcome of an order."""
        _, chain, number, purpose = key
        head = _REPLY.pack(DONE, chain, number, purpose, began, ended)
        connection.send_bytes(head + outcome.info.tobytes() + outcome.state.tobytes())

    def send_failure(
        self, connection: Connection, key: Key, failure: AptmcError, began: float, ended: float
    ) -> None:
        """Report that an order cannot be computed."""
        _, chain, number, purpose = key
        head = _REPLY.pack(FAILED, chain, number, purpose, began, ended)
        connection.send_bytes(head + cloudpickle.dumps(failure))

    def send_greeting(self, connection: Connection) -> None:
        """Say that one is ready for orders."""
        connection.send_bytes(_REPLY.pack(GREETING, 0, 0, 0, 0.0, 0.0))

    def receive_reply(self, connection: Connection) -> Reply | None:
        """Read a reply; None for a greeting. EOFError or OSError mean that the worker is gone."""
        message = connection.recv_bytes()
        kind, chain, number, purpose, began, ended = _REPLY.unpack_from(message)
        if kind == GREETING:
            return None
        key = Key(self.seed, chain, number, purpose)
        rest = message[_REPLY.size :]
        if kind == FAILED:
            return Reply(key, None, cloudpickle.loads(rest), began, ended)
        info, state = _arrays(rest, INFO_LENGTH)
        return Reply(key, Outcome(state, info), None, began, ended)


def _arrays(numbers: bytes, first: int) -> tuple[Floats, Floats]:
    """Two arrays, of which the first has so many numbers, that may be written to."""
    both = np.frombuffer(bytearray(numbers), np.float64)
    return both[:first], both[first:]
