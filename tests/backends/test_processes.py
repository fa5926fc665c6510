"""Worker processes: what they can compute, and what they are given."""

from __future__ import annotations

import gc
import os
import sys
import threading
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.backends.processes.ancestor_link import ANCESTORS
from aptmc.errors import StopReason
from tests.backends.contract import (
    LADDER,
    begin,
    make_session,
    run_for,
    run_until,
    same_when_replayed,
)
from tests.support import simulators

ANYTIME = aptmc.Anytime(every="1 ms")
WITH_A_THREAD = """
import threading

threading.Thread(target=threading.Event().wait, daemon=True).start()
"""


def children() -> list[int]:
    """The processes, living or dead, whose parent is this one."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text().rpartition(")")[2].split()[1])
        except OSError:  # gone meanwhile
            continue
        if parent == os.getpid():
            found.append(int(status.parent.name))
    return found


def open_files() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


@pytest.fixture(scope="module", autouse=True)
def _few_objects_to_look_at():
    """Those of the libraries will not be collected, and to look at them takes half a second."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def _nothing_is_left(_few_objects_to_look_at):
    """However a run ends, it leaves no process, no open file and no thread.

    But for the process from which the next run comes, which is there before.
    """
    ANCESTORS.start_early(compiles=False)
    files, others, threads = open_files(), children(), threading.active_count()
    yield
    if children() != others:  # another has taken its place, since the environment was another
        ANCESTORS.end_all()
        ANCESTORS.start_early(compiles=False)
    assert len(children()) == len(others)
    assert open_files() == files
    assert threading.active_count() == threads


# --- what is computed -----------------------------------------------------------------------------


def shifted(height):
    return lambda theta: height - 0.5 * theta[0] ** 2


@pytest.mark.parametrize(
    "function",
    [
        shifted(1.0),
        simulators.Parabola(2.0),
        njit(simulators.log_density),
    ],
    ids=["closure", "object", "numba"],
)
def test_any_python_function_will_do(function):
    run = run_until(problem=simulators.problem(function))
    assert same_when_replayed(run)
    for draws in run.chains():
        expected = [function(theta) for theta in draws.state[:, :1]]
        assert draws.state[:, 1].tolist() == pytest.approx(expected, rel=1e-15)


def test_a_move_has_the_same_outcome_here_and_in_a_worker():
    """Without exchanges the order of events does not matter: a chain is its own keys."""
    never = aptmc.Anytime(every="1 h")
    here, store_here = make_session(never, 1)
    run_for(aptmc.InProcess(), here, moves=400)
    there, store_there = make_session(never, 2)
    run_for(aptmc.Processes(2, group=1), there, moves=400)
    for chain in range(LADDER.rungs):
        first, second = (store.draws(chain, 3).state for store in (store_here, store_there))
        both = min(len(first), len(second))
        assert both > 20
        assert (first[:both] == second[:both]).all()


@pytest.mark.parametrize(
    "on",
    [aptmc.Processes(2), aptmc.Processes(1, group=1, ahead=1)],
    ids=["auto", "ahead"],
)
def test_large_states_travel(on):
    """Were an order sent while its worker has a reply for us, both would wait forever."""
    observed = np.zeros(simulators.MANY)
    problem = aptmc.Abc(
        simulators.simulate_many,
        aptmc.Prior(mean=stats.norm(0, 2)),
        observed=observed,
        distance=simulators.distance_of_means,
        keep_simulated=True,
    )
    ladder = aptmc.Ladder.tolerances([0.3, 0.6, 1.2, 3.0])
    # Draws are large too, so that there must not be many.
    session, store = make_session(
        aptmc.Anytime(every="500 ms"),
        on.processors,
        problem=problem,
        ladder=ladder,
        kernel=aptmc.OneHit(0.5, cap=20),
    )
    run_for(on, session, moves=20)
    states = np.concatenate([store.draws(chain, problem.width).state for chain in range(4)])
    assert states.shape[1] > simulators.MANY
    assert states[:, 1] == pytest.approx(np.abs(states[:, 3:].mean(axis=1)))
    assert session.machine.completed.sum() >= 20


