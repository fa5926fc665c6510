"""Worker processes of engines are killed in mid-run, and nothing comes of it but lost time.

Real time is never twice the same, so that no seed fixes these runs; a check fails by chance once in
a million times.
"""

from __future__ import annotations

from contextlib import contextmanager

import pytest

import aptmc
from tests.support import simulators
from tests.support.chaos import assert_unharmed, run_in_chaos

UNITS = {"group": 20, "ahead": 1}
MOVES = 3000


@contextmanager
def process_pool():
    yield aptmc.Futures(simulators.process_pool, 2, **UNITS)


@contextmanager
def loky():
    library = pytest.importorskip("loky")
    yield aptmc.Futures(lambda: library.get_reusable_executor(2), 2, **UNITS)


@contextmanager
def dask():
    """Dask starts another worker by itself, which joins under another address."""
    library = pytest.importorskip("distributed")
    with (
        library.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster,
        library.Client(cluster, set_as_default=False) as client,
    ):
        yield aptmc.Dask(client, **UNITS)


@contextmanager
def ray():
    library = pytest.importorskip("ray")
    try:
        yield aptmc.Ray(workers=2, **UNITS)
    finally:
        library.shutdown()


@pytest.mark.parametrize("engine", [process_pool, loky, dask, ray])
def test_kills_do_no_harm(engine):
    with engine() as on:
        run, killed = run_in_chaos(kills=2, moves=MOVES, on=on)
    assert_unharmed(run, killed, kills=2, moves_only=True)
