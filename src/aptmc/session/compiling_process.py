"""A process of its own that compiles functions into the caches on disk.

Those of the library are found there by name; a rule or a schedule of the user's own is sent along,
and made again. The process belongs to nobody, so that nobody has to wait for it, and holds a lock
while it compiles, so that each cache has one at a time. It has a low priority, unless a compiled
problem waits for it. When the process that asked for it ends, it ends after the function that it is
at. What it has compiled by then stays on disk.
"""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, final

import cloudpickle
import numba
from filelock import BaseFileLock, FileLock, Timeout

from aptmc.compiled import AtFirstUse
from aptmc.session.kept_code import KEPT_ON_DISK
from aptmc.targets.compile_ahead import compile_ahead, found_by_name, name_of

NICENESS = 10
LOCK = "aptmc-compiling.lock"
DONE = b"1"
PATIENCE = 1.0  # seconds, after which one looks whether it is still wanted
# Before anything is imported, so that the first half ends at once, and leaves no zombie.
COMMAND = """
import os, sys
sent = sys.stdin.buffer.read()
if os.fork() == 0:
    from aptmc.session.compiling_process import compile_aside
    compile_aside(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:], sent)
os._exit(0)
"""


@final
class CompilingProcess:
    """A process that compiles, as seen from the one that asked for it."""

    def __init__(self, names: Sequence[str], sent: bytes = b"", *, urgent: bool = False) -> None:
        """Have it started. To wait until it has begun may take seconds where others are at work,
        which a run that is under way has not got: a thread does.

        :param sent: functions that are not found by name, from `recipes_of`
        :param urgent: it is waited for
        """
        self.names, self.sent, self.urgent = frozenset(names), sent, urgent
        niceness = 0 if urgent else NICENESS
        ours, theirs = socket.socketpair()
        self._socket = ours.detach()  # a number: it is closed when this process ends
        os.set_blocking(self._socket, False)
        command = [
            *(sys.executable, "-P", "-c", COMMAND),
            *(str(theirs.fileno()), str(niceness), *names),
        ]
        started = partial(_start, command, sent, theirs, _environment())
        threading.Thread(target=started, name="aptmc compiling", daemon=True).start()
        self._has_ended = False

    def has_ended(self) -> bool:
        """Whether it has done its work, or given up."""
        if not self._has_ended:
            try:
                os.read(self._socket, len(DONE))
            except BlockingIOError:
                return False
            except OSError:
                pass
            os.close(self._socket)
            self._has_ended = True
        return True


def _start(command: list[str], sent: bytes, theirs: socket.socket, environment: Any) -> None:
    """Start the first half of a process, which ends when the second has begun.

    If it cannot be started the other end of the socket is closed, as if it had failed.
    """
    with theirs, suppress(OSError):
        subprocess.run(
            command,
            input=sent,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            env=environment,
            start_new_session=True,
            check=False,
        )


def compiling(functions: Iterable[AtFirstUse], *, urgent: bool = False) -> CompilingProcess | None:
    """A process that compiles these functions, or None if this Python cannot start one.

    One that was asked for them before will do, even if it has failed: it would fail again.
    """
    functions = list(functions)
    names = list(dict.fromkeys(name_of(one) for one in functions if one.recipe is None))
    sent = recipes_of(functions)
    for process in _STARTED:
        is_asked = process.names.issuperset(names) and sent in (b"", process.sent)
        if is_asked and (process.urgent or not urgent or process.has_ended()):
            return process
    if not sys.executable or not hasattr(os, "fork"):
        return None
    _STARTED.append(CompilingProcess(names, sent, urgent=urgent))
    return _STARTED[-1]


def recipes_of(functions: Iterable[AtFirstUse]) -> bytes:
    """How to make functions of the user's own in another process; nothing, if there are none."""
    recipes = [one.recipe for one in functions if one.recipe is not None]
    return cloudpickle.dumps(recipes) if recipes else b""


_STARTED: list[CompilingProcess] = []


def _environment() -> dict[str, str]:
    """For a Python that finds the same modules and the same cache as this one."""
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    folder = getattr(numba.config, "CACHE_DIR", "")
    cache = {"NUMBA_CACHE_DIR": folder} if folder else {}
    return {**os.environ, **cache, "PYTHONPATH": path}


# --- in that process ------------------------------------------------------------------------------


def compile_aside(descriptor: int, niceness: int, names: list[str], sent: bytes) -> None:
    """Compile these functions, and say so to whoever is at the other end of a socket."""
    with suppress(OSError):
        os.nice(niceness)
    functions = [*map(found_by_name, names), *made_again(sent)]
    if all_compiled(functions, still_there(descriptor)):
        with suppress(OSError):
            os.write(descriptor, DONE)


def made_again(sent: bytes) -> list[AtFirstUse]:
    """Functions of the user's own, whose machine code is kept where the other process looks."""
    recipes = cloudpickle.loads(sent) if sent else []
    return [make(*arguments, KEPT_ON_DISK) for make, arguments in recipes]


def still_there(descriptor: int) -> Callable[[], bool]:
    """A function that says whether somebody is at the other end of a socket."""
    news = select.poll()
    news.register(descriptor, select.POLLIN | select.POLLHUP)
    return lambda: not news.poll(0)


def all_compiled(functions: list[AtFirstUse], is_wanted: Callable[[], bool]) -> bool:
    """Compile as soon as nobody else does, as long as that is wanted; whether all is done."""
    lock = one_at_a_time()
    while is_wanted():
        with suppress(Timeout), lock.acquire(timeout=PATIENCE):
            return all(is_wanted() for _ in compile_ahead(functions))
    return False


def one_at_a_time() -> BaseFileLock:
    """A lock for those who fill the cache. It stands where one certain function is kept."""
    folder = Path(found_by_name("aptmc.keys:rewind").cache_folder)
    folder.mkdir(parents=True, exist_ok=True)
    return FileLock(folder / LOCK)
