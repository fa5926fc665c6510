"""The logarithm and the cosine of draws are right to the last place, wherever the number lies."""

from __future__ import annotations

import numpy as np
import pytest

from aptmc.backends.lanes.elementary import cosine_of_turn, logarithm

PI = np.longdouble("3.14159265358979323846264338327950288")


def uniform_numbers():
    """As generators give them, and those near to what is special."""
    whole = np.random.default_rng(1).integers(0, 1 << 53, 2000)
    near = np.concatenate([quarter * (1 << 51) + np.arange(-20, 20) for quarter in range(5)])
    ends = [0, 1, (1 << 53) - 1, *(1 << np.arange(53)), 6369051672525772, 6369051672525773]
    inside = np.concatenate([whole, near[(near >= 0) & (near < 1 << 53)], ends])
    return (inside + 0.5) / (1 << 53)


def logarithms(numbers):
    return np.log(numbers.astype(np.longdouble))


def cosines(turns):
    """Of the nearest quarter and what is left, which is exact."""
    quarters = np.floor(4.0 * turns + 0.5)
    rest = PI / 2 * (4.0 * turns - quarters).astype(np.longdouble)
    value = np.where(quarters % 2 == 1, np.sin(rest), np.cos(rest))
    return np.where((quarters == 1) | (quarters == 2), -value, value)


CASES = [(logarithm, logarithms, 1.0), (cosine_of_turn, cosines, 2.0)]


@pytest.mark.parametrize(("function", "exactly", "most"), CASES)
def test_it_is_off_by_units_of_the_last_place_at_most(function, exactly, most):
    if np.finfo(np.longdouble).nmant < 60:
        pytest.skip("nothing here is more precise than a double")
    numbers = uniform_numbers()
    should_be = exactly(numbers)
    found = np.array([function(number) for number in numbers])
    unit = np.spacing(np.abs(should_be).astype(np.float64))
    assert np.abs((found - should_be) / unit).max() < most
    off = found + most * unit  # the control
    assert np.abs((off - should_be) / unit).max() > most


def test_logarithms_of_other_numbers_are_near_too():
    numbers = np.random.default_rng(2).lognormal(0.0, 100.0, 2000)
    found = [logarithm(number) for number in numbers]
    np.testing.assert_allclose(found, np.log(numbers), rtol=3e-16)
