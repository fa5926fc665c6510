"""A Ray cluster of two processors."""

from __future__ import annotations

import pytest

import aptmc
from tests.backends.process_contract import EngineContract

ray = pytest.importorskip("ray")


@pytest.fixture(scope="module", autouse=True)
def _end_cluster():
    yield
    ray.shutdown()


class TestRay(EngineContract):
    @staticmethod
    def backend():
        return aptmc.Ray(workers=2, group=1)
