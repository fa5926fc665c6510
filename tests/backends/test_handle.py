"""Runs in the background: look at them, stop them, change their workers."""

from __future__ import annotations

import os
import tracemalloc
from contextlib import suppress

import numpy as np
import pytest

import aptmc
from aptmc.clock import ManualClock
from aptmc.errors import StopReason
from tests.backends.contract import LADDER, begin, eventually, run_until, same_when_replayed
from tests.support import simulators

HERE = aptmc.InProcess()
# No trial moves, nothing ahead: with six chains there may be five workers.
ONE = aptmc.Processes(1, group=1, ahead=0)


def draws_of(run):
    return [draws for rung in range(LADDER.rungs) for draws in run.chains(rung)]


def sizes(run):
    return [draws.time.size for draws in draws_of(run)]


def test_start_is_a_function_however_often_it_is_used():
    assert callable(aptmc.start)
    with begin(on=HERE):
        pass
    assert callable(aptmc.start)


@pytest.mark.parametrize(
    "backend",
    [lambda: HERE, lambda: aptmc.VirtualTime(2), lambda: ONE],
    ids=["this process", "virtual time", "processes"],
)
def test_a_look_at_a_run_is_a_copy_that_stays_as_it_is(backend):
    with begin(on=backend(), budget="20 d", log_events=True) as handle:
        eventually(lambda: handle.inspect().run.completions >= 20)
        look = handle.inspect().run
        before = (look.completions, sizes(look), look.in_flight, look.events.kind.size)
        states = [draws.state.copy() for draws in draws_of(look)]
        rates = look.acceptance_rates.copy()
        eventually(lambda: handle.inspect().run.completions >= before[0] + 100)
        assert look.stopped is StopReason.STILL_RUNNING
        assert (look.completions, sizes(look), look.in_flight, look.events.kind.size) == before
        assert all(map(np.array_equal, states, [draws.state for draws in draws_of(look)]))
        assert np.array_equal(rates, look.acceptance_rates, equal_nan=True)
        run = handle.stop()
    assert look.elapsed < run.elapsed
    # What was seen then is how the run begins.
    for early, late in zip(draws_of(look), draws_of(run), strict=True):
        assert early.time.size < late.time.size
        assert (early.state == late.state[: early.time.size]).all()


def test_a_look_costs_no_more_than_what_there_is_to_see():
    """Room for draws that are still to come is not copied."""
    problem = aptmc.Power(lambda theta: -0.5 * theta @ theta, np.zeros(200))
    with begin(problem, on=HERE, kernel=aptmc.RandomWalk(0.1)) as handle:
        room = handle._phases.session.record.state.nbytes
        tracemalloc.start()
        try:
            run = handle.inspect().run
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        handle.stop()
    # On a machine with much else to do there is more to see by then.
    seen = sum(draws.state.nbytes for draws in draws_of(run))
    assert peak < 0.5 * room + 4 * seen


def test_waiting_has_an_end_and_so_has_the_run():
    with begin(on=HERE) as handle:
        with pytest.raises(TimeoutError, match="still under way"):
            handle.wait(timeout=0.001)
        assert handle.is_running
        run = handle.stop()
    assert not handle.is_running
    assert run.stopped is StopReason.STOPPED
    assert handle.wait() is run
    assert handle.stop() is run
    look = handle.inspect()
    assert look.run is run
    assert look.workers == []


def test_a_run_that_ends_by_itself_is_waited_for():
    run = begin(on=aptmc.InProcess(ManualClock(1.0)), budget=100).wait()
    assert run.stopped is StopReason.BUDGET_SPENT
    assert run.completions == 100


def test_leaving_the_block_stops_the_run_and_an_exception_goes_on():
    with pytest.raises(ZeroDivisionError), begin(on=HERE) as handle:
        raise ZeroDivisionError
    assert not handle.is_running
    assert handle.wait().stopped is StopReason.STOPPED


def test_bad_input_is_refused_by_start_itself():
    with pytest.raises(aptmc.InputError, match="budget"):
        begin(budget="soon")


@pytest.mark.parametrize("on", [HERE, ONE], ids=["this process", "processes"])
def test_a_failure_is_raised_by_whoever_waits(on):
    with begin(simulators.problem(simulators.raises_far_out), on=on) as handle:
        with pytest.raises(aptmc.MoveFailed, match="too far out") as caught:
            handle.wait()
        for ask in (handle.wait, handle.stop, handle.inspect):
            with pytest.raises(aptmc.MoveFailed):
                ask()
        with pytest.raises(aptmc.RunFailed, match="the run has ended"):
            handle.add_worker()
    assert caught.value.run.stopped is StopReason.FAILED


# --- workers --------------------------------------------------------------------------------------


