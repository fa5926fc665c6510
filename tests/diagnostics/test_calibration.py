"""Errors that are reported are as large as errors are, whatever chains hand to each other."""

from __future__ import annotations

import numpy as np
import pytest

from aptmc.diagnostics import effective_sample_size, summarise
from aptmc.diagnostics.error_of_mean import Timeline, effective_draws
from experiments.reported_errors.calibration import calibration
from experiments.reported_errors.settings import SETTINGS

LEAST, MOST = 0.9, 1.15
# Standard errors of a root mean square by which it may miss: one false alarm in a thousand.
MISSES = 3.3
# Several chains on the coldest rung, which share ancestors.
SHARED = ["two modes, 4 chains", "normal, 4 chains", "simulator, 4 chains"]
# The others come in the validation; simulators take as long as all of them.
AT_FIRST = SHARED[:1]
FEW = 70  # runs in which the planted error, autocorrelations by chain, stands out


@pytest.mark.parametrize("name", AT_FIRST)
def test_reported_errors_are_right_and_by_chain_they_are_not(name):
    found = calibration(SETTINGS[name], FEW)
    room = MISSES * found.error
    assert LEAST - room < found.reported < MOST + room
    assert found.by_chain > MOST + room


@pytest.mark.validation
@pytest.mark.parametrize("name", SETTINGS)
def test_reported_errors_are_right_in_every_setting(name, validation_scale):
    runs = max(int(1000 * validation_scale), 20)
    found = calibration(SETTINGS[name], runs)
    room = MISSES * found.error
    assert LEAST - room < found.reported < MOST + room
    if name in SHARED and runs >= 100:
        assert found.by_chain > MOST + room


def path(rng, size, keep):
    """An autoregressive path, whose autocorrelation time is (1 + keep) / (1 - keep)."""
    values = np.empty(size)
    values[0] = rng.normal()
    noise = rng.normal(size=size) * np.sqrt(1.0 - keep**2)
    for place in range(1, size):
        values[place] = keep * values[place - 1] + noise[place]
    return values


def test_chains_that_are_copies_of_each_other_are_worth_one():
    one = path(np.random.default_rng(1), 20_000, 0.9)
    times = np.arange(one.size, dtype=float)
    alone = summarise({"x": [one]}, 1.0, times=[times])["x"]
    four = summarise({"x": [one] * 4}, 1.0, times=[times] * 4)["x"]
    assert four.ess == pytest.approx(alone.ess, rel=0.1)
    assert alone.ess == pytest.approx(one.size / 19, rel=0.3)
    assert effective_sample_size([one] * 4) > 3.9 * effective_sample_size(one)
    assert four.ess_bulk < 1.5 * alone.ess_bulk
    assert four.ess_tail < 1.5 * alone.ess_tail


def test_a_state_that_two_chains_hand_to_and_fro_is_one_state():
    """Each chain alone looks as if it drew anew whenever the two states change places."""
    rng = np.random.default_rng(1)
    slow = [np.repeat(rng.normal(size=100), 100) for _ in range(2)]
    swapped = rng.random(10_000) < 0.5
    chains = [np.where(swapped, slow[0], slow[1]), np.where(swapped, slow[1], slow[0])]
    times = [np.arange(10_000.0)] * 2
    row = summarise({"x": chains}, 1.0, times=times)["x"]
    assert 100 < row.ess < 400  # 200 are independent
    assert row.iat < 70


def test_chains_that_know_nothing_of_each_other_add_up():
    rng = np.random.default_rng(1)
    chains = [path(rng, 400, 0.8) for _ in range(200)]
    timeline = Timeline([400] * 200, apart=True)
    assert effective_draws(chains, timeline) == pytest.approx(80_000 / 9, rel=0.15)


def test_chains_of_a_family_add_nothing_if_they_are_the_same():
    rng = np.random.default_rng(1)
    chains = 2 * [path(rng, 400, 0.8) for _ in range(100)]
    found = effective_draws(chains, Timeline([400] * 200, apart=2))
    assert found == pytest.approx(40_000 / 9, rel=0.15)
    # The control: in families of others they would seem to be worth twice as much.
    assert effective_draws(chains, Timeline([400] * 200, apart=1)) > 1.7 * found


def test_chains_that_stand_still_at_different_places_are_worth_one_each():
    chains = [np.full(500, -1.0), np.full(500, 1.0)]
    assert effective_draws(chains, Timeline([500, 500])) < 3.0


def test_all_draws_count_in_chains_of_different_lengths():
    rng = np.random.default_rng(1)
    chains = [rng.normal(size=8000), rng.normal(size=100)]
    times = [np.linspace(0.0, 1.0, 8000), np.linspace(0.0, 1.0, 100)]
    row = summarise({"x": chains}, 1.0, times=times)["x"]
    assert row.ess_bulk > 5000
    assert row.ess == pytest.approx(8100, rel=0.35)
