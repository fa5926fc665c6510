"""Simulators that fail stop the run with all that is needed to look into it."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit

import aptmc
from aptmc.clock import ManualClock
from aptmc.errors import StopReason
from aptmc.keys import MOVE
from aptmc.models import normal
from aptmc.problem.chain_state import STATUS
from aptmc.session.build import build_session
from aptmc.store import MemoryStore
from aptmc.targets import INTERPRETED
from tests.support.failing_simulators import (
    BACKENDS,
    COMPILED,
    KERNEL,
    LADDER,
    LOWER,
    PLAIN,
    PRIOR,
    SCHEDULE,
    SEED,
    TOLERANCES,
    UPPER,
    all_draws,
    distance,
    fine,
    in_region,
    sample,
    unreliable,
)
from tests.support.settings import given

CASES = {
    **{f"compiled, {kind}": case for kind, case in COMPILED.items()},
    **{f"plain, {kind}": case for kind, case in PLAIN.items()},
}
LEFT_OUT = {"compiled, nan", "compiled, negative distance", "compiled, wrong length"}
PROBLEMS = {kind: case.problem() for kind, case in CASES.items()}


class Failure(NamedTuple):
    """A run that was stopped, and what was to be sampled."""

    problem: Any
    message: str
    error: aptmc.MoveFailed


@pytest.fixture(scope="module", params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Any:
    return BACKENDS[request.param]()


# To compile a problem takes seconds. Data that are nan and those of a wrong length are compiled in
# `test_failures_as_misses`, and a negative distance is refused where one that is nan is.
EACH = [
    pytest.param(kind, marks=[pytest.mark.validation] if kind in LEFT_OUT else []) for kind in CASES
]


@pytest.fixture(scope="module", params=EACH)
def failure(request: pytest.FixtureRequest, backend: Any) -> Failure:
    problem = PROBLEMS[request.param]
    assert problem.is_compiled == request.param.startswith("compiled")
    with pytest.raises(aptmc.MoveFailed) as stop:
        sample(problem, on=backend)
    return Failure(problem, CASES[request.param].message, stop.value)


def check_failed_move(failure: Failure) -> None:
    """Everything an error must carry."""
    _, message, error = failure
    assert message in str(error)
    assert f"theta={error.parameters['theta']!r}" in str(error)
    assert f"on rung {error.rung}" in str(error)
    assert repr(error.key) in str(error)
    seed, chain, number, purpose = error.key
    assert (seed, purpose) == (SEED, MOVE)
    assert chain == error.rung  # there is one chain on each rung
    assert error.run.stopped is StopReason.FAILED
    for rung, tolerance in enumerate(TOLERANCES):
        (draws,) = error.run.chains(rung)
        assert (draws.state[:, 1] <= tolerance).all()
    draws = error.run.chains(error.rung)[0]
    assert number == np.count_nonzero(~draws.exchanged) + 1


def check_run_again(failure: Failure) -> None:
    """Compute the failed move by hand, at both speeds where there are two: it fails again."""
    problem, _, error = failure
    draws = error.run.chains(error.rung)[0]
    # A move begins at the latest draw of its chain; before there is one, at the chain's start.
    state = first_state(problem, error.rung) if draws.time.size == 0 else draws.state[-1].copy()
    level, tuning = TOLERANCES[error.rung], KERNEL.tuning(problem, LADDER)[error.rung]
    for target in {INTERPRETED, problem.target}:
        move = KERNEL.move(problem, target)
        outcome, info = np.empty_like(state), np.zeros(KERNEL.info_length)
        try:
            move(level, tuning, state, error.key.generator(), outcome, info)
            found = problem.describe(outcome) if info[STATUS] else None
        except aptmc.MoveFailed as again:
            found = again.parameters
        except ArithmeticError:  # the user's own, from compiled code, which cannot say where
            found = error.parameters if target.is_compiled else None
        assert found == error.parameters


def first_state(problem: Any, chain: int) -> Any:
    settings = given(problem, LADDER, KERNEL, SCHEDULE, seed=SEED)
    session = build_session(settings, MemoryStore())
    session.begin()
    return session.machine.states[chain].copy()


def test_a_failed_simulation_stops_the_run_and_says_where(failure: Failure) -> None:
    check_failed_move(failure)
    assert in_region([failure.error.parameters["theta"]])
    assert sum(draws.time.size for draws in all_draws(failure.error.run)) > 5


def test_a_failed_simulation_can_be_run_again_by_hand(failure: Failure) -> None:
    check_run_again(failure)


def test_draws_before_a_failure_are_those_of_a_run_without_one(failure: Failure) -> None:
    run = failure.error.run
    whole = run_without_failure(type(run.settings.on))
    for part, complete in zip(all_draws(run), all_draws(whole), strict=True):
        for mine, yours in zip(part, complete, strict=True):
            np.testing.assert_array_equal(mine, yours[: mine.shape[0]])


FINE = aptmc.Abc(fine, PRIOR, observed=[normal.OBSERVED], distance=distance)


@cache
def run_without_failure(backend: type) -> aptmc.Run:
    clock = [ManualClock(step=1.0)] if backend is aptmc.InProcess else []
    return sample(FINE, on=backend(*clock))


@pytest.mark.parametrize("kind", ["compiled, raises", "plain, raises", "plain, distance raises"])
def test_the_users_error_is_the_cause(kind: str) -> None:
    with pytest.raises(aptmc.MoveFailed) as stop:
        sample(PROBLEMS[kind])
    assert isinstance(stop.value.__cause__, ArithmeticError)


UNRELIABLE = {
    "compiled": aptmc.Abc.early(unreliable, PRIOR),
    "plain": aptmc.Abc.early(unreliable.py_func, PRIOR),
}


@pytest.mark.parametrize("speed", UNRELIABLE)
def test_a_simulation_that_fails_at_random_fails_again_with_its_key(speed: str, backend) -> None:
    with pytest.raises(aptmc.MoveFailed) as stop:
        sample(UNRELIABLE[speed], on=backend)
    failure = Failure(UNRELIABLE[speed], "", stop.value)
    check_failed_move(failure)
    check_run_again(failure)


def test_both_speeds_fail_at_the_same_simulation() -> None:
    errors = []
    for problem in UNRELIABLE.values():
        with pytest.raises(aptmc.MoveFailed) as stop:
            sample(problem)
        errors.append(stop.value)
    assert str(errors[0]) == str(errors[1])


def test_a_failure_that_does_not_happen_again_is_still_reported_where_it_happened() -> None:
    seen = []

    def fails_once(theta, rng):
        if in_region(theta) and not seen:
            seen.append(float(theta[0]))
            raise ConnectionError("the licence server is busy")
        return fine(theta, rng)

    with pytest.raises(aptmc.MoveFailed, match="simulate raised ConnectionError: the lic") as stop:
        sample(aptmc.Abc(fails_once, PRIOR, observed=[3.0], distance=distance))
    assert stop.value.parameters == {"theta": seen[0]}


@pytest.mark.parametrize(
    "answer",
    [
        lambda away: (away, math.nan),
        lambda away: (away, -1.0),
        lambda away: (away, math.inf),
        lambda away: (away, "long"),
        lambda away: (away, 1.0, 2.0),
        lambda away: away,
        lambda away: None,
    ],
)
def test_work_that_cannot_be_is_reported_as_such(answer: Any) -> None:
    def simulated_distance(theta, rng, tolerance):
        away = abs(theta[0] + rng.standard_normal() - 3.0)
        return answer(away) if in_region(theta) else (away, 1.0)

    with pytest.raises(aptmc.MoveFailed, match="must be a pair of a distance and a finite") as stop:
        sample(aptmc.Abc.early(simulated_distance, PRIOR, counts_work=True))
    assert in_region([stop.value.parameters["theta"]])


@njit
def bad_work(theta, rng, tolerance):
    away = abs(theta[0] + rng.standard_normal() - 3.0)
    return away, math.nan if LOWER < theta[0] < UPPER else 1.0


def test_compiled_work_that_cannot_be_is_reported_as_such() -> None:
    with pytest.raises(aptmc.MoveFailed, match="must be a pair of a distance and a finite") as stop:
        sample(aptmc.Abc.early(bad_work, PRIOR, counts_work=True))
    assert in_region([stop.value.parameters["theta"]])


def test_an_interruption_is_no_failure() -> None:
    def interrupted(theta, rng):
        if in_region(theta):
            raise KeyboardInterrupt
        return fine(theta, rng)

    problem = aptmc.Abc(interrupted, PRIOR, observed=[3.0], distance=distance, on_error="reject")
    run = sample(problem)
    assert run.stopped is StopReason.INTERRUPTED
    assert run.failures == 0
