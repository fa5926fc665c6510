"""Ways in which a user's function can misbehave, each with what must come of it.

Every one is done in worker processes only, in moves, when the chain is far out. So the process in
which the run was asked for can compute the same moves again without harm, and compare.
"""

from __future__ import annotations

import _thread
import builtins
import ctypes
import gc
import locale
import multiprocessing
import os
import pickle
import random
import resource
import select
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

FAR = 1.0
FOREVER = 100_000.0  # seconds
DESCRIPTORS = range(3, 64)
ITS_OWN = "its-own-"  # what a function is about to remove when its worker is ended

Outcome = Literal["goes on", "fails", "is kept in time"]


class Stubborn(BaseException):
    """Not an Exception."""


class Unpicklable(Exception):
    def __init__(self) -> None:
        super().__init__("carries a lock")
        self.lock = threading.Lock()


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


class Explosive(Exception):
    """Harmless until somebody unpickles it."""

    def __reduce__(self) -> Any:
        return os._exit, (77,)


class Returned(Exception):
    """Not raised: has the function return something else than a number."""


def raising(error: Callable[[], BaseException]) -> Callable[[], None]:
    def misdeed() -> None:
        raise error()

    return misdeed


def write_garbage() -> None:
    for descriptor in DESCRIPTORS:
        with suppress(OSError):
            os.write(descriptor, b"garbage")


def write_one_byte() -> None:
    for descriptor in DESCRIPTORS:
        with suppress(OSError):
            os.write(descriptor, b"\0")


def read_what_is_not_its_own() -> None:
    for descriptor in DESCRIPTORS:
        with suppress(OSError):
            os.set_blocking(descriptor, False)
            os.read(descriptor, 1000)
            os.set_blocking(descriptor, True)


def fork_and_return() -> None:
    os.fork()


def fork_and_stay() -> None:
    if os.fork() == 0:
        time.sleep(FOREVER)


def start_daemon() -> None:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(FOREVER)
        os._exit(0)


def start_program() -> None:
    subprocess.Popen(["sleep", str(FOREVER)], start_new_session=True)


def leave_group_and_stay() -> None:
    os.setpgid(0, os.getpgid(os.getppid()))
    stay()


def stay() -> None:
    while True:
        time.sleep(FOREVER)


def spin() -> None:
    while True:
        pass


def lock_up() -> None:
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def linger(daemon: bool) -> Callable[[], None]:
    def misdeed() -> None:
        threading.Thread(target=time.sleep, args=(FOREVER,), daemon=daemon).start()

    return misdeed


def recurse() -> None:
    recurse()


def exhaust_memory() -> None:
    np.ones(1 << 58)


def limit_memory_and_exhaust_it() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (1 << 32, resource.RLIM_INFINITY))
    try:
        kept = []
        while True:
            kept.append(np.ones(1 << 24))
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def print_without_end() -> None:
    for _ in range(20_000):
        sys.stdout.write("x" * 100 + "\n")


def print_one_endless_line() -> None:
    sys.stdout.write("x" * 5_000_000)


def close_descriptors() -> None:
    os.closerange(DESCRIPTORS.start, DESCRIPTORS.stop)


def close_standard_streams() -> None:
    for descriptor in range(3):
        with suppress(OSError):
            os.close(descriptor)


def lose_streams() -> None:
    sys.stdout = sys.stderr = None  # type: ignore[assignment]


def block_signals() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))


def ignore_signals() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGPIPE, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def catch_every_signal() -> None:
    signal.signal(signal.SIGTERM, lambda *_: None)


def set_alarm() -> None:
    signal.setitimer(signal.ITIMER_REAL, 0.001)
    time.sleep(FOREVER)


def move_to_removed_folder() -> None:
    folder = tempfile.mkdtemp(prefix=ITS_OWN)
    os.chdir(folder)
    os.rmdir(folder)


def limit_recursion() -> None:
    sys.setrecursionlimit(10_000)


def kill_parent() -> None:
    os.kill(os.getppid(), signal.SIGKILL)


