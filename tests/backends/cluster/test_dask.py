"""A Dask cluster: a real scheduler and two worker processes."""

from __future__ import annotations

import pytest

import aptmc
from aptmc.backends.cluster.dask_dispatch import DaskDispatch
from tests.backends.contract import begin, eventually, run_until, same_when_replayed
from tests.backends.process_contract import BriefEngineContract
from tests.support.engines import dask_cluster

_made = []


@pytest.fixture(scope="module", autouse=True)
def _cluster():
    """One for all tests."""
    with dask_cluster() as made:
        _made[:] = made
        yield
    _made.clear()


class TestDask(BriefEngineContract):
    @staticmethod
    def backend():
        return aptmc.Dask(_made[1], group=1)


def test_an_address_is_enough():
    assert repr(aptmc.Dask(_made[0].scheduler_address)) == "Dask(2)"


def test_an_address_where_nobody_answers_is_refused():
    from dask import config

    with (
        config.set({"distributed.comm.timeouts.connect": 0.1}),
        pytest.raises(aptmc.InputError, match="no Dask scheduler answers at"),
    ):
        aptmc.Dask("tcp://127.0.0.1:1")


def test_two_runs_may_share_a_cluster():
    with (
        begin(on=aptmc.Dask(_made[1], group=1)) as one,
        begin(on=aptmc.Dask(_made[1], group=1), seed=2) as other,
    ):
        eventually(lambda: one.inspect().run.completions >= 60)
        eventually(lambda: other.inspect().run.completions >= 60)
        first, second = one.stop(), other.stop()
    assert same_when_replayed(first)
    assert not same_when_replayed(second)  # the replay has the seed of the first


@pytest.mark.validation
def test_workers_that_cannot_be_reached_are_spoken_to_through_the_scheduler(monkeypatch):
    async def find_no_way(dispatch):
        dispatch._is_direct = False

    monkeypatch.setattr(DaskDispatch, "_find_way", find_no_way)
    run = run_until(60, on=aptmc.Dask(_made[1], group=1))
    assert same_when_replayed(run)