@pytest.mark.parametrize(
    ("pools", "schedule", "ladder"),
    [
        (aptmc.Partitioned(), aptmc.Anytime(every="1 ms", within=aptmc.OneRandomPair()), LADDER),
        (aptmc.Paired(), ANYTIME, aptmc.Ladder.powers(2)),
    ],
    ids=["partitioned", "paired"],
)
def test_pools_keep_to_their_own_processors(pools, schedule, ladder):
    on = aptmc.Processes(2, group=1)
    run = run_until(pools=pools, schedule=schedule, ladder=ladder, on=on)
    assert same_when_replayed(run)
    layout = pools.layout(ladder, 2)
    assert (layout.pool[run.events.chain] == layout.served[run.events.processor]).all()
    assert set(run.events.processor.tolist()) == {0, 1}


def test_the_default_is_a_worker_for_each_processor_that_chains_can_keep_busy():
    run = run_until(on=None, ladder=aptmc.Ladder.powers(3))
    assert isinstance(run.settings.on, aptmc.Processes)
    assert run.settings.on.processors == 1
    assert 0.0 < run.utilisation <= 1.0
    assert same_when_replayed(run)


# --- what workers are given -----------------------------------------------------------------------


def test_libraries_in_workers_start_no_threads_and_the_search_path_is_the_users(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    notes = tmp_path / "notes"
    run_until(problem=simulators.problem(simulators.Surroundings(notes)))
    command, threads, path = notes.read_text().splitlines()
    assert "worker_main" not in command  # a copy of the fork server
    assert threads == "1"
    assert path == "/somewhere"
    assert os.environ["OMP_NUM_THREADS"] == "7"


@pytest.mark.parametrize("keep_warm", [True, pytest.param(False, marks=pytest.mark.validation)])
def test_a_python_that_starts_threads_gets_fresh_processes(keep_warm, tmp_path, monkeypatch):
    """A copy of a process with threads is not sound, so nobody must make one."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "sitecustomize.py").write_text(WITH_A_THREAD)  # Python imports it at its start
    notes = tmp_path / "notes"
    run = run_until(
        problem=simulators.problem(simulators.Surroundings(notes)),
        on=aptmc.Processes(2, group=1, keep_warm=keep_warm),
    )
    command, threads, path = notes.read_text().splitlines()
    assert "worker_main" in command
    assert (threads, path) == ("1", "None")
    assert same_when_replayed(run)


# --- what cannot work -----------------------------------------------------------------------------


def test_a_problem_that_cannot_travel_is_refused_before_the_run():
    lock = threading.Lock()

    def log_density(theta):
        with lock:
            return -0.5 * theta[0] ** 2

    with pytest.raises(aptmc.InputError, match=r"open it inside the function, or use on=aptmc\.In"):
        begin(simulators.problem(log_density))


def test_a_problem_that_workers_cannot_load_is_refused(monkeypatch):
    absent = ModuleType("absent_elsewhere")
    exec("def log_density(theta):\n    return -0.5 * theta[0] ** 2", absent.__dict__)
    monkeypatch.setitem(sys.modules, absent.__name__, absent)
    with pytest.raises(aptmc.InputError, match="No module named 'absent_elsewhere'"):
        begin(simulators.problem(absent.log_density)).wait()


def test_a_budget_too_short_for_workers_to_be_ready_is_said_to_be():
    run = begin(budget="10 ms").wait()
    assert run.stopped is StopReason.TOO_SHORT
    assert run.completions == 0
    (advice,) = run.advice
    assert advice.problem.startswith("the budget was spent before the first draws: ")
    assert advice.remedy == "A budget of about 5 s should be enough"
    assert "tolerance" not in str(run.summary())


def test_a_function_that_exits_has_failed():
    with pytest.raises(aptmc.MoveFailed, match="raised SystemExit: enough") as caught:
        begin(simulators.problem(simulators.exits_far_out)).wait()
    assert caught.value.key in caught.value.run.in_flight
    assert abs(caught.value.parameters["x"]) > simulators.FAR


def test_a_failure_shows_where_in_the_users_code_it_was():
    with pytest.raises(aptmc.MoveFailed) as caught:
        begin(simulators.problem(simulators.raises_far_out)).wait()
    (note,) = caught.value.__notes__
    assert "in raises_far_out" in note
    assert "In the worker process" in note


@pytest.mark.parametrize("workers", [0, -1, 1.5, "two", True])
def test_the_number_of_workers_must_be_one(workers):
    with pytest.raises(aptmc.InputError, match="workers"):
        aptmc.Processes(workers)