def stop_parent() -> None:
    os.kill(os.getppid(), signal.SIGSTOP)


def stop_itself() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def kill_itself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kill_group() -> None:
    os.kill(0, signal.SIGKILL)


def crash() -> None:
    ctypes.string_at(0)


def change_surroundings() -> None:
    os.environ.clear()
    os.umask(0o777)
    os.nice(5)
    with suppress(locale.Error):
        locale.setlocale(locale.LC_ALL, "C")


def change_clocks() -> None:
    time.time = time.monotonic = time.perf_counter = lambda: -1.0  # type: ignore[assignment]


def change_generators() -> None:
    np.random.seed(1)  # noqa: NPY002
    random.seed(1)


def change_interpreter() -> None:
    gc.disable()
    sys.settrace(lambda *_: None)
    sys.setswitchinterval(1.0)
    np.seterr(all="raise")


def warn_as_error() -> None:
    warnings.simplefilter("error")
    warnings.warn("beware", stacklevel=1)


def use_pool() -> None:
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(abs, [-1, 2]) == [1, 2]


def spend_processor_time() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (0, resource.RLIM_INFINITY))
    spin()


def become_another_program() -> None:
    os.execvp("sleep", ["sleep", str(FOREVER)])


def replace_descriptors() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in DESCRIPTORS:
        if descriptor != nothing:
            os.dup2(nothing, descriptor)


def limit_files() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))


def change_numpy() -> None:
    for name in ("array", "asarray", "frombuffer", "isfinite", "empty", "zeros", "isnan", "copyto"):
        setattr(np, name, None)


def change_modules() -> None:
    pickle.dumps = pickle.loads = None  # type: ignore[assignment]
    struct.pack = struct.unpack = None  # type: ignore[assignment]
    select.poll = select.select = None  # type: ignore[assignment]
    builtins.print = builtins.open = builtins.isinstance = None  # type: ignore[assignment]


def interrupt_later() -> None:
    threading.Timer(0.05, _thread.interrupt_main).start()


def late(number: int, frame: Any) -> None:
    raise TimeoutError("too late")


def set_alarm_for_later() -> None:
    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)


def hang_when_asked_to_end() -> None:
    signal.signal(signal.SIGTERM, lambda *_: time.sleep(FOREVER))


def audit(event: str, _: Any) -> None:
    if event.startswith(("socket", "os.kill", "os.fork")):
        raise RuntimeError(f"{event} is forbidden")


def forbid() -> None:
    sys.addaudithook(audit)


def leave_pool_open() -> None:
    global POOL
    POOL = ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork"))
    assert POOL.submit(abs, -1).result() == 1


POOL: Any = None


class Slow:
    """Says what it is after a long time."""

    def __float__(self) -> float:
        time.sleep(FOREVER)
        return 0.0


def returning(value: Any) -> Callable[[], None]:
    def misdeed() -> None:
        raise Returned(value)

    return misdeed


@dataclass(frozen=True)
class Misdeed:
    """What is done, how often, and what must come of it."""

    do: Callable[[], None]
    outcome: Outcome
    says: str = ""  # of the error, as a regular expression
    is_repeated: bool = True


def once(do: Callable[[], None]) -> Misdeed:
    return Misdeed(do, "goes on", is_repeated=False)


def fails(do: Callable[[], None], says: str) -> Misdeed:
    return Misdeed(do, "fails", says)


def harmless(do: Callable[[], None]) -> Misdeed:
    return Misdeed(do, "goes on")


def hangs(do: Callable[[], None]) -> Misdeed:
    return Misdeed(do, "is kept in time")


