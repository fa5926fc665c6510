"""What workers leave behind: processes whose own parents have ended, or that left their group.

On Linux a process can ask to be given the orphans among its descendants. Who starts workers does,
so that nothing that the user's function has started outlives the run, whatever it did to hide.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import final

from aptmc.backends.processes.surroundings import end_group

_PR_SET_CHILD_SUBREAPER = 36
MOST_GENERATIONS = 1000  # of children of those that are ended: something starts them faster


def adopt_orphans() -> None:
    """Have the system make this process the parent of orphans below it, where it can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def children_of(process: int | str) -> set[int]:
    """The processes whose parent is this one; none where the system does not tell.

    :param process: its number, or "self"
    """
    found: set[int] = set()
    for thread in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError, ValueError):
            found.update(map(int, thread.read_text().split()))
    return found


def end_worker(worker: int, number: int) -> None:
    """Send a signal to a worker, also if it has left its group, and to all who have not."""
    end_group(worker, number)
    with suppress(ProcessLookupError, PermissionError):
        os.kill(worker, number)


@final
class Orphans:
    """Children that nobody here has started, from some moment on."""

    def __init__(self) -> None:
        """Those who are here now have their reasons."""
        adopt_orphans()
        self._known = children_of("self")

    def reap(self, own: set[int]) -> set[int]:
        """Take note of those that have ended; gives the others.

        :param own: children that somebody else takes care of
        """
        here = children_of("self") - self._known - own
        for orphan in list(here):
            with suppress(ChildProcessError):
                if os.waitpid(orphan, os.WNOHANG)[0] == 0:
                    continue
            here.discard(orphan)
        return here

    def end(self, own: set[int]) -> None:
        """End them all, and those whom they leave behind in turn."""
        for _ in range(MOST_GENERATIONS):
            here = self.reap(own)
            if not here:
                return
            for orphan in here:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(orphan, signal.SIGKILL)
            for orphan in here:
                with suppress(ChildProcessError):
                    os.waitpid(orphan, 0)
