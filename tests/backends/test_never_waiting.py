"""The coordinating process waits for nobody who does not answer: neither to be read, nor to end."""

from __future__ import annotations

import os
import signal
import socket

import pytest
from scipy import stats

import aptmc
from aptmc.backends.processes import fork_server_link
from aptmc.backends.processes.fork_server_link import ForkServerLink
from aptmc.backends.processes.local_workforce import LocalWorkforce
from aptmc.backends.processes.messages import EARLY, framed
from aptmc.clock import WallClock
from aptmc.sampling.phases import Phases
from tests.backends.contract import eventually
from tests.backends.test_workers import parent_of, workforce_and_order

LARGE = bytes(range(256)) * 8192  # 2 MiB, many times what a socket holds


@pytest.fixture
def other_end(monkeypatch):
    """Of a fork server's socket, while nobody reads there."""
    ends = []

    def fork_server(theirs, **options):
        ends.append(theirs.dup())

    monkeypatch.setattr(fork_server_link.ANCESTORS, "fork_server", fork_server)
    yield ends
    for end in ends:
        end.close()


def test_a_problem_with_much_data_is_sent_while_others_are_listened_to(other_end):
    """It used to wait until a fork server had started and read all of it, however long that took.

    What is asked for meanwhile comes after it.
    """
    link = ForkServerLink(LARGE)
    (theirs,) = other_end
    ours, workers = socket.socketpair()
    link.ask_for_worker(workers)
    workers.close()  # it is kept until it is sent
    assert link.has_unsent
    wanted = framed(EARLY) + framed(LARGE)
    arrived, descriptors = bytearray(), []
    while len(arrived) < len(wanted) + 1:
        piece, new, _, _ = socket.recv_fds(theirs, 1 << 16, 1)
        arrived += piece
        descriptors += new
        link.send_rest()
    assert bytes(arrived) == wanted + b"W"
    assert not link.has_unsent
    (descriptor,) = descriptors
    with socket.socket(fileno=descriptor) as worker, ours:
        worker.sendall(b"here")
        assert ours.recv(4) == b"here"
    link.end()


def test_nothing_stays_open_of_what_could_not_be_sent(other_end):
    before = len(os.listdir("/proc/self/fd"))
    link = ForkServerLink(LARGE)
    ours, workers = socket.socketpair()
    link.ask_for_worker(workers)
    for end in (ours, workers, other_end.pop()):
        end.close()
    link.send_rest()  # the other end is gone
    assert not link.has_unsent
    link.end()
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_fork_server_that_was_stopped_ends_by_itself_all_the_same(monkeypatch):
    """It used to be killed when the patience for it was over, seconds after the budget."""
    monkeypatch.setattr(fork_server_link, "GRACE", 60.0)  # enough on any machine
    with workforce_and_order() as (workforce, _):
        worker = workforce.hire(0)

        def is_there():
            workforce.listen(WallClock().now() + 0.1)
            return worker.process is not None and worker.is_ready

        eventually(is_there)
        fork_server = parent_of(worker.process)
        os.kill(fork_server, signal.SIGSTOP)
        eventually(lambda: state_of(fork_server) == "T")
        link = workforce._fork_server
    assert link.ended_well


def test_workers_go_while_what_they_found_is_put_away(monkeypatch):
    """They are asked before the run is saved, and waited for after it."""
    monkeypatch.setattr(fork_server_link, "GRACE", 60.0)  # enough on any machine
    done = []

    def noting(owner, name):
        before = getattr(owner, name)

        def note(self, *arguments):
            done.append(name)
            return before(self, *arguments)

        monkeypatch.setattr(owner, name, note)

    noting(LocalWorkforce, "close")
    noting(ForkServerLink, "hang_up")
    noting(Phases, "save")
    run = aptmc.sample(
        aptmc.Tempered(lambda theta: -0.5 * theta[0] ** 2, aptmc.Prior(x=stats.norm())),
        budget="20 moves", ladder=[1.0, 0.5], kernel=aptmc.RandomWalk(1.0), warmup=0,
        schedule=aptmc.Anytime(every=0.01),
        pools=aptmc.Shared(2), on=aptmc.Processes(1), progress=False, seed=1,
    )  # fmt: skip
    assert run.completions > 0
    last = len(done) - done[::-1].index("save")
    assert "hang_up" in done[: last - 1]
    assert "close" not in done[:last]


def test_whoever_was_asked_to_go_does_so_before_anybody_waits():
    with workforce_and_order() as (workforce, _):
        worker = workforce.hire(0)

        def is_there():
            workforce.listen(WallClock().now() + 0.1)
            return worker.process is not None and worker.is_ready

        eventually(is_there)
        workforce.begin_to_close()
        eventually(lambda: not os.path.exists(f"/proc/{worker.process}"))


def state_of(process: int) -> str:
    with open(f"/proc/{process}/stat") as status:
        return status.read().rpartition(")")[2].split()[0]
