"""Simulators that draw from np.random are right, reproducible and replayable."""

from __future__ import annotations

import random
import threading

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.global_generators import left_alone
from aptmc.problem.chain_state import PROCESSOR
from aptmc.session.orders import Mover, Order
from tests.support.after_moves import after_moves

PRIOR = aptmc.Prior(mean=stats.norm(0.0, 2.0))
SETTINGS = {
    "ladder": aptmc.Ladder.tolerances([0.3, 0.6, 1.2, 2.5, np.inf]),
    "kernel": aptmc.OneHit(1.0),
    "progress": False,
    "seed": 1,
}


def simulated_distance(theta, rng, tolerance):
    return abs(theta[0] + np.random.normal() + random.gauss(0.0, 0.1) - 1.0)  # noqa: NPY002


def given_distance(theta, rng, tolerance):
    return abs(theta[0] + rng.normal() + rng.normal(0.0, 0.1) - 1.0)


@njit
def compiled_normal():
    return np.random.normal()  # noqa: NPY002


def helped_distance(theta, rng, tolerance):
    return abs(theta[0] + compiled_normal() - 1.0)


def problem(function=simulated_distance):
    return aptmc.Abc.early(function, PRIOR)


def virtual(function=simulated_distance, budget=2000, **others):
    return aptmc.sample(
        problem(function), budget=budget, on=aptmc.VirtualTime(2), schedule=aptmc.Anytime(every=3),
        **SETTINGS, **others,
    )  # fmt: skip


@pytest.mark.parametrize("function", [simulated_distance, helped_distance])
def test_runs_are_the_same_again_and_so_is_each_move(function):
    runs = []
    for seed in (1, 2):
        np.random.seed(seed)  # noqa: NPY002
        random.seed(seed)
        runs.append(virtual(function, keep="all"))
    one, other = runs
    assert (one.series("mean")[0] == other.series("mean")[0]).all()
    draws = one.chains(1, warmup=True)[0]
    chain = int(np.flatnonzero(one.rung_of_chain == 1)[0])
    moves = np.flatnonzero(~draws.exchanged)
    for number in (1, 2, 3):
        again = one.rerun(aptmc.Key(1, chain, number))
        assert again.after["distance"] == draws.state[moves[number - 1], 1]


def test_the_posterior_is_right():
    draws = np.concatenate(virtual(budget=16_000).series("mean"))
    exact = np.concatenate(virtual(given_distance, budget=16_000).series("mean"))
    # Both have about 400 effective draws of sd 0.9: five standard errors of a difference.
    assert abs(draws.mean() - exact.mean()) < 5.0 * 0.9 * np.sqrt(2.0 / 400)


def test_one_hint_says_that_the_given_generator_is_the_better_way():
    assert "your simulator draws from np.random" in str(virtual().summary())
    assert "np.random" not in str(virtual(given_distance).summary())


@pytest.mark.parametrize(("threads", "is_said"), [(1, True), (3, False)])
def test_a_simulator_is_not_taken_for_other_threads_of_a_worker(monkeypatch, threads, is_said):
    """Dask's own draw from `random` now and then, while a move is computed."""
    monkeypatch.setattr(threading, "active_count", lambda: threads)
    kernel, ladder = SETTINGS["kernel"], SETTINGS["ladder"]
    mover = Mover(problem(), kernel, 1)
    tuning = kernel.tuning(mover.problem, ladder)[0]
    state = np.zeros(mover.problem.width)
    state[:2] = 0.5, 0.2
    with left_alone():
        outcome = mover.compute(Order(aptmc.Key(1, 0, 1), 0, ladder.levels[0], tuning, state))
    assert bool(outcome.info[PROCESSOR]) is is_said
    assert mover.seeding.needed


def test_the_process_keeps_its_own_numbers():
    np.random.seed(5)  # noqa: NPY002
    virtual(budget=200)
    aptmc.rejection(problem(), 0.5, simulations=50, seed=1)
    assert np.random.random() == np.random.RandomState(5).random()  # noqa: NPY002


def test_rejection_is_the_same_again():
    first, second = (aptmc.rejection(problem(), 0.5, simulations=400, seed=1) for _ in range(2))
    assert (first.distance == second.distance).all()
    assert np.unique(first.distance).size == first.distance.size


@pytest.mark.parametrize(
    "on", [lambda: aptmc.Processes(2, group=1), aptmc.InProcess], ids=["processes", "in process"]
)
def test_workers_draw_other_numbers_and_replay_draws_the_same(tmp_path, monkeypatch, on):
    enough = after_moves(monkeypatch, 400)
    with aptmc.start(
        problem(), budget=300.0, on=on(), store=tmp_path / "run", keep="all", log_events=True,
        schedule=aptmc.Anytime(every=0.01), **SETTINGS,
    ) as handle:  # fmt: skip
        enough.wait()
        run = handle.stop()
    moved = [draws.state[~draws.exchanged, 1] for rung in range(5) for draws in run.chains(rung)]
    accepted = [distances[np.flatnonzero(np.diff(distances)) + 1] for distances in moved]
    together = np.concatenate(accepted)
    assert together.size > 100
    # A state that travels is counted on several rungs, how often depends on the machine's load; a
    # stream in common would give half.
    assert np.unique(together).size > 0.75 * together.size
    assert run.draws_globally
    assert aptmc.replay(tmp_path / "run", problem()).is_same


@njit
def compiled_distance(theta, rng, tolerance):
    return abs(theta[0] + np.random.normal())  # noqa: NPY002


@njit
def calls_another(theta, rng, tolerance):
    return abs(theta[0] + compiled_normal())


@njit
def draws_from_the_given(theta, rng, tolerance):
    return abs(theta[0] + rng.random() + rng.normal())


@pytest.mark.parametrize("function", [compiled_distance, calls_another])
def test_compiled_functions_must_draw_from_what_they_are_given(function):
    with pytest.raises(aptmc.InputError, match=r"draws from np\.random\.normal.*rng\.normal"):
        problem(function)
    problem(draws_from_the_given)
