"""What a worker of an engine does: one order, from bytes to bytes.

The problem is sent once to a process, which keeps it under a token, and so are the kernel's numbers
if they are many. A process that does not know them says so: it joined later, or took the place of
one that died.
"""

from __future__ import annotations

import os
import struct
import threading
import traceback
from collections import OrderedDict
from hashlib import sha256
from typing import NamedTuple

from aptmc.backends.workers.payload import unpack
from aptmc.backends.workers.wire import Wire
from aptmc.backends.workers.worker import answer
from aptmc.session.orders import Mover

DONE, READY, UNKNOWN, UNUSABLE = b"D", b"R", b"?", b"U"
_HEAD = struct.Struct("<cq")
MOST_KEPT = 4  # problems in a process that serves many runs


class Task(NamedTuple):
    """What is sent. Without a message it only asks to get ready; without a payload it is short."""

    token: str
    message: bytes = b""
    payload: bytes | None = None


class Answer(NamedTuple):
    """What a worker sends back, in its parts."""

    kind: bytes
    process: int  # on the machine of the worker
    rest: bytes


class _Loaded(NamedTuple):
    mover: Mover
    wire: Wire


_loaded: OrderedDict[str, _Loaded] = OrderedDict()  # by token: one for all threads
_loading = threading.Lock()
_own = threading.local()  # a mover has a random stream that it rewinds, so no two threads share one


def token_of(payload: bytes) -> str:
    """The name under which workers keep a problem: a hash of its bytes."""
    return sha256(payload).hexdigest()


def perform(token: str, message: bytes, payload: bytes | None) -> bytes:
    """Compute an order. Whatever the user's functions do is a part of the reply."""
    try:
        found = _find(token, payload)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return _head(UNUSABLE) + traceback.format_exc().encode()
    if found is None:
        return _head(UNKNOWN)
    if not message:
        return _head(READY)
    reply = answer(message, found.mover, found.wire, KeyboardInterrupt)
    return _head(UNKNOWN) if reply is None else _head(DONE) + reply


def read_answer(answer: bytes) -> Answer:
    """Take apart what `perform` gave."""
    kind, process = _HEAD.unpack_from(answer)
    return Answer(kind, process, answer[_HEAD.size :])


def _head(kind: bytes) -> bytes:
    return _HEAD.pack(kind, os.getpid())


def _find(token: str, payload: bytes | None) -> _Loaded | None:
    mine: OrderedDict[str, _Loaded] = _own.__dict__.setdefault("loaded", OrderedDict())
    found = mine.get(token)
    if found is not None:
        return found
    with _loading:
        first = _loaded.get(token)
        if first is None:
            if payload is None:
                return None
            first = _loaded[token] = _Loaded(*unpack(payload))
            _forget_old(_loaded)
        twin = Mover(first.mover.problem, first.mover.kernel, first.mover.seed)
        found = mine[token] = _Loaded(twin, first.wire)
        _forget_old(mine)
    return found


def _forget_old(loaded: OrderedDict[str, _Loaded]) -> None:
    while len(loaded) > MOST_KEPT:
        loaded.popitem(last=False)
