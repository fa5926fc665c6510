"""Stop-and-resume, however often, does not bias: moves in flight are computed again, not redrawn.

Two modes, equally likely. What comes of a move decides how long it takes, 20 in the right mode and
1 in the left, so what a stop finds in flight is mostly slow. A resume that draws it afresh makes it
fast more often than it should: that is the planted error.

Runs are stopped after exponential times with mean 15, so a slow move is cut off some three times
before it is done, and is computed again each time, as it is on real processors. With several of
those it matters when it begins: all at once is the second planted error. In virtual time moves in
flight end when they would have ended, and the draws are those of a run without stops.

Checks fail by chance once in a million times; seeds are fixed.
"""

from __future__ import annotations

import functools
import json
import math
import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.backends.workers.pick_up import MOST_STANDING_STILL
from aptmc.backends.workers.worker_loop import WorkerLoop
from aptmc.diagnostics import effective_sample_size
from aptmc.errors import StopReason
from aptmc.kernels import Kernel
from aptmc.problem.chain_state import WORK, accepts
from aptmc.record.record import NOBODY
from aptmc.sampling.saved_run import contents, usage_in
from aptmc.sampling.sittings import with_earlier
from aptmc.session.build import build_session
from aptmc.session.control import Control
from aptmc.session.session import Usage
from aptmc.session.snapshot import Snapshot, restore, snapshot
from aptmc.session.units import Units
from aptmc.store import MemoryStore
from aptmc.store.checked import decode, encode
from tests.support import seen
from tests.support.settings import given
from tests.support.statistical import FALSE_ALARM
from tests.support.virtual_workforce import SetClock, VirtualWorkforce

SLOW, FAST, AWAY = 20.0, 1.0, 4.0
MEAN_TIME = 15.0  # between two stops
LIMIT = stats.norm.isf(FALSE_ALARM / 2)


@njit
def log_density(theta):
    return -0.5 * (abs(theta[0]) - AWAY) ** 2


class Jumps(Kernel):
    """Random walk steps that may end in the other mode, with work that depends on which it is."""

    def step(self, parts):
        evaluate, accept = parts.evaluate, parts.target.library(accepts)

        def step(level, tuning, here, rng, there, info):
            sign = 1.0 if rng.random() < 0.5 else -1.0
            there[0] = sign * (here[0] + rng.standard_normal())
            evaluate(there, info)
            goes = accept(level * (there[1] - here[1]), rng.random())
            ends = there[0] if goes else here[0]
            info[WORK] = (20.0 if ends > 0.0 else 1.0) * (0.9 + 0.2 * rng.random())
            return goes

        return step


PROBLEM = aptmc.Power(log_density, lambda rng: AWAY * (1.0 if rng.random() < 0.5 else -1.0))
LADDER = aptmc.Ladder.powers([1.0, 0.7, 0.5, 0.3])
SCHEDULE = aptmc.Anytime(every=3.0)


def new_session(store, processors=1):
    settings = given(PROBLEM, LADDER, Jumps(), SCHEDULE)
    layout = settings.pools.layout(LADDER, processors)
    return build_session(settings, store, layout=layout)


def set_ages(saved: Snapshot, ages) -> None:
    """For how long the moves in flight had been computed."""
    saved.arrays["in_flight/since"][:] = saved.notes["elapsed"] - ages


def through_bytes(saved: Snapshot) -> Snapshot:
    """What a file would hold of it."""
    return Snapshot(*decode(encode(saved.notes, saved.arrays), Path("memory")))


def stopped_and_resumed(stops, *, same_flight=False, fresh_keys=False, processors=1, seed=1):
    """A run that is stopped at random times and brought back from bytes each time."""
    rng, store = np.random.default_rng(seed), MemoryStore()
    saved, cut_off, total = None, 0, 0.0
    for _ in range(stops):
        session = new_session(store, processors)
        if saved is not None:
            restore(session, saved, same_flight=same_flight)
            if fresh_keys:
                session.machine.moves[session.machine.in_flight] += 1
        time = rng.exponential(MEAN_TIME)
        usage = aptmc.VirtualTime(processors).run(session, time)
        assert usage.failure is None
        session.flush()
        saved, total = through_bytes(snapshot(session)), total + time
        cut_off += len(saved.arrays["in_flight/chain"])
    assert cut_off == processors * stops
    return store, total


