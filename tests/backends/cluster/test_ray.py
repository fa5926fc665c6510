"""A Ray cluster of two processors."""

from __future__ import annotations

import signal
import socket
import sys

import pytest
from scipy import stats

import aptmc
from tests.backends.process_contract import BriefEngineContract
from tests.support.engines import open_to_the_world

ray = pytest.importorskip("ray")
# To start a cluster takes half a minute of two processors.
pytestmark = pytest.mark.validation


@pytest.fixture(scope="module", autouse=True)
def open_before():
    before = open_to_the_world()
    yield before
    ray.shutdown()


class TestRay(BriefEngineContract):
    @staticmethod
    def backend():
        return aptmc.Ray(workers=2, group=1)


@pytest.mark.skipif(sys.platform != "linux", reason="sockets are listed by Linux alone")
def test_nobody_outside_this_machine_can_speak_to_it(open_before):
    aptmc.Ray(workers=2)
    assert open_to_the_world() <= open_before
    with socket.create_server(("0.0.0.0", 0)) as planted:
        (seen,) = open_to_the_world() - open_before
        assert int(seen.partition(":")[2], 16) == planted.getsockname()[1]


def test_a_signal_to_terminate_stops_the_run_and_not_the_process():
    """Ray's own handler, which would end it, is back after the run."""
    aptmc.Ray(workers=2)
    of_ray, during = signal.getsignal(signal.SIGTERM), []

    def log_likelihood(theta):
        during.append(signal.getsignal(signal.SIGTERM))
        if len(during) == 100 and during[-1] is not of_ray:
            signal.raise_signal(signal.SIGTERM)
        return -0.5 * theta[0] ** 2

    assert of_ray.__module__.startswith("ray.")
    run = aptmc.sample(
        aptmc.Tempered(log_likelihood, aptmc.Prior(x=stats.norm(0, 5))),
        budget=10_000,
        ladder=aptmc.Ladder.powers(3),
        kernel=aptmc.RandomWalk(1.0),
        schedule=aptmc.Anytime(every=3),
        on=aptmc.VirtualTime(1),
        progress=False,
        seed=1,
    )
    assert run.stopped is aptmc.StopReason.TERMINATED
    assert signal.getsignal(signal.SIGTERM) is of_ray
