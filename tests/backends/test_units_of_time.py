"""Local steps are grouped by a fixed count: whoever groups them by elapsed time is biased.

In virtual time, a step from the right half takes ten times as long as one from the left, on
average. What is under way when the time is up is more often slow.

Checks fail by chance once in a million times; seeds are fixed.
"""

from __future__ import annotations

import pytest

from tests.support.lossy_time import (
    BY_COUNT,
    BY_TIME,
    BY_TIME_AT_ONCE,
    TIME_BY_OUTCOME,
    TIME_BY_START,
    Rules,
    in_law,
    slow_share_errors,
    waiting_states,
)


def waiting(enough, *, steps=1, unit=0.0, step_time=TIME_BY_START):
    """What waiting chains hold if steps are grouped; 13 or more moves of each between looks.

    The gap is no multiple of the unit of time: looks come at any moment of a move.
    """
    rules = Rules(enough=enough, steps=steps, unit=unit)
    return waiting_states(rules, step_time, looks=1000, gap=597.3)


@pytest.mark.parametrize(
    ("step_time", "steps"),
    [
        pytest.param(TIME_BY_START, 4, id="start-4"),
        pytest.param(TIME_BY_OUTCOME, 2, id="outcome-2"),
        pytest.param(TIME_BY_START, 2, id="start-2", marks=pytest.mark.validation),
        pytest.param(TIME_BY_OUTCOME, 4, id="outcome-4", marks=pytest.mark.validation),
    ],
)
def test_a_fixed_count_of_steps_is_exact(steps, step_time):
    held = waiting(BY_COUNT, steps=steps, step_time=step_time)
    assert in_law(held)
    assert abs(slow_share_errors(held)) < 5.0


@pytest.mark.parametrize(
    "enough", [BY_TIME, BY_TIME_AT_ONCE], ids=["after this step", "without this step"]
)
def test_steps_until_a_time_has_passed_favour_what_is_slow(enough):
    """About four steps, like above; the step under way is finished, or it is left."""
    held = waiting(enough, unit=20.0)
    assert not in_law(held)
    assert slow_share_errors(held) > 14.0
