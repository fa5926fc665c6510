"""Simulations that fail while first states are looked for."""

from __future__ import annotations

import math
from typing import Any

import pytest
from numba import njit

import aptmc
from aptmc.errors import StopReason
from aptmc.keys import START
from tests.support.failing_simulators import PRIOR, sample


def always_nan(theta, rng, tolerance):
    return rng.random() * math.nan


def always_raises(theta, rng, tolerance):
    if rng.random() < 2.0:
        raise ArithmeticError("out of range")
    return 0.0


@pytest.mark.parametrize(
    "function",
    [
        always_nan,
        always_raises,
        pytest.param(njit(always_raises), marks=pytest.mark.validation),
    ],
)
def test_a_failure_at_the_start_names_the_key_of_that_draw(function: Any) -> None:
    with pytest.raises(aptmc.MoveFailed) as stop:
        sample(aptmc.Abc.early(function, PRIOR))
    error = stop.value
    assert error.key.purpose == START
    assert error.run is None
    assert f"theta={error.parameters['theta']!r}" in str(error)
    assert repr(error.key) in str(error)
    # The first states are looked for in the prior.
    assert PRIOR.draw(error.key.generator())[0] == error.parameters["theta"]


def test_a_failure_at_the_start_that_does_not_happen_again_is_reported() -> None:
    seen = []

    def fails_once(theta, rng, tolerance):
        seen.append(float(theta[0]))
        if len(seen) == 1:
            raise ConnectionError("the licence server is busy")
        return abs(theta[0] + rng.standard_normal() - 3.0)

    with pytest.raises(aptmc.MoveFailed, match="licence server is busy") as stop:
        sample(aptmc.Abc.early(fails_once, PRIOR))
    assert stop.value.parameters == {"theta": seen[0]}
    assert isinstance(stop.value.__cause__, ConnectionError)


def test_a_simulator_that_always_fails_cannot_be_started_even_if_failures_are_misses() -> None:
    calls = []

    def broken(theta, rng, tolerance):
        calls.append(1)
        raise ArithmeticError("out of range")

    problem = aptmc.Abc.early(broken, PRIOR, on_error="reject", start_simulations=2000)
    with pytest.raises(aptmc.InputError, match="all of the first 2000 simulations failed"):
        sample(problem)
    assert len(calls) < 3000


def test_a_simulator_that_mostly_fails_can_be_started_if_failures_are_misses() -> None:
    def mostly_broken(theta, rng, tolerance):
        if rng.random() < 0.9:
            raise ArithmeticError("out of range")
        return abs(theta[0] + rng.standard_normal() - 3.0)

    run = sample(aptmc.Abc.early(mostly_broken, PRIOR, on_error="reject"))
    assert run.stopped is StopReason.BUDGET_SPENT
    share = run.failures / run.simulations
    # A race goes on until a hit, so the number of failures is not binomial; it is close.
    assert 0.85 < share < 0.95
