"""The event log: rows in, rows out, nothing lost when the buffer is full."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import aptmc
from aptmc.clock import ManualClock
from aptmc.record.event_log import COMPLETED, TAKEN, empty_log, events_in, log_event
from aptmc.record.record import empty_record
from aptmc.store import MemoryStore
from tests.support import targets
from tests.support.sessions import all_draws, make_session, same

SCHEDULE = aptmc.Anytime(every=3.0)


def log_of(*rows, room=10):
    log = empty_log(room)
    for row in rows:
        log_event(log, *row)
    return log


ROWS = [
    (TAKEN, 0, 0, 0.0, math.nan, math.nan),
    (TAKEN, 2, 1, 0.5, math.nan, math.nan),
    (COMPLETED, 2, 1, 1.5, 0.5, 1.25),
]


def test_events_come_out_as_they_went_in():
    events = events_in(log_of(*ROWS))
    assert events.kind.tolist() == [TAKEN, TAKEN, COMPLETED]
    assert events.chain.tolist() == [0, 2, 2]
    assert events.processor.tolist() == [0, 1, 1]
    assert events.time.tolist() == [0.0, 0.5, 1.5]
    assert events.began[2] == 0.5
    assert events.ended[2] == 1.25
    assert np.isnan(events.began[:2]).all()


def test_what_was_read_does_not_change_when_the_buffer_is_used_again():
    log = log_of(*ROWS)
    events = events_in(log)
    log.filled[0] = 0
    log_event(log, COMPLETED, 9, 9, 9.0, 9.0, 9.0)
    assert events.chain.tolist() == [0, 2, 2]
    assert events.time.tolist() == [0.0, 0.5, 1.5]


def test_a_log_without_rows_keeps_nothing():
    assert events_in(log_of(*ROWS, room=0)).kind.size == 0


def test_completions_can_be_told_from_the_rest():
    completions = events_in(log_of(*ROWS)).completions
    assert completions.chain.tolist() == [2]
    assert completions.ended.tolist() == [1.25]


def test_a_store_keeps_events_in_order():
    store = MemoryStore()
    record = empty_record(np.zeros(1, np.int64), 1, 3, np.ones(1, np.bool_), rows=1)
    for row in ROWS:
        store.append(record, log_of(row))
    store.append(record, log_of())
    assert store.events().time.tolist() == [0.0, 0.5, 1.5]
    assert store.events().chain.tolist() == [0, 2, 2]
    assert MemoryStore().events().kind.size == 0


def test_a_copy_of_a_store_does_not_see_later_events():
    store = MemoryStore()
    record = empty_record(np.zeros(1, np.int64), 1, 3, np.ones(1, np.bool_), rows=1)
    store.append(record, log_of(ROWS[0]))
    copy = store.copy()
    store.append(record, log_of(ROWS[1]))
    assert copy.events().time.tolist() == [0.0]
    assert store.events().time.tolist() == [0.0, 0.5]


@pytest.mark.parametrize(
    "backend",
    [lambda: aptmc.VirtualTime(2, targets.hold), lambda: aptmc.InProcess(ManualClock(1.0))],
    ids=["virtual time", "this process"],
)
def test_a_small_buffer_loses_nothing(backend):
    """It is emptied in time, and that changes no draw."""
    found = []
    for room in (9, 100_000):
        session, store = make_session(SCHEDULE, processors=backend().processors)
        session = replace(session, log=empty_log(room))
        backend().run(session, 200.0)
        found.append((all_draws(session, store), store.events()))
    (draws, events), (expected_draws, expected_events) = found
    assert events.kind.size > 9
    assert same(draws, expected_draws)
    for column, expected in zip(events, expected_events, strict=True):
        assert np.array_equal(column, expected, equal_nan=True)


def sample(**changes):
    settings = {
        "budget": 300,
        "ladder": aptmc.Ladder.powers(6),
        "kernel": aptmc.RandomWalk(1.0),
        "schedule": SCHEDULE,
        "on": aptmc.VirtualTime(3, targets.hold),
        "seed": 1,
    }
    return aptmc.sample(targets.problem(), **(settings | changes))


def test_virtual_time_logs_on_request_and_real_time_unless_told_not_to():
    assert sample().events.kind.size == 0
    assert sample(log_events=True).events.kind.size > 0
    assert sample(on=aptmc.InProcess(ManualClock(1.0))).events.kind.size > 0
    assert sample(on=aptmc.InProcess(ManualClock(1.0)), log_events=False).events.kind.size == 0


def test_the_log_shows_what_every_processor_did():
    run = sample(log_events=True)
    events, ends = run.events, run.events.completions
    assert (events.kind == TAKEN).sum() == run.completions + len(run.in_flight)
    assert ends.kind.size == run.completions
    for processor in range(3):
        mine = ends.processor == processor
        began, ended = ends.began[mine], ends.ended[mine]
        # One move at a time, one after the other, and never a pause.
        assert began[0] == 0.0
        assert (began[1:] == ended[:-1]).all()
    assert (ends.time == ends.ended).all()
    hold_times = np.bincount(ends.chain, ends.ended - ends.began) / np.bincount(ends.chain)
    assert run.hold_times == pytest.approx(hold_times)
