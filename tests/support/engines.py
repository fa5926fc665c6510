"""Engines for tests: two workers each, which nobody outside this machine can speak to."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.support.notes import parent_of

LISTENING = "0A"  # the state of a socket, as the system writes it
SOCKET = re.compile(r"socket:\[(\d+)\]")  # what a descriptor of one points to


@contextmanager
def dask_cluster():
    """A real scheduler and two worker processes; gives the cluster and a client."""
    library = pytest.importorskip("distributed")
    # The port of the dashboard is any that is free: other tests may run at the same time.
    with (
        library.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        ) as cluster,
        library.Client(cluster, set_as_default=False) as client,
    ):
        yield cluster, client


def open_to_the_world() -> set[str]:
    """Where this process and those below it listen on all interfaces, or on one others can see.

    Not the whole machine, on which other tests are at work.
    """
    own, found = sockets_of(below(os.getpid())), set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            columns = line.split()
            address, state, inode = columns[1], columns[3], columns[9]
            host = address.partition(":")[0]
            # The bytes of each group of four are written in reverse: 127.0.0.1 ends in 7F.
            is_local = host.endswith("7F") or host == "0" * 24 + "01000000"
            if state == LISTENING and not is_local and inode in own:
                found.add(address)
    return found


def below(process: int) -> set[int]:
    """A process, and all that it or these have started."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # one that has just ended
            parents[int(folder.name)] = parent_of(int(folder.name))
    found = {process}
    while more := {one for one, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def sockets_of(processes: Iterable[int]) -> set[str]:
    """Their numbers, as tables of sockets have them."""
    found = set()
    for process in processes:
        with suppress(OSError):
            for descriptor in Path(f"/proc/{process}/fd").iterdir():
                with suppress(OSError):
                    found.update(SOCKET.findall(str(descriptor.readlink())))
    return found
