"""Workers that die, hang and are interrupted; and nobody is left behind."""

from __future__ import annotations

import math
import os
import signal
from contextlib import closing, contextmanager
from pathlib import Path
from select import select

import pytest

import aptmc
from aptmc.backends.processes.local_workforce import LocalWorkforce
from aptmc.backends.workers.payload import pack
from aptmc.backends.workers.wire import Wire
from aptmc.clock import WallClock
from aptmc.errors import StopReason
from tests.backends.contract import begin, eventually, make_session, same_when_replayed
from tests.support import simulators
from tests.support.scripts import running_script
from tests.support.stores import kept

# No trial moves: what the functions below do, they do in moves that count.
ONE = aptmc.Processes(1, group=1, ahead=0)
TWO = aptmc.Processes(2, group=1, ahead=0)


def completed(handle) -> int:
    return handle.inspect().run.completions


def parent_of(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


# --- death ----------------------------------------------------------------------------------------


def test_a_worker_killed_in_mid_move_is_replaced_and_its_move_computed_again(tmp_path):
    gate = simulators.Gate(tmp_path)
    with begin(simulators.problem(gate), on=TWO) as handle:
        eventually(lambda: len(gate.waiting()) == 2)
        before = handle.inspect()
        victim, other = before.workers
        os.kill(victim.process, signal.SIGKILL)
        eventually(lambda: len(gate.waiting()) == 3)
        gate.open()
        eventually(lambda: completed(handle) >= 60)
        after = handle.inspect()
        run = handle.stop()
    assert {victim.process, other.process} <= set(gate.waiting())
    assert after.workers[0].process not in (None, victim.process)
    assert after.workers[1].process == other.process
    assert before.run.in_flight == [aptmc.Key(1, 0, 1), aptmc.Key(1, 1, 1)]
    # Nobody took the lost move a second time: it was ordered again.
    assert run.events.chain[:2].tolist() == [0, 1]
    assert (run.events.kind[:2] == 0).all()
    assert same_when_replayed(run)


def test_the_fork_server_may_die_too():
    with begin(on=TWO) as handle:
        eventually(lambda: completed(handle) >= 20)
        eventually(lambda: all(worker.process for worker in handle.inspect().workers))
        before = {worker.process for worker in handle.inspect().workers}
        (fork_server,) = {parent_of(process) for process in before}
        os.kill(fork_server, signal.SIGKILL)
        eventually(
            lambda: before.isdisjoint({worker.process for worker in handle.inspect().workers})
        )
        done = completed(handle)
        eventually(lambda: completed(handle) >= done + 60)
        run = handle.stop()
    assert same_when_replayed(run)


@contextmanager
def workforce_and_order():
    """A workforce without workers, and something to do."""
    session, _ = make_session(aptmc.Anytime(every="1 ms"), 1)
    session.begin()
    wire = Wire(session.seed, session.problem.width)
    payload = pack((session.problem, session.kernel), wire)
    with closing(LocalWorkforce(payload, wire, session.problem)) as workforce:
        yield workforce, session.order(session.take_next(0))


def test_a_move_begins_when_its_worker_is_ready():
    """Not when the worker was asked for, which may be many seconds before."""
    with workforce_and_order() as (workforce, order):
        worker = workforce.hire(0)
        workforce.order(worker, order)
        assert worker.since == math.inf
        replies = []
        eventually(lambda: replies.extend(workforce.listen(WallClock().now() + 0.1)) or replies)
        ((successor, reply),) = replies
        assert successor is worker
        assert worker.is_ready
        assert worker.since == reply.ended < math.inf


def test_a_reply_and_the_death_of_the_fork_server_may_come_together():
    """Whoever takes the place of the one that replied is given the next order."""
    with workforce_and_order() as (workforce, order):
        heard = []

        def listen():
            heard.extend(workforce.listen(WallClock().now() + 0.1))
            return heard

        worker = workforce.hire(0)
        eventually(lambda: listen() or (worker.is_ready and worker.process is not None))
        listen()  # there is nothing more to hear: from now on, first come, first heard
        workforce.order(worker, order)
        eventually(lambda: worker.channel.has_mail())
        os.kill(parent_of(worker.process), signal.SIGKILL)
        eventually(lambda: select([workforce._fork_server.socket], [], [], 0.0)[0])
        ((successor, first),) = listen()
        heard.clear()
        workforce.order(successor, order)
        eventually(listen)
        assert (heard[0][1].outcome.state == first.outcome.state).all()


@pytest.mark.parametrize(
    ("function", "how"),
    [
        (simulators.DiesFarOut(signal=signal.SIGSEGV), r"killed by signal 11 \(SIGSEGV\)"),
        (simulators.DiesFarOut(status=3), "ended with exit status 3"),
    ],
    ids=["signal", "status"],
)
def test_a_move_that_always_kills_its_worker_ends_the_run(function, how):
    with pytest.raises(aptmc.WorkerDied, match=how) as caught:
        begin(simulators.problem(function), on=TWO).wait()
    death = caught.value
    assert death.run.stopped is StopReason.FAILED
    assert death.key in death.run.in_flight
    assert death.rung == death.key.chain
    assert abs(death.parameters["x"]) > simulators.FAR  # where the move was going
    assert f"x={death.parameters['x']!r} on rung {death.rung}" in str(death)
    assert repr(death.key) in str(death)
    moves = sum(int((~draws.exchanged).sum()) for draws in kept(death.run))
    assert moves == death.run.completions > 0


def test_a_move_that_kills_its_worker_twice_is_computed_in_the_end(tmp_path):
    function = simulators.DiesAtFirst(tmp_path / "calls", times=2)
    with begin(simulators.problem(function), on=ONE) as handle:
        eventually(lambda: completed(handle) >= 30)
        run = handle.stop()
    assert run.events.chain[:2].tolist() == [0, 0]  # taken once, done once
    assert same_when_replayed(run)


# --- scripts --------------------------------------------------------------------------------------

BEGINNING = """
import os, subprocess, sys, time
from pathlib import Path
import aptmc

folder = Path(sys.argv[-1])
with (folder / "runs of this script").open("a") as file:
    file.write(".")

settings = dict(
    ladder=aptmc.Ladder.powers(6),
    kernel=aptmc.RandomWalk(1.0),
    schedule=aptmc.Anytime(every="1 ms"),
    seed=1,
)

def report(run):
    print(run.stopped.name, run.completions, run.series("x")[0].size, flush=True)
    for key in run.in_flight:
        print("in flight:", tuple(key), flush=True)
"""
# Each worker starts a program that would outlive it.
UNTIL_A_SIGNAL = """
sleeper = None

def log_density(theta):
    global sleeper
    if theta[0] != 0.0:
        with (folder / "moves").open("a") as file:
            file.write(".")
        if sleeper is None:
            sleeper = subprocess.Popen(["sleep", "1000"])
            (folder / f"{os.getpid()}.started").touch()
    return -0.5 * theta[0] ** 2

problem = aptmc.Power(log_density, {"x": 0.0})
on = aptmc.Processes(2, group=1, ahead=0)
report(aptmc.sample(problem, budget="1 h", on=on, progress=False, **settings))
"""
UNTIL_THE_BUDGET = """
def log_density(theta):
    while theta[0] != 0.0:
        time.sleep(1.0)
    return 0.0

problem = aptmc.Power(log_density, {"x": 0.0})
report(aptmc.sample(problem, budget="12 s", on=aptmc.Processes(2), progress=False, **settings))
"""
UNTIL_ENOUGH = """
def log_density(theta):
    sys.stdout.write("a line from a worker\\n")
    return -0.5 * theta[0] ** 2

problem = aptmc.Power(log_density, {"x": 0.0})
with aptmc.start(problem, budget="1 h", on=aptmc.Processes(2, group=1), **settings) as handle:
    while handle.inspect().run.completions < 30:
        time.sleep(0.01)
    report(handle.stop())
"""


def has_moved(folder: Path) -> bool:
    """Whether both workers have their sleeper and a number of moves are done."""
    sleepers = list(folder.glob("*.started"))
    return len(sleepers) == 2 and (folder / "moves").stat().st_size >= 100


@pytest.mark.parametrize(
    ("number", "reason"),
    [(signal.SIGINT, StopReason.INTERRUPTED), (signal.SIGTERM, StopReason.TERMINATED)],
)
def test_a_signal_ends_a_script_with_the_result_so_far(number, reason, tmp_path):
    with running_script(tmp_path, BEGINNING + UNTIL_A_SIGNAL) as script:
        eventually(lambda: has_moved(tmp_path))
        # The script, the ancestor, the fork server, two workers and their sleepers.
        assert len(script.processes()) == 7
        script.process.send_signal(number)
        first, *in_flight = script.output()
        eventually(lambda: not script.processes())
        assert script.process.returncode == 0
    name, completions, draws = first.split()
    assert name == reason.name
    assert int(completions) > 50
    assert int(draws) > 0
    assert len(in_flight) == 2


def test_when_the_coordinating_process_is_killed_nobody_is_left(tmp_path):
    with running_script(tmp_path, BEGINNING + UNTIL_A_SIGNAL) as script:
        eventually(lambda: has_moved(tmp_path))
        assert len(script.processes()) == 7
        script.process.kill()
        eventually(lambda: not script.processes())
        assert script.process.wait() == -signal.SIGKILL


# Hundredths of a second of processor time that all processes of a script have used. A start takes
# about two hundred, most of it for libraries that the script and the ancestor load side by side.
MOMENTS = [120, *[pytest.param(spent, marks=pytest.mark.validation) for spent in range(0, 260, 15)]]


@pytest.mark.parametrize("spent", MOMENTS)
def test_when_it_is_killed_in_mid_start_nobody_is_left(spent, tmp_path):
    """Moments are of processor time, so that they are the same on a busy machine."""
    with running_script(tmp_path, BEGINNING + UNTIL_A_SIGNAL) as script:
        eventually(lambda: script.processor_time() >= spent)
        script.process.kill()
        eventually(lambda: not script.processes())
        assert script.process.wait() == -signal.SIGKILL


@pytest.mark.parametrize(
    "present", [pytest.param(n, marks=pytest.mark.validation) for n in range(2, 6)]
)
def test_when_it_is_killed_as_soon_as_there_are_so_many_nobody_is_left(present, tmp_path):
    """The ancestor, the fork server, one worker, two: each at its very beginning."""
    with running_script(tmp_path, BEGINNING + UNTIL_A_SIGNAL) as script:
        eventually(lambda: len(script.processes()) >= present)
        script.process.kill()
        eventually(lambda: not script.processes())
        assert script.process.wait() == -signal.SIGKILL


def test_the_budget_is_kept_though_every_simulation_hangs(tmp_path):
    """If it were not, this would take forever."""
    with running_script(tmp_path, BEGINNING + UNTIL_THE_BUDGET) as script:
        first, *in_flight = script.output()
        eventually(lambda: not script.processes())
    assert first == "TOO_SHORT 0 0"
    assert in_flight == ["in flight: (1, 0, 1, 0)", "in flight: (1, 1, 1, 0)"]


@pytest.mark.parametrize(
    "from_standard_input",
    [False, pytest.param(True, marks=pytest.mark.validation)],
    ids=["file", "standard input"],
)
def test_a_script_needs_no_guard_and_its_workers_may_print(from_standard_input, tmp_path):
    with running_script(
        tmp_path, BEGINNING + UNTIL_ENOUGH, from_standard_input=from_standard_input
    ) as script:
        lines = script.output()
        eventually(lambda: not script.processes())
    assert (tmp_path / "runs of this script").read_text() == "."
    assert lines.count("a line from a worker") >= 30
    reports = [line for line in lines if line.startswith("STOPPED")]
    assert len(reports) == 1
    others = {line for line in lines if not line.startswith(("STOPPED", "in flight"))}
    assert others == {"a line from a worker"}
