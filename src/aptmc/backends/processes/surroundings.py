"""What the system gives a process: its environment, its group, and how it ends."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Hashable
from contextlib import suppress
from typing import TextIO

ONE_THREAD = (
    "BLIS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
# Where pytest is changes with every test, and would have each test start processes of its own.
_CHANGES_ALL_THE_TIME = "PYTEST_CURRENT_TEST"
_PATH_BEFORE = "APTMC_PYTHONPATH_BEFORE"
_PR_SET_PDEATHSIG = 1


def environment() -> dict[str, str]:
    """For a Python that finds the same modules as this one, and whose libraries start no threads.

    Threads of their own would only fight with the other workers.
    """
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    before = os.environ.get("PYTHONPATH", "")
    own = {name: value for name, value in os.environ.items() if name != _CHANGES_ALL_THE_TIME}
    return {
        **own,
        **dict.fromkeys(ONE_THREAD, "1"),
        "PYTHONPATH": path,
        _PATH_BEFORE: before,
    }


def inherited() -> Hashable:
    """All that a process has from the one that starts it: if this changes, it is out of date."""
    import resource  # which only a Unix has

    limits = (getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_"))
    return (
        os.getpid(),  # a copy of this process has to start its own
        tuple(sorted(environment().items())),
        _folder(),
        tuple(map(_file_behind, (sys.__stdout__, sys.__stderr__))),
        os.getpriority(os.PRIO_PROCESS, 0),
        tuple(sorted(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else None,
        tuple(map(resource.getrlimit, limits)),
    )


def _folder() -> str | None:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return None


def _file_behind(stream: TextIO | None) -> tuple[int, int] | None:
    """Where what is printed goes."""
    try:
        found = os.fstat(stream.fileno())  # type: ignore[union-attr]
    except (AttributeError, OSError, ValueError):  # closed, or not a file at all
        return None
    return found.st_dev, found.st_ino


def restore_environment() -> None:
    """The user's own programs should see the search path that the user has set, if any."""
    before = os.environ.pop(_PATH_BEFORE, "")
    os.environ.pop("PYTHONPATH", None)
    if before:
        os.environ["PYTHONPATH"] = before


def can_copy_processes() -> bool:
    """Whether the system makes sound copies of processes, and tells when one has ended."""
    return sys.platform == "linux" and hasattr(os, "pidfd_open")


def can_fork() -> bool:
    """Whether a copy of this process would be sound: on Linux, with a single thread."""
    try:
        return sys.platform == "linux" and len(os.listdir("/proc/self/task")) == 1
    except OSError:
        return False


def end_group(leader: int, number: int) -> None:
    """Send a signal to a worker and to all that it has started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


def end_with_parent(number: int) -> None:
    """Have the system send a signal when the parent ends, where it can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(number))
