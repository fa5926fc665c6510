"""Stored runs are gone on with, in the same way or another."""

from __future__ import annotations

import os
import pickle
import signal
import threading
from dataclasses import replace

import numpy as np
import pytest
from numba import njit

import aptmc
from aptmc import start
from aptmc.clock import ManualClock
from aptmc.store import DiskStore
from aptmc.store.checked import MAGIC
from tests.backends.contract import eventually
from tests.support import simulators, targets
from tests.support.stores import (
    BUDGET,
    ON,
    PROBLEM,
    SETTINGS,
    everything,
    in_memory,
    is_prefix,
    sampled,
)

LATER = 60.0


# --- as if never stopped -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"keep": "coldest"},
        {"thin": 3},
        {"schedule": aptmc.Synchronous(moves=2)},
        {"schedule": aptmc.Anytime(every=4.1, jitter=0.5, follow=True)},
        {"pools": aptmc.Partitioned(), "schedule": aptmc.Anytime(every=4.1)},
        {"schedule": aptmc.Anytime(4.1, exchange=aptmc.RandomParity(rounds=2))},
        {"schedule": aptmc.Uncorrected(every=4.1)},
    ],
    ids=[
        "all", "coldest", "thinned", "synchronous", "following", "pools", "rounds", "uncorrected",
    ],
)  # fmt: skip
def test_a_resumed_run_is_the_run_that_was_never_stopped(path, monkeypatch, changes):
    sampled(path, monkeypatch, **changes)
    run = aptmc.resume(path, PROBLEM, budget=LATER, on=ON)
    whole = in_memory(BUDGET + LATER, **changes)
    assert everything(run) == everything(whole)
    assert everything(aptmc.open(path)) == everything(whole)
    assert run.elapsed == whole.elapsed
    assert run.completions == whole.completions
    assert run.round_trips == whole.round_trips
    assert np.array_equal(run.swap_rates.neighbours, whole.swap_rates.neighbours, equal_nan=True)
    assert run.utilisation == pytest.approx(whole.utilisation)
    assert run.in_flight == whole.in_flight
    assert str(run.summary()) == str(whole.summary())


def test_what_a_store_shows_is_what_the_run_showed(stored, monkeypatch):
    run, opened = in_memory(), aptmc.open(stored)
    for name in (
        "stopped", "elapsed", "utilisation", "completions", "round_trips", "in_flight",
        "simulations", "failures", "overhead",
    ):  # fmt: skip
        assert getattr(opened, name) == getattr(run, name), name
    for name in ("steps_per_move", "acceptance_rates", "hold_times"):
        assert np.array_equal(getattr(opened, name), getattr(run, name)), name
    for name in ("budget", "warmup", "ladder", "kernel", "schedule", "pools", "seed"):
        assert repr(getattr(opened.settings, name)) == repr(
            getattr(replace(run.settings, pools=aptmc.Shared()), name)
        ), name
    assert repr(opened.settings.on) == repr(run.settings.on)
    assert repr(opened) == repr(run)
    assert str(opened.summary()) == str(run.summary())
    assert opened.damage == []


def test_the_clock_of_a_run_in_this_process_goes_on(path, monkeypatch):
    sampled(path, monkeypatch, budget=60.5, on=aptmc.InProcess(ManualClock(1.0)))
    run = aptmc.resume(path, PROBLEM, budget=40.0, on=aptmc.InProcess(ManualClock(1.0)))
    assert run.completions == 100
    assert run.elapsed == 100.5
    assert aptmc.replay(path, PROBLEM).is_same


@pytest.mark.parametrize("processors", [1, 3])
def test_other_processors_may_go_on(path, monkeypatch, processors):
    sampled(path, monkeypatch, pools=aptmc.Shared(chains_per_rung=2))
    before = everything(aptmc.open(path))
    under_way = aptmc.open(path).in_flight
    run = aptmc.resume(path, PROBLEM, budget=LATER, on=aptmc.VirtualTime(processors))
    assert is_prefix(before, everything(run))
    assert aptmc.replay(path, PROBLEM).is_same
    completed = run.events.completions
    later = completed.chain[completed.time > BUDGET].tolist()
    assert {key.chain for key in under_way} <= set(later)


