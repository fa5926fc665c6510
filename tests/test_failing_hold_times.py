"""Hold times that go wrong stop the run where it is."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import njit

import aptmc
from aptmc.errors import StopReason
from aptmc.keys import HOLD
from tests.support.mistakes import (
    LIMIT,
    RUNGS,
    Counted,
    Wrong,
    compiled_normal,
    complain,
    normal,
    power,
    sample,
)

WRONG_HOLDS = {
    "negative": Wrong(lambda _: -1.0, "hold returned -1.0"),
    "nan": Wrong(lambda _: math.nan, "hold returned nan"),
    "inf": Wrong(lambda _: math.inf, "hold returned inf"),
    "raises": Wrong(complain, "hold raised ArithmeticError: out of range"),
    "array": Wrong(lambda _: np.ones(2), "hold returned array([1., 1.])"),
    "short array": Wrong(lambda _: np.ones(1), "hold returned array([1.])"),
    "string": Wrong(lambda _: "long", "hold returned 'long'"),
    "number in a string": Wrong(lambda _: "1.5", "hold returned '1.5'"),
    "nothing": Wrong(lambda _: None, "hold returned None"),
    "complex": Wrong(lambda _: 1j, "hold returned 1j"),
}


def hold_beyond(limit: float, wrong: Wrong) -> Callable[..., Any]:
    return lambda theta, rung, rng: wrong.answer(theta) if theta[0] > limit else 1.0


@njit
def compiled_negative_hold(theta, rung, rng):
    return -1.0 if theta[0] > LIMIT else 1.0


@njit
def compiled_nan_hold(theta, rung, rng):
    return math.nan if theta[0] > LIMIT else 1.0


@njit
def compiled_raising_hold(theta, rung, rng):
    if theta[0] > LIMIT:
        raise ArithmeticError("out of range")
    return 1.0


@njit
def compiled_array_hold(theta, rung, rng):
    return theta + 1.0


@njit
def compiled_string_hold(theta, rung, rng):
    return "long"


COMPILED_HOLDS = {
    "negative": compiled_negative_hold,
    "nan": compiled_nan_hold,
    "raises": compiled_raising_hold,
}
COMPILED_PROBLEM = aptmc.Power(compiled_normal, start={"x": 0.0})
COMPILED_PROBLEM_BEYOND = aptmc.Power(compiled_normal, start={"x": 3.25})


def check_hold_failure(error: aptmc.MoveFailed, message: str) -> None:
    assert message in str(error)
    assert f"x={error.parameters['x']!r}" in str(error)
    assert repr(error.key) in str(error)
    assert error.key.purpose == HOLD
    assert error.rung == error.key.chain


@pytest.mark.parametrize("kind", WRONG_HOLDS)
def test_a_hold_time_that_is_wrong_at_the_start_stops_the_run_before_any_move(kind: str) -> None:
    log_density = Counted()
    hold = hold_beyond(-1.0, WRONG_HOLDS[kind])
    with pytest.raises(aptmc.MoveFailed) as stop:
        sample(aptmc.Power(log_density, start={"x": 0.5}), on=aptmc.VirtualTime(hold=hold))
    check_hold_failure(stop.value, WRONG_HOLDS[kind].message)
    assert stop.value.parameters == {"x": 0.5}
    assert log_density.calls == RUNGS


@pytest.mark.parametrize("kind", WRONG_HOLDS)
def test_a_hold_time_that_is_wrong_later_stops_the_run_where_it_is(kind: str) -> None:
    hold = hold_beyond(LIMIT, WRONG_HOLDS[kind])
    with pytest.raises(aptmc.MoveFailed) as stop:
        sample(power(normal), on=aptmc.VirtualTime(hold=hold))
    check_hold_failure(stop.value, WRONG_HOLDS[kind].message)
    check_the_move_began_there(stop.value)


@pytest.mark.parametrize("problem", [COMPILED_PROBLEM, power(normal)], ids=["compiled", "plain"])
@pytest.mark.parametrize("kind", COMPILED_HOLDS)
def test_a_compiled_hold_time_that_is_wrong_later_stops_the_run_where_it_is(
    kind: str, problem: Any
) -> None:
    with pytest.raises(aptmc.MoveFailed) as stop:
        sample(problem, on=aptmc.VirtualTime(hold=COMPILED_HOLDS[kind]))
    check_hold_failure(stop.value, WRONG_HOLDS[kind].message)
    check_the_move_began_there(stop.value)


def check_the_move_began_there(error: aptmc.MoveFailed) -> None:
    """A move whose hold time failed begins at the latest draw of its chain, beyond the limit."""
    assert error.parameters["x"] > LIMIT
    assert error.run.stopped is StopReason.FAILED
    draws = error.run.chains(error.rung)[0]
    assert draws.state[-1, 0] == error.parameters["x"]
    assert error.key.number == np.count_nonzero(~draws.exchanged) + 1


@pytest.mark.parametrize(
    ("hold", "message"),
    [
        (compiled_negative_hold, "hold returned -1.0"),
        (compiled_nan_hold, "hold returned nan"),
        (compiled_raising_hold, "hold raised ArithmeticError: out of range"),
        (compiled_array_hold, "hold returned array([4.25])"),
        (compiled_string_hold, "hold returned 'long'"),
        (lambda theta: 1.0, "hold raised TypeError"),
    ],
)
def test_a_compiled_hold_time_that_is_wrong_at_the_start_stops_the_run_before_any_move(
    hold: Any, message: str
) -> None:
    with pytest.raises(aptmc.MoveFailed) as stop:
        sample(COMPILED_PROBLEM_BEYOND, on=aptmc.VirtualTime(hold=hold))
    check_hold_failure(stop.value, message)
    assert stop.value.parameters == {"x": 3.25}


def test_hold_times_that_are_all_zero_are_refused_for_they_would_never_end() -> None:
    no_time = njit(lambda theta, rung, rng: 0.0)
    with pytest.raises(aptmc.RunFailed, match=r"time stands still at 0\.0: hold gave 0") as stop:
        sample(power(njit(normal)), on=aptmc.VirtualTime(hold=no_time))
    assert stop.value.run.completions > 1000
