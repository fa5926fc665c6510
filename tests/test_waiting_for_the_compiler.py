"""On a machine that has never seen aptmc, a plain Python problem waits for no compiler."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import threading
from pathlib import Path

import cloudpickle
import pytest

from aptmc.coordinator.transitions import catch_up
from aptmc.problem.weights import power_log_weight, tolerance_log_weight
from aptmc.session import compiling_process
from aptmc.session.compiling_process import (
    NICENESS,
    CompilingProcess,
    all_compiled,
    one_at_a_time,
    still_there,
)
from aptmc.session.standing_by import stand_by_to_answer
from aptmc.targets.compile_ahead import all_functions, compile_ahead, found_by_name, name_of
from tests.backends.contract import eventually

ROOT = Path(__file__).resolve().parents[1]

# Python imports this whenever it starts, also in worker processes.
LISTENER = """
import os
from numba.core import event


class Listener(event.Listener):
    def on_start(self, compiled):
        with open(os.environ["SEEN"], "a") as seen:
            source = compiled.data["dispatcher"].py_func
            print(source.__module__, source.__qualname__, file=seen)

    def on_end(self, compiled):
        pass


event.register("numba:compile", Listener())
"""

PROBLEM = """
import aptmc, numba
from scipy import stats

def log_likelihood(theta):
    return -0.5 * (abs(theta[0]) - 8.0) ** 2

problem = aptmc.Tempered(log_likelihood, aptmc.Prior(x=stats.uniform(-20, 40)))
"""

# As in README, but for so many moves, however busy the machine is.
PROCESSES = """
run = aptmc.sample(problem, budget="100 moves", on=aptmc.Processes(2), seed=1)
assert run.completions >= 20
print(run.summary())
"""

OTHERS = """
from aptmc.clock import ManualClock
often = aptmc.Anytime(every=5.0)
tables = aptmc.Prior(n=stats.poisson(4), r=stats.gamma(2))

class Farther(aptmc.Rule):
    reach: int = 2

    @staticmethod
    def choose_pairs(round_number, waiting, rng, pairs, settings):
        pairs[0, 0], pairs[0, 1] = 0, min(settings.reach, waiting.rung.shape[0] - 1)
        return 1

class Unsteady(aptmc.Schedule):
    every: float = 5.0

    @staticmethod
    def next_deadline(number, time, sweep_share, rng, settings):
        return time + settings.every * (0.5 + rng.random())

run = aptmc.sample(
    problem, budget=100, schedule=Unsteady(exchange=Farther(reach=1)), seed=1, progress=False,
    ladder=aptmc.Ladder.powers(3), kernel=aptmc.RandomWalk(1.0), warmup=0,
    on=aptmc.VirtualTime(1, lambda theta, rung, rng: 1.0),
)
assert run._record.swaps.sum() > 0
for kernel in ("auto", aptmc.Slice("auto")):
    wholes = aptmc.Tempered(lambda theta: -theta[1], tables)
    run = aptmc.sample(
        wholes, budget=100, schedule=often, kernel=kernel, seed=1,
        on=aptmc.InProcess(ManualClock(step=1.0)),
        progress=False,
    )
    print(run.summary())
dependent = aptmc.Prior(sd=stats.halfnorm(), b=aptmc.iid(aptmc.given(stats.norm, 0, "sd"), 3))
run = aptmc.sample(
    aptmc.Tempered(lambda theta: -theta[1], dependent), budget=100, seed=1, progress=False,
    schedule=often, on=aptmc.InProcess(ManualClock(step=1.0)),
)
simulated = aptmc.Abc.early(lambda theta, rng, tolerance: abs(theta[1] - rng.random()), tables)
run = aptmc.sample(
    simulated, budget=500, schedule=often,
    on=aptmc.VirtualTime(2, lambda theta, rung, rng: 1.0 + rng.random()),
    ladder=aptmc.Ladder.tolerances([0.5, 1.0, 2.0]), seed=1, progress=False,
)
print(run.summary())
"""

COMPILES = "from aptmc.keys import first_number; first_number(1)"  # so that one would see it


def compiled_by(code, folder, **environment):
    """What is compiled in all processes of a script, when nothing was before."""
    (folder / "sitecustomize.py").write_text(LISTENER, encoding="utf-8")
    seen = folder / "seen"
    seen.touch()
    path = os.pathsep.join([str(folder), str(ROOT / "src")])
    environment = {
        **os.environ, "PYTHONPATH": path, "SEEN": str(seen), "APTMC_COMPILE": "never",
        "NUMBA_CACHE_DIR": str(folder / "cache"), **environment,
    }  # fmt: skip
    subprocess.run(
        [sys.executable, "-W", "error", "-c", PROBLEM + code], env=environment, check=True
    )
    return seen.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("code", [PROCESSES, OTHERS])
def test_nothing_is_compiled_while_one_waits(code, tmp_path):
    assert compiled_by(code, tmp_path) == []


def test_what_is_compiled_would_be_seen(tmp_path):
    assert compiled_by(COMPILES, tmp_path) == ["aptmc.keys first_number"]


# --- the process that compiles --------------------------------------------------------------------

ASIDE = """
import select
from aptmc.problem.weights import power_log_weight
from aptmc.session.compiling_process import CompilingProcess, compiling
from aptmc.session.kept_code import KEPT_ON_DISK