def test_virtual_time_may_be_followed_by_real_processes(path, monkeypatch):
    """And the other way round: the moves in flight have the same keys."""
    before = sampled(path, monkeypatch, save_every=0.1).completions
    save = DiskStore.save

    def save_and_stop(store, notes, arrays, **options):
        save(store, notes, arrays, **options)
        if arrays["machine/completed"].sum() > before + 100:
            os.kill(os.getpid(), signal.SIGTERM)

    with monkeypatch.context() as patch:
        patch.setattr(DiskStore, "save", save_and_stop)
        run = aptmc.resume(path, PROBLEM, budget="1 h", on=aptmc.Processes(2, group=1))
    assert run.stopped is aptmc.StopReason.TERMINATED
    again = aptmc.resume(path, PROBLEM, budget=LATER, on=ON)
    assert is_prefix(everything(run), everything(again))
    assert aptmc.replay(path, PROBLEM).is_same


def test_resuming_twice_is_resuming_once(stored, tmp_path, monkeypatch):
    for part in (10.0, 1e-9, LATER - 10.0 - 1e-9):
        run = aptmc.resume(stored, PROBLEM, budget=part, on=ON)
    assert everything(run) == everything(in_memory(BUDGET + LATER))


def test_a_run_that_was_stopped_by_an_error_can_be_gone_on_with(path):
    problem = simulators.problem(simulators.raises_far_out)
    settings = SETTINGS | {"on": aptmc.VirtualTime(2)}
    with pytest.raises(aptmc.MoveFailed) as caught:
        aptmc.sample(problem, budget=1_000.0, store=path, **settings)
    assert aptmc.open(path).stopped is aptmc.StopReason.FAILED
    with pytest.raises(aptmc.MoveFailed) as again:
        aptmc.resume(path, problem, budget=1_000.0, on=aptmc.VirtualTime(2))
    assert again.value.key == caught.value.key  # it is the same move
    assert again.value.parameters == caught.value.parameters
    run = aptmc.resume(path, simulators.problem(), budget=100.0, on=settings["on"], force=True)
    whole = aptmc.sample(simulators.problem(), budget=run.elapsed, log_events=True, **settings)
    assert everything(run)[:-1] == everything(whole)[:-1]
    assert aptmc.replay(path, problem).is_same is False  # at the move that failed


def test_a_run_that_was_interrupted_in_the_middle_of_a_move_can_be_gone_on_with(path):
    calls = []

    def log_density(theta):
        calls.append(theta)
        if len(calls) == 60:
            raise KeyboardInterrupt
        return -0.5 * theta[0] * theta[0]

    problem = aptmc.Power(log_density, {"x": 0.0})
    settings = SETTINGS | {"on": aptmc.VirtualTime(2)}
    run = aptmc.sample(problem, budget=100.0, store=path, **settings)
    assert run.stopped is aptmc.StopReason.INTERRUPTED
    left = 100.0 - run.elapsed
    again = aptmc.resume(path, problem, budget=left, on=settings["on"], force=True)
    whole = aptmc.sample(simulators.problem(), budget=100.0, log_events=True, **settings)
    assert everything(again) == everything(whole)


# --- while it is written -------------------------------------------------------------------------


def test_what_is_read_while_another_writes_is_a_run_at_one_moment(path, monkeypatch):
    """Each look shows a beginning of the run, and never less than the look before."""
    settings = SETTINGS | {"on": aptmc.VirtualTime(2, _slow_hold)}
    looks = []
    with start(PROBLEM, budget=1e12, store=path, save_every=1e-6, **settings) as handle:
        eventually(path.joinpath("checkpoint-1").exists)
        eventually(lambda: _look(path, looks) >= 4)
        whole = everything(handle.stop())
    for before, after in zip(looks, [*looks[1:], whole], strict=True):
        assert is_prefix(before, after)
    assert everything(aptmc.open(path)) == whole