def test_workers_come_and_go():
    with begin(on=ONE) as handle:
        eventually(lambda: handle.inspect().run.completions >= 20)
        with pytest.raises(aptmc.InputError, match=r"last worker cannot be removed: use stop\(\)"):
            handle.remove_worker()
        assert [handle.add_worker() for _ in range(4)] == [1, 2, 3, 4]
        with pytest.raises(aptmc.InputError, match="with 6 workers none of the 6 chains"):
            handle.add_worker()
        eventually(lambda: all(worker.process for worker in handle.inspect().workers))
        workers = handle.inspect().workers
        assert [worker.processor for worker in workers] == [0, 1, 2, 3, 4]
        assert len({worker.process for worker in workers} | {os.getpid()}) == 6
        assert len({worker.chain for worker in workers}) == 5
        assert all(worker.rung == worker.chain for worker in workers)
        assert all(worker.seconds >= 0.0 for worker in workers)
        done = handle.inspect().run.completions
        eventually(lambda: handle.inspect().run.completions >= done + 50)
        assert [handle.remove_worker() for _ in range(3)] == [4, 3, 2]
        eventually(lambda: len(handle.inspect().workers) == 2)
        assert handle.add_worker() == 5
        done = handle.inspect().run.completions
        eventually(lambda: handle.inspect().run.completions >= done + 50)
        run = handle.stop()
    assert same_when_replayed(run)
    assert set(run.events.processor.tolist()) == {0, 1, 2, 3, 4, 5}
    assert len(run.in_flight) == 3
    assert 0.0 < run.utilisation <= 1.0


def test_a_worker_added_before_the_first_move_leaves_chains_to_exchange():
    """Of four chains, two workers with a move ahead each would take all."""
    with begin(ladder=aptmc.Ladder.powers(4), on=aptmc.Processes(1, group=1, ahead=1)) as handle:
        with suppress(aptmc.InputError):  # to refuse is right too
            handle.add_worker()
        eventually(lambda: handle.inspect().run.completions >= 30)
        run = handle.stop()
    assert len(run.in_flight) < 4
    assert sum(int(draws.exchanged.sum()) for rung in range(4) for draws in run.chains(rung)) > 0


def test_workers_cannot_be_added_where_each_has_its_own_chains():
    with begin(on=ONE, pools=aptmc.Partitioned()) as handle:
        assert handle.inspect().workers[0].processor == 0
        with pytest.raises(aptmc.InputError, match="last worker"):
            handle.remove_worker()
        handle.stop()
    with begin(on=aptmc.Processes(2, group=1), pools=aptmc.Partitioned()) as handle:
        with pytest.raises(aptmc.InputError, match=r"added only .* use pools=aptmc\.Shared\(\)"):
            handle.add_worker()
        with pytest.raises(aptmc.InputError, match=r"removed only .* use pools=aptmc\.Shared\(\)"):
            handle.remove_worker()
        handle.stop()


@pytest.mark.parametrize("on", [HERE, aptmc.VirtualTime(2)], ids=["this process", "virtual time"])
def test_a_backend_without_worker_processes_has_none_to_change(on):
    with begin(on=on, budget="20 d") as handle:
        assert handle.inspect().workers == []
        for change in (handle.add_worker, handle.remove_worker):
            with pytest.raises(aptmc.InputError, match=r"use on=aptmc\.Processes\(\)"):
                change()
        handle.stop()


def test_a_stop_before_the_first_move_gives_an_empty_run():
    run = begin(on=ONE).stop()
    assert run.stopped is StopReason.STOPPED
    assert run.completions == sum(sizes(run)) == 0
    assert run.in_flight == []


def test_a_stop_is_heard_while_workers_are_not_ready(tmp_path):
    """Compiling a problem may take minutes."""
    door = simulators.Door(tmp_path)
    with begin(simulators.problem(door), on=ONE) as handle:
        eventually(door.is_reached)
        handle._control.stop()
        try:
            run = handle.wait(timeout=60)
        finally:
            door.open()
    assert run.stopped is StopReason.STOPPED
    assert run.completions == 0


def test_a_budget_of_many_weeks_is_a_budget():
    run = run_until(20, on=ONE, budget="60 d")
    assert run.stopped is StopReason.STOPPED


def test_a_worker_that_leaves_finishes_its_move_first(tmp_path):
    gate = simulators.Gate(tmp_path)
    with begin(simulators.problem(gate), on=aptmc.Processes(2, group=1, ahead=0)) as handle:
        eventually(lambda: len(gate.waiting()) == 2)
        assert handle.remove_worker() == 1
        assert [worker.chain for worker in handle.inspect().workers] == [0, 1]
        gate.open()
        eventually(lambda: len(handle.inspect().workers) == 1)
        eventually(lambda: handle.inspect().run.completions >= 30)
        run = handle.stop()
    assert run.events.completions.chain[run.events.completions.processor == 1].tolist() == [1]
    assert same_when_replayed(run)


def test_sampling_in_the_background_equals_sampling():
    here = begin(on=aptmc.InProcess(ManualClock(1.0)), budget=100).wait()
    there = run_until(200, on=aptmc.InProcess(ManualClock(1.0)))
    for first, second in zip(draws_of(here), draws_of(there), strict=True):
        length = min(first.time.size, second.time.size)
        assert length > 0
        assert (first.state[:length] == second.state[:length]).all()
