"""What the processes of a run say to each other, over sockets."""

from __future__ import annotations

import socket
import struct

# What the ancestor is asked for, with a socket to whoever asks: a fork server that is a copy of it,
# or to become one itself. Without one: to load scipy's distributions, or make numba ready, before
# the next fork server is made.
FORK, BECOME, DISTRIBUTIONS, COMPILER = b"F", b"B", b"D", b"C"
# What a fork server is told before it gets the problem: to load it, or to leave that to each
# worker, or to have a first look at it and nothing more.
EARLY, LATE, LOOK = b"E", b"L", b"K"
# What a fork server says: a letter and two numbers.
NEWS = struct.Struct("<cqq")
BEGUN, COMPILING, READY, UNUSABLE, FAULTY, REPEATS, UNSOUND, STARTED, ENDED, GONE = (
    bytes([letter]) for letter in b"BCRUFATSEG"
)


def framed(message: bytes) -> bytes:
    """A message of any length, as `receive_message` reads it."""
    return struct.pack("<q", len(message)) + message


def receive_message(source: socket.socket) -> bytes:
    """Wait for a whole message that was sent as `framed`."""
    (length,) = struct.unpack("<q", receive_exactly(source, 8))
    return receive_exactly(source, length)


def receive_exactly(source: socket.socket, length: int) -> bytes:
    """Wait for so many bytes; EOFError if the other side hangs up before."""
    message = bytearray(length)
    view = memoryview(message)
    while view:
        received = source.recv_into(view)
        if received == 0:
            raise EOFError
        view = view[received:]
    return bytes(message)