def _slow_hold(theta, rung, rng):
    """Plain Python, so that there are many looks before there are many draws."""
    return rng.exponential(1.0)


def _look(path, looks):
    found = everything(aptmc.open(path))
    if not looks or len(found[0]) > len(looks[-1][0]):
        looks.append(found)
    return len(looks)


def test_an_opened_run_stays_as_it_was_when_the_run_goes_on(stored):
    opened = aptmc.open(stored)
    aptmc.resume(stored, PROBLEM, budget=LATER, on=ON)
    assert everything(opened) == everything(in_memory())
    assert opened.draws.posterior.x.values.size == in_memory().chains()[0].time.size


def test_a_run_in_the_background_can_be_stopped_and_gone_on_with(path):
    settings = SETTINGS | {"on": aptmc.VirtualTime(2, targets.hold), "keep": "coldest"}
    with start(PROBLEM, budget=1e12, store=path, **settings) as handle:
        eventually(lambda: handle.inspect().run.completions > 1_000)
        run = handle.stop()
    assert aptmc.open(path).stopped is aptmc.StopReason.STOPPED
    again = aptmc.resume(path, PROBLEM, budget=100.0, on=settings["on"])
    assert is_prefix(everything(run), everything(again))
    assert threading.active_count() < 20


# --- nothing is executed -------------------------------------------------------------------------


def test_no_file_of_a_store_is_a_pickle(stored):
    for file in (file for file in stored.rglob("*") if file.is_file()):
        data = file.read_bytes()
        assert not data.startswith(b"\x80"), file  # as pickles since version 2 do
        if file.name.startswith("checkpoint"):
            assert data.startswith(MAGIC)
        if file.suffix != ".json" and "c" not in file.parts:
            assert b"builtins" not in data
        with pytest.raises(Exception):  # noqa: B017, PT011 (whatever it is: it is no pickle)
            pickle.loads(data)


def test_stores_work_where_pickles_are_forbidden(path, monkeypatch):
    def forbidden(*_arguments, **_options):
        raise AssertionError("a pickle was read or written")

    in_memory()  # what is compiled may come from numba's cache, which has pickles of its own
    for name in ("load", "loads", "dump", "dumps", "Unpickler", "Pickler"):
        monkeypatch.setattr(pickle, name, forbidden)
    sampled(path, monkeypatch)
    run = aptmc.open(path)
    assert run.summary()["x"].ess > 0.0
    run.draws.load()
    aptmc.resume(path, PROBLEM, budget=LATER, on=ON)
    assert aptmc.replay(path, PROBLEM).is_same


def test_a_store_may_be_moved_and_named_by_a_relative_path(stored, tmp_path, monkeypatch):
    os.rename(stored, tmp_path / "other.zarr")
    monkeypatch.chdir(tmp_path)
    run = aptmc.resume("other.zarr", PROBLEM, budget=LATER, on=ON)
    assert everything(run) == everything(in_memory(BUDGET + LATER))


def test_a_store_is_made_only_when_all_else_is_in_order(path):
    with pytest.raises(aptmc.InputError, match="save_every"):
        aptmc.sample(PROBLEM, budget=1.0, store=path, save_every=0, **SETTINGS)
    bad = SETTINGS | {"on": aptmc.VirtualTime(2, njit(lambda theta, rung, rng: -1.0))}
    with pytest.raises(aptmc.MoveFailed, match="hold"):
        aptmc.sample(PROBLEM, budget=1.0, store=path, **bad)
    assert not path.exists()


def test_settings_of_a_store_are_checked_before_it_is_locked(stored):
    disk, _ = DiskStore.reopen(stored)
    disk.close()
    disk.close()
