"""Workers are ready at once: they load little, and come from a process that stays."""

from __future__ import annotations

import importlib
import os
import signal
import socket
import threading
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.backends.processes.ancestor_link import ANCESTORS, AncestorLink
from aptmc.backends.processes.messages import BEGUN, FORK, NEWS, receive_exactly
from aptmc.problem.chain_state import value_column
from tests.backends.contract import begin, eventually, run_until, same_when_replayed
from tests.support import simulators
from tests.support.notes import Notes, Threaded, parent_of

ON = aptmc.Processes(2, group=1, ahead=0)
COLD = aptmc.Processes(2, group=1, ahead=0, keep_warm=False)
# What takes long to load, and no move needs.
NEEDLESS = {
    *("arviz", "arviz_base", "arviz_stats", "dask", "distributed", "jinja2", "loky", "matplotlib"),
    *("msgspec", "pandas", "ray", "rich", "scipy.stats", "xarray", "zarr"),
}


def noted(path, on=ON, problem=simulators.problem, **options):
    """What a worker of a run writes down."""
    notes = Notes(path, **options)
    run_until(problem=problem(notes), on=on)
    return notes.read()


def with_prior(log_likelihood):
    return aptmc.Tempered(log_likelihood, aptmc.Prior(x=stats.norm(0.0, 5.0)))


# --- what is loaded -------------------------------------------------------------------------------


@pytest.mark.parametrize("on", [ON, COLD], ids=["warm", "cold"])
def test_workers_of_a_plain_problem_load_only_what_a_move_needs(on, tmp_path):
    ANCESTORS.end_all()  # one of an earlier run may have been asked to load more
    loaded = noted(tmp_path / "notes", on, with_prior)["modules"]
    assert NEEDLESS.isdisjoint(loaded)
    assert "numpy" in loaded


def test_what_is_loaded_without_need_would_be_seen(tmp_path):
    loaded = noted(tmp_path / "notes", COLD, with_prior, imports=["jinja2"])["modules"]
    assert not NEEDLESS.isdisjoint(loaded)


def test_an_ancestor_has_ready_what_a_run_before_asked_for(tmp_path):
    ANCESTORS.end_all()
    wanted = {"before": [], "asks": ["scipy.stats"], "after": []}
    found = {name: noted(tmp_path / name, imports=given) for name, given in wanted.items()}
    assert len({notes["ancestor"] for notes in found.values()}) == 1
    has_it = {name: "scipy.stats" in notes["modules"] for name, notes in found.items()}
    assert has_it == {"before": False, "asks": True, "after": True}


# --- one for several runs -------------------------------------------------------------------------


def test_the_next_run_comes_from_the_same_process(tmp_path):
    first, second = noted(tmp_path / "first"), noted(tmp_path / "second")
    assert first["fork server"] != second["fork server"]
    assert first["ancestor"] == second["ancestor"] != os.getpid()
    assert parent_of(first["ancestor"]) == os.getpid()


def test_no_process_is_left_if_that_is_not_wanted(tmp_path):
    found = noted(tmp_path / "notes", COLD)
    assert found["ancestor"] == os.getpid()
    assert not Path(f"/proc/{found['fork server']}").exists()


@pytest.mark.validation
def test_what_is_inherited_is_never_stale(tmp_path, monkeypatch):
    before = noted(tmp_path / "before")
    monkeypatch.setenv("APTMC_TEST_VARIABLE", "new")
    changed = noted(tmp_path / "changed")
    monkeypatch.chdir(tmp_path)
    moved = noted(tmp_path / "moved")
    assert [one["variable"] for one in (before, changed, moved)] == [None, "new", "new"]
    assert moved["folder"] == str(tmp_path)
    assert len({one["ancestor"] for one in (before, changed, moved)}) == 3
    # Those that were replaced have gone, since they served nobody.
    eventually(lambda: not is_alive(before["ancestor"]))


