"""The contract of backends, kept by MPI ranks. Not collected by itself: see test_mpi.py."""

from __future__ import annotations

from functools import cache

from mpi4py.futures import MPIPoolExecutor

import aptmc
from tests.backends.process_contract import BriefEngineContract


@cache
def pool():
    return MPIPoolExecutor()


class TestRanks(BriefEngineContract):
    @staticmethod
    def backend():
        return aptmc.Futures(pool(), 2, group=1)