def slow_share_errors(draws):
    """How many standard errors the share of draws in the slow mode lies from a half."""
    is_slow = (draws.state[:, 0] > 0.0).astype(float)
    error = math.sqrt(0.25 / effective_sample_size([is_slow]))
    return (is_slow.mean() - 0.5) / error


def test_hundreds_of_stops_do_not_bias():
    store, _ = stopped_and_resumed(500)
    assert abs(slow_share_errors(store.draws(0, 3))) < LIMIT


def test_fresh_keys_on_resume_would_favour_what_is_fast():
    store, _ = stopped_and_resumed(500, fresh_keys=True)
    assert slow_share_errors(store.draws(0, 3)) < -2.0 * LIMIT


@pytest.mark.parametrize("processors", [1, 2])
def test_in_virtual_time_hundreds_of_stops_change_nothing_at_all(processors):
    store, total = stopped_and_resumed(300, same_flight=True, processors=processors)
    whole = MemoryStore()
    session = new_session(whole, processors)
    aptmc.VirtualTime(processors).run(session, total)
    session.flush()
    for chain in range(LADDER.rungs):
        for one, other in zip(store.draws(chain, 3), whole.draws(chain, 3), strict=True):
            assert np.array_equal(one, other)
    assert all(map(np.array_equal, store.events().completions, whole.events().completions))


# --- workers that compute moves again ------------------------------------------------------------


class Workers:
    """A run on two workers in virtual time, which compute moves again that were under way."""

    def __init__(self, *, keep_ages=True):
        self.store, self.keep_ages = MemoryStore(), keep_ages
        self.saved = None
        self.computed_again = 0
        self.hang = False

    def run(self, time, request=None):
        """For so long by the session's clock; it is then brought back from bytes.

        :param request: somebody asks for this soon after the start
        """
        clock, session = SetClock(), new_session(self.store, processors=2)
        if self.saved is not None:
            restore(session, self.saved, same_flight=False)
            self.computed_again += len(session.machine.in_flight)
            if not self.keep_ages:
                session.machine.chains["processor"] = NOBODY
                session.machine.chains["since"] = math.nan
        mover = session.mover
        workforce = VirtualWorkforce(clock, mover, functools.partial(self.seconds, mover))
        control = Control(clock)
        if request is not None:
            control.regularly(0.2, request)
        loop = WorkerLoop(session, time, 1e6, control, workforce, one_step, clock.now())
        usage = loop.run()
        assert usage.failure is None
        assert usage.elapsed == pytest.approx(time)
        session.flush()
        self.saved = through_bytes(snapshot(session))
        return usage

    def seconds(self, mover, order):
        """How long a move takes: as much as it is work."""
        return math.inf if self.hang else mover.compute(order).info[WORK]


def one_step(compute):
    return Units(np.ones(LADDER.rungs, int), 0)


def stopped_workers(stops, **options):
    rng, workers = np.random.default_rng(1), Workers(**options)
    for _ in range(stops):
        workers.run(rng.exponential(MEAN_TIME))
    assert workers.computed_again == 2 * (stops - 1)
    return workers.store


def test_moves_that_are_computed_again_end_when_they_would_have_ended():
    """Draws, and their times but for rounding, are those of a run without stops."""
    rng, whole, stopped = np.random.default_rng(1), Workers(), Workers()
    times = rng.exponential(MEAN_TIME, 200)
    whole.run(times.sum())
    for time in times:
        stopped.run(time)
    for chain in range(LADDER.rungs):
        one, other = whole.store.draws(chain, 3), stopped.store.draws(chain, 3)
        assert np.array_equal(one.state, other.state)
        for name in ("time", "hold_time", "processor"):
            assert np.allclose(getattr(one, name), getattr(other, name), equal_nan=True)


def test_moves_that_all_begin_again_at_once_would_favour_what_is_fast():
    store = stopped_workers(1_000, keep_ages=False)
    errors = [slow_share_errors(store.draws(chain, 3)) for chain in range(LADDER.rungs)]
    assert sum(errors) / math.sqrt(LADDER.rungs) < -LIMIT


