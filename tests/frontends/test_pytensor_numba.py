"""What is private of PyTensor is what we take it for."""

from __future__ import annotations

import numpy as np
import pytest
from numba.core.registry import CPUDispatcher

from aptmc.problem.fingerprint import is_uncertain


@pytest.fixture(scope="module")
def pt(pm):
    return pytest.importorskip("pytensor.tensor")


def test_pytensor_hands_out_what_numba_compiled(pt):
    from aptmc.frontends.pytensor_numba import jitted

    theta = pt.vector("theta", shape=(2,))
    inner, is_portable = jitted([theta], pt.stack([theta.sum(), pt.exp(theta[0])]))
    assert isinstance(inner, CPUDispatcher)
    assert is_portable
    (found,) = inner(np.array([0.0, 2.0]))
    assert found.tolist() == [2.0, 1.0]


def test_what_must_run_in_python_is_made_again_elsewhere(pt):
    """A black box is called by compiled code, and its problem travels as a recipe."""
    import pickle

    from aptmc.frontends.pytensor_numba import machine_code
    from tests.support.black_box import SquaredSum

    theta = pt.vector("theta", shape=(2,), dtype="float64")
    code = machine_code("values", [theta], pt.stack([SquaredSum()(theta)]), check_bounds=True)
    for one in (code, pickle.loads(pickle.dumps(code))):
        found = np.empty(1)
        one(np.array([1.0, 2.0]), found)
        assert found.tolist() == [9.0]
        assert not one.is_portable


def test_checksums_tell_graphs_apart_by_what_they_compute(pt):
    from aptmc.frontends.pytensor_checksum import checksum_of_graph

    def of(make):
        theta = pt.vector("theta", shape=(2,))
        return checksum_of_graph([theta], [make(theta)])

    data = np.array([1.0, 2.0])
    known = of(lambda theta: (theta * pt.constant(data)).sum())
    assert known == of(lambda theta: (theta * pt.constant(data)).sum())
    assert not is_uncertain(known)
    others = [
        of(lambda theta: (theta * pt.constant(data + 1)).sum()),
        of(lambda theta: (theta + pt.constant(data)).sum()),
        of(lambda theta: (theta * pt.constant(data)).prod()),
    ]
    assert len({known, *others}) == 4
