"""Simulators of JAX in lanes: split into steps, with the random numbers of the whole."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.jax_programs.programs import Key, traced
from aptmc.jax_programs.simulators import simulator_of, steps_of
from aptmc.jax_programs.stepwise import in_steps
from aptmc.jax_programs.writer import Untranslatable
from aptmc.problem.stepwise import Stepwise
from tests.lanes.problems import errors_off, sampled

jax = pytest.importorskip("jax")
jnp, lax, random = jax.numpy, jax.lax, jax.random
jax_simulators = pytest.importorskip("tests.lanes.jax_simulators")
row_by_row, tree, two_modes = (
    getattr(jax_simulators, name) for name in ("row_by_row", "tree", "two_modes")
)


@pytest.mark.parametrize("has_64_bits", [False, pytest.param(True, marks=pytest.mark.validation)])
def test_steps_draw_what_the_whole_simulator_draws(has_64_bits):
    with jax.enable_x64(has_64_bits):
        steps = steps_of(tree, 2, "simulated_distance")
        whole, at_once = (
            Stepwise(*steps).whole(),
            simulator_of(tree, 2, "simulated_distance"),
        )
    seen = set()
    for seed in range(100):
        theta = np.random.default_rng(seed).uniform(0.0, 1.5, 2)
        for tolerance in (0.8, np.inf):
            distance, ticks = whole(theta, np.random.default_rng(seed), tolerance)
            assert distance == at_once(theta, np.random.default_rng(seed), tolerance)
            seen.add(ticks)
    assert len(seen) > 10


@pytest.mark.validation
def test_rounds_that_are_counted_are_steps_too():
    steps = steps_of(row_by_row, 2, "simulate", lambda shape: sum_of_all)
    at_once = simulator_of(row_by_row, 2, "simulate")
    theta = np.array([0.3, 1.2])
    whole = Stepwise(*steps).whole()
    for seed in range(20):
        distance, ticks = whole(theta, np.random.default_rng(seed), np.inf)
        assert distance == np.abs(at_once(theta, np.random.default_rng(seed))).sum()
        assert ticks == 7


@njit
def sum_of_all(found):
    return np.abs(found).sum()


def without_a_loop(theta, key, tolerance):
    return jnp.abs(theta[0] + random.normal(key))


def with_two_loops(theta, key, tolerance):
    first = lax.while_loop(lambda x: x < 3.0, lambda x: x + theta[0], 0.0)
    return lax.while_loop(lambda x: x < 9.0, lambda x: x + theta[1], first)


def begun_with_the_tolerance(theta, key, tolerance):
    return lax.while_loop(lambda x: x > 1.0, lambda x: x - theta[0], 2.0 * tolerance)


def of_many_numbers(theta, key, tolerance):
    return lax.while_loop(lambda x: x.sum() < 9.0, lambda x: x + theta[0], jnp.zeros(600)).sum()


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (without_a_loop, "there are none at its top level"),
        (with_two_loops, "there are 2 at its top level"),
        (begun_with_the_tolerance, "begins with depends on the tolerance"),
        (of_many_numbers, "600 numbers would have to be kept"),
    ],
)
def test_what_cannot_be_split_is_said(function, words):
    with pytest.raises(Untranslatable, match=words):
        in_steps(traced(function, [(2,), Key(), ()]))


@pytest.fixture(scope="module")
def modes():
    return aptmc.Abc.early(two_modes, aptmc.Prior(x=stats.uniform(-4, 8)))


SETTINGS = {
    "ladder": aptmc.Ladder.tolerances([0.3, 1.0, 3.0]),
    "kernel": aptmc.OneHit([0.3, 0.6, 3.0]),
}


def test_two_modes_have_equal_shares_though_one_takes_ten_times_as_long(modes):
    run = sampled(modes, SETTINGS, budget=40_000)
    assert abs(errors_off(run, lambda series: series > 0.0, 0.5)) < 4.0
    assert not any("whole simulations" in str(one) for one in run.advice)


def test_two_modes_without_the_correction_are_caught(modes):
    run = sampled(modes, SETTINGS, budget=20_000, schedule=aptmc.Uncorrected)
    assert errors_off(run, lambda series: series > 0.0, 0.5) > 10.0


def test_a_simulator_that_cannot_be_split_runs_whole_and_says_why():
    problem = aptmc.Abc.early(without_a_loop, aptmc.Prior(x=stats.norm(0, 2), y=stats.norm()))
    run = sampled(problem, SETTINGS, budget=330, every=11)
    (said,) = [str(one) for one in run.advice if "whole simulations" in str(one)]
    assert "there are none at its top level" in said
    assert "single lax.while_loop" in said
