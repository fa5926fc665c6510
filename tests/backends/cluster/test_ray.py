"""A Ray cluster of two processors."""

from __future__ import annotations

import sys

import pytest

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
