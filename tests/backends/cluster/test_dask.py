"""A Dask cluster: a real scheduler and two worker processes."""

from __future__ import annotations

import pytest

import aptmc
from tests.backends.process_contract import EngineContract
from tests.support.engines import dask_cluster

dask = pytest.importorskip("dask")
pytest.importorskip("distributed")
_made = []


@pytest.fixture(scope="module", autouse=True)
def _cluster():
    """One for all tests."""
    with dask_cluster() as made:
        _made[:] = made
        yield
    _made.clear()


class TestDask(EngineContract):
    @staticmethod
    def backend():
        return aptmc.Dask(_made[1], group=1)


def test_an_address_is_enough():
    assert repr(aptmc.Dask(_made[0].scheduler_address)) == "Dask(2)"


def test_an_address_where_nobody_answers_is_refused():
    with (
        dask.config.set({"distributed.comm.timeouts.connect": 0.1}),
        pytest.raises(aptmc.InputError, match="no Dask scheduler answers at"),
    ):
        aptmc.Dask("tcp://127.0.0.1:1")
