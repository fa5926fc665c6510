"""The fork server as the coordinating process knows it: started, asked, listened to, ended."""

from __future__ import annotations

import os
import selectors
import signal
import socket
from collections import deque
from contextlib import suppress
from typing import NamedTuple, final

from aptmc.backends.processes.ancestor_link import ANCESTORS
from aptmc.backends.processes.distributions import needs_distributions
from aptmc.backends.processes.messages import (
    BEGUN,
    COMPILING,
    EARLY,
    FAULTY,
    GONE,
    NEWS,
    READY,
    UNUSABLE,
    framed,
    receive_exactly,
)
from aptmc.clock import WallClock

# Seconds for it to end by itself. The budget is over: whoever has not ended by then, on a machine
# with many others, is killed. Its workers die with it, and its ancestor ends what they had started;
# one without an ancestor has to do that itself.
GRACE, OWN_GRACE = 0.3, 2.0
AFTER_KILL = 0.1  # seconds: nothing keeps it then, but it may have to wait for its turn to go


class ForkServerNews(NamedTuple):
    """Something that the fork server has to tell."""

    kind: bytes
    number: int  # of a process
    status: int  # with which a process has ended
    text: str  # why the problem cannot be used, or what is wrong with it


@final
class ForkServerLink:
    """A fork server of one's own, and the socket to speak to it.

    Whoever is there never waits until it reads: it may be starting, busy or stopped, and a problem
    with large data is more than a socket holds.
    """

    def __init__(self, payload: bytes, *, keep_warm: bool = True, task: bytes = EARLY) -> None:
        """Have a fork server started, and send it the problem.

        :param keep_warm: as a copy of a process that stays for the next run
        :param task: `LATE` leaves it to each worker to load the problem, and with `LOOK` it has a
            first look and ends
        """
        self.socket, theirs = socket.socketpair()
        with theirs:
            needs_scipy = needs_distributions(payload)
            self._own = ANCESTORS.fork_server(theirs, keep_warm=keep_warm, needs_scipy=needs_scipy)
        self._handle: int | None = None  # of its process, once it has begun
        self._is_ready = self._compiles = False
        self.ended_well = False  # by itself, and its workers before it
        self._grace = GRACE if self._own is None else OWN_GRACE
        self._until: float | None = None  # when it is killed, once it was asked to end
        self._unsent: deque[tuple[memoryview, int | None]] = deque()  # with a descriptor, or none
        self._send(framed(task) + framed(payload))

    @property
    def has_unsent(self) -> bool:
        """Whether something waits until it reads."""
        return bool(self._unsent)

    def send_rest(self) -> None:
        """Send what there is room for now. If it has died, that is noticed by whoever listens."""
        try:
            while self._unsent:
                message, descriptor = self._unsent[0]
                if descriptor is None:
                    sent = self.socket.send(message, socket.MSG_DONTWAIT)
                else:
                    sent = socket.send_fds(
                        self.socket, [message], [descriptor], socket.MSG_DONTWAIT
                    )
                    os.close(descriptor)
                self._unsent[0] = message[sent:], None
                if not self._unsent[0][0]:
                    self._unsent.popleft()
        except BlockingIOError:
            return
        except OSError:
            self._forget_unsent()

    def _send(self, message: bytes, descriptor: int | None = None) -> None:
        self._unsent.append((memoryview(message), descriptor))
        self.send_rest()

    def _forget_unsent(self) -> None:
        for _, descriptor in self._unsent:
            if descriptor is not None:
                os.close(descriptor)
        self._unsent.clear()

    def ask_for_worker(self, theirs: socket.socket) -> None:
        """Have it start a worker at the other end of a socket, which may be closed here."""
        self._send(b"W", os.dup(theirs.fileno()))

    def hear(self) -> ForkServerNews:
        """Wait for the next news; EOFError or OSError if it has died."""
        kind, number, status = NEWS.unpack(receive_exactly(self.socket, NEWS.size))
        text = receive_exactly(self.socket, number).decode() if kind in (UNUSABLE, FAULTY) else ""
        if kind == BEGUN:
            with suppress(OSError):  # it has died
                self._handle = os.pidfd_open(number)
        self._is_ready |= kind == READY
        self._compiles |= kind == COMPILING
        self._compiles &= kind != FAULTY  # a problem that will never be sampled need not be ready
        self.ended_well |= kind == GONE
        return ForkServerNews(kind, number, status, text)

    def hang_up(self) -> None:
        """Have it end, and its workers. One that is still compiling the problem goes on."""
        if self._until is not None or self._is_left_alone:
            return
        self._forget_unsent()
        self._until = WallClock().now() + self._grace
        if self._handle is not None:
            with suppress(ProcessLookupError):  # one that was stopped could not end by itself
                signal.pidfd_send_signal(self._handle, signal.SIGCONT)
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)

    def end(self) -> None:
        """Hang up, which ends it and its workers, and wait until it is gone.

        One that is still compiling the problem is left to it: what it keeps on disk is there for
        the next run, and then it ends.
        """
        self.hang_up()
        until = self._until
        if until is None:
            self._leave()
            return
        with suppress(OSError, EOFError):
            # One that is still loading the problem has nothing to put away.
            while self._is_ready and not self.ended_well and _is_readable(self.socket, until):
                self.hear()
        self.socket.close()
        if self._own is not None:
            self._own.end()
        if self._handle is not None:
            if not (self.ended_well and _is_readable(self._handle, until)):
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(self._handle, signal.SIGKILL)
                _is_readable(self._handle, WallClock().now() + AFTER_KILL)
            os.close(self._handle)
            self._handle = None

    @property
    def _is_left_alone(self) -> bool:
        return self._compiles and not self._is_ready and self._own is None

    def _leave(self) -> None:
        self._forget_unsent()
        self.socket.close()
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def _is_readable(what: int | socket.socket, until: float) -> bool:
    """Whether there is something to read before so late; at the handle of a process, its end."""
    with selectors.DefaultSelector() as selector:
        selector.register(what, selectors.EVENT_READ)
        return bool(selector.select(max(until - WallClock().now(), 0.0)))
