"""Failures that are counted as misses: how many there are, and what is sampled then."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.errors import StopReason
from aptmc.models import normal
from tests.support.failing_simulators import (
    BACKENDS,
    COMPILED,
    LOWER,
    PLAIN,
    PRIOR,
    UPPER,
    all_draws,
    sample,
)
from tests.support.statistical import FALSE_ALARM, standard_errors_off


@pytest.fixture(scope="module", params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Any:
    return BACKENDS[request.param]()


@pytest.mark.parametrize("kind", PLAIN)
def test_a_run_goes_on_and_counts_the_failures(kind: str, backend: Any) -> None:
    run = sample(PLAIN[kind].problem(on_error="reject"), on=backend)
    assert run.stopped is StopReason.BUDGET_SPENT
    assert 0 < run.failures < run.simulations
    for draws in all_draws(run):
        assert np.isfinite(draws.state).all()
        # In the region every simulation fails, so that no state lies there.
        assert not ((draws.state[:, 0] > LOWER) & (draws.state[:, 0] < UPPER)).any()


@pytest.mark.parametrize(
    "kind", [pytest.param("raises", marks=pytest.mark.validation), "wrong length"]
)
def test_compiled_and_plain_runs_with_failures_are_the_same_bit_for_bit(kind: str) -> None:
    compiled, plain = (
        sample(case.problem(on_error="reject")) for case in (COMPILED[kind], PLAIN[kind])
    )
    assert compiled.failures == plain.failures > 0
    assert compiled.simulations == plain.simulations
    for mine, yours in zip(all_draws(compiled), all_draws(plain), strict=True):
        for left, right in zip(mine, yours, strict=True):
            np.testing.assert_array_equal(left, right)


@njit
def often_fails(theta, rng, tolerance):
    """Whatever theta is."""
    away = abs(theta[0] + rng.standard_normal() - 3.0)
    kind = rng.random()
    if kind < 0.1:
        raise ArithmeticError("out of range")
    if kind < 0.2:
        return math.nan
    if kind < 0.3:
        return -1.0
    return away


@njit
def fails_with_theta(theta, rng, tolerance):
    """Fails with probability theta, and otherwise hits whatever theta is."""
    away = rng.random()
    if rng.random() < theta[0]:
        raise ArithmeticError("out of range")
    return away


FAILS_WITH_THETA = aptmc.Abc.early(
    fails_with_theta, aptmc.Prior(theta=stats.uniform(0, 1)), on_error="reject"
)
RUNS = 16
LIMIT = stats.t.isf(FALSE_ALARM / 2, RUNS - 1)  # of the mean of independent runs, in its errors


def moments(problem: aptmc.Abc, **changes: Any) -> Any:
    """Of independent runs: the means of the parameter and of its square on the coldest rung."""
    settings = {"budget": 12_000, "warmup": 500, "keep": "coldest"} | changes
    (name,) = problem.names
    runs = [sample(problem, seed=seed, **settings) for seed in range(RUNS)]
    draws = [run.series(name)[0] for run in runs]
    return np.array([[np.mean(one), np.mean(one**2)] for one in draws]).T


@pytest.mark.validation(shortest=0.1)  # those that do, below, are the harder half
def test_failures_that_do_not_depend_on_the_parameters_leave_the_posterior_as_it_is() -> None:
    problem = aptmc.Abc.early(often_fails, PRIOR, on_error="reject")
    mean, sd = normal.posterior_mean(0.5), normal.posterior_sd(0.5)
    found, squares = moments(problem)
    assert standard_errors_off(found, mean) < LIMIT
    assert standard_errors_off(squares, mean**2 + sd**2) < LIMIT
    # The control: a posterior half a standard deviation away is told apart.
    assert standard_errors_off(found, mean + 0.5 * sd) > LIMIT
    run = sample(problem)
    assert 0.25 < run.failures / run.simulations < 0.35


@pytest.mark.parametrize("tolerances", [[0.3, 0.6, 0.9], [0.3, 0.6, math.inf]])
def test_failures_that_depend_on_the_parameters_weigh_the_prior_with_their_success(
    tolerances: list[float],
) -> None:
    """A uniform prior and success with probability 1 - theta: theta follows Beta(1, 2)."""
    ladder, expected = aptmc.Ladder.tolerances(tolerances), stats.beta(1, 2)
    found, squares = moments(FAILS_WITH_THETA, ladder=ladder)
    assert standard_errors_off(found, expected.mean()) < LIMIT
    assert standard_errors_off(squares, expected.moment(2)) < LIMIT
    # The control: the prior, which a simulator without failures would give.
    assert standard_errors_off(found, 0.5) > LIMIT
