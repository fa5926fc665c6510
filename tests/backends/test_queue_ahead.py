"""A move that waits at a processor counts as in flight: with that, queueing ahead is exact.

In virtual time, two processors hold two moves each of eight chains; a step from the right half
takes ten times as long as one from the left.

Checks fail by chance once in a million times; seeds are fixed.
"""

from __future__ import annotations

import pytest

from tests.support.lossy_time import (
    TIME_BY_OUTCOME,
    TIME_BY_START,
    Rules,
    in_law,
    slow_share_errors,
    waiting_states,
)

TIMES = pytest.mark.parametrize(
    "step_time",
    [
        pytest.param(TIME_BY_START, id="start", marks=pytest.mark.validation),
        pytest.param(TIME_BY_OUTCOME, id="outcome"),
    ],
)


def waiting(step_time, *, ahead=1, queued_may_swap=False):
    """What waiting chains hold; some 14 moves of each chain between looks."""
    rules = Rules(ahead=ahead, queued_may_swap=queued_may_swap)
    return waiting_states(rules, step_time, looks=1500, gap=300.0, chains_per_rung=2, every=1.0)


@TIMES
def test_queued_moves_that_stay_out_of_exchanges_are_exact(step_time):
    held = waiting(step_time)
    assert in_law(held)
    assert abs(slow_share_errors(held)) < 5.0


@TIMES
def test_exchanging_a_chain_whose_move_is_queued_is_caught(step_time):
    """The planted error: what was ordered from the old state is written over the new one."""
    held = waiting(step_time, queued_may_swap=True)
    assert not in_law(held)
    assert slow_share_errors(held) > 7.0


def test_without_a_queue_there_is_nobody_to_exchange_by_mistake():
    """The error is in the queue: the same rules with nobody in it are exact."""
    assert in_law(waiting(TIME_BY_START, ahead=0, queued_may_swap=True))
