"""Draws of the same state are one draw, wherever exchanges carry it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from aptmc.diagnostics import summarise
from aptmc.diagnostics.error_of_mean import Timeline, spread_of_mean
from aptmc.diagnostics.states import states_in

CHAINS, STAYS, LENGTH = 8, 6, 200
RUNS = 200
# Of a root mean square over so many runs, normal: one false alarm in a thousand.
ROOM = 3.3 / math.sqrt(2 * RUNS)


def long_stays(rng):
    """Chains whose states stay long, and change places all the time."""
    states = np.repeat(rng.normal(size=(CHAINS, STAYS)), LENGTH, axis=1)
    return list(rng.permuted(states, axis=0))


def test_states_are_numbered_and_what_repeats_by_itself_is_not():
    chains = [np.array([0.1, 0.1, 0.7]), np.array([0.7, 0.2])]
    assert states_in([chains]).tolist() == [0, 0, 2, 2, 1]
    assert states_in([[np.arange(3.0)], [np.zeros(3)]]) is None  # whole numbers
    assert states_in([[np.array([0.5, 1.5])]]) is None  # all different
    missing = [np.array([np.nan, np.nan, 1.5])]
    assert states_in([missing, [np.array([0.5, 0.5, 0.5])]]).max() == 1
    assert states_in([]) is None


def test_states_that_stay_long_count_once_each():
    """Without that, what changes places looks fresh, and sums over time of few stays are noise."""
    rng = np.random.default_rng(1)
    known, unknown = [], []
    for _ in range(RUNS):
        chains = long_stays(rng)
        mean = np.concatenate(chains).mean()
        deviations = [chain - mean for chain in chains]
        lengths = [chain.size for chain in chains]
        for found, states in ((known, states_in([chains])), (unknown, None)):
            timeline = Timeline(lengths, states=states)
            found.append(mean / math.sqrt(spread_of_mean(deviations, timeline).variance))
    reported, planted = (math.sqrt(np.mean(np.square(found))) for found in (known, unknown))
    assert 0.85 - ROOM < reported < 1.15 + ROOM
    assert planted > 1.15 + ROOM


@pytest.mark.parametrize(("stays", "is_reliable"), [(5, False), (200, True)])
def test_a_run_says_that_a_state_stayed_for_much_of_it(stays, is_reliable):
    rng = np.random.default_rng(2)
    chains = [np.repeat(rng.normal(size=stays), 8000 // stays)]
    chains += [rng.normal(size=8000) for _ in range(20)]
    times = [np.arange(8000.0)] * 21
    summary = summarise({"x": chains}, 1.0, times=times)
    assert summary["x"].reliable is is_reliable
    assert ("a state stayed" in repr(summary)) is not is_reliable


@pytest.mark.parametrize(("longest", "counts"), [(600, True), (50, False)])
def test_what_was_held_tells_of_longer_stays_where_one_was_long(longest, counts):
    """Elsewhere errors are as large as what was seen makes them."""
    rng = np.random.default_rng(3)
    lengths = np.minimum(np.ceil(rng.pareto(1.0, 400)), 50).astype(int)
    lengths[200] = longest
    held = np.repeat(rng.normal(size=lengths.size), lengths)
    states = np.repeat(np.arange(lengths.size), lengths)
    timeline = Timeline([held.size], states=states)
    assert timeline.has_long_stays is counts
    deviations = held - held.mean()
    seen = float((np.bincount(states, deviations) ** 2).sum()) / held.size**2
    assert (timeline.least_variance(deviations) > 1.02 * seen) is counts
