"""A Dask cluster: a real scheduler and two worker processes."""

from __future__ import annotations

from functools import cache

import pytest

import aptmc
from tests.backends.process_contract import EngineContract

distributed = pytest.importorskip("distributed")


@cache
def cluster():
    """One for all tests."""
    made = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    return made, distributed.Client(made, set_as_default=False)


@pytest.fixture(scope="module", autouse=True)
def _end_cluster():
    yield
    made, client = cluster()
    client.close()
    made.close()
    cluster.cache_clear()


class TestDask(EngineContract):
    @staticmethod
    def backend():
        return aptmc.Dask(cluster()[1], group=1)
