"""Functions that change or keep what they are given do no harm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit

import aptmc
from tests.support.mistakes import PRIOR, all_draws, normal, power, sample


def vandal(theta):
    value = -0.5 * theta[0] * theta[0]
    theta[0] = 1e6
    return value


def vandal_hold(theta, rung, rng):
    time = 1.0 + abs(theta[0])
    theta[0] = -1e6
    return time


def quiet_hold(theta, rung, rng):
    return 1.0 + abs(theta[0])


compiled_vandal = njit(vandal)
compiled_vandal_hold = njit(vandal_hold)


@pytest.mark.parametrize("make", [power, lambda f: aptmc.Tempered(f, PRIOR)], ids=["power", "like"])
@pytest.mark.parametrize(
    ("log_density", "hold"),
    [
        (vandal, vandal_hold),
        (vandal, compiled_vandal_hold),
        (compiled_vandal, vandal_hold),
        (compiled_vandal, compiled_vandal_hold),
    ],
    ids=["plain", "compiled hold", "compiled density", "compiled"],
)
def test_a_function_that_changes_its_argument_does_no_harm(
    make: Any, log_density: Any, hold: Any
) -> None:
    quiet = sample(make(normal), budget=200, on=aptmc.VirtualTime(hold=quiet_hold))
    wild = sample(make(log_density), budget=200, on=aptmc.VirtualTime(hold=hold))
    for mine, yours in zip(all_draws(quiet), all_draws(wild), strict=True):
        assert mine.time.size > 10
        for left, right in zip(mine, yours, strict=True):
            np.testing.assert_array_equal(left, right)


def test_a_function_that_keeps_its_argument_does_no_harm_to_itself() -> None:
    kept: list[tuple[Any, float]] = []

    def keeper(theta):
        kept.append((theta, float(theta[0])))
        return normal(theta)

    sample(power(keeper), budget=50)
    assert all(theta[0] == value for theta, value in kept)
