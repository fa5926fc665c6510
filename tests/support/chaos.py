"""Runs in which workers are killed again and again, and what must have come of it: nothing.

The normal example in plain Python, whose posterior is known at every tolerance.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress

import numpy as np
from scipy import stats

import aptmc
from aptmc import start
from aptmc.kernels.base import STEPS
from aptmc.models import normal
from aptmc.record.event_log import COMPLETED, TAKEN
from aptmc.session.build import build_session
from aptmc.session.event_replay import replay
from aptmc.store import MemoryStore
from tests.support.sessions import all_draws, same
from tests.support.settings import given
from tests.support.statistical import FALSE_ALARM
from tests.support.stores import kept

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
    most = max(worker.processor for worker in inspection.workers)
    counts = np.bincount(inspection.run.events.completions.processor, minlength=1 + most)
    ready = []
    for worker in inspection.workers:
        count, place = counts[worker.processor], (worker.process, worker.processor)
        if worker.process is not None and count > first_seen.setdefault(place, count):
            ready.append(worker)
    return ready


def has_enough(run, moves) -> bool:
    """Whether it has made so many moves, most of them count, and no chain has hardly any draws.

    A run settles for twice as long as some moves take. If all workers have to be started again
    meanwhile, that is long, and there may be no draws yet. A chain may also be in flight nearly all
    of the time that counts.
    """
    if run.completions < moves:
        return False
    draws = [draws for rung in range(LADDER.rungs) for draws in run.chains(rung)]
    counted = [np.count_nonzero(~one.exchanged) for one in draws]
    each = min(moves // 10, BATCHES)  # short runs are not held against a posterior
    return sum(counted) >= 0.8 * moves and min(len(one.state) for one in draws) >= each


def kill(process):
    os.kill(process, signal.SIGKILL)


def run_in_chaos(kills, moves, on=ON, kill=kill):
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
        on=on,
        keep="all",
        seed=SEED,
    ) as handle:
        for inspection in looks(handle):
            ready = [one for one in settled(inspection, first_seen) if one.process not in killed]
            if len(killed) < kills:
                if ready:
                    victim = ready[rng.integers(len(ready))].process
                    with suppress(ProcessLookupError):  # a pool ends all of its own with one
                        kill(victim)
                        killed.add(victim)
            elif len(ready) == WORKERS and has_enough(inspection.run, moves):
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
        for draws in kept(run)
    ]


def replayed(run, events):
    """The draws of the same run, computed again here from the log of its events."""
    store = MemoryStore()
    settings = given(
        PROBLEM, LADDER, KERNEL, SCHEDULE,
        pools=POOLS, processors=WORKERS, seed=SEED, settling=run.settings.settling,
    )  # fmt: skip
    session = build_session(settings, store)
    session.tuning[:, STEPS] = run.steps_per_move
    session.begin_from(run._first_states)  # on which the timing of a descent has left its mark
    until = max(draws.time[-1] for draws in kept(run))
    replay(session, events, float(until))
    return all_draws(session, store)


def in_batches(values):
    """The means of successive pieces."""
    return np.array([piece.mean() for piece in np.array_split(values, BATCHES)])


def errors_off(run, rung, tolerance, *, moves_only=False):
    """By how many standard errors mean and variance miss the posterior at a tolerance.

    :param moves_only: without draws after exchanges. While nobody computes, because a whole pool of
        processes is started anew, the same few states are exchanged hundreds of times
    """
    mean, variance = normal.posterior_mean(tolerance), normal.posterior_sd(tolerance) ** 2
    series = run.series("theta", rung)
    if moves_only:
        series = [draws.state[~draws.exchanged, 0] for draws in run.chains(rung)]
    off = []
    for truth, power in ((0.0, 1), (variance, 2)):
        # Chains of a rung may hold copies of one state: their batches are averaged, not counted
        # as independent.
        batches = np.mean([in_batches((one - mean) ** power) for one in series], axis=0)
        error = batches.std(ddof=1) / np.sqrt(BATCHES)
        off.append(abs(batches.mean() - truth) / error)
    return max(off)


MOST_ERRORS = float(stats.t.isf(FALSE_ALARM / 2.0, BATCHES - 1))


def assert_unharmed(run, killed, kills, *, moves_only=False):
    """Nothing was lost or drawn twice, all can be computed again, and the posterior is right."""
    assert len(killed) == kills
    assert run.stopped is aptmc.StopReason.STOPPED
    assert is_complete(run.events, run)
    assert same(replayed(run, run.events), draws_of(run))
    for rung, tolerance in enumerate(TOLERANCES):
        assert errors_off(run, rung, tolerance, moves_only=moves_only) < MOST_ERRORS
