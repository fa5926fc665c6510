"""Engines for tests: two workers each, which nobody outside this machine can speak to."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

import pytest

LISTENING = "0A"  # the state of a socket, as the system writes it


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
    """The sockets of this machine that listen on all interfaces, or on one that others can see."""
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            _, address, _, state = line.split()[:4]
            host = address.partition(":")[0]
            # The bytes of each group of four are written in reverse: 127.0.0.1 ends in 7F.
            if state == LISTENING and not host.endswith("7F") and host != "0" * 24 + "01000000":
                found.add(address)
    return found
