"""Replay: a log of events is all that a run on many processors needs to be computed again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import aptmc
from aptmc.clock import ManualClock
from aptmc.errors import RunFailed
from aptmc.record.event_log import TAKEN
from aptmc.session.event_replay import replay
from tests.backends.contract import (
    damaged,
    draws_until,
    make_session,
    replayed,
    run_for,
    run_until,
    same_when_replayed,
)
from tests.support import simulators
from tests.support.sessions import same
from tests.support.stores import kept

EVERY = aptmc.Anytime(every="1 ms")


def virtual(schedule=None, pools=None, processors=3):
    """A run in virtual time, with its log."""
    session, store = make_session(schedule or aptmc.Anytime(every=2.3), processors, pools=pools)
    aptmc.VirtualTime(processors, lambda theta, rung, rng: rng.exponential(1.0)).run(session, 50.0)
    session.flush()
    return session, store


@pytest.mark.parametrize(
    ("schedule", "pools"),
    [
        (aptmc.Anytime(every=2.3), aptmc.Shared()),
        (aptmc.Anytime(every=2.3, within=aptmc.OneRandomPair()), aptmc.Partitioned()),
        (aptmc.Synchronous(moves=2), aptmc.Shared()),
        (aptmc.Uncorrected(every=2.3), aptmc.Shared()),
    ],
    ids=["anytime", "within pools", "synchronous", "uncorrected"],
)
def test_every_schedule_can_be_replayed(schedule, pools):
    session, store = virtual(schedule, pools)
    again = replayed(store.events(), 50.0, session.tuning, schedule, 3, pools=pools)
    assert same(again, draws_until(store, session, np.inf))


def test_a_replay_leaves_the_session_where_the_run_was():
    session, store = virtual()
    again, _ = make_session(aptmc.Anytime(every=2.3), 3)
    replay(again, store.events(), 50.0)
    for name in ("states", "replica", "waiting", "moves", "completed", "passed"):
        assert np.array_equal(getattr(again.machine, name), getattr(session.machine, name)), name
    assert again.progress.elapsed == session.progress.elapsed == 50.0
    assert set(again.machine.in_flight) == set(np.flatnonzero(~session.machine.waiting))


def test_a_replay_can_be_gone_on_with():
    """As if the run had never been left: what was in flight is computed first."""
    whole, whole_store = make_session(aptmc.Anytime(every=2.3), 1)
    aptmc.InProcess(ManualClock(1.0)).run(whole, 60.5)
    whole.flush()
    events = whole_store.events()
    again, store = make_session(aptmc.Anytime(every=2.3), 1)
    replay(again, events, 60.5)
    for session in (again, whole):
        aptmc.InProcess(ManualClock(1.0)).run(session, 40.0)
        session.flush()
    assert again.machine.completed.sum() == 100
    assert same(draws_until(store, again, np.inf), draws_until(whole_store, whole, np.inf))


@pytest.mark.parametrize("damage", ["other time", "other seed", "other tuning"])
def test_other_settings_give_other_draws(damage):
    """The comparison that all these tests make can fail."""
    session, store = virtual()
    events, tuning = store.events(), session.tuning.copy()
    if damage == "other time":
        events = damaged(events, time=events.time * 1.5)
    if damage == "other tuning":
        tuning[:, 0] = 2.0
    again, again_store = make_session(aptmc.Anytime(every=2.3), 3)
    again.tuning[:] = tuning
    if damage == "other seed":
        again = replace(again, seed=2)
    replay(again, events, 50.0)
    again.flush()
    assert not same(draws_until(again_store, again, np.inf), draws_until(store, session, np.inf))


def test_a_log_of_another_run_is_refused():
    _, store = virtual(processors=3)
    session, _ = make_session(aptmc.Anytime(every=2.3), 3, ladder=aptmc.Ladder.powers(7))
    with pytest.raises(RunFailed, match="cannot have happened"):
        replay(session, store.events(), 50.0)


def test_a_run_with_cheap_moves_in_groups_can_be_replayed():
    run = run_until(on=aptmc.Processes(2))
    assert same_when_replayed(run)


def test_an_early_end_is_part_of_the_replay():
    """The exchanges of all deadlines up to the end have taken place, and none after it."""
    schedule = aptmc.Anytime(every=2e-5)
    session, store = make_session(schedule, 1)
    run_for(aptmc.Processes(1, group=1, ahead=0), session, moves=20)
    again = replayed(store.events(), session.progress.elapsed, session.tuning, schedule, 1)
    assert same(again, draws_until(store, session, np.inf))


def test_a_failure_is_a_known_end_too():
    run = _failed_run()
    problem = simulators.problem(simulators.raises_far_out)
    session, store = make_session(
        run.settings.schedule, 1, problem=problem, settling=run.settings.settling
    )
    replay(session, run.events, run.elapsed)
    session.flush()
    found = draws_until(store, session, np.inf)
    assert [len(rows) for rows in found] == [draws.time.size for draws in kept(run)]


def _failed_run():
    with pytest.raises(aptmc.MoveFailed) as caught:
        run_until(
            10**9,
            simulators.problem(simulators.raises_far_out),
            schedule=aptmc.Anytime(every=2e-5),
            on=aptmc.Processes(1, group=1, ahead=0),
        )
    return caught.value.run


# --- sessions that are left and gone on with ------------------------------------------------------


def most_in_flight(session, events):
    """By pool, how many of its chains were ever in flight together."""
    now = np.zeros(session.machine.completed.size, int)
    most = now.copy()
    for kind, chain in zip(events.kind.tolist(), events.chain.tolist(), strict=True):
        now[session.machine.pool[chain]] += 1 if kind == TAKEN else -1
        most = np.maximum(most, now)
    return most.tolist()


@pytest.mark.parametrize("schedule", [EVERY, aptmc.Synchronous(moves=2)], ids=["any", "sync"])
def test_moves_that_are_issued_again_go_to_the_processor_of_their_pool(schedule):
    session, store = make_session(schedule, 2, pools=aptmc.Partitioned())
    session.begin()
    # When the session was left, the second pool's chain had been longer in flight.
    for processor in (1, 0):
        session.take_next(processor, processor, 0.0)
    run_for(aptmc.Processes(2, group=1, ahead=0), session)
    events = store.events()
    assert most_in_flight(session, events) == [1, 1]
    assert (session.machine.pool[events.chain] == events.processor).all()


def test_a_move_is_the_same_number_of_steps_when_it_is_issued_again():
    session, store = make_session(EVERY, 1)
    backend = aptmc.Processes(1, group=3, ahead=0)
    run_for(backend, session, moves=20)
    assert (session.tuning[:, 0] == 3).all()
    run_for(backend, session, moves=20)
    assert (session.tuning[:, 0] == 3).all()
    until = float(store.events().time[-1])
    again = replayed(store.events(), until, session.tuning, EVERY, 1)
    assert same(again, draws_until(store, session, until))
