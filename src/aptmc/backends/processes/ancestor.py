"""The ancestor: a process that has loaded what every run needs, and nothing that is the user's.

To start Python and to load libraries takes longer than all else before a run, so it is done while
the coordinating process prepares, and once for several runs. The fork server of a run is a copy of
the ancestor. What the user may change between two runs, modules and functions, is loaded by the
copy, so that nothing in it can be stale.

It ends when the coordinating process does or hangs up, or when nobody has needed it for a while.
"""

from __future__ import annotations

import gc
import os
import selectors
import signal
import socket
from contextlib import suppress
from typing import NoReturn, final

from numba.core.registry import cpu_target

from aptmc.backends.processes.fork_server import serve_run
from aptmc.backends.processes.messages import BECOME, COMPILER, FORK
from aptmc.backends.processes.orphans import Orphans
from aptmc.backends.processes.surroundings import (
    can_fork,
    end_with_parent,
    restore_environment,
)
from aptmc.clock import WallClock

GRACE = 1.0  # seconds for fork servers to end by themselves
LOOK_UP = 0.5  # seconds between two looks whether the coordinating process is still there


def main(descriptor: int, parent: int, patience: float) -> None:
    """Run an ancestor that speaks through a socket.

    :param parent: the number of the coordinating process
    :param patience: how many seconds without a run it waits for the next
    """
    restore_environment()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the coordinating process
    gc.freeze()  # memory that the collector never touches stays shared between the copies
    ancestor = _Ancestor(socket.socket(fileno=descriptor), parent, patience)
    own_run = ancestor.wait_for_runs()
    if own_run is None:
        ancestor.end_all()
    else:
        end_with_parent(signal.SIGTERM)
        ancestor.forget_all()
        serve_run(own_run)
    os._exit(0)  # nothing is left to be put away, and nobody should have to wait for that


@final
class _Ancestor:
    def __init__(self, requests: socket.socket, parent: int, patience: float) -> None:
        self.requests, self.parent, self.patience = requests, parent, patience
        self.process = os.getpid()
        self.fork_servers: set[int] = set()
        self.orphans = Orphans()  # of fork servers that were killed
        self.woken, self.waker = socket.socketpair()
        self.waker.setblocking(False)
        signal.set_wakeup_fd(self.waker.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.is_to_end = False
        signal.signal(signal.SIGTERM, self.hear_end)

    def hear_end(self, *_: object) -> None:
        """It is to end, as soon as it has seen to it that nobody is left behind."""
        self.is_to_end = True

    def wait_for_runs(self) -> socket.socket | None:
        """Start fork servers on request. A socket means that it is to become one itself."""
        clock = WallClock()
        needed = clock.now()
        is_asked = True
        with selectors.DefaultSelector() as selector:
            selector.register(self.requests, selectors.EVENT_READ)
            selector.register(self.woken, selectors.EVENT_READ)
            # Not by a signal of the system, which comes when the *thread* that has started it ends.
            while os.getppid() == self.parent and not self.is_to_end:
                for key, _ in selector.select(LOOK_UP):
                    if key.fileobj is self.woken:
                        self.woken.recv(4096)
                        continue
                    request, descriptors, _, _ = socket.recv_fds(self.requests, 1, 1)
                    if not request:
                        is_asked = False  # it goes when those who came from it have gone
                        selector.unregister(self.requests)
                    elif request == BECOME or (request == FORK and not can_fork()):
                        return socket.socket(fileno=descriptors[0])
                    elif request == FORK:
                        self.fork(descriptors[0])
                    else:
                        self.load(request)
                self.reap()
                if self.fork_servers:
                    needed = clock.now()
                elif not is_asked or clock.now() >= needed + self.patience:
                    break
        return None

    def load(self, what: bytes) -> None:
        """Have ready what the next runs need, too, and the first fork servers have not."""
        with suppress(Exception):  # whoever needs it will find out what is wrong with it
            if what == COMPILER:
                cpu_target.typing_context.refresh()
                cpu_target.target_context.refresh()
            else:
                import scipy.stats  # noqa: F401
            gc.freeze()

    def fork(self, descriptor: int) -> None:
        """A fork server for one run, which speaks through a socket."""
        fork_server = os.fork()
        if fork_server == 0:
            self.be_fork_server(descriptor)
        os.close(descriptor)
        self.fork_servers.add(fork_server)

    def be_fork_server(self, descriptor: int) -> NoReturn:
        """Serve a run in a copy of this process."""
        try:
            end_with_parent(signal.SIGTERM)
            if os.getppid() == self.process:  # if not, it ended meanwhile
                self.forget_all()
                serve_run(socket.socket(fileno=descriptor))
        finally:
            os._exit(0)

    def forget_all(self) -> None:
        """Put away what is an ancestor's own."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for end in (self.requests, self.woken, self.waker):
            end.close()

    def reap(self) -> None:
        """Take note of fork servers that have ended."""
        for fork_server in list(self.fork_servers):
            with suppress(ChildProcessError):
                if os.waitpid(fork_server, os.WNOHANG)[0] == 0:
                    continue
            self.fork_servers.discard(fork_server)
        if not self.fork_servers:  # else it is not known whose they are
            self.orphans.end(set())

    def end_all(self) -> None:
        """End all fork servers, and what they leave behind."""
        clock = WallClock()
        for fork_server in self.fork_servers:
            os.kill(fork_server, signal.SIGTERM)
        until = clock.now() + GRACE
        self.reap()
        while self.fork_servers and clock.now() < until:
            self.woken.settimeout(max(until - clock.now(), 0.001))
            with suppress(OSError):
                self.woken.recv(4096)
            self.reap()
        for fork_server in self.fork_servers:
            os.kill(fork_server, signal.SIGKILL)
            os.waitpid(fork_server, 0)
        self.orphans.end(set())
