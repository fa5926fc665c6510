"""Chaos: a random worker is killed, again and again, and nothing comes of it but lost time.

The normal example in plain Python, whose posterior is known at every tolerance. Real time is never
twice the same, so that no seed fixes these runs; a check fails by chance once in a million times,
by standard errors from batch means.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from contextlib import suppress

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc import start
from aptmc.backends.build import build_session
from aptmc.backends.local_workforce import LocalWorkforce
from aptmc.backends.replay import replay
from aptmc.errors import RunFailed
from aptmc.event_log import COMPLETED, TAKEN, Events
from aptmc.kernels.base import STEPS
from aptmc.models import normal
from aptmc.store import MemoryStore
from tests.support.sessions import all_draws, same
from tests.support.statistical import FALSE_ALARM

TOLERANCES = [0.5, 1.5, 4.0]
LADDER = aptmc.Ladder.tolerances(TOLERANCES)
KERNEL = aptmc.OneHit([1.5, 2.0, 3.0])
SCHEDULE = aptmc.Anytime("5 ms", exchange=aptmc.Reassignment())
POOLS = aptmc.Shared(2)
PROBLEM = aptmc.Abc.early(normal.simulated_distance.py_func, normal.prior())
WORKERS, SEED = 2, 1
# Every worker computes one move and holds another, so that a kill loses two.
ON = aptmc.Processes(WORKERS, group=20, ahead=1)
BATCHES = 50
LONGER_THAN_ANY_TEST = "2 h"
PAUSE = 0.01  # seconds between two looks at a run, which has better things to do than to be seen


# --- runs ---------------------------------------------------------------------------------------


def looks(handle):
    """Look at a run now and then. Should it end by itself, its failure is raised."""
    while True:
        with suppress(TimeoutError):
            run = handle.wait(PAUSE)
            raise AssertionError(f"nobody stopped the run, but: {run.stopped}")
        yield handle.inspect()


def settled(inspection, first_seen):
    """The workers that have completed a move since they came.

    Who is killed again and again on one and the same move is, rightly, an error.
    """
    counts = np.bincount(inspection.run.events.completions.processor, minlength=WORKERS)
    ready = []
    for worker in inspection.workers:
        count = counts[worker.processor]
        if worker.process is not None and count > first_seen.setdefault(worker.process, count):
            ready.append(worker)
    return ready


def run_in_chaos(kills, moves):
    """A run in which workers are killed so often, and that makes at least so many moves."""
    rng = np.random.default_rng(SEED)
    first_seen, killed = {}, set()
    with start(
        PROBLEM,
        budget=LONGER_THAN_ANY_TEST,
        ladder=LADDER,
        kernel=KERNEL,
        schedule=SCHEDULE,
        pools=POOLS,
        on=ON,
        keep="all",
        seed=SEED,
    ) as handle:
        for inspection in looks(handle):
            ready = [one for one in settled(inspection, first_seen) if one.process not in killed]
            if len(killed) < kills:
                if ready:
                    victim = ready[rng.integers(len(ready))].process
                    os.kill(victim, signal.SIGKILL)
                    killed.add(victim)
            elif len(ready) == WORKERS and inspection.run.completions >= moves:
                return handle.stop(), killed
    raise AssertionError("unreachable")


# --- checks -------------------------------------------------------------------------------------


def is_complete(events, run):
    """Whether each chain takes a move, completes it, takes the next, and none is missing."""
    in_flight = {key.chain: key.number for key in run.in_flight}
    for chain in range(POOLS.chains_per_rung * LADDER.rungs):
        kinds = events.kind[events.chain == chain]
        if not ((kinds[::2] == TAKEN).all() and (kinds[1::2] == COMPLETED).all()):
            return False
        taken = np.count_nonzero(kinds == TAKEN)
        if kinds.size % 2 != (chain in in_flight) or taken != in_flight.get(chain, taken):
            return False
    return bool(np.count_nonzero(events.kind == COMPLETED) == run.completions)


def draws_of(run):
    """Every chain's draws, as `all_draws` gives them."""
    return [
        np.column_stack([draws.state, draws.time, draws.exchanged, draws.accepted, draws.replica])
        for rung in range(LADDER.rungs)
        for draws in run.chains(rung)
    ]


def replayed(run, events):
    """The draws of the same run, computed again here from the log of its events."""
    store = MemoryStore()
    layout = POOLS.layout(LADDER, WORKERS)
    session = build_session(PROBLEM, LADDER, KERNEL, SCHEDULE, layout, "all", SEED, store)
    session.tuning[:, STEPS] = run.steps_per_move
    until = max(draws.time[-1] for rung in range(LADDER.rungs) for draws in run.chains(rung))
    replay(session, events, float(until))
    return all_draws(session, store)


def in_batches(values):
    """The means of successive pieces."""
    return np.array([piece.mean() for piece in np.array_split(values, BATCHES)])


def errors_off(run, rung, tolerance):
    """By how many standard errors mean and variance miss the posterior at a tolerance."""
    mean, variance = normal.posterior_mean(tolerance), normal.posterior_sd(tolerance) ** 2
    series = run.series("theta", rung)
    off = []
    for truth, power in ((0.0, 1), (variance, 2)):
        # Chains of a rung may hold copies of one state: their batches are averaged, not counted
        # as independent.
        batches = np.mean([in_batches((one - mean) ** power) for one in series], axis=0)
        error = batches.std(ddof=1) / np.sqrt(BATCHES)
        off.append(abs(batches.mean() - truth) / error)
    return max(off)


MOST_ERRORS = float(stats.t.isf(FALSE_ALARM / 2.0, BATCHES - 1))


def assert_unharmed(run, killed, kills):
    """Nothing was lost or drawn twice, all can be computed again, and the posterior is right."""
    assert len(killed) == kills
    assert run.stopped is aptmc.StopReason.STOPPED
    assert is_complete(run.events, run)
    assert same(replayed(run, run.events), draws_of(run))
    for rung, tolerance in enumerate(TOLERANCES):
        assert errors_off(run, rung, tolerance) < MOST_ERRORS


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
    kills = max(int(500 * validation_scale), 20)
    moves = max(int(30_000 * validation_scale), 4000)
    assert_unharmed(*run_in_chaos(kills, moves), kills=kills)
