"""Units of work: fixed counts, chosen before the run from moves that do not count."""

from __future__ import annotations

import numpy as np
import pytest

import aptmc
from aptmc.backends.workers.trials import (
    LONG_ENOUGH,
    LONG_UNIT,
    MANY_UNITS,
    SHORTEST_UNIT,
    UNIT_PER_PROCESSOR,
    measure_units,
    shortest_unit,
)
from aptmc.backends.workers.wire import Reply
from aptmc.errors import MoveFailed
from aptmc.keys import PILOT
from aptmc.problem.chain_state import ACCEPTED, OWN
from aptmc.session.orders import Outcome
from aptmc.session.units import can_queue_ahead
from tests.backends.contract import (
    LADDER,
    begin,
    make_session,
    run_until,
    same_when_replayed,
)
from tests.support import simulators

ANYTIME = aptmc.Anytime(every="1 ms")
SHORT = 10.0  # seconds, of a run in which the shortest units are as short as can be


class Machine:
    """Computes nothing, in known times: so many seconds for a step, by rung."""

    def __init__(self, *seconds, rungs=LADDER.rungs, latency=0.0, accepted=1.0):
        self.seconds, self.latency = np.broadcast_to(seconds, rungs), latency
        self.accepted = accepted  # of all steps
        self.orders = []

    def compute(self, orders):
        self.orders += [order._replace(tuning=order.tuning.copy()) for order in orders]
        return [self.reply(order) for order in orders]

    def reply(self, order):
        seconds = self.seconds[order.rung]
        if np.isnan(seconds):
            return None
        if seconds < 0.0:
            failure = MoveFailed("it failed", {"x": 0.0}, order.rung, order.key)
            return Reply(order.key, None, failure, np.nan, np.nan)
        outcome = Outcome(order.state.copy(), np.zeros(OWN))
        outcome.info[ACCEPTED] = self.accepted * order.tuning[0]
        ended = 5.0 + seconds * order.tuning[0]
        return Reply(order.key, outcome, None, 5.0, ended, self.latency)


def measure(*seconds, processors=1, group=True, ahead=None, schedule=ANYTIME, accepted=1.0):
    session, _ = make_session(schedule, processors)
    session.begin()
    machine = Machine(*seconds, accepted=accepted)
    units = measure_units(session, machine.compute, seconds=SHORT, group=group, ahead=ahead)
    return units, machine, session


# --- the trial ------------------------------------------------------------------------------------


def test_cheap_moves_are_grouped_by_rung_until_they_are_worth_sending():
    seconds = np.array([1e-6, 3e-6, 1e-5, 1e-4, 5e-4, 1e-2])
    units, _, _ = measure(*seconds)
    lengths = units.steps * seconds
    assert (lengths[:5] > 0.5 * SHORTEST_UNIT - 1e-9).all()
    assert (lengths[:5] <= SHORTEST_UNIT + 1e-9).all()
    assert units.steps[5] == 1
    assert (np.diff(units.steps) <= 0).all()


def test_the_more_workers_there_are_the_longer_a_unit():
    workers = int(3 * SHORTEST_UNIT / UNIT_PER_PROCESSOR)
    session, _ = make_session(ANYTIME, workers, ladder=aptmc.Ladder.powers(workers + 2))
    session.begin()
    machine = Machine(1e-4, rungs=workers + 2)
    many = measure_units(session, machine.compute, seconds=SHORT, group=True, ahead=0)
    few, _, _ = measure(1e-4)
    assert many.steps.min() > 2 * few.steps.max()


def test_units_of_a_long_run_are_as_long_as_sending_them_does_not_matter():
    assert shortest_unit(2, 10.0) == SHORTEST_UNIT
    assert shortest_unit(2, MANY_UNITS * 3e-3 / 2) == pytest.approx(3e-3)
    assert shortest_unit(2, np.inf) == LONG_ENOUGH
    assert shortest_unit(100, 10.0) == shortest_unit(100, np.inf) == 100 * UNIT_PER_PROCESSOR