MISDEEDS = {
    # --- ends its process
    "segmentation fault": fails(crash, "SIGSEGV"),
    "segmentation fault, once": once(crash),
    "os._exit": fails(lambda: os._exit(3), "exit status 3"),
    "os._exit(0)": fails(lambda: os._exit(0), "ended each of 3 times"),
    "kills itself, once": once(kill_itself),
    "kills its group": fails(kill_group, "SIGKILL"),
    "kills its parent, once": once(kill_parent),
    "alarm": fails(set_alarm, "SIGALRM"),
    "limit of processor time": fails(spend_processor_time, "SIGXCPU"),
    # --- raises
    "sys.exit": fails(lambda: sys.exit(5), "SystemExit: 5"),
    "interrupts itself": fails(raising(KeyboardInterrupt), "KeyboardInterrupt"),
    "end of a generator": fails(raising(GeneratorExit), "GeneratorExit"),
    "not an Exception": fails(raising(lambda: Stubborn("no")), "Stubborn: no"),
    "StopIteration": fails(raising(StopIteration), "StopIteration"),
    "unpicklable exception": fails(raising(Unpicklable), "Unpicklable: carries a lock"),
    "unprintable exception": fails(raising(Unprintable), "Unprintable"),
    "exception that explodes": fails(raising(lambda: Explosive("tick")), "Explosive: tick"),
    "exception of 100 MB": fails(raising(lambda: ValueError("x" * 100_000_000)), "ValueError: x"),
    "recursion": fails(recurse, "RecursionError"),
    "too much memory": fails(exhaust_memory, "MemoryError"),
    "all memory": fails(limit_memory_and_exhaust_it, "MemoryError"),
    "warnings as errors": fails(warn_as_error, "UserWarning: beware"),
    # --- gives something else than a number
    "returns None": fails(returning(None), "returned None"),
    "returns a string": fails(returning("much"), "returned 'much'"),
    "returns an array": fails(returning(np.ones(3)), "returned"),
    "returns a complex number": fails(returning(1j), "returned"),
    "returns NaN": fails(returning(float("nan")), "nan"),
    "returns a generator": fails(returning(range(3)), "returned"),
    "returns a masked number": fails(returning(np.ma.masked), "returned masked"),
    "returns what hangs as a number": fails(returning(Slow()), "returned"),
    # --- meddles with what belongs to the run
    "garbage into descriptors": fails(write_garbage, "wrote into a connection"),
    "garbage into descriptors, once": once(write_garbage),
    "one byte into descriptors, once": once(write_one_byte),
    "reads from descriptors, once": once(read_what_is_not_its_own),
    "closes descriptors, once": once(close_descriptors),
    "replaces descriptors, once": once(replace_descriptors),
    "no more files": harmless(limit_files),
    "changes numpy": fails(change_numpy, "not callable|exit status 1"),
    "changes modules": fails(change_modules, "exit status 1"),
    "forbids, once": once(forbid),
    "interrupts later, once": once(interrupt_later),
    "an alarm for later, once": once(set_alarm_for_later),
    "closes standard streams": harmless(close_standard_streams),
    "loses standard streams": harmless(lose_streams),
    "prints without end": harmless(print_without_end),
    "prints an endless line": once(print_one_endless_line),
    "blocks signals": harmless(block_signals),
    "ignores signals": harmless(ignore_signals),
    "catches the signal to end": harmless(catch_every_signal),
    "works in a folder that is gone": harmless(move_to_removed_folder),
    "another limit of recursion": harmless(limit_recursion),
    "another environment": harmless(change_surroundings),
    "other clocks": harmless(change_clocks),
    "other generators": harmless(change_generators),
    "another interpreter": harmless(change_interpreter),
    # --- starts others
    "fork, and both return": harmless(fork_and_return),
    "fork, and one stays": once(fork_and_stay),
    "a daemon": once(start_daemon),
    "a program of a session of its own": once(start_program),
    "threads that linger": harmless(linger(daemon=True)),
    "threads that have to be waited for": harmless(linger(daemon=False)),
    "a pool of processes": once(use_pool),
    "a pool that stays open": once(leave_pool_open),
    # --- never comes back
    "hangs": hangs(stay),
    "spins": hangs(spin),
    "waits for its own lock": hangs(lock_up),
    "leaves its group and hangs": hangs(leave_group_and_stay),
    "stops itself": hangs(stop_itself),
    "stops its parent": hangs(stop_parent),
    "another program": hangs(become_another_program),
    "hangs when asked to end": harmless(hang_when_asked_to_end),
}
