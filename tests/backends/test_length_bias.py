"""Length bias under real time: the corrected schedule does not have it, the uncorrected one does.

Standard normal, tempered; in the right half an evaluation costs twenty times as much, by counted
arithmetic. Both halves are equally likely at every rung. What is under way at a moment that has
nothing to do with it is more often slow.

Real time is never twice the same. The corrected schedule is exact whatever time moves take, and its
check fails by chance once in a million times, by standard errors from batch means; that the
uncorrected one is caught needs only that slow is slow.
"""

from __future__ import annotations

import time
from contextlib import suppress
from functools import cache

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.clock import Clock
from aptmc.sampling.handle import RunHandle
from aptmc.sampling.phases import Phases
from aptmc.session.build import build_session
from aptmc.session.control import Control
from aptmc.store import MemoryStore
from tests.support.settings import given
from tests.support.statistical import FALSE_ALARM

BATCHES = 50
MOST_ERRORS = float(stats.t.isf(FALSE_ALARM / 2.0, BATCHES - 1))
SLOW, FAST = 20, 1


def prepare(problem, schedule, levels, *, steps, chains_per_rung=1, on):
    """A run of which all draws are kept and that nothing but a request ends.

    Its steps are small, so that where a move starts says much about its cost.
    """
    store, kernel = MemoryStore(), aptmc.RandomWalk(0.3, steps=steps)
    ladder, pools = aptmc.Ladder.powers(levels), aptmc.Shared(chains_per_rung)
    settings = given(problem, ladder, kernel, schedule, pools=pools, on=on, budget=7200.0)
    return Phases(settings, build_session(settings, store), store)


def errors_off(shares):
    """By how many standard errors the slow half is seen too often, if shares come in order."""
    batches = np.array([piece.mean() for piece in np.array_split(shares, BATCHES)])
    return float((batches.mean() - 0.5) / (batches.std(ddof=1) / np.sqrt(BATCHES)))


# --- stopped at random times, by a clock that counts work ---------------------------------------


class WorkClock(Clock):
    """Goes on when a density is evaluated, and at no other time."""

    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        return self.time


def errors_at_stops(schedule, *, stops=4000):
    """A run that is stopped at random times and sent on: who waits then?

    In virtual time, since stops and the pauses that a busy machine makes come together in real
    time: how long a move takes would then depend on what was before.
    """
    clock = WorkClock()

    def log_density(theta):
        clock.time += SLOW if theta[0] > 0.0 else FAST
        return -0.5 * theta[0] ** 2

    problem = aptmc.Power(log_density, lambda rng: rng.standard_normal())
    on = aptmc.InProcess(clock)
    session = prepare(problem, schedule, [1.0, 0.7, 0.5], steps=4, on=on).session
    session.record.wanted[:] = False
    machine, rng, shares = session.machine, np.random.default_rng(1), []
    for _ in range(stops):
        on.run(session, rng.exponential(200.0))
        is_slow = machine.states[machine.replica, 0] > 0.0
        shares.append(is_slow[machine.waiting].mean())
    return errors_off(shares)


def test_whoever_waits_when_a_run_is_stopped_is_slow_as_often_as_not():
    assert abs(errors_at_stops(aptmc.Anytime(every=60.0))) < MOST_ERRORS


def test_whoever_waits_after_exchanges_with_those_in_flight_is_slow_more_often():
    assert errors_at_stops(aptmc.Uncorrected(every=60.0)) > MOST_ERRORS


# --- real time ----------------------------------------------------------------------------------

# How long a move takes must not depend on what was before. Two things break that a little, and must
# be small. Exchanges are computed between moves, and their time counts as part of the next move; a
# move that took long meets more deadlines. And on a busy machine a process that has just computed
# for long is made to wait, so that in this process time is what the processor spent on it.
#
# Deadlines come after several moves: a state that is exchanged again and again under way has little
# to do with the time of its move, and the uncorrected schedule would not show its error.
EVERY, EVERY_WITH_WORKERS = "5 ms", "40 ms"
PAUSE = 0.1  # seconds between two looks at a run


