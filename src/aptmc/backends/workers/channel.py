"""A channel: whole messages between two processes, over a socket that strangers may write into.

The user's function runs in a process that holds one end, and may write into, read from or close
what is not its own. So every message says who sends it, which number it has, how long it is and
what its bytes add up to; whatever does not is nonsense. The coordinating process never waits for
the rest of a message, nor for somebody to read one.
"""

from __future__ import annotations

import secrets
import socket
import struct
import zlib
from typing import final

_TOKEN = 8  # bytes that only the two ends know
_HEAD = struct.Struct(f"<{_TOKEN}s3I")  # token; number, length, checksum
_PIECE = 64 * 1024  # bytes that are read at once, the most that a socket holds


class Nonsense(OSError):
    """What came through a channel is none of its messages."""


@final
class _Frames:
    """Messages with what goes before each, to and from the bytes of one channel."""

    def __init__(self, token: bytes) -> None:
        self._token = token
        self._sent = self._received = 0
        self._arrived = bytearray()

    def framed(self, message: bytes) -> bytes:
        """The bytes that say that this is the next message."""
        head = _HEAD.pack(self._token, self._sent, len(message), zlib.crc32(message))
        self._sent = (self._sent + 1) & 0xFFFFFFFF
        return head + message

    def add(self, arrived: bytes) -> None:
        """Bytes have arrived."""
        self._arrived += arrived

    def next(self) -> bytes | None:
        """The next message, if all of it is there. Nonsense is noticed as early as can be."""
        arrived = self._arrived
        if not self._token.startswith(arrived[:_TOKEN]):
            raise Nonsense("not from the other end")
        if len(arrived) < _HEAD.size:
            return None
        _, number, length, checksum = _HEAD.unpack_from(arrived)
        if number != self._received:
            raise Nonsense("a message is missing")
        end = _HEAD.size + length
        if len(arrived) < end:
            return None
        message = bytes(arrived[_HEAD.size : end])
        if zlib.crc32(message) != checksum:
            raise Nonsense("not as it was sent")
        del arrived[:end]
        self._received = (self._received + 1) & 0xFFFFFFFF
        return message


@final
class Channel:
    """The end of the coordinating process, which never waits."""

    def __init__(self, end: socket.socket) -> None:
        """Speak through a socket, at whose other end there is, or will be, a `WorkerChannel`."""
        end.setblocking(False)
        token = secrets.token_bytes(_TOKEN)
        self._end, self._frames = end, _Frames(token)
        self._unsent = bytearray()
        self._send(token)

    def fileno(self) -> int:
        """For those who wait until there is something to read."""
        return self._end.fileno()

    @property
    def has_unsent(self) -> bool:
        """Whether something waits until the other end reads."""
        return bool(self._unsent)

    def send(self, message: bytes) -> None:
        """Send a message, or as much as there is room for, the rest of it by `send_rest`."""
        self._send(self._frames.framed(message))

    def _send(self, frame: bytes) -> None:
        self._unsent += frame
        self.send_rest()

    def send_rest(self) -> None:
        """Send what there is room for now."""
        try:
            while self._unsent:
                del self._unsent[: self._end.send(self._unsent)]
        except BlockingIOError:
            return

    def receive(self) -> list[bytes]:
        """The messages that have arrived. EOFError if no more can, OSError if that is not sure."""
        try:
            arrived = self._end.recv(_PIECE)
        except BlockingIOError:
            return []
        if not arrived:
            raise EOFError
        self._frames.add(arrived)
        messages = []
        while (message := self._frames.next()) is not None:
            messages.append(message)
        return messages

    def has_mail(self) -> bool:
        """Whether there is something to read, the end included."""
        try:
            self._end.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True
        return True

    def close(self) -> None:
        """Hang up."""
        self._end.close()


@final
class WorkerChannel:
    """The end of a worker, which has nothing else to do than to wait."""

    def __init__(self, descriptor: int) -> None:
        """Wait for the first bytes of a `Channel`. EOFError or OSError if they do not come."""
        # Its kind is said, because to ask for it takes a module more.
        self._end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, descriptor)
        self._end.setblocking(True)
        token = b""
        while len(token) < _TOKEN:
            token += self._piece(_TOKEN - len(token))
        self._frames = _Frames(token)

    def send(self, message: bytes) -> None:
        """Send a message, as soon as there is room for it."""
        self._end.sendall(self._frames.framed(message))

    def receive(self) -> bytes:
        """Wait for a message."""
        while (message := self._frames.next()) is None:
            self._frames.add(self._piece(_PIECE))
        return message

    def _piece(self, most: int) -> bytes:
        piece = self._end.recv(most)
        if not piece:
            raise EOFError
        return piece

    def close(self) -> None:
        """Hang up."""
        self._end.close()
