"""The fork server as the coordinating process knows it: started, asked, listened to, ended."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import suppress
from typing import NamedTuple, final

from aptmc.backends.processes.messages import NEWS, UNUSABLE, receive_exactly, send_message
from aptmc.backends.processes.surroundings import environment
from aptmc.errors import InputError

GRACE = 2.0  # seconds for it to end by itself


class ForkServerNews(NamedTuple):
    """Something that the fork server has to tell."""

    kind: bytes
    number: int  # of a process
    status: int  # with which a process has ended
    text: str  # why the problem cannot be used


@final
class ForkServerLink:
    """A fork server of one's own, and the socket to speak to it."""

    def __init__(self, payload: bytes) -> None:
        """Start a fork server, and send it the problem."""
        if not sys.executable or not hasattr(socket, "send_fds"):
            raise InputError(
                "this Python cannot start workers, because it does not know its own program or "
                "because the system is not a Unix: use on=aptmc.InProcess()"
            )
        self.socket, theirs = socket.socketpair()
        command = f"from aptmc.backends.processes.fork_server import main; main({theirs.fileno()})"
        # Not by way of `multiprocessing`, which would run the user's script once more in every
        # process: functions travel by value, so nobody needs it, nor a guard in it.
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", command],
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env=environment(),
                start_new_session=True,
            )
        with suppress(OSError):
            send_message(self.socket, payload)

    def ask_for_worker(self, theirs: socket.socket) -> None:
        """Have it start a worker at the other end of a socket.

        If it has just died, that is noticed by whoever listens to it next.
        """
        with suppress(OSError):
            socket.send_fds(self.socket, [b"W"], [theirs.fileno()])

    def hear(self) -> ForkServerNews:
        """Wait for the next news; EOFError or OSError if it has died."""
        kind, number, status = NEWS.unpack(receive_exactly(self.socket, NEWS.size))
        text = receive_exactly(self.socket, number).decode() if kind == UNUSABLE else ""
        return ForkServerNews(kind, number, status, text)

    @property
    def ended_well(self) -> bool:
        """Whether it ended by itself, and its workers before it."""
        return self.process.returncode == 0

    def end(self) -> None:
        """Hang up, which ends it and its workers, and wait until it is gone."""
        self.socket.close()
        try:
            self.process.wait(timeout=GRACE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
