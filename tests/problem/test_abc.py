"""Likelihood-free problems: what they take, and that nothing they are given does any harm."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.kernels.one_hit import BOUNDS
from tests.support.normal_data import (
    COMPILED,
    KEPT,
    OBSERVED,
    PRIOR,
    all_draws,
    assert_same,
    distance,
    mean_and_range,
    sample,
    simulated_distance,
    with_data,
)

# --- construction ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("observed", "shape"),
    [(3.0, (1,)), ([3], (1,)), ([3.0, 2.0], (2,)), ([[1, 2, 3], [4, 5, 6]], (2, 3))],
)
def test_data_of_any_shape_reach_the_distance_as_they_are(observed, shape) -> None:
    seen = []

    def compare(simulated, data):
        seen.append((simulated.shape, data.shape, simulated.dtype, data.dtype))
        return 0.1

    problem = aptmc.Abc(
        lambda theta, rng: np.zeros(np.shape(observed)), PRIOR, observed=observed, distance=compare
    )
    aptmc.rejection(problem, 1.0, simulations=2, seed=1)
    assert set(seen) == {(shape, shape, np.dtype(float), np.dtype(float))}


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({}, 3),
        ({"observed": np.zeros(50)}, 50),
        ({"observed": np.zeros(51)}, 0),
        ({"observed": np.zeros(51), "summary": mean_and_range}, 2),
        ({"observed": np.zeros(51), "keep_simulated": True}, 51),
        ({"keep_simulated": False}, 0),
        ({"keep_simulated": True, "summary": mean_and_range}, 2),
        ({"keep_simulated": True, "summary": lambda data: data.mean()}, 1),
        ({"keep_simulated": False, "summary": mean_and_range}, 0),
    ],
)
def test_states_have_room_for_what_is_kept(options, kept: int) -> None:
    assert with_data(**options).width == 3 + kept


def test_only_problems_that_are_compiled_throughout_are_compiled() -> None:
    assert COMPILED.is_compiled
    assert aptmc.Abc.early(simulated_distance, PRIOR).is_compiled
    assert not with_data(plain=True).is_compiled
    assert not with_data(distance=distance.py_func).is_compiled
    assert not with_data(summary=lambda data: data).is_compiled
    gumbel = aptmc.Prior(theta=stats.gumbel_r(0, 1))
    assert not aptmc.Abc.early(simulated_distance, gumbel).is_compiled


def test_the_summary_is_applied_to_the_data_once_and_to_each_simulation() -> None:
    seen = []

    def summary(data):
        seen.append(data.tolist())
        return data[:1] * 2.0

    problem = with_data(
        lambda theta, rng: [1.0, 1.0, 1.0],
        summary=summary,
        distance=lambda mine, yours: abs(mine[0] - yours[0]),
    )
    assert seen == [OBSERVED.tolist()]
    accepted = aptmc.rejection(problem, math.inf, simulations=3, seed=1)
    assert seen[1:] == 3 * [[1.0, 1.0, 1.0]]
    assert accepted.distance.tolist() == 3 * [4.0]


def test_changing_the_data_afterwards_changes_nothing() -> None:
    observed = OBSERVED.copy()
    problem = with_data(observed=observed, plain=True)
    before = aptmc.rejection(problem, 2.0, simulations=200, seed=1)
    observed[:] = 1e6
    after = aptmc.rejection(problem, 2.0, simulations=200, seed=1)
    assert before.distance.size > 5
    np.testing.assert_array_equal(before.distance, after.distance)


# --- functions that change what they are given ----------------------------------------------------


def vandal(theta, rng):
    data = theta[0] + rng.standard_normal(3)
    theta[:] = 1e6
    return data


def vandal_distance(simulated, observed):
    away = np.abs(simulated - observed).max()
    simulated[:] = -1e6
    return away


def vandal_of_data(simulated, observed):
    away = np.abs(simulated - observed).max()
    observed[:] = -1e6
    return away


def vandal_summary(data):
    summary = data.copy()
    data[:] = 1e6
    return summary


def early_vandal(theta, rng, tolerance):
    x = theta[0] + rng.standard_normal(3)
    theta[:] = 1e6
    return max(abs(x[0] - 3.0), abs(x[1] - 2.0), abs(x[2] - 4.0))


def early(theta, rng, tolerance):
    return early_vandal(theta.copy(), rng, tolerance)


VANDALS = {
    "plain": lambda: with_data(vandal, distance=vandal_distance, summary=vandal_summary),
    "compiled": lambda: with_data(
        njit(vandal), distance=njit(vandal_distance), summary=njit(vandal_summary)
    ),
    "plain, kept": lambda: with_data(vandal, distance=vandal_distance, keep_simulated=True),
    "of the data": lambda: with_data(vandal, distance=vandal_of_data),
    "early": lambda: aptmc.Abc.early(early_vandal, PRIOR),
}


# Of compiled functions that do, a distance is in `test_named_data.py`.
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(
            kind, marks=[pytest.mark.validation(shortest=0.1)] if kind == "compiled" else []
        )
        for kind in VANDALS
    ],
)
def test_functions_that_change_their_arguments_do_no_harm(kind: str) -> None:
    # One that can stop early is told tolerances on its way to first states.
    harmless = aptmc.Abc.early(early, PRIOR) if kind == "early" else COMPILED
    assert_same(sample(harmless), sample(VANDALS[kind]()), slice(0, 3))


def test_a_simulator_that_keeps_its_arguments_does_no_harm_to_itself() -> None:
    kept = []
    buffer = np.empty(3)

    def keeper(theta, rng):
        kept.append((theta, float(theta[0])))
        buffer[:] = theta[0] + rng.standard_normal(3)
        return buffer  # always the same array

    run = sample(with_data(keeper, distance=distance.py_func, keep_simulated=True), budget=500)
    assert all(theta[0] == value for theta, value in kept)
    whole = sample(KEPT, budget=500)
    for mine, yours in zip(all_draws(run), all_draws(whole), strict=True):
        np.testing.assert_array_equal(mine.state, yours.state)


# --- truncated proposals --------------------------------------------------------------------------


def test_proposals_can_be_truncated_to_the_support_of_the_prior() -> None:
    seen = []

    def watched(theta, rng, tolerance):
        seen.append(theta.tolist())
        return abs(theta[0] - theta[1] + 0.1 * rng.standard_normal())

    prior = aptmc.Prior(a=stats.uniform(0, 1), b=stats.expon(loc=-2))
    kernel = aptmc.OneHit(3.0, truncate=True)
    problem = aptmc.Abc.early(watched, prior)
    tuning = kernel.tuning(problem, aptmc.Ladder.tolerances([1.0]))
    assert tuning[0, BOUNDS : BOUNDS + 4].tolist() == [0.0, -2.0, 1.0, math.inf]
    sample(problem, kernel=kernel, budget=1000)
    thetas = np.array(seen)
    assert (thetas[:, 0] > 0.0).all()
    assert (thetas[:, 0] < 1.0).all()
    assert (thetas[:, 1] > -2.0).all()


def test_no_move_is_lost_to_the_border_of_a_flat_prior() -> None:
    """Truncated proposals under a uniform prior with flat distances are accepted or outweighed."""
    prior = aptmc.Prior(theta=stats.uniform(0, 1))
    problem = aptmc.Abc.early(lambda theta, rng, tolerance: rng.random(), prior)
    plain_rate, truncated_rate = (
        sample(problem, kernel=aptmc.OneHit(2.0, truncate=truncate), budget=1500).acceptance_rates
        for truncate in (False, True)
    )
    assert (truncated_rate[:2] > 2.0 * plain_rate[:2]).all()
