"""The wall-clock backend, on a clock that tests can read."""

from __future__ import annotations

import aptmc
from aptmc.backends import InProcess, VirtualTime
from aptmc.clock import ManualClock
from tests.support.problems import one
from tests.support.sessions import all_draws, make_session, same


def test_it_equals_virtual_time_with_constant_hold_times():
    for schedule in (
        aptmc.Anytime(every=2.5),
        aptmc.Synchronous(moves=2),
        aptmc.Uncorrected(every=2.5),
    ):
        virtual, virtual_store = make_session(schedule)
        expected = VirtualTime(1, one).run(virtual, 500.0)
        real, store = make_session(schedule)
        usage = InProcess(clock=ManualClock(step=1.0)).run(real, 500.0)
        assert same(all_draws(real, store), all_draws(virtual, virtual_store))
        assert usage.elapsed == expected.elapsed == 500.0
        assert usage.busy == expected.busy


def test_a_move_that_outlasts_the_budget_does_not_count():
    session, _ = make_session(aptmc.Anytime(every=100.0))
    usage = InProcess(clock=ManualClock(step=3.0)).run(session, 10.0)
    assert session.machine.completed.sum() == 3
    assert usage.elapsed == 10.0
    assert usage.stopped is aptmc.StopReason.BUDGET_SPENT


def test_sampling_by_the_wall_clock_spends_the_budget():
    run = aptmc.sample(
        aptmc.Power(lambda theta: -0.5 * theta[0] ** 2, {"x": 0.0}),
        budget="2 s",  # of which start-up takes the most on a busy machine
        ladder=aptmc.Ladder.powers(4),
        kernel=aptmc.RandomWalk(1.0),
        schedule=aptmc.Anytime(every="1 ms"),
        on=InProcess(),
        seed=1,
    )
    assert run.stopped is aptmc.StopReason.BUDGET_SPENT
    assert 0.0 < run.elapsed <= 2.0
    assert run.completions > 0
