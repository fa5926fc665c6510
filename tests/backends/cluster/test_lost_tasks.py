"""Tasks that are lost with their executor, again and again, and nothing comes of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import aptmc
from aptmc.backends.cluster.remote_workforce import RemoteWorkforce
from aptmc.backends.cluster.task import DONE, read_answer
from aptmc.backends.cluster.tickets import place_of
from aptmc.backends.workers.wire import FAILED
from aptmc.errors import StopReason
from aptmc.session.event_replay import replay
from tests.backends.contract import begin, eventually, make_session, run_until
from tests.support import simulators
from tests.support.chaos import (
    assert_unharmed,
    draws_of,
    is_complete,
    replayed,
    run_in_chaos,
)
from tests.support.flaky_executor import FlakyExecutor
from tests.support.sessions import same


class Flaky:
    """Makes executors that live for a random number of tasks."""

    def __init__(self, lifetime=60):
        self.rng = np.random.default_rng(1)
        self.lifetime = lifetime
        self.made = []

    def __call__(self):
        # Longer than it takes to find out which of four moves is to blame, if any.
        lifetime = 10 + int(self.rng.integers(2 * self.lifetime))
        self.made.append(FlakyExecutor(2, lifetime))
        return self.made[-1]


def run_with_losses(moves):
    make = Flaky()
    on = aptmc.Futures(make, 2, group=5, ahead=1)
    run, _ = run_in_chaos(kills=0, moves=moves, on=on)
    assert all(executor.is_shut_down for executor in make.made)
    return run, len(make.made)


def test_losses_do_no_harm():
    run, executors = run_with_losses(6000)
    assert executors > 50
    assert_unharmed(run, set(), kills=0)


def test_moves_drawn_afresh_would_be_seen(monkeypatch):
    """The planted error: what was lost is ordered again with other keys."""
    lose = RemoteWorkforce._lose

    def lose_with_other_keys(workforce, home):
        for number, ticket in list(workforce._tickets.under_way.items()):
            order, orders = ticket.order, ticket.worker.orders
            if order is not None:
                key = order.key._replace(number=order.key.number + 1_000_000)
                other = orders[place_of(orders, order)] = order._replace(key=key)
                workforce._tickets.under_way[number] = ticket._replace(order=other)
        lose(workforce, home)

    monkeypatch.setattr(RemoteWorkforce, "_lose", lose_with_other_keys)
    run, executors = run_with_losses(400)
    assert executors > 2
    assert is_complete(run.events, run)
    assert not same(replayed(run, run.events), draws_of(run))


def test_an_executor_that_was_given_is_not_replaced():
    executor = FlakyExecutor(2, lifetime=100)
    with pytest.raises(aptmc.RunFailed, match="give a function that makes the executor") as caught:
        run_until(1000, on=aptmc.Futures(executor, 2, group=1))
    run = caught.value.run
    assert run.stopped is StopReason.FAILED
    assert 0 < run.completions < 100
    assert not executor.is_shut_down


def says_that_it_failed(answer):
    """Whether a move has failed: here that stands for the death of its process."""
    kind, _, rest = read_answer(answer)
    return kind == DONE and int.from_bytes(rest[:8], "little") == FAILED


def test_the_move_that_breaks_the_executor_is_found():
    """Though others were lost with it, each as often."""
    made = []

    def make():
        made.append(FlakyExecutor(2, 10**6, says_that_it_failed))
        return made[-1]

    problem = simulators.problem(simulators.raises_far_out)
    with pytest.raises(aptmc.WorkerDied, match="ended each of 3 times") as caught:
        run_until(10**6, problem, on=aptmc.Futures(make, 2, group=1, ahead=1))
    failure = caught.value
    run, key = failure.run, failure.key
    assert key in run.in_flight
    # Its third time it was alone, and two others may have had to prove their innocence before.
    assert len(made) == 4
    session, _ = make_session(
        run.settings.schedule, 2, problem=problem, settling=run.settings.settling
    )
    session.tuning[:] = run._tuning
    replay(session, run.events, float(run.events.time[-1]))
    with pytest.raises(aptmc.MoveFailed, match="too far out"):
        session.compute(key.chain)


def test_ctrl_c_in_a_worker_is_no_failure(tmp_path):
    """In a terminal it reaches all processes; the one that coordinates decides what it means."""
    interrupts = simulators.Counted(tmp_path / "calls", (30, 40), simulators.interrupt)
    with begin(simulators.problem(interrupts), on=aptmc.Futures(Flaky(10**6), 2, group=1)) as run:
        eventually(lambda: run.inspect().run.completions >= 100)
        assert run.stop().stopped is StopReason.STOPPED


def test_what_cannot_be_an_executor_is_refused():
    with pytest.raises(aptmc.InputError, match="executor must be a concurrent"):
        aptmc.Futures(4)
    with pytest.raises(aptmc.InputError, match="say how many workers"):
        aptmc.Futures(Flaky())
    with pytest.raises(aptmc.InputError, match="most_losses must be"):
        aptmc.Futures(Flaky(), 2, most_losses=0)


def test_in_the_end_nobody_waits_for_moves_under_way(tmp_path):
    """And a pool that was made for the run is gone."""
    gate = simulators.Gate(tmp_path)
    on = aptmc.Futures(simulators.process_pool, 2, group=1, ahead=0)
    with begin(simulators.problem(gate), on=on) as handle:
        eventually(lambda: len(gate.waiting()) == 2)
        run = handle.stop()
    assert run.stopped is StopReason.STOPPED
    assert len(run.in_flight) == 2
    eventually(lambda: not any(Path(f"/proc/{one}").exists() for one in gate.waiting()))
