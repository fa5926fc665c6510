"""What travels between the coordinating process and its workers: rows of numbers, no pickles.

Only a failure, which ends the run, carries a pickle, from a worker to the process that started it.
"""

from __future__ import annotations

from multiprocessing.connection import Connection
from typing import Any, NamedTuple, final

import cloudpickle
import numpy as np

from aptmc.chain import INFO_LENGTH
from aptmc.errors import AptmcError
from aptmc.keys import Key
from aptmc.moves import Order, Outcome

DONE, FAILED = 0, 1
_WHICH = [("chain", "i8"), ("number", "i8"), ("purpose", "i8")]


class Reply(NamedTuple):
    """What a worker says of an order."""

    key: Key
    outcome: Outcome | None
    failure: AptmcError | None
    began: float  # by the machine's clock
    ended: float


@final
class Wire:
    """Orders and replies of one run, as bytes and back. The buffers are used again and again."""

    def __init__(self, seed: int, width: int, tuning_length: int) -> None:
        self.shape = (seed, width, tuning_length)
        self.seed = seed
        order: list[Any] = [*_WHICH, ("rung", "i8"), ("level", "f8")]
        order += [("tuning", "f8", (tuning_length,)), ("state", "f8", (width,))]
        reply: list[Any] = [("kind", "i8"), *_WHICH, ("began", "f8"), ("ended", "f8")]
        reply += [("info", "f8", (INFO_LENGTH,)), ("state", "f8", (width,))]
        self._order, self._order_bytes = _row(np.dtype(order))
        self._reply, self._reply_bytes = _row(np.dtype(reply))
        self.bytes_per_order = self._order_bytes.nbytes

    def send_order(self, connection: Connection, order: Order) -> None:
        """Ask a worker to compute an order."""
        row = self._order
        _, row["chain"], row["number"], row["purpose"] = order.key
        row["rung"], row["level"] = order.rung, order.level
        row["tuning"], row["state"] = order.tuning, order.state
        connection.send_bytes(self._order_bytes)

    def receive_order(self, connection: Connection) -> Order:
        """Wait for an order. EOFError means that there will be none."""
        row = self._order
        connection.recv_bytes_into(self._order_bytes)
        key = Key(self.seed, int(row["chain"]), int(row["number"]), int(row["purpose"]))
        return Order(key, int(row["rung"]), float(row["level"]), row["tuning"], row["state"])

    def send_outcome(
        self, connection: Connection, key: Key, outcome: Outcome, began: float, ended: float
    ) -> None:
        """Report the outcome of an order."""
        row = self._reply
        row["kind"], row["began"], row["ended"] = DONE, began, ended
        _, row["chain"], row["number"], row["purpose"] = key
        row["info"], row["state"] = outcome.info, outcome.state
        connection.send_bytes(self._reply_bytes)

    def send_failure(self, connection: Connection, key: Key, failure: AptmcError) -> None:
        """Report that an order cannot be computed."""
        row = self._reply
        row["kind"], row["began"], row["ended"] = FAILED, np.nan, np.nan
        _, row["chain"], row["number"], row["purpose"] = key
        connection.send_bytes(bytes(self._reply_bytes) + cloudpickle.dumps(failure))

    def receive_reply(self, connection: Connection) -> Reply:
        """Read a reply. EOFError or OSError mean that the worker is gone."""
        message = connection.recv_bytes()
        row, numbers = _row(self._reply.dtype)
        length = numbers.nbytes
        numbers[:] = message[:length]
        key = Key(self.seed, int(row["chain"]), int(row["number"]), int(row["purpose"]))
        began, ended = float(row["began"]), float(row["ended"])
        if row["kind"] == FAILED:
            return Reply(key, None, cloudpickle.loads(message[length:]), began, ended)
        return Reply(key, Outcome(row["state"], row["info"]), None, began, ended)


def _row(kind: np.dtype[Any]) -> tuple[Any, memoryview]:
    """One row of numbers by name, and the same memory as bytes."""
    table = np.zeros(1, kind)
    return table[0], memoryview(table.view(np.uint8))  # type: ignore[arg-type]
