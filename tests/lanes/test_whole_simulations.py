"""Simulators that are one function run whole, one in each tick, and users are told so."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from tests.lanes.problems import TWO_MODES, errors_off, sampled, two_modes

STEPWISE = two_modes()
WHOLE = aptmc.Abc.early(STEPWISE.simulator.simulate, STEPWISE.prior, counts_work=True)


@pytest.fixture(scope="module")
def run():
    return sampled(WHOLE, TWO_MODES, budget=6000, every=10)


def test_two_modes_have_equal_shares(run):
    assert abs(errors_off(run, lambda series: series > 0.0, 0.5)) < 4.0


def test_each_move_takes_one_tick_and_both_chains_of_a_lane_take_turns(run):
    assert run.completions == 6000 * 240
    # After ten ticks the same chain would wait at every deadline, and the other never.
    assert np.array_equal(np.unique(np.diff(run.chains()[0].time)), [11.0])


def test_the_advice_says_what_is_lost(run):
    (said,) = [str(one) for one in run.advice if "whole simulations" in str(one)]
    assert "wait for the longest in every tick" in said
    assert "aptmc.Abc.stepwise(begin, step, prior, state=...)" in said
    stepwise = sampled(STEPWISE, TWO_MODES, budget=200)
    assert not any("whole simulations" in str(one) for one in stepwise.advice)


@njit
def simulate(theta, rng):
    return theta[0] + rng.standard_normal() * np.ones(2)


@njit
def distance(simulated, observed):
    return np.abs(simulated - observed).max()


def test_simulated_data_are_compared_and_not_kept():
    problem = aptmc.Abc(simulate, aptmc.Prior(x=stats.norm(0, 2)), [1.0, 1.0], distance)
    run = aptmc.sample(
        problem, budget=2000, ladder=aptmc.Ladder.tolerances([0.3, 1.0]), seed=1, progress=False,
        kernel=aptmc.OneHit([1.0, 2.0]), on=aptmc.Lanes(60, device="cpu", budget_in="ticks"),
    )  # fmt: skip
    assert run.settings.schedule.interval == 11.0
    # The posterior of a normal mean, up to the width of the tolerance.
    assert abs(errors_off(run, lambda series: series, 0.8)) < 4.0
    assert np.isnan(run.chains()[0].state[:, 3:]).all()
    with pytest.raises(aptmc.errors.InputError, match="lanes keep no simulated data"):
        run.adjusted()
