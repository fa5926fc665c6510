"""A run settles before its draws count: flights go over, and slow states are not too rare.

The likelihood is flat, so that the posterior is the prior and first states are exact draws. In one
half of it moves take ten times as long. With everybody at rest at first, and few moves of each
chain, that half is seen far too rarely; with flights that have settled it is not.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.backends import VirtualTime
from aptmc.coordinator.state import Settling
from aptmc.record.record import COLDEST
from aptmc.sampling import asking, resuming
from aptmc.schedule import Schedule
from aptmc.session.build import build_session
from aptmc.session.snapshot import restore, snapshot, starts_in
from aptmc.settings import SWEEPS_TO_SETTLE
from aptmc.store import MemoryStore
from tests.support import stores
from tests.support.settings import given
from tests.support.stores import BUDGET, PROBLEM, SETTINGS, everything, in_memory, kept, sampled
from tests.support.targets import hold

CHAINS, PROCESSORS = 32, 32  # on each of two rungs; as many wait as are in flight
SWEEP = 2 * CHAINS * 5.5 / PROCESSORS
RUNS = 40  # of 150 that are asked for; the standard error is then .01


@njit
def flat(theta):
    return 0.0


@njit
def hit_or_miss(theta, rng, tolerance):
    return rng.random()


PRIOR = aptmc.Prior(x=stats.uniform(-20, 40))
POWERS = {
    "problem": aptmc.Tempered(flat, PRIOR),
    "ladder": aptmc.Ladder.powers([1.0, 0.5]),
    "kernel": aptmc.RandomWalk(4.0),
}
TOLERANCES = {
    "problem": aptmc.Abc.early(hit_or_miss, PRIOR),
    "ladder": aptmc.Ladder.tolerances([0.5, 1.0]),
    "kernel": aptmc.OneHit(4.0),
}
ON = aptmc.VirtualTime(PROCESSORS, hold=hold)


def slow_share(kind=POWERS, *, runs=RUNS, sweeps, **changes):
    """The share of the slow half, in the mean of independent runs of so many sweeps; truly .5."""
    settings = {
        "budget": sweeps * SWEEP,
        "schedule": aptmc.Anytime(every=SWEEP / 16),
        "pools": aptmc.Shared(CHAINS),
        "on": ON,
    }
    shares = []
    for seed in range(runs):
        run = aptmc.sample(**(kind | settings | changes), seed=seed)
        shares.append(np.mean(np.concatenate(run.series("x")) > 0.0))
    return np.mean(shares)


# --- the first sweeps -----------------------------------------------------------------------------

LATER = pytest.param(TOLERANCES, marks=pytest.mark.validation)


@pytest.mark.parametrize("kind", [POWERS, LATER], ids=["powers", "tolerances"])
def test_a_run_without_a_warmup_settles_by_itself(kind):
    assert abs(slow_share(kind, sweeps=20) - 0.5) < 0.03


@pytest.mark.parametrize("kind", [POWERS, LATER], ids=["powers", "tolerances"])
def test_a_run_that_begins_to_count_with_all_at_rest_is_biased(kind):
    assert slow_share(kind, sweeps=16, warmup=0) < 0.42


def test_a_run_settles_in_a_warmup_that_was_asked_for():
    assert abs(slow_share(sweeps=32, warmup=16 * SWEEP) - 0.5) < 0.02


def test_a_warmup_alone_does_not_settle_a_run(monkeypatch):
    monkeypatch.setattr(asking, "SWEEPS_TO_SETTLE", 0)
    assert slow_share(sweeps=32, warmup=16 * SWEEP) < 0.48


def test_rounds_of_a_warmup_hand_on_what_is_settled():
    found = {"schedule": aptmc.Anytime(), "warmup": 32 * SWEEP}
    # With 24 runs the standard error is .013.
    assert abs(slow_share(runs=24, sweeps=48, **found) - 0.5) < 0.04


@pytest.mark.validation
def test_rounds_that_begin_at_rest_hand_on_what_is_fast(monkeypatch):
    monkeypatch.setattr(Schedule, "settles", property(lambda _: False))
    found = {"schedule": aptmc.Anytime(), "warmup": 32 * SWEEP}
    assert slow_share(sweeps=48, **found) < 0.42


@pytest.mark.validation
@pytest.mark.parametrize("kind", [POWERS, TOLERANCES], ids=["powers", "tolerances"])
@pytest.mark.parametrize(("warmup", "most"), [("auto", 0.03), (16 * SWEEP, 0.02)])
def test_sixteen_sweeps_are_enough(kind, warmup, most, validation_scale):
    runs = max(int(150 * validation_scale), RUNS)
    sweeps = 20 if warmup == "auto" else 32
    assert abs(slow_share(kind, runs=runs, sweeps=sweeps, warmup=warmup) - 0.5) < most


@njit
def half_of_it(theta, rung, rng):
    return (10.0 if theta[0] > 0.0 else 1.0) * (0.9 + 0.2 * rng.random())


@njit
def heavy_tailed(theta, rung, rng):
    return (10.0 if theta[0] > 0.0 else 1.0) * 0.5 * rng.random() ** -0.5


@pytest.mark.validation
@pytest.mark.parametrize("law", [half_of_it, heavy_tailed])
def test_other_laws_of_hold_times_settle_too(law, validation_scale):
    runs = max(int(150 * validation_scale), RUNS)
    on = aptmc.VirtualTime(PROCESSORS, hold=law)
    assert abs(slow_share(runs=runs, sweeps=20, on=on) - 0.5) < 0.03


# --- how it goes ----------------------------------------------------------------------------------


def settling_session(starts=None, **changes):
    """Four chains on two rungs, all draws kept; every move takes as long as it is told to."""
    settings = given(
        POWERS["problem"],
        POWERS["ladder"],
        POWERS["kernel"],
        aptmc.Anytime(every=1e9),
        pools=aptmc.Shared(2),
        **changes,
    )
    store = MemoryStore()
    session = build_session(settings, store, settling=Settling(SWEEPS_TO_SETTLE, starts))
    session.begin()
    return session, store


def play(session, moves, *, every=1.0):
    """Take a chain and complete its move, so many times."""
    for _ in range(moves):
        chain = session.take_next(0)
        time = session.progress.elapsed = session.progress.elapsed + every
        session.complete(chain, session.compute(chain), time)


def held(session):
    """By chain: the parameter that it has."""
    machine = session.machine
    return machine.states[machine.replica, 0].tolist()


def test_who_has_finished_a_move_takes_the_next_state_of_its_rung():
    session, store = settling_session()
    first = held(session)
    play(session, 3)  # of chains 0, 1 and 2, where rung 0 has chains 0 and 1
    assert held(session) == first
    play(session, 2)  # of chains 3 and 0: now the states of rung 0 come round
    assert held(session) == [first[0], first[1], first[2], first[3]]
    session.flush()
    draws = store.draws(0, session.machine.states.shape[1])
    assert draws.exchanged.tolist() == [False, True, False, True]
    assert draws.state[1, 0] == draws.state[3, 0] == first[0] != draws.state[0, 0]


def test_other_states_may_be_given_to_settle_from():
    session, _ = settling_session()
    rows = [session.machine.states[:1] + 1.0, session.machine.states[:3] + 2.0]
    other, _ = settling_session(starts=rows)
    play(other, 8)
    wanted = [rows[0][0, 0]] * 2 + [rows[1][2, 0], rows[1][0, 0]]
    assert held(other) == wanted


def test_it_takes_as_long_again_as_half_of_the_moves_if_the_first_are_not_slow():
    session, _ = settling_session()
    machine = session.machine
    half = SWEEPS_TO_SETTLE * machine.rung.size // 2
    session.progress.elapsed = -100.0  # so that the first move takes very long
    play(session, 1, every=101.0)
    play(session, half - 2)
    assert machine.settles_until[0] == math.inf
    play(session, 1)
    assert machine.settles_until[0] == 2.0 * half
    play(session, half - 1)
    assert not machine.is_settled[0]
    before = machine.states.copy()
    play(session, 2)  # at the very end of it, and after
    assert machine.is_settled[0] == 1
    assert machine.settled[0] == 2 * half - 1
    assert (machine.states != before).any()
    assert session.record.before.sum() == 2 * (2 * half - 1) + 1


def test_a_state_that_starts_anew_has_not_travelled():
    session, _ = settling_session()
    session.record.last_end[:] = 7
    play(session, 4)
    assert session.record.last_end.tolist() == [COLDEST, COLDEST, 0, 0]


# --- what counts ----------------------------------------------------------------------------------


def test_draws_count_from_when_the_run_is_settled():
    run = in_memory()
    assert 0.0 < run.counted_from < 0.25 * run.elapsed
    for counted, whole in zip((run.chains(r)[0] for r in range(4)), kept(run), strict=True):
        assert counted.time[0] > run.counted_from >= whole.time[0]
        assert len(counted.time) == (whole.time > run.counted_from).sum()
    assert "warmup_posterior" not in run.draws.children


def test_a_short_run_counts_all_but_a_quarter():
    run, whole = in_memory(20.0), in_memory()
    assert run.counted_from == 5.0 < whole.counted_from
    counted = run.chains(0)[0]
    assert 5.0 < counted.time[0] < whole.counted_from
    first = kept(run)[0]
    assert np.array_equal(first.state, kept(whole)[0].between(-np.inf, 20.0).state)


def test_without_a_warmup_everything_counts():
    run = in_memory(warmup=0)
    assert run.counted_from == 0.0
    assert len(run.chains(0)[0].time) == len(kept(run)[0].time)


@pytest.mark.parametrize("schedule", [aptmc.Synchronous(), aptmc.Uncorrected(every=4.1)])
def test_where_all_begin_together_or_nothing_is_exact_nothing_settles(schedule):
    assert in_memory(schedule=schedule).counted_from == 0.0


def test_draws_on_disk_are_read_from_where_they_count(tmp_path, monkeypatch):
    for thin in (1, 3):
        path = tmp_path / f"{thin}.zarr"
        run = sampled(path, monkeypatch, thin=thin)
        stored = aptmc.open(path)
        counted = run.series("x")[0]
        assert stored.counted_from == run.counted_from > 0.0
        assert np.array_equal(stored.draws.posterior.x[0], counted)
        assert f"{len(counted)} draws" in repr(stored)


# --- bit for bit ----------------------------------------------------------------------------------


def test_a_run_that_is_left_while_it_settles_goes_on_bit_for_bit():
    settings = {"processors": 2, "on": VirtualTime(2, hold)}
    whole, store = settling_session(**settings)
    VirtualTime(2, hold).run(whole, 100.0)
    parts, first_store = settling_session(**settings)
    VirtualTime(2, hold).run(parts, 12.0)
    assert parts.machine.settled[0] > 2
    assert not parts.machine.is_settled[0]
    parts.flush()
    saved = snapshot(parts)
    later, second_store = settling_session(starts=starts_in(saved.arrays), **settings)
    restore(later, saved, same_flight=True)
    VirtualTime(2, hold).run(later, 88.0)
    assert later.machine.is_settled[0] == 1
    assert later.machine.settles_until[0] == whole.machine.settles_until[0]
    width = whole.machine.states.shape[1]
    for chain in range(4):
        one = store.draws(chain, width)
        others = [first_store.draws(chain, width), second_store.draws(chain, width)]
        assert np.array_equal(one.state, np.concatenate([part.state for part in others]))
        assert np.array_equal(one.time, np.concatenate([part.time for part in others]))


FOUND = {"kernel": aptmc.RandomWalk("auto"), "budget": 1500.0}


@pytest.mark.parametrize("changes", [{}, FOUND], ids=["from first states", "after a warm-up"])
def test_a_run_that_has_settled_is_replayed_and_resumed_bit_for_bit(changes, tmp_path):
    path = tmp_path / "run.zarr"
    run = aptmc.sample(PROBLEM, store=path, **(SETTINGS | {"budget": BUDGET} | changes))
    assert run.counted_from > 0.0
    assert aptmc.replay(path, PROBLEM).is_same
    further = aptmc.resume(path, PROBLEM, budget=100.0, on=stores.ON)
    assert further.counted_from == run.counted_from
    assert all(
        later[: len(sooner)] == sooner
        for sooner, later in zip(everything(run), everything(further), strict=True)
    )
    assert aptmc.replay(path, PROBLEM).is_same


def test_a_replay_that_settles_from_other_states_is_not_the_same(tmp_path, monkeypatch):
    path = tmp_path / "run.zarr"
    run = aptmc.sample(PROBLEM, store=path, **(SETTINGS | FOUND))
    monkeypatch.setattr(resuming, "starts_in", lambda _: None)
    assert run.counted_from > 0.0
    assert not aptmc.replay(path, PROBLEM).is_same
