"""Chaos: a random worker is killed, again and again, and nothing comes of it but lost time.

Real time is never twice the same, so that no seed fixes these runs; a check fails by chance once in
a million times, by standard errors from batch means.
"""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest

from aptmc.backends.processes.local_workforce import LocalWorkforce
from aptmc.errors import RunFailed
from aptmc.record.event_log import COMPLETED, Events
from tests.support.chaos import (
    MOST_ERRORS,
    assert_unharmed,
    draws_of,
    errors_off,
    is_complete,
    replayed,
    run_in_chaos,
)
from tests.support.sessions import same

# --- tests --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chaos():
    return run_in_chaos(kills=20, moves=4000)


def test_twenty_kills_do_no_harm(chaos):
    assert_unharmed(*chaos, kills=20)


def test_a_missing_or_repeated_event_would_be_seen(chaos):
    run, _ = chaos
    events = run.events
    row = int(np.flatnonzero(events.kind == COMPLETED)[50])
    fewer = Events(*(np.delete(column, row) for column in events))
    more = Events(*(np.insert(column, row, column[row]) for column in events))
    for wrong in (fewer, more):
        assert not is_complete(wrong, run)
        with pytest.raises(RunFailed, match="cannot have happened"):
            replayed(run, wrong)


def test_another_posterior_would_be_seen(chaos):
    run, _ = chaos
    for rung, tolerance in ((0, 4.0), (1, 4.0), (2, 1.5)):
        assert errors_off(run, rung, tolerance) > MOST_ERRORS


def test_moves_drawn_afresh_would_be_seen(monkeypatch):
    """The planted error: what a dead worker was to do is ordered again with other keys."""
    hire_again = LocalWorkforce._hire_again

    def hire_again_with_other_keys(workforce, worker):
        worker.orders = deque(
            order._replace(key=order.key._replace(number=order.key.number + 1_000_000))
            for order in worker.orders
        )
        hire_again(workforce, worker)

    monkeypatch.setattr(LocalWorkforce, "_hire_again", hire_again_with_other_keys)
    run, _ = run_in_chaos(kills=4, moves=100)
    assert is_complete(run.events, run)
    assert not same(replayed(run, run.events), draws_of(run))


@pytest.mark.validation
def test_hundreds_of_kills_do_no_harm(validation_scale):
    kills, moves = int(500 * validation_scale), int(30_000 * validation_scale)
    if kills <= 20:
        pytest.skip("as many as above")
    assert_unharmed(*run_in_chaos(kills, moves), kills=kills)
