"""First states: chains climb down from the prior, and come out near the target."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

import aptmc
from aptmc.errors import InputError
from aptmc.session.build import build_session
from aptmc.session.control import Control
from aptmc.store import MemoryStore
from tests.lanes.problems import TWO_MODES, lanes, sampled, two_modes

LANES = 1200


@pytest.fixture(scope="module")
def states():
    run = sampled(two_modes(), TWO_MODES, budget=100, on=lanes(LANES))
    return run._first_states.reshape(3, -1, 3)


def test_each_state_is_within_the_tolerance_of_its_rung(states):
    assert states.shape == (3, 2 * LANES // 3, 3)
    for rung, tolerance in enumerate(TWO_MODES["ladder"].levels):
        assert (states[rung, :, 1] <= tolerance).all()
    assert (states[2, :, 1] > 1.0).any()


def test_states_differ_and_both_modes_are_there(states):
    coldest = states[0, :, 0]
    assert len(np.unique(coldest)) > 400
    # Which shares the modes have is for the run to find out, not for its beginning.
    assert 0.3 < np.mean(coldest > 0.0) < 0.7
    assert np.abs(np.abs(coldest).mean() - 2.0) < 0.2


def test_some_of_very_many_lanes_climb_down_for_all(monkeypatch, states):
    monkeypatch.setattr("aptmc.backends.lanes.descent.MOST_LANES", LANES // 4)
    monkeypatch.setattr("aptmc.backends.lanes.descent.FEWEST_LANES", LANES // 4)
    fewer = sampled(two_modes(), TWO_MODES, budget=100, on=lanes(LANES))
    copied = fewer._first_states.reshape(3, -1, 3)
    assert copied.shape == states.shape
    climbed = 2 * LANES // 3 // 4
    for rung, tolerance in enumerate(TWO_MODES["ladder"].levels):
        assert (copied[rung, :, 1] <= tolerance).all()
        assert np.array_equal(copied[rung, :climbed], copied[rung, climbed : 2 * climbed])
    # Copies go ways of their own at once.
    moved = np.stack(fewer.series("x"))[:, -1]
    assert len(np.unique(moved)) > 1.5 * len(np.unique(copied[0, :, 0]))


@njit
def step_far_away(theta, rng, state, tolerance):
    return 2.0 + abs(theta[0])


@pytest.mark.validation
def test_a_tolerance_out_of_reach_is_named():
    problem = two_modes()
    far = aptmc.Abc.stepwise(problem.steps.begin, step_far_away, problem.prior, state=1)
    with pytest.raises(InputError, match=r"no way was found below .* seen were 2"):
        sampled(far, TWO_MODES, budget=100, on=lanes(6))


def test_a_stop_ends_the_search():
    settings = sampled(two_modes(), TWO_MODES, budget=100, on=lanes(6)).settings
    session = build_session(settings, MemoryStore())
    control = Control()
    control.stop()
    usage = settings.on.run(session, 100, control)
    assert usage.stopped is aptmc.StopReason.STOPPED
    assert usage.elapsed == 0.0
    assert not session.progress.has_states
