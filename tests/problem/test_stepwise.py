"""Simulators that are made of steps: the same everywhere, step by step."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.errors import InputError, MoveFailed
from aptmc.models import lotka_volterra, stepwise_lotka_volterra

PRIOR = aptmc.Prior(birth=stats.gamma(2))


def begin(theta, rng, state):
    state[0] = 10.0


def step(theta, rng, state, tolerance):
    state[1] += rng.standard_exponential() / (theta[0] * state[0])
    if state[1] > 1.0:
        return abs(state[0] - 25.0)
    state[0] += 1.0
    return -1.0


def sampled(begin, step, **options):
    problem = aptmc.Abc.stepwise(begin, step, PRIOR, state=2, **options)
    return aptmc.sample(
        problem,
        budget=3000,
        ladder=aptmc.Ladder.tolerances([5.0, 10.0, 20.0]),
        kernel=aptmc.OneHit(0.5),
        schedule=aptmc.Anytime(every=50),
        on=aptmc.VirtualTime(1),
        seed=1,
    )


def test_compiled_steps_give_the_draws_of_plain_ones():
    plain, compiled = sampled(begin, step), sampled(njit(begin), njit(step))
    assert compiled.settings.problem.is_compiled
    assert not plain.settings.problem.is_compiled
    assert np.array_equal(plain.series("birth")[0], compiled.series("birth")[0])
    assert len(plain.series("birth")[0]) > 20


def test_the_hold_time_of_a_move_is_its_number_of_steps():
    work = sampled(njit(begin), njit(step)).statistics["work"]
    assert (work == np.round(work)).all()
    assert 2900 <= work.sum() <= 3000


@pytest.mark.validation
def test_a_simulation_is_the_same_as_one_in_one_piece():
    theta, tolerance = lotka_volterra.TRUTH, 2.0

    def distances(simulate, seed):
        rng = np.random.default_rng(seed)
        return np.array([simulate(theta, rng, tolerance)[0] for _ in range(3000)])

    whole = distances(lotka_volterra.simulated_distance, 1)
    stepwise = distances(stepwise_lotka_volterra.problem().simulator.simulate, 2)
    hits = [np.mean(some < math.inf) for some in (whole, stepwise)]
    assert abs(hits[0] - hits[1]) < 4.0 * math.sqrt(2.0 * 0.25 / 3000)
    assert stats.ks_2samp(whole[whole < math.inf], stepwise[stepwise < math.inf]).pvalue > 1e-4
    # The control: other parameters are told apart.
    other = stepwise_lotka_volterra.problem().simulator.simulate
    rng = np.random.default_rng(3)
    off = np.array([other(1.1 * theta, rng, tolerance)[0] for _ in range(3000)])
    assert stats.ks_2samp(whole[whole < math.inf], off[off < math.inf]).pvalue < 1e-4


@pytest.mark.parametrize(
    ("functions", "state", "words"),
    [
        ((lambda theta, rng: None, step), 2, r"def begin\(theta, rng, state\)"),
        ((begin, lambda theta, rng, state: 0.0), 2, r"def step\(theta, rng, state, tolerance\)"),
        ((begin, step), 0, "state must be"),
    ],
)
def test_what_cannot_be_is_refused(functions, state, words):
    with pytest.raises(InputError, match=words):
        aptmc.Abc.stepwise(*functions, PRIOR, state=state)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda theta, rng, state, tolerance: 1 / 0, "step raised ZeroDivisionError"),
        (lambda theta, rng, state, tolerance: "far", "step returned 'far', must be a single"),
        (lambda theta, rng, state, tolerance: math.nan, "the distance of a simulation is nan"),
    ],
)
def test_a_step_that_fails_is_named(wrong, words):
    with pytest.raises(MoveFailed, match=words):
        sampled(begin, wrong)
