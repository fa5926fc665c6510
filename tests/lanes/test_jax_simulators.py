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

SEEN = np.array([2.0, 4.0, 7.0, 12.0, 18.0])
PRIOR = aptmc.Prior(births=stats.uniform(0, 2), deaths=stats.uniform(0, 2))


def tree(theta, key, tolerance):
    """Lineages that branch and end, looked at five times: how far they are off, at most."""

    def goes_on(state):
        _, _, _, look, worst = state
        return (look < 5) & (worst <= tolerance)

    def step(state):
        key, alive, time, look, worst = state
        key, waiting, choosing = random.split(key, 3)
        rate = (theta[0] + theta[1]) * alive
        wait = jnp.where(rate > 0, random.exponential(waiting) / rate, jnp.inf)
        is_look = time + wait >= look + 1
        away = jnp.abs(jnp.log((alive + 0.5) / (jnp.asarray(SEEN)[look] + 0.5)))
        change = jnp.where(random.uniform(choosing) * rate < theta[0] * alive, 1.0, -1.0)
        return (
            key,
            alive + jnp.where(is_look, 0.0, change),
            jnp.where(is_look, look + 1.0, time + wait),
            look + is_look,
            jnp.where(is_look, jnp.maximum(worst, away), worst),
        )

    worst = lax.while_loop(goes_on, step, (key, 1.0, 0.0, 0, 0.0))[4]
    return jnp.where(worst <= tolerance, worst, jnp.inf)


@jax.jit
def two_modes(theta, key, tolerance):
    """The slow mode takes twenty rounds, the other one; nothing else tells them apart."""
    noise = random.normal(key)
    rounds = lax.while_loop(
        lambda n: n < jnp.where(theta[0] > 0, 20, 1), lambda n: n + 1, jnp.int32(0)
    )
    return jnp.abs(jnp.abs(theta[0]) - 2.0 + noise) + 0.0 * rounds


def row_by_row(theta, key):
    """A walk in equal times: its rounds are counted, and what it draws is known before."""
    keys = random.split(key, 6)

    def step(place, key):
        return place + theta[0] + theta[1] * random.normal(key), None

    last, _ = lax.scan(step, 0.0, keys)
    return jnp.stack([last, last**2])


@pytest.mark.parametrize("has_64_bits", [False, True])
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
