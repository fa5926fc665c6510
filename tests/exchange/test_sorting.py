"""The order in which states are dealt out."""

from __future__ import annotations

import numpy as np
import pytest

from aptmc.compiled import source_of
from aptmc.exchange.sorting import stable_order


@pytest.mark.parametrize("size", [*range(18), 100, 257])
@pytest.mark.parametrize(
    "function", [stable_order, source_of(stable_order)], ids=["compiled", "plain"]
)
def test_values_are_sorted_and_equal_ones_stay_in_order(size, function):
    rng = np.random.default_rng(size)
    for values in (rng.random(size), rng.integers(0, 4, size) / 2.0, np.full(size, np.inf)):
        expected = np.argsort(values, kind="stable")
        np.testing.assert_array_equal(function(values), expected)