class ProcessorClock(Clock):
    """The time that the processor has spent on this thread."""

    def now(self) -> float:
        return time.thread_time()


@cache
def costly(rounds):
    """A density that takes so many rounds of arithmetic in the fast half."""

    @njit(nogil=True)
    def log_density(theta):
        number = 0.3
        for _ in range(rounds * (SLOW if theta[0] > 0.0 else FAST)):
            number = 3.9 * number * (1.0 - number)  # stays between 0 and 1
        return -0.5 * theta[0] ** 2 if number > 0.0 else np.nan

    return aptmc.Power(log_density, lambda rng: rng.standard_normal())


def errors_after_exchanges(prepared, deadlines, *, moves=2000, stints=1):
    """Run for so many deadlines and moves: what do exchanges leave at all rungs taken together?

    In real time, and in several stints; moves in flight at the end of one are computed again in the
    next.
    """
    machine = prepared.session.machine
    assert prepared.session.mover.move  # compiled before the clock runs
    for stint in range(1, stints + 1):
        with RunHandle(prepared, Control()) as handle:
            while not (
                machine.passed[0] >= deadlines * stint / stints
                and machine.completed.sum() >= moves * stint / stints
            ):
                with suppress(TimeoutError):
                    handle.wait(PAUSE)
                    raise AssertionError("nobody stopped the run")
            run = handle.stop()
        assert run.stopped is aptmc.StopReason.STOPPED
    rungs = range(run.settings.ladder.rungs)
    chains = [draws for rung in rungs for draws in run.chains(rung)]
    times = np.concatenate([draws.time[draws.exchanged] for draws in chains])
    is_slow = np.concatenate([draws.state[draws.exchanged, 0] > 0.0 for draws in chains])
    return errors_off(is_slow[np.argsort(times, kind="stable")])


def in_this_process(schedule):
    """Moves of less than a tenth of a millisecond, or of one."""
    levels, on = [1.0, 0.7, 0.5], aptmc.InProcess(ProcessorClock())
    return prepare(costly(2000), schedule(EVERY), levels, steps=16, on=on)


def on_two_workers(schedule, ahead):
    """Moves of a quarter of a millisecond or five: sending them costs a tenth."""
    on = aptmc.Processes(2, group=1, ahead=ahead)
    levels = [1.0, 0.8, 0.6, 0.5]
    every, chains = EVERY_WITH_WORKERS, 1 + ahead
    return prepare(costly(8000), schedule(every), levels, steps=16, chains_per_rung=chains, on=on)


@pytest.mark.validation
def test_exchanges_in_real_time_are_not_biased():
    prepared = in_this_process(aptmc.Anytime)
    assert abs(errors_after_exchanges(prepared, 1200)) < MOST_ERRORS


@pytest.mark.validation
def test_exchanging_what_is_in_flight_in_real_time_is_caught():
    prepared = in_this_process(aptmc.Uncorrected)
    assert errors_after_exchanges(prepared, 2200) > MOST_ERRORS


@pytest.mark.validation
@pytest.mark.parametrize("ahead", [0, 1])
def test_worker_processes_are_not_biased(ahead, validation_scale):
    if ahead == 0 and validation_scale < 0.1:
        pytest.skip("with moves that wait at the workers there is more that could go wrong")
    deadlines = max(int(1000 * validation_scale), 200)
    stints = max(int(4 * validation_scale), 2)
    prepared = on_two_workers(aptmc.Anytime, ahead)
    assert abs(errors_after_exchanges(prepared, deadlines, stints=stints)) < MOST_ERRORS


@pytest.mark.validation
def test_worker_processes_with_an_uncorrected_schedule_are_caught(validation_scale):
    if validation_scale < 0.1:
        pytest.skip("it is caught in this process")
    deadlines = max(int(1000 * validation_scale), 700)
    prepared = on_two_workers(aptmc.Uncorrected, 0)
    assert errors_after_exchanges(prepared, deadlines) > MOST_ERRORS
