"""The fork server: a process that has the problem ready, and starts workers at once.

Loading a problem and compiling it takes seconds, so it is done once, here. A new worker is a copy
of this process (`fork`), which takes milliseconds, however often workers die. That is safe because
nothing else goes on in this process. While it compiles, another copy has a look at a first
simulation, so that data that do not fit are refused before there are workers. If the problem starts
threads when it is loaded, as arrays of JAX do, another fork server takes over, whose workers load
it themselves. On systems other than Linux each worker is a fresh Python instead.

It also sees to it that nobody is left behind. It reports workers that end and removes what they had
started. When the coordinating process goes away, for whatever reason, it ends them all.
"""

from __future__ import annotations

import gc
import os
import selectors
import signal
import socket
import subprocess
import sys
import traceback
from contextlib import suppress
from typing import NoReturn, final

from aptmc.backends.processes.first_look import FirstLook, only_look
from aptmc.backends.processes.messages import (
    BEGUN,
    COMPILING,
    ENDED,
    GONE,
    LATE,
    LOOK,
    NEWS,
    READY,
    STARTED,
    UNSOUND,
    UNUSABLE,
    receive_message,
)
from aptmc.backends.processes.orphans import Orphans, end_worker
from aptmc.backends.processes.surroundings import (
    can_fork,
    end_group,
    end_with_parent,
    environment,
    restore_environment,
)
from aptmc.backends.workers.payload import compile_move, load, unpack
from aptmc.backends.workers.wire import Wire
from aptmc.backends.workers.worker import Dismissed, serve
from aptmc.clock import WallClock
from aptmc.session.orders import Mover

# How long a worker has to put its things away at the end.
GRACE = 0.2


def serve_run(parent: socket.socket) -> None:
    """Be the fork server of one run, until the other side of a socket hangs up."""
    try:
        parent.sendall(NEWS.pack(BEGUN, os.getpid(), 0))
        task = receive_message(parent)
        payload = receive_message(parent)
    except (EOFError, OSError):
        return
    if task == LOOK:
        only_look(payload, parent)
        return
    could_fork = can_fork()
    loaded = None
    if task != LATE:
        try:
            loaded = load(payload)
            mover, _ = loaded
            look = FirstLook(mover.problem, parent) if could_fork and can_fork() else None
            if mover.target.is_compiled:
                parent.sendall(NEWS.pack(COMPILING, 0, 0))
                end_with_parent(0)  # once begun, it is done: see `ForkServerLink.end`
            compile_move(mover)
            end_with_parent(signal.SIGTERM)
            if look is not None and look.has_found_fault():
                return  # which it has told
        except BaseException:
            text = traceback.format_exc().encode()
            with suppress(OSError):
                parent.sendall(NEWS.pack(UNUSABLE, len(text), 0) + text)
            return
        sys.stdout.flush()  # or each worker would print once more what was printed at loading
        if could_fork and not can_fork():
            with suppress(OSError):
                parent.sendall(NEWS.pack(UNSOUND, 0, 0))
            return
    fork_server = _ForkServer(parent, payload, loaded)
    with suppress(OSError):
        parent.sendall(NEWS.pack(READY, 0, 0))
        fork_server.work()
    fork_server.end_all()
    with suppress(OSError):
        parent.sendall(NEWS.pack(GONE, 0, 0))


def worker_main(descriptor: int) -> None:
    """Run a worker in a fresh Python. The problem comes through standard input."""
    restore_environment()
    end_with_parent(signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    mover, wire = unpack(sys.stdin.buffer.read())
    serve(descriptor, mover, wire)


@final
class _ForkServer:
    def __init__(
        self, parent: socket.socket, payload: bytes, loaded: tuple[Mover, Wire] | None
    ) -> None:
        self.parent, self.payload, self.loaded = parent, payload, loaded
        self.process = os.getpid()
        self.workers: set[int] = set()
        self.fresh: dict[int, subprocess.Popen[bytes]] = {}
        self.orphans = Orphans()
        # The end of a child, or a signal to end, wakes the loop.
        self.woken, self.waker = socket.socketpair()
        self.waker.setblocking(False)
        signal.set_wakeup_fd(self.waker.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: self._hang_up())
        self.forks = can_fork()
        if self.forks:
            # Memory that the collector never touches stays shared between the copies.
            gc.collect()
            gc.freeze()

    def work(self) -> None:
        """Start workers on request and report those that end, until the other side hangs up."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.parent, selectors.EVENT_READ)
            selector.register(self.woken, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    if key.fileobj is self.woken:
                        self.woken.recv(4096)
                        for worker, status in self.reap():
                            self.parent.sendall(NEWS.pack(ENDED, worker, status))
                        continue
                    request, descriptors, _, _ = socket.recv_fds(self.parent, 1, 1)
                    if not request:
                        return
                    worker = self.start(descriptors[0])
                    os.close(descriptors[0])
                    self.workers.add(worker)
                    self.parent.sendall(NEWS.pack(STARTED, worker, 0))

    def start(self, descriptor: int) -> int:
        """A new worker, which speaks through a socket."""
        if self.forks:
            worker = os.fork()
            if worker == 0:
                self.be_worker(descriptor)
            with suppress(OSError):  # whoever comes first, it or we
                os.setpgid(worker, worker)
            return worker
        command = f"from {__name__} import worker_main; worker_main({descriptor})"
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", command],
            stdin=subprocess.PIPE,
            env=environment(),
            pass_fds=[descriptor],
            start_new_session=True,
        )
        assert process.stdin is not None
        with suppress(BrokenPipeError):
            process.stdin.write(self.payload)
            process.stdin.close()
        self.fresh[process.pid] = process
        return process.pid

    def be_worker(self, descriptor: int) -> NoReturn:
        """Compute orders in a copy of this process, which ends with the last of them."""
        status = 1
        try:
            # A group of its own, so that what the user's function starts can be ended with it.
            os.setpgid(0, 0)
            end_with_parent(signal.SIGKILL)
            if os.getppid() != self.process:  # it ended meanwhile
                os._exit(status)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for end in (self.parent, self.woken, self.waker):
                end.close()
            with suppress(AttributeError):
                sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
            serve(descriptor, *(self.loaded or unpack(self.payload)))
            status = 0
        except Dismissed:  # while it was about to go by itself
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)

    def reap(self) -> list[tuple[int, int]]:
        """The workers that have ended, and why; a negative status is the number of a signal."""
        gone = []
        for worker in list(self.workers):
            ended, status = os.waitpid(worker, os.WNOHANG)
            if ended == 0:
                continue
            self.workers.discard(worker)
            self.fresh.pop(worker, None)
            end_group(worker, signal.SIGKILL)  # whatever it had started
            gone.append((worker, os.waitstatus_to_exitcode(status)))
        self.orphans.reap(self.workers)
        return gone

    def end_all(self) -> None:
        """Ask all workers to end, kill those that have not after a moment, and all they left."""
        clock = WallClock()
        for worker in self.workers:
            end_worker(worker, signal.SIGTERM)
        until = clock.now() + GRACE
        self.reap()
        while self.workers and clock.now() < until:
            self.woken.settimeout(max(until - clock.now(), 0.001))
            with suppress(OSError):
                self.woken.recv(4096)
            self.reap()
        for worker in self.workers:
            end_worker(worker, signal.SIGKILL)
        for worker in self.workers:
            os.waitpid(worker, 0)
        self.orphans.end(set())

    def _hang_up(self) -> None:
        if os.getpid() != self.process:  # a worker that has only just begun
            os._exit(0)
        with suppress(OSError):
            self.parent.shutdown(socket.SHUT_RDWR)