def test_in_tests_of_ones_own_they_stay_for_the_next_test(tmp_path, monkeypatch):
    """pytest writes into the environment which test it is at."""
    processes = set()
    for test in ("one", "other"):
        monkeypatch.setenv("PYTEST_CURRENT_TEST", test)
        processes.add(noted(tmp_path / test)["ancestor"])
    assert len(processes) == 1


def is_alive(process: int) -> bool:
    """Whether it runs. Not if it has ended and its parent has not noticed."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_run_goes_on_when_its_ancestor_is_replaced(tmp_path, monkeypatch):
    with begin(on=ON) as handle:
        eventually(lambda: handle.inspect().run.completions >= 10)
        workers = [worker.process for worker in handle.inspect().workers]
        monkeypatch.setenv("APTMC_TEST_VARIABLE", "new")
        noted(tmp_path / "notes")
        done = handle.inspect().run.completions
        eventually(lambda: handle.inspect().run.completions >= done + 60)
        assert [worker.process for worker in handle.inspect().workers] == workers
        handle.stop()


def test_a_run_goes_on_when_its_ancestor_is_killed(tmp_path):
    gate = simulators.Gate(tmp_path)
    with begin(simulators.problem(gate), on=ON) as handle:
        eventually(lambda: len(gate.waiting()) == 2)
        ancestor = parent_of(parent_of(gate.waiting()[0]))
        os.kill(ancestor, signal.SIGKILL)
        eventually(lambda: len(gate.waiting()) == 4)
        gate.open()
        eventually(lambda: handle.inspect().run.completions >= 60)
        run = handle.stop()
    assert same_when_replayed(run)


def test_a_module_that_was_edited_between_two_runs_is_loaded_anew(tmp_path, monkeypatch):
    """The ancestor has loaded nothing that is the user's."""
    monkeypatch.syspath_prepend(tmp_path)
    source, found = tmp_path / "users_own_module.py", []
    for height in (1.0, 20.0):  # of another length, or Python might take it for the same
        source.write_text(f"def log_density(theta):\n    return {height} if theta[0] else 0.0\n")
        importlib.invalidate_caches()
        module = importlib.reload(importlib.import_module("users_own_module"))
        # Enough for each chain to have moved since the run has settled.
        run = run_until(300, problem=aptmc.Power(module.log_density, {"x": 0.0}), on=ON)
        states = np.concatenate([one.state for one in run.chains(0)])
        found.append(float(states[:, value_column(1)].max()))
    assert found == [1.0, 20.0]


# --- its end --------------------------------------------------------------------------------------


def test_one_that_nobody_needs_ends_by_itself():
    link = AncestorLink(patience=0.0)
    eventually(lambda: link.process.poll() is not None)
    assert link.process.returncode == 0
    assert not link.is_up_to_date
    link.hang_up()


def test_one_that_was_started_by_a_thread_outlives_it():
    found = []
    thread = threading.Thread(target=lambda: found.append(AncestorLink()))
    thread.start()
    thread.join()
    (link,) = found
    ours, theirs = socket.socketpair()
    with ours, theirs:
        link.ask(FORK, theirs)
        kind, number, _ = NEWS.unpack(receive_exactly(ours, NEWS.size))
    assert kind == BEGUN
    assert number != link.process.pid
    assert link.is_up_to_date
    link.end()
    assert not link.is_up_to_date


def test_those_of_this_process_can_be_ended(tmp_path):
    ancestor = noted(tmp_path / "notes")["ancestor"]
    ANCESTORS.end_all()
    assert not Path(f"/proc/{ancestor}").exists()
    assert noted(tmp_path / "again")["ancestor"] != ancestor


# --- problems that start threads ------------------------------------------------------------------


def test_a_problem_that_starts_threads_is_loaded_by_each_worker(tmp_path):
    notes = Threaded(tmp_path / "notes")
    run = run_until(problem=simulators.problem(notes), on=ON)
    found = notes.read()
    assert found["threads"] == 2
    assert found["threads of the fork server"] == 1
    assert same_when_replayed(run)