assert not power_log_weight.load()
process = compiling([power_log_weight])
assert not process.has_ended()
assert compiling([power_log_weight]) is process
select.select([process._socket], [], [])
assert process.has_ended() and process.has_ended()
assert power_log_weight.load()
assert power_log_weight(0.5, 3.0) == 1.5

class Own(aptmc.Rule):
    @staticmethod
    def choose_pairs(round_number, waiting, rng, pairs):
        return 0

own = Own().function(KEPT_ON_DISK)
assert not own.load() and not own.is_on_disk()
select.select([compiling([own])._socket], [], [])
assert own.is_on_disk() and own.load()

failing = CompilingProcess(["aptmc.problem.weights:nothing"])
select.select([failing._socket], [], [])
assert failing.has_ended()
"""


@pytest.mark.validation
def test_a_process_of_its_own_fills_the_cache(tmp_path):
    seen = compiled_by(ASIDE, tmp_path)
    assert seen[0] == "aptmc.problem.weights power_log_weight"
    assert [name for name in seen if "choose_pairs" in name] == ["__main__ Own.choose_pairs"]
    assert len(seen) == 3  # and a call of that, with its settings


def test_nobody_waits_until_it_has_begun(monkeypatch):
    """A run that is under way has not got the seconds that it takes on a busy machine."""
    gate = threading.Event()

    def slow_start(*_, **__):
        gate.wait()
        raise OSError("no more processes")

    monkeypatch.setattr(compiling_process.subprocess, "run", slow_start)
    process = compiling_process.CompilingProcess([])  # it used to come back after the gate only
    assert not process.has_ended()
    gate.set()
    eventually(process.has_ended)


@pytest.mark.parametrize(("urgent", "more"), [(False, NICENESS), (True, 0)])
def test_it_has_a_low_priority_unless_it_is_waited_for(urgent, more, tmp_path):
    seen = tmp_path / "seen"

    def note(path, kept):
        """Stands in for the making of a function, and tells how nice its process is."""
        Path(path).write_text(str(os.nice(0)))
        raise RuntimeError("there is nothing to compile")

    process = CompilingProcess([], cloudpickle.dumps([(note, (str(seen),))]), urgent=urgent)
    select.select([process._socket], [], [])
    assert process.has_ended()
    assert int(seen.read_text()) == min(os.nice(0) + more, 19)


def test_a_process_ends_when_nobody_is_at_the_other_end():
    ours, theirs = socket.socketpair()
    with theirs:
        is_wanted = still_there(theirs.fileno())
        assert is_wanted()
        ours.close()
        assert not is_wanted()


def test_it_ends_after_the_function_that_it_is_at():
    answers = iter([True, True, False])
    assert not all_compiled([catch_up], lambda: next(answers))
    assert all_compiled([power_log_weight, tolerance_log_weight], lambda: True)


def test_each_cache_is_filled_by_one_at_a_time(monkeypatch):
    monkeypatch.setattr(compiling_process, "PATIENCE", 0.01)
    answers = iter([True, True, False])
    with one_at_a_time():
        assert not all_compiled([power_log_weight], lambda: next(answers))
    assert all_compiled([power_log_weight], lambda: True)


def test_what_others_call_is_compiled_first():
    names = [name_of(one).partition(":")[2] for one in compile_ahead([stand_by_to_answer])]
    assert names[-1] == "answering"
    assert names.index("exchange_round") < names.index("exchange_rounds") < names.index("catch_up")
    assert len(names) == len(set(names))
    assert "rewind" not in names  # its callers hold a copy


def test_functions_are_found_by_name_in_another_process():
    functions = all_functions()
    assert len(functions) > 60
    assert all(found_by_name(name_of(one)) is one for one in functions)
    with pytest.raises(LookupError, match=r"there is no compiled function aptmc\.keys:nothing"):
        found_by_name("aptmc.keys:nothing")
