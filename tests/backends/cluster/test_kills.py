"""Worker processes of engines are killed in mid-run, and nothing comes of it but lost time.

Real time is never twice the same, so that no seed fixes these runs; a check fails by chance once in
a million times.
"""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager

import pytest

import aptmc
from tests.backends.contract import eventually
from tests.backends.test_workers import parent_of
from tests.support import simulators
from tests.support.chaos import MOST_ERRORS, assert_unharmed, errors_off, run_in_chaos
from tests.support.engines import dask_cluster

UNITS = {"group": 20, "ahead": 1}
# With half as many, draws after moves alone could not tell a rung from the next.
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
    with dask_cluster() as (_, client):
        yield aptmc.Dask(client, **UNITS)


@contextmanager
def ray():
    library = pytest.importorskip("ray")
    try:
        yield aptmc.Ray(workers=2, **UNITS)
    finally:
        library.shutdown()


# Each time Python is started again, with all that it loads; a lost task is tested without that.
@pytest.mark.validation(shortest=0.1)
@pytest.mark.parametrize("engine", [process_pool, loky, dask, ray])
def test_kills_do_no_harm(engine):
    with engine() as on:
        run, killed = run_in_chaos(kills=2, moves=MOVES, on=on)
    assert_unharmed(run, killed, kills=2, moves_only=True)
    # Another posterior would be seen.
    for rung, tolerance in ((0, 4.0), (1, 4.0), (2, 1.5)):
        assert errors_off(run, rung, tolerance, moves_only=True) > MOST_ERRORS


@pytest.mark.validation(shortest=0.1)
def test_a_whole_dask_node_may_leave_and_another_join():
    """A worker without anyone who would start it again, and later a new one."""
    with dask_cluster() as (cluster, client):
        replaced = []

        def replace(process):
            """The node is gone for good, nanny and all; somebody scales up again."""
            address = next(a for a, p in client.run(os.getpid).items() if p == process)
            name = client.scheduler_info(n_workers=-1)["workers"][address]["name"]
            nanny = cluster.workers[name]
            os.kill(process, signal.SIGKILL)
            cluster.sync(nanny.close)
            cluster.scale(3 + len(replaced))
            replaced.append(name)

        run, killed = run_in_chaos(
            kills=1, moves=MOVES, on=aptmc.Dask(client, **UNITS), kill=replace
        )
    assert replaced
    assert_unharmed(run, killed, kills=1, moves_only=True)


@pytest.mark.validation
def test_a_whole_ray_node_may_leave_and_another_join(validation_scale):
    if validation_scale < 0.1:
        pytest.skip("nodes of Dask leave, and workers of Ray")
    library = pytest.importorskip("ray")
    utilities = pytest.importorskip("ray.cluster_utils")
    cluster = utilities.Cluster(
        initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False}
    )
    nodes = {raylet_of(node): node for node in (cluster.add_node(num_cpus=1) for _ in range(2))}
    try:
        library.init(address=cluster.address, log_to_driver=False)
        eventually(lambda: library.cluster_resources().get("CPU") == 2)

        def replace_node(process):
            cluster.remove_node(nodes[parent_of(process)], allow_graceful=False)
            cluster.add_node(num_cpus=1)

        on = aptmc.Ray(**UNITS)
        run, killed = run_in_chaos(kills=1, moves=MOVES, on=on, kill=replace_node)
    finally:
        library.shutdown()
        cluster.shutdown()
    assert_unharmed(run, killed, kills=1, moves_only=True)


def raylet_of(node):
    """The process that starts the workers of a node."""
    return node.all_processes["raylet"][0].process.pid
