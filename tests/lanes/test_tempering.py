"""First states of densities: chains go from the prior to their powers together."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.backends.lanes.tables import Whole
from aptmc.backends.lanes.tempering import MOVES, Tempering, _drawn, _weights
from aptmc.kernels import Kernel
from aptmc.kernels.stages import GOES_ON, Stages, run_whole
from aptmc.session.build import build_session
from aptmc.session.control import Control
from aptmc.store import MemoryStore
from tests.lanes.problems import lanes, sampled

SPREAD, SHARE = 0.1, 0.8  # of the mode on the right
POWERS = [1.0, 0.05, 0.0]
WALK = {"ladder": aptmc.Ladder.powers(POWERS), "kernel": aptmc.RandomWalk([0.1, 0.5, 3.0])}
SLICES = {"ladder": aptmc.Ladder.powers(POWERS), "kernel": aptmc.Slice([0.3, 1.0, 5.0])}
SEEDS = range(12)


@njit
def log_two_modes(theta):
    """Two narrow hills, between which no chain at power 1 ever goes."""
    left = math.log1p(-SHARE) - 0.5 * ((theta[0] + 3.0) / SPREAD) ** 2
    right = math.log(SHARE) - 0.5 * ((theta[0] - 3.0) / SPREAD) ** 2
    larger = max(left, right)
    return larger + math.log(math.exp(left - larger) + math.exp(right - larger))


PROBLEM = aptmc.Tempered(log_two_modes, aptmc.Prior(x=stats.uniform(-10, 20)))


def first_states(settings, seed, on=None):
    run = sampled(PROBLEM, settings, budget=1, seed=seed, on=on or lanes(300))
    return run._first_states.reshape(len(POWERS), -1, 3)


def shares(settings, seeds=SEEDS):
    """Of the first states of the coldest rung, in the mode on the right: of independent runs."""
    return np.array([(first_states(settings, seed)[0, :, 0] > 0.0).mean() for seed in seeds])


def is_off(found, expected):
    """By more than 4 standard errors: a false alarm comes once in 16,000 seeds."""
    return abs(found.mean() - expected) > 4.0 * found.std(ddof=1) / math.sqrt(len(found))


@pytest.mark.parametrize(
    "settings", [WALK, pytest.param(SLICES, marks=pytest.mark.validation)], ids=["walk", "slices"]
)
def test_chains_begin_near_the_target_with_the_right_weights(settings):
    found = shares(settings)
    assert found.std(ddof=1) < 0.1
    assert not is_off(found, SHARE)
    coldest, warmer, hottest = first_states(settings, seed=1)[:, :, 0]
    away = (np.abs(coldest) - 3.0) / SPREAD
    assert np.abs(away).max() < 5.0
    assert away.std() == pytest.approx(1.0, abs=0.3)
    assert len(np.unique(coldest)) > 60
    # At power 0.05 the hills are wider, at 0 there are none.
    assert 3.0 * coldest[coldest > 0].std() < warmer[warmer > 0].std() < 10.0 * SPREAD
    assert hottest.std() == pytest.approx(20.0 / math.sqrt(12), abs=1.0)


def test_without_weights_it_is_seen(monkeypatch):
    """The control: whoever is left where it is, is in the wrong mode too often."""

    def as_they_are(self, rows, increment, count):
        return rows[self.rng.integers(len(rows), size=count)]

    monkeypatch.setattr(Tempering, "_resampled", as_they_are)
    assert is_off(shares(WALK, range(5)), SHARE)


def test_states_have_the_values_that_belong_to_them():
    for rows in first_states(WALK, seed=2):
        for x, value, log_prior in rows[::20]:
            assert value == pytest.approx(log_two_modes(np.array([x])), rel=1e-12)
            assert log_prior == pytest.approx(-math.log(20.0))


@dataclass(frozen=True)
class SlowOnTheRight(Kernel):
    """A random walk whose moves take twenty times as long on the right."""

    def step(self, parts):
        return run_whole(self.stages(parts), parts.target)

    def stages(self, parts):
        evaluate, log_weight, accepts = parts.evaluate, parts.log_weight, parts.accepts
        value, log_prior = parts.value, parts.log_prior

        def begin(level, tuning, here, rng, there, memory, info):
            memory[0] = 20.0 if here[0] > 0.0 else 1.0

        def advance(level, tuning, here, rng, there, memory, info):
            memory[0] -= 1.0
            if memory[0] > 0.0:
                return GOES_ON
            there[0] = here[0] + 0.1 * rng.standard_normal()
            evaluate(there, info)
            log_ratio = log_weight(level, there[value]) + there[log_prior]
            log_ratio -= log_weight(level, here[value]) + here[log_prior]
            return 2 if accepts(log_ratio, rng.random()) else 1

        return Stages(1, begin, advance)


@pytest.mark.validation
def test_weights_are_right_however_long_moves_take(monkeypatch):
    """Each chain makes equally many, to the very move."""
    slow = {"ladder": aptmc.Ladder.powers([1.0]), "kernel": SlowOnTheRight()}

    stages, moved = [0], Tempering._moved

    def counted(self, lanes):
        stages[0] += 1
        after = moved(self, lanes)
        assert (after.wholes[Whole.DONE] == stages[0] * 2 * MOVES).all()
        assert (after.wholes[Whole.AGE] > 0).any()  # and of some the next one is in flight
        return after

    monkeypatch.setattr(Tempering, "_moved", counted)
    found = []
    for seed in SEEDS:
        stages[0] = 0
        run = sampled(PROBLEM, slow, budget=1, seed=seed, on=lanes(300))
        found.append((run._first_states[:, 0] > 0.0).mean())
        assert stages[0] > 3
    assert not is_off(np.array(found), SHARE)


@pytest.mark.validation
def test_few_lanes_and_very_many_are_right_too(monkeypatch):
    few = [first_states(WALK, seed, lanes(6))[0, :, 0] > 0.0 for seed in range(40)]
    assert not is_off(np.array([one.mean() for one in few]), SHARE)
    monkeypatch.setattr("aptmc.backends.lanes.descent.MOST_LANES", 150)
    monkeypatch.setattr("aptmc.backends.lanes.descent.FEWEST_LANES", 150)
    copied = first_states(WALK, 1)
    assert copied.shape == (3, 200, 3)
    assert np.array_equal(copied[:, :100], copied[:, 100:])


@njit
def log_needle(theta):
    return -0.5 * ((theta[0] - 1.0) / 1e-4) ** 2


@pytest.mark.validation
def test_a_needle_is_found_in_a_wide_prior():
    problem = aptmc.Tempered(log_needle, aptmc.Prior(x=stats.uniform(-1000, 2000)))
    needle = {"ladder": aptmc.Ladder.powers([1.0]), "kernel": aptmc.Slice(10.0)}
    begun = sampled(problem, needle, budget=1, on=lanes(300))._first_states[:, 0]
    assert np.abs(begun - 1.0).max() < 6e-4
    assert begun.std() == pytest.approx(1e-4, rel=0.3)


def test_draws_by_weight_come_as_often_as_weights_say():
    values = np.array([0.0, 1.0, -math.inf, 3.0])
    weights = _weights(values, 0.5)
    assert weights == pytest.approx(np.exp([0.0, 0.5, -math.inf, 1.5]) / weights_sum())
    rng = np.random.default_rng(1)
    counts = np.bincount(_drawn(rng, weights, 1000), minlength=4)
    assert np.abs(counts - 1000 * weights).max() <= 1.0
    assert counts[2] == 0


def weights_sum():
    return 1.0 + math.exp(0.5) + math.exp(1.5)


def test_a_stop_ends_the_way_down():
    settings = sampled(PROBLEM, WALK, budget=1, on=lanes(6)).settings
    session, control = build_session(settings, MemoryStore()), Control()
    control.stop()
    usage = settings.on.run(session, 100, control)
    assert usage.stopped is aptmc.StopReason.STOPPED
    assert not session.progress.has_states