def test_a_move_that_hung_does_not_hold_up_the_run_for_long():
    workers = Workers()
    workers.run(MEAN_TIME)
    set_ages(workers.saved, 1e9)
    workers.hang = True
    usage = workers.run(MEAN_TIME)
    assert usage.overhead.startup == pytest.approx(MOST_STANDING_STILL * 1e6)


def test_a_run_knows_how_many_others_wanted_its_processors(monkeypatch):
    """By the load at its beginning and at its end, whichever is less, without its own."""
    loads = iter([9.0, 12.0, 20.0, 7.0])
    monkeypatch.setattr(os, "getloadavg", lambda: (next(loads), 0.0, 0.0))
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    workers = Workers()
    first = workers.run(MEAN_TIME)
    at_work = 1.0 + first.busy.sum() / first.elapsed
    assert 1.0 < at_work <= 3.0
    assert first.others == pytest.approx((9.0 - at_work) / 4)
    second = workers.run(3.0 * MEAN_TIME)
    assert second.others == pytest.approx((7.0 - 1.0 - second.busy.sum() / second.elapsed) / 4)
    both = with_earlier(second, first).others
    assert both == pytest.approx(0.25 * first.others + 0.75 * second.others)


def test_a_store_knows_them_too():
    session = new_session(MemoryStore())
    settings = seen.sample(budget=0.001).settings
    usage = Usage(StopReason.BUDGET_SPENT, 3.0, np.ones(1), others=1.5)
    notes, arrays = contents(settings, session, usage, None)
    checkpoint = SimpleNamespace(notes=json.loads(json.dumps(notes)), arrays=arrays)
    assert usage_in(checkpoint).others == 1.5
    del checkpoint.notes["usage"]["others"]  # of the time before
    assert usage_in(checkpoint).others == 0.0


def test_a_worker_that_is_asked_to_go_while_the_clock_stands_still_computes_its_moves_first():
    workers, asked = Workers(), []

    def remove_one(loop):
        if not asked:
            assert not loop.has_begun
            asked.append(loop.remove_worker())

    workers.run(MEAN_TIME)
    set_ages(workers.saved, np.array([1.5, 0.5]))
    workers.run(100 * SLOW, remove_one)
    assert asked == [1]
    # All chains have been moving since, though one worker is left to move them.
    assert len(workers.saved.arrays["in_flight/chain"]) == 1
    times = [workers.store.draws(chain, 3).time[-1] for chain in range(LADDER.rungs)]
    assert min(times) > 80 * SLOW


# --- through the store ---------------------------------------------------------------------------


def resumed_from_disk(path, stops):
    """The same, by `sample` and `resume`, on one processor and on two by turns.

    With another number of processors, moves in flight begin again.
    """
    rng, on = np.random.default_rng(1), [aptmc.VirtualTime(1), aptmc.VirtualTime(2)]
    settings = {"ladder": LADDER, "kernel": Jumps(), "schedule": SCHEDULE, "seed": 1}
    run = aptmc.sample(PROBLEM, budget=MEAN_TIME, store=path, on=on[0], **settings)
    for stop in range(1, stops):
        time = rng.exponential(MEAN_TIME)
        run = aptmc.resume(path, PROBLEM, budget=time, on=on[stop % 2], kernel=Jumps())
    return run


def check_stops_on_disk(path, stops):
    run = resumed_from_disk(path, stops)
    assert abs(slow_share_errors(run.chains()[0])) < LIMIT
    replayed = aptmc.replay(path, PROBLEM, kernel=Jumps())
    assert replayed.is_same, str(replayed)
    assert replayed.completions == run.completions


def test_stops_between_which_the_run_is_on_disk(tmp_path):
    check_stops_on_disk(tmp_path / "run.zarr", stops=40)


@pytest.mark.validation
def test_a_thousand_stops_between_which_the_run_is_on_disk(tmp_path, validation_scale):
    stops = int(1_000 * validation_scale)
    if stops <= 40:
        pytest.skip("as many as above")
    check_stops_on_disk(tmp_path / "run.zarr", stops)
