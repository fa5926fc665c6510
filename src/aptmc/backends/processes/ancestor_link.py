"""The ancestor as the coordinating process knows it: started early, kept for a while, ended."""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from typing import final

from aptmc.backends.processes.messages import BECOME, COMPILER, DISTRIBUTIONS, FORK
from aptmc.backends.processes.surroundings import can_copy_processes, environment, inherited
from aptmc.errors import InputError

GRACE = 2.0  # seconds for it to end by itself
PATIENCE = 300.0  # seconds without a run after which one that is kept ends


@final
class AncestorLink:
    """An ancestor of one's own, and the socket to speak to it."""

    def __init__(self, patience: float = PATIENCE) -> None:
        """Start it. It loads libraries while this process goes on."""
        if not sys.executable or not hasattr(socket, "send_fds"):
            raise InputError(
                "this Python cannot start workers, because it does not know its own program or "
                "because the system is not a Unix: use on=aptmc.InProcess()"
            )
        self.owner, self.inherited = os.getpid(), inherited()
        self._listens = True
        self._loaded: set[bytes] = set()  # what it was asked to load
        self._socket, theirs = socket.socketpair()
        arguments = f"{theirs.fileno()}, {os.getpid()}, {patience!r}"
        command = f"from aptmc.backends.processes.ancestor import main; main({arguments})"
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

    @property
    def is_up_to_date(self) -> bool:
        """Whether it lives and listens, and one that is started now would be like it."""
        is_there = self._listens and self.process.poll() is None
        return is_there and self.inherited == inherited()

    def ask(self, request: bytes, theirs: socket.socket) -> None:
        """Have it serve whoever is at the other end of a socket.

        If it has just died, that is noticed by whoever listens there.
        """
        try:
            socket.send_fds(self._socket, [request], [theirs.fileno()])
        except OSError:
            self._listens = False

    def have_loaded(self, what: bytes) -> None:
        """Have it load something more before it serves the next."""
        if what not in self._loaded:
            self._loaded.add(what)
            with suppress(OSError):
                self._socket.sendall(what)

    def hang_up(self) -> None:
        """It is not needed any more, and ends when the runs that it serves are over."""
        self._socket.close()

    def end(self) -> None:
        """End it, whatever it does, and wait until it is gone."""
        self.hang_up()
        self.process.terminate()
        try:
            self.process.wait(timeout=GRACE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@final
class Ancestors:
    """Those of this process: the one that is kept for the next run, and others that will go."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: AncestorLink | None = None
        self._leaving: list[AncestorLink] = []

    def start_early(self, *, compiles: bool) -> None:
        """Have one load libraries, if none has, for a run that will soon ask for a server."""
        if can_copy_processes():
            with self._lock:
                current = self._current()
                if compiles:
                    current.have_loaded(COMPILER)

    def fork_server(
        self, theirs: socket.socket, *, keep_warm: bool, needs_scipy: bool = False
    ) -> AncestorLink | None:
        """Have a fork server serve whoever is at the other end of a socket.

        :param needs_scipy: whether it will load scipy's distributions, as the next is likely to
        :returns: the process itself if it is nobody's ancestor, and has to be ended with the run
        """
        if keep_warm and can_copy_processes():
            with self._lock:
                current = self._current()
                if needs_scipy:
                    current.have_loaded(DISTRIBUTIONS)
                current.ask(FORK, theirs)
            return None
        own = AncestorLink()
        own.ask(BECOME, theirs)
        return own

    def end_all(self) -> None:
        """End those that this process has started: it is about to end itself."""
        with self._lock:
            for link in [self._kept, *self._leaving]:
                if link is not None and link.owner == os.getpid():
                    link.end()
            self._kept, self._leaving = None, []

    def _current(self) -> AncestorLink:
        """The one that is kept, if it is as a new one would be; else a new one."""
        self._leaving = [link for link in self._leaving if link.process.poll() is None]
        if self._kept is None or not self._kept.is_up_to_date:
            if self._kept is None:
                atexit.register(self.end_all)
            elif self._kept.owner == os.getpid():
                self._kept.hang_up()
                self._leaving.append(self._kept)
            self._kept = AncestorLink()
        return self._kept


ANCESTORS = Ancestors()
