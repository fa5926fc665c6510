"""Deadlines that follow the machine, and deadlines with jitter."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.backends import VirtualTime
from aptmc.schedule import DEADLINES_PER_SWEEP
from tests.support import targets
from tests.support.problems import one, two_modes
from tests.support.sessions import make_session
from tests.support.statistical import standard_errors_off

MODES = aptmc.Tempered(two_modes, aptmc.Prior(x=stats.uniform(-20, 40)))

# --- deadlines that follow ------------------------------------------------------------------------


@njit
def slower(theta, rung, rng):
    return 3.0 * targets.hold(theta, rung, rng)


def test_following_deadlines_adjust_to_a_machine_that_becomes_slower():
    session, _ = make_session(aptmc.Anytime(every=8.0, follow=True), processors=2)
    VirtualTime(2, targets.hold).run(session, 20_000.0)
    before = session.machine.sweep_time.max()
    chains = session.machine.rung.size
    sweeps = 40
    mean_sweep = 3.0 * targets.MEAN_HOLD * chains / 2
    VirtualTime(2, slower).run(session, sweeps * mean_sweep)
    assert 1.8 < session.machine.sweep_time.max() / before < 5.0
    VirtualTime(2, slower).run(session, 10 * sweeps * mean_sweep)
    assert 2.0 < session.machine.sweep_time.max() / before < 4.5


def test_following_deadlines_are_so_many_in_a_sweep_but_not_too_many():
    for shortest in (0.0, 10.0):
        session, _ = make_session(aptmc.Anytime(every=8.0, follow=True, shortest=shortest))
        VirtualTime(1, one).run(session, 20_000.0)
        sweep = float(session.machine.rung.size)
        assert session.machine.sweep_time.max() == pytest.approx(sweep / DEADLINES_PER_SWEEP)
        every = max(sweep / DEADLINES_PER_SWEEP, shortest)
        assert session.machine.passed[0] == pytest.approx(20_000.0 / every, rel=0.02)


def test_deadlines_that_do_not_follow_stay():
    session, _ = make_session(aptmc.Anytime(every=8.0), processors=2)
    VirtualTime(2, targets.hold).run(session, 1_000.0)
    assert session.machine.sweep_time.max() == 8.0
    assert session.machine.passed[0] == 125


@njit
def twenty_to_one(theta, rung, rng):
    return rng.exponential(20.0 if theta[0] > 0.0 else 1.0)


def errors_of_following(moves: float) -> float:
    """In 20 runs of so many moves in all, on a target whose halves differ twentyfold in cost."""
    shares = []
    problem = targets.problem(start=lambda rng: rng.standard_normal())
    for seed in range(20):
        run = aptmc.sample(
            problem,
            budget=10.5 * moves / 20 / 2,
            ladder=aptmc.Ladder.powers(4),
            kernel=aptmc.RandomWalk(1.5),
            schedule=aptmc.Anytime(every=20.0, follow=True, jitter=0.5),
            on=VirtualTime(2, twenty_to_one),
            seed=seed,
        )
        shares.append(np.mean(np.concatenate(run.series("x")) > 0.0))
    return standard_errors_off(shares, 0.5)


def test_the_bias_of_following_is_below_the_error_of_a_run():
    assert errors_of_following(1e5) < 4


@pytest.mark.validation
def test_the_bias_of_following_is_below_the_error_of_a_long_run(validation_scale):
    assert errors_of_following(max(1e6 * validation_scale, 1e5)) < 4


# --- jitter ---------------------------------------------------------------------------------------


def test_jitter_lets_chains_meet_that_march_in_step():
    met = {}
    for jitter in (0.0, 0.5):
        schedule = aptmc.Anytime(every=6.0, jitter=jitter)
        run = aptmc.sample(
            MODES,
            budget=5_000,
            ladder=aptmc.Ladder.geometric(12, hottest=0.01),
            kernel=aptmc.RandomWalk(2.0),
            schedule=schedule,
            on=VirtualTime(2, one),
            seed=1,
        )
        met[jitter] = np.isfinite(run.swap_rates.neighbours)
    assert not met[0.0].all()
    assert met[0.5].all()


def test_jittered_deadlines_come_as_often_on_average():
    session, _ = make_session(aptmc.Anytime(every=2.0, jitter=1.0))
    VirtualTime(1, one).run(session, 20_000.0)
    # Uniform on (0, 4): the sd of a gap is 2 / sqrt(3).
    assert abs(session.machine.passed[0] - 10_000) < 5 * math.sqrt(10_000 / 3)