@pytest.mark.parametrize(
    ("accepted", "lasts"), [(0.5, SHORTEST_UNIT), (1 / 30, 3e-3), (0.0, LONG_ENOUGH)]
)
def test_units_last_until_something_is_accepted(accepted, lasts):
    units, machine, _ = measure(1e-4, accepted=accepted)
    lengths = units.steps * machine.seconds
    assert (lengths > 0.8 * lasts).all()
    assert (lengths <= lasts + 1e-9).all()


def test_a_kernels_own_steps_are_multiplied():
    session, _ = make_session(ANYTIME, 1, kernel=aptmc.RandomWalk(1.0, steps=7))
    session.begin()
    units = measure_units(session, Machine(1e-5).compute, seconds=SHORT, group=True, ahead=0)
    assert (units.steps % 7 == 0).all()
    assert (units.steps > 7).all()


def test_trial_moves_have_keys_of_their_own_and_change_nothing():
    session, _ = make_session(ANYTIME, 1)
    session.begin()
    states, tuning = session.machine.states.copy(), session.tuning.copy()
    machine = Machine(1e-5)
    measure_units(session, machine.compute, seconds=SHORT, group=True, ahead=None)
    keys = [order.key for order in machine.orders]
    assert len(set(keys)) == len(keys) > LADDER.rungs
    assert {key.purpose for key in keys} == {PILOT}
    assert (session.machine.moves == 0).all()
    assert session.machine.waiting.all()
    assert (session.machine.states == states).all()
    assert (session.tuning == tuning).all()


@pytest.mark.parametrize("seconds", [np.nan, -1.0], ids=["given up", "failed"])
def test_a_trial_move_without_a_result_leaves_its_rung_as_it_was(seconds):
    units, _, _ = measure(1e-4, 1e-4, seconds, 1e-4, 1e-4, 1e-4)
    assert units.steps[2] == 1
    assert (np.delete(units.steps, 2) > 1).all()
    assert units.ahead == 0  # it may take long


def far_away(seconds, latency, *, group=False, most_ahead=np.inf, chains=40):
    """Units for two workers that are far away."""
    session, _ = make_session(ANYTIME, 2, ladder=aptmc.Ladder.powers(chains))
    session.begin()
    machine = Machine(seconds, rungs=chains, latency=latency)
    return measure_units(
        session, machine.compute, seconds=SHORT, group=group, ahead=None, most_ahead=most_ahead
    )


def test_as_many_moves_wait_at_a_worker_as_hide_the_way_there_and_back():
    assert far_away(10e-3, 45e-3).ahead == 5
    assert far_away(10e-3, 50e-3, most_ahead=1).ahead == 1
    assert far_away(10e-3, 50e-3, chains=10).ahead == 3  # two for each worker are left waiting
    assert far_away(500e-3, 50e-3).ahead == 1  # a tenth of the time would be lost
    assert far_away(5.0, 50e-3).ahead == 0


def test_cheap_moves_are_grouped_until_they_last_as_long_as_the_way():
    units = far_away(1e-3, 50e-3, group=True)
    assert units.steps.min() >= 25
    assert units.ahead in (1, 2)


def test_a_move_waits_at_a_worker_only_if_moves_are_short_and_chains_enough():
    assert measure(1e-4)[0].ahead == 1
    assert measure(1e-4, processors=2)[0].ahead == 1
    assert measure(1e-4, processors=3)[0].ahead == 0
    assert measure(2 * LONG_UNIT)[0].ahead == 0
    assert measure(1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 2 * LONG_UNIT)[0].ahead == 0
    assert measure(1e-4, schedule=aptmc.Synchronous())[0].ahead == 0
    assert measure(1e-4, ahead=0)[0].ahead == 0


def test_groups_can_be_left_alone_while_the_queue_is_decided():
    units, machine, _ = measure(1e-5, group=False)
    assert (units.steps == 1).all()
    assert len(machine.orders) == LADDER.rungs
    assert units.ahead == 1


