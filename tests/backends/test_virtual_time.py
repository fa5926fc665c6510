"""Virtual time: exact, repeatable, the same at both speeds."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

import aptmc
from aptmc.backends import VirtualTime
from aptmc.record.record import NOBODY
from tests.support import targets
from tests.support.sessions import all_draws, make_session, same

RUNG_SIX = aptmc.Ladder.powers(6)
SETTINGS = [
    (aptmc.Anytime(every=3.0), aptmc.Shared(), 1),
    (aptmc.Anytime(every=3.0), aptmc.Shared(2), 4),
    (aptmc.Anytime(every=3.0, within=aptmc.OneRandomPair()), aptmc.Partitioned(), 3),
    (aptmc.Anytime(every=3.0), aptmc.Paired(), 6),
    (aptmc.Synchronous(moves=2), aptmc.Shared(), 4),
    (aptmc.Synchronous(within=aptmc.Alternating()), aptmc.Partitioned(), 2),
    (aptmc.Uncorrected(every=3.0), aptmc.Paired(), 6),
]


def virtual_draws(schedule, pools, processors, *, hold=targets.hold, seed=1, **options):
    session, store = make_session(
        schedule, ladder=RUNG_SIX, pools=pools, processors=processors, seed=seed, **options
    )
    usage = VirtualTime(processors, hold).run(session, 400.0)
    return all_draws(session, store), usage, session


@pytest.mark.parametrize(("schedule", "pools", "processors"), SETTINGS)
def test_the_same_seed_gives_the_same_draws(schedule, pools, processors):
    first, _, _ = virtual_draws(schedule, pools, processors)
    again, _, _ = virtual_draws(schedule, pools, processors)
    other, _, _ = virtual_draws(schedule, pools, processors, seed=2)
    assert same(first, again)
    assert not same(first, other)


@pytest.mark.parametrize(("schedule", "pools", "processors"), SETTINGS)
def test_compiled_and_plain_functions_give_the_same_draws(schedule, pools, processors):
    plain = aptmc.Power(targets.log_density.py_func, start=lambda rng: rng.standard_normal())
    compiled, usage, _ = virtual_draws(schedule, pools, processors)
    interpreted, plain_usage, _ = virtual_draws(
        schedule, pools, processors, hold=targets.hold.py_func, problem=plain
    )
    assert same(compiled, interpreted)
    assert (usage.busy == plain_usage.busy).all()


@pytest.mark.parametrize(
    ("schedule", "pools", "processors"),
    [setting for setting in SETTINGS if not isinstance(setting[0], aptmc.Uncorrected)],
)
def test_a_run_is_determined_by_the_order_and_times_of_completions(schedule, pools, processors):
    """Replay: feed the coordinator the completions of a virtual run, one by one, from Python."""
    expected, _, session = virtual_draws(schedule, pools, processors)
    completions = sorted(
        (time, number, chain)
        for chain, draws in enumerate(expected)
        for number, (time, exchanged) in enumerate(draws[:, 3:5])
        if not exchanged
    )
    session, store = make_session(schedule, ladder=RUNG_SIX, pools=pools, processors=processors)
    outcomes = {}

    def start_all():
        for pool in session.served:
            in_pool = sum(session.machine.pool[chain] == pool for chain in outcomes)
            if in_pool < np.count_nonzero(session.served == pool):
                chain = session.take_next(pool)
                if chain != NOBODY:
                    outcomes[chain] = session.compute(chain)

    for _ in range(processors):
        start_all()
    for time, _, chain in completions:
        session.complete(chain, outcomes.pop(chain), time)
        for _ in range(processors):
            start_all()
    session.catch_up(400.0)
    assert same(all_draws(session, store), expected)


def test_no_processor_is_ever_idle_under_the_anytime_schedule():
    for schedule, pools, processors in SETTINGS[:4]:
        _, usage, _ = virtual_draws(schedule, pools, processors)
        assert usage.busy == pytest.approx(np.full(processors, 400.0))


def test_processors_are_idle_behind_the_slowest_under_the_synchronous_one():
    _, usage, session = virtual_draws(aptmc.Synchronous(), aptmc.Shared(), 4)
    assert (usage.busy < 300.0).all()
    assert session.machine.passed[0] > 5


def test_work_counted_by_the_kernel_is_a_hold_time():
    kernel = aptmc.RandomWalk(1.0, steps=5)
    _, usage, session = virtual_draws(
        aptmc.Anytime(every=3.0), aptmc.Shared(), 2, hold=None, kernel=kernel
    )
    assert session.machine.completed.sum() == 2 * 400 // 5
    assert usage.busy == pytest.approx([400.0, 400.0])


def test_processors_may_differ_in_speed():
    session, _ = make_session(aptmc.Anytime(every=3.0), ladder=RUNG_SIX, processors=2)
    VirtualTime(2, njit(lambda theta, rung, rng: 1.0), speed=[1.0, 4.0]).run(session, 100.0)
    assert session.machine.completed.sum() == 500


def test_zero_hold_times_are_allowed_as_long_as_time_goes_on():
    @njit
    def hold(theta, rung, rng):
        return 0.0 if rng.random() < 0.5 else 1.0

    _, _, session = virtual_draws(aptmc.Anytime(every=3.0), aptmc.Shared(), 2, hold=hold)
    assert 1200 < session.machine.completed.sum() < 2000


def test_an_interruption_keeps_what_there_is():
    calls = iter(range(1000))

    def hold(theta, rung, rng):
        if next(calls) == 500:
            raise KeyboardInterrupt
        return 1.0

    run = aptmc.sample(
        targets.problem(),
        budget=1e6,
        ladder=RUNG_SIX,
        kernel=aptmc.RandomWalk(1.0),
        schedule=aptmc.Anytime(every=5),
        on=VirtualTime(2, hold),
        seed=8,
    )
    assert run.stopped is aptmc.StopReason.INTERRUPTED
    assert 0 < run.elapsed < 1e6
    assert run.series("x")[0].size > 0
