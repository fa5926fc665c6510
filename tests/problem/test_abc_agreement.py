"""Likelihood-free problems: all ways to write one agree."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.errors import StopReason
from tests.support.normal_data import (
    COMPILED,
    KEPT,
    PRIOR,
    all_draws,
    assert_same,
    mean_and_range,
    sample,
    simulate,
    simulated_distance,
    with_data,
)
from tests.support.statistical import FALSE_ALARM


@njit
def or_infinity(theta, rng, tolerance):
    """The same random numbers, but misses have no distance."""
    x = theta[0] + rng.standard_normal(3)
    away = max(abs(x[0] - 3.0), abs(x[1] - 2.0), abs(x[2] - 4.0))
    return away if away <= tolerance else math.inf


def stops_early(theta, rng, tolerance):
    """The same law with fewer random numbers."""
    largest = 0.0
    for y in (3.0, 2.0, 4.0):
        largest = max(largest, abs(theta[0] + rng.standard_normal() - y))
        if largest > tolerance:
            return math.inf
    return largest


def counted_work(theta, rng, tolerance):
    x = theta[0] + rng.standard_normal(3)
    away = max(abs(x[0] - 3.0), abs(x[1] - 2.0), abs(x[2] - 4.0))
    return away, 1.0 + 0.5 * abs(theta[0])


@njit
def counts(theta, rng):
    """Integers: differences of them would wrap around if they were not made numbers first."""
    data = np.empty(2, np.uint8)
    data[0] = int(10.0 + theta[0] + rng.standard_normal())
    data[1] = int(12.0 + theta[0] + rng.standard_normal())
    return data


@njit
def difference_and_sum(data):
    return np.array([data[0] - data[1], 100.0 * (data[0] + data[1])])


@njit
def scalar(theta, rng):
    return theta[0] + rng.standard_normal()


@njit
def mean(data):
    return data.mean()


@njit
def pair(theta, rng):
    return theta[0] + rng.standard_normal(), theta[0] + rng.standard_normal(), 4.0


@njit
def table(theta, rng):
    return theta[0] + rng.standard_normal((2, 3))


@njit
def whole_distance(simulated, observed):
    return int(10.0 * np.abs(simulated - observed).max())


def made(function=simulate, **options):
    """Of a kind of problem, the one that is compiled or the plain one, when it is asked for."""
    return lambda plain: with_data(function, plain=plain, **options)


def made_early(function, **options):
    return lambda plain: aptmc.Abc.early(function if plain else njit(function), PRIOR, **options)


PAIRS = {
    "data": lambda plain: with_data(plain=True) if plain else COMPILED,
    "summary, kept": made(summary=mean_and_range, keep_simulated=True),
    "early": made_early(or_infinity.py_func),
    "counted work": made_early(counted_work, counts_work=True),
    "integers": made(
        counts,
        observed=[13, 15],
        summary=difference_and_sum,
        distance=njit(lambda mine, yours: 0.005 * np.abs(mine - yours).sum()),
        keep_simulated=True,
    ),
    "scalar": made(scalar, observed=3.0, keep_simulated=True),
    "tuple, scalar summary": made(pair, summary=mean),
    "table, whole distance": made(
        table, observed=[[1, 2, 3], [2, 3, 1]], distance=whole_distance, keep_simulated=True
    ),
}


# To compile one takes seconds. These are made of parts of the others.
LEFT_OUT = {
    "counted work",
    "early",
    "integers",
    "summary, kept",
    "scalar",
    "tuple, scalar summary",
    "table, whole distance",
}


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[pytest.mark.validation] if kind in LEFT_OUT else [])
        for kind in PAIRS
    ],
)
def test_compiled_and_plain_runs_are_the_same_bit_for_bit(kind: str) -> None:
    compiled, plain = PAIRS[kind](plain=False), PAIRS[kind](plain=True)
    assert compiled.is_compiled
    assert not plain.is_compiled
    changes = {}
    if kind == "table, whole distance":
        changes["ladder"] = aptmc.Ladder.tolerances([20.0, 40.0, math.inf])
    runs = [sample(problem, **changes) for problem in (compiled, plain)]
    assert runs[0].stopped is StopReason.BUDGET_SPENT
    assert_same(*runs)


def test_counted_work_is_the_hold_time() -> None:
    run = sample(PAIRS["counted work"](plain=True))
    other = sample(COMPILED)
    # The same moves, at another pace.
    for mine, yours in zip(run.chains(0), other.chains(0), strict=True):
        assert mine.time.size != yours.time.size


@pytest.mark.parametrize("function", [simulated_distance, or_infinity])
def test_data_and_early_problems_agree_bit_for_bit(function) -> None:
    """Whatever the distance of a miss is."""
    early = aptmc.Abc.early(function.py_func, PRIOR)
    early.can_stop_early = False  # which would make another way to the first states
    assert_same(sample(COMPILED), sample(early), slice(0, early.width))


def test_keeping_the_simulations_changes_nothing_else() -> None:
    assert_same(sample(COMPILED), sample(KEPT), slice(0, 3))


@pytest.mark.parametrize(
    "problem",
    [KEPT, *(PAIRS[kind](plain=True) for kind in ("summary, kept", "integers", "scalar"))],
    ids=["data", "summary", "integers", "scalar"],
)
def test_what_is_kept_has_the_distance_that_its_state_says(problem) -> None:
    target, compare = problem.simulator.observed, problem.simulator.distance
    for draws in all_draws(sample(problem)):
        for state in draws.state[-20:]:
            assert compare(state[3:], target) == state[1]


def test_a_simulator_that_stops_early_has_the_same_law() -> None:
    """Independent draws of both, by rejection, and a control with another tolerance."""
    early = aptmc.Abc.early(stops_early, PRIOR)
    simulations = 20_000

    def draws(problem, tolerance, seed):
        return aptmc.rejection(problem, tolerance, simulations=simulations, seed=seed)

    whole, part = draws(COMPILED, 1.5, 1), draws(early, 1.5, 2)
    assert whole.distance.size > 500
    for column in ("theta", "distance"):
        both = [
            one.distance if column == "distance" else one.series("theta") for one in (whole, part)
        ]
        assert stats.ks_2samp(*both).pvalue > FALSE_ALARM
    hits = [[one.distance.size, simulations - one.distance.size] for one in (whole, part)]
    assert stats.chi2_contingency(hits).pvalue > FALSE_ALARM
    control = draws(early, 3.0, 3)
    assert stats.ks_2samp(whole.series("theta"), control.series("theta")).pvalue < FALSE_ALARM