def test_some_chain_waits_in_every_pool_that_queues_ahead():
    for processors in range(1, 6):
        for chains in range(processors + 1, 16):
            session, _ = make_session(ANYTIME, processors, ladder=aptmc.Ladder.powers(chains))
            if can_queue_ahead(session.machine, session.served):
                assert chains - 2 * processors >= 2


# --- runs -----------------------------------------------------------------------------------------


def test_units_are_fixed_counts():
    run = run_until(20, on=aptmc.Processes(1))
    steps = run.steps_per_move
    assert (steps > 1).all()
    for rung in range(LADDER.rungs):
        for draws in run.chains(rung):
            assert (draws.accepted[~draws.exchanged] <= steps[rung]).all()
    assert (run.acceptance_rates <= 1.0).all()
    assert same_when_replayed(run)


@pytest.mark.parametrize(
    ("group", "expected"), [(3, [3] * 6), (np.arange(1, 7), [1, 2, 3, 4, 5, 6])]
)
def test_units_can_be_given_by_hand(group, expected):
    run = run_until(40, on=aptmc.Processes(1, group=group, ahead=1))
    assert run.steps_per_move.tolist() == expected
    assert same_when_replayed(run)
    # With a move ahead, the first two are taken at once.
    assert run.events.kind[:3].tolist() == [0, 0, 1]
    assert len(run.in_flight) == 2


def test_without_a_queue_a_worker_has_one_move_at_a_time():
    run = run_until(40, on=aptmc.Processes(1, group=1, ahead=0))
    assert run.events.kind[:4].tolist() == [0, 1, 0, 1]
    assert len(run.in_flight) == 1


def test_a_trial_move_that_raises_does_not_stop_the_run(tmp_path):
    # The first calls find the chains' first states; then comes the trial.
    trial = LADDER.rungs + 1
    calls = tmp_path / "calls"
    function = simulators.Counted(calls, [trial], simulators.raise_arithmetic_error)
    run = run_until(40, simulators.problem(function), on=aptmc.Processes(1))
    assert run.steps_per_move[0] == 1
    assert (run.steps_per_move[1:] > 1).all()
    assert calls.stat().st_size > trial


def test_a_trial_move_that_kills_its_worker_does_not_stop_the_run(tmp_path):
    trial = LADDER.rungs + 1
    deaths = range(trial, trial + 3)
    function = simulators.Counted(tmp_path / "calls", deaths, simulators.exit_with_three)
    run = run_until(40, simulators.problem(function), on=aptmc.Processes(1))
    assert run.steps_per_move[0] == 1


@pytest.mark.parametrize("group", [0, -1, 1.5, "many", [1, 0, 1, 1, 1, 1], None])
def test_a_group_is_a_whole_number(group):
    with pytest.raises(aptmc.InputError, match="group"):
        aptmc.Processes(1, group=group)


def test_there_is_a_group_for_each_rung():
    with pytest.raises(aptmc.InputError, match=r"one entry for each of 6 rungs, got \[1, 2\]"):
        begin(on=aptmc.Processes(1, group=[1, 2]))


@pytest.mark.parametrize("ahead", [2, -1, 0.5, "one", None])
def test_at_most_one_move_waits_at_a_worker(ahead):
    with pytest.raises(aptmc.InputError, match='ahead must be "auto", 0 or 1'):
        aptmc.Processes(1, ahead=ahead)


@pytest.mark.parametrize(
    ("workers", "schedule"),
    [(3, ANYTIME), (1, aptmc.Synchronous())],
    ids=["too few chains", "barriers"],
)
def test_a_queue_that_would_leave_nobody_to_exchange_is_refused(workers, schedule):
    with pytest.raises(aptmc.InputError, match="more chains, fewer workers, or ahead=0"):
        begin(on=aptmc.Processes(workers, ahead=1), schedule=schedule)
