"""Worker processes on this machine: send orders, hear replies, replace the dead.

Each worker has a socket of its own and shares no lock, queue or memory with anyone, so one that is
killed at any moment takes nothing with it but time.
"""

from __future__ import annotations

import selectors
import signal
import socket
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from math import nan
from typing import final

from typing_extensions import override

from aptmc.backends.processes.fork_server_link import ForkServerLink
from aptmc.backends.processes.messages import (
    COMPILING,
    EARLY,
    ENDED,
    FAULTY,
    LATE,
    READY,
    REPEATS,
    STARTED,
    UNSOUND,
    UNUSABLE,
)
from aptmc.backends.processes.orphans import end_worker
from aptmc.backends.workers.channel import Channel, Nonsense
from aptmc.backends.workers.deaths import Deaths
from aptmc.backends.workers.settings_rows import KnownRows
from aptmc.backends.workers.wire import SAY_WHERE, Reply, Wire
from aptmc.backends.workers.workforce import MOST_DEATHS, MOST_IDLE_DEATHS, Worker, Workforce
from aptmc.clock import WallClock
from aptmc.compiled import Floats
from aptmc.errors import InputError
from aptmc.problem import Problem
from aptmc.session.control import Control
from aptmc.session.orders import Order
from aptmc.session.start_up import Part

READ_AND_WRITE = selectors.EVENT_READ | selectors.EVENT_WRITE
NONSENSE = "wrote into a connection that is not its own"
LONGEST_WAIT = 3600.0  # seconds; the system refuses to wait for more than some weeks


@final
@dataclass(eq=False, kw_only=True)
class LocalWorker(Worker):
    """A worker with a socket of its own. A dead one is replaced in place."""

    channel: Channel
    known: KnownRows = field(default_factory=KnownRows)
    going: Floats | None = None  # where its move was going, if it was to say so


@final
class LocalWorkforce(Workforce[LocalWorker]):
    """Worker processes, and the fork server from which they come."""

    def __init__(
        self, payload: bytes, wire: Wire, problem: Problem, *, keep_warm: bool = True
    ) -> None:
        """Start a fork server.

        :param keep_warm: whether a process stays from which the next run can begin at once
        """
        super().__init__()
        self.wire, self.problem = wire, problem
        self._payload, self._keep_warm = payload, keep_warm
        self._is_closing = False
        self._task = EARLY  # LATE if each worker loads the problem itself
        self._clock = WallClock()
        self._selector = selectors.DefaultSelector()
        self._deaths = Deaths(problem, MOST_DEATHS)
        self._failed: list[tuple[LocalWorker, Reply]] = []  # moves that are given up
        self._last_status: dict[int, int] = {}  # by process
        self._starting: deque[LocalWorker] = deque()  # in the order in which they were asked for
        self._woken, self._waker = socket.socketpair()
        self._waker.setblocking(False)
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._is_ready = self._is_compiling = self._repeats_itself = False
        self._fork_server = self._start_fork_server()

    # --- for whoever runs the show ----------------------------------------------------------

    @override
    def wake(self) -> None:
        with suppress(OSError):
            self._waker.send(b"!")

    @override
    def hire(self, processor: int) -> LocalWorker:
        ours, theirs = socket.socketpair()
        worker = LocalWorker(processor, channel=Channel(ours))
        self.workers[processor] = worker
        self._selector.register(worker.channel, selectors.EVENT_READ, worker)
        self._starting.append(worker)
        with theirs:
            self._fork_server.ask_for_worker(theirs)
        self._listen_to_fork_server()
        return worker

    @override
    def order(self, worker: LocalWorker, order: Order) -> None:
        if worker.is_idle and worker.is_ready:
            worker.since = self._clock.now()
        worker.orders.append(order)
        with suppress(OSError):  # a worker that has just died is noticed by `listen`
            worker.channel.send(self.wire.order_bytes(order, worker.known))
            if worker.channel.has_unsent:
                self._selector.modify(worker.channel, READ_AND_WRITE, worker)

    @override
    def listen(self, until: float) -> list[tuple[LocalWorker, Reply]]:
        before = self._clock.now()
        ready = self._selector.select(min(max(until - before, 0.0), LONGEST_WAIT))
        self.waited += self._clock.now() - before
        replies: list[tuple[LocalWorker, Reply]] = []
        for key, events in ready:
            if key.fileobj is self._woken:
                self._woken.recv(4096)
            elif key.fileobj is self._fork_server.socket:
                if events & selectors.EVENT_WRITE:
                    self._fork_server.send_rest()
                    self._listen_to_fork_server()
                if events & selectors.EVENT_READ:
                    self._hear_fork_server()
            else:
                worker: LocalWorker = key.data
                if self.workers.get(worker.processor) is not worker:
                    continue  # replaced a moment ago
                replies += self._hear(worker, events)
        replies += self._failed
        self._failed = []
        # Whoever was replaced after the reply came is not the one to be given the next order.
        return [(self.workers.get(worker.processor, worker), reply) for worker, reply in replies]

    def _hear(self, worker: LocalWorker, events: int) -> list[tuple[LocalWorker, Reply]]:
        """Speak on to a worker that has room for it, and read what it has said."""
        replies = []
        try:
            if events & selectors.EVENT_WRITE:
                worker.channel.send_rest()
                if not worker.channel.has_unsent:
                    self._selector.modify(worker.channel, selectors.EVENT_READ, worker)
            messages = worker.channel.receive() if events & selectors.EVENT_READ else []
        except (EOFError, OSError) as end:
            self._replace(worker, NONSENSE if isinstance(end, Nonsense) else None)
            return []
        for message in messages:
            going = self.wire.read_going(message)
            if going is not None:
                worker.going = going
                continue
            reply = self.wire.read_reply(message)
            if reply is None:
                # To start a fresh Python takes seconds, which are no part of its first move.
                worker.is_ready, worker.since = True, self._clock.now()
                continue
            self._deaths.note_life()
            # An order that was given up may still be answered by a worker that lives on.
            if worker.orders and worker.orders[0].key == reply.key:
                worker.orders.popleft()
                worker.since = reply.ended
                replies.append((worker, reply))
        return replies

    @override
    def dismiss(self, worker: LocalWorker) -> None:
        self._forget(worker)
        del self.workers[worker.processor]

    @override
    def interrupt(self, worker: LocalWorker) -> LocalWorker:
        """Give up what a worker does now, by ending it; another takes its place."""
        self._forget(worker)
        if worker.process is not None:
            end_worker(worker.process, signal.SIGKILL)
        return self.hire(worker.processor)

    @override
    def await_ready(self, until: float, control: Control) -> bool:
        while not self._is_ready and self._clock.now() < until and control.stopped is None:
            self.listen(min(until, control.due))
            if self._is_compiling:
                control.start_up.tell(Part.PROBLEM, f"compiling {self.problem.its_function}")
            control.do_duties()
        if self._repeats_itself:
            control.start_up.repeats_itself = True
        return self._is_ready

    @override
    def begin_to_close(self) -> None:
        if self._is_closing:
            return
        self._is_closing = True
        # The fork server asks them as well, but has to wait for its turn on a busy machine.
        for worker in self.workers.values():
            if worker.process is not None:
                end_worker(worker.process, signal.SIGTERM)
        self._fork_server.hang_up()

    @override
    def close(self) -> None:
        """End all workers and the fork server, and wait until they are gone."""
        self.begin_to_close()
        processes = [worker.process for worker in self.workers.values()]
        for worker in list(self.workers.values()):
            self.dismiss(worker)
        self._end_fork_server()
        for process in processes:
            if process is not None and not self._fork_server.ended_well:
                end_worker(process, signal.SIGKILL)
        self._selector.close()
        self._woken.close()
        self._waker.close()

    @override
    def check_growth(self) -> None:
        """Allow it: this machine has a place for any number of processes."""

    @override
    def retire(self, worker: LocalWorker) -> None:
        """Nothing: nobody takes the place of a process that was dismissed."""

    @override
    def vacancies(self) -> int:
        """None: nobody joins by himself."""
        return 0

    @override
    def crowded(self) -> list[LocalWorker]:
        """Nobody: each has a process of its own."""
        return []

    # --- the fork server ------------------------------------------------------------------------

    def _start_fork_server(self) -> ForkServerLink:
        link = ForkServerLink(self._payload, keep_warm=self._keep_warm, task=self._task)
        self._selector.register(link.socket, READ_AND_WRITE)
        self._is_ready = self._is_compiling = self._repeats_itself = False
        return link

    def _listen_to_fork_server(self) -> None:
        """And speak on to it when it has room, if there is something left to say."""
        events = READ_AND_WRITE if self._fork_server.has_unsent else selectors.EVENT_READ
        self._selector.modify(self._fork_server.socket, events)

    def _hear_fork_server(self) -> None:
        try:
            kind, number, status, text = self._fork_server.hear()
        except (EOFError, OSError):
            self._replace_fork_server()
            return
        if kind == COMPILING:
            self._is_compiling = True
        elif kind == READY:
            self._is_ready = True
        elif kind == UNSOUND:
            self._task = LATE
            self._end_fork_server()
            self._fork_server = self._start_fork_server()
        elif kind == UNUSABLE:
            last = text.strip().splitlines()[-1]
            raise InputError(
                f"worker processes cannot load the problem: {last}; check that what it imports "
                "can be imported there too, or use on=aptmc.InProcess(). In the worker process:\n"
                + text
            )
        elif kind == FAULTY:
            raise InputError(text)
        elif kind == REPEATS:
            self._repeats_itself = True
        elif kind == STARTED:
            started = self._starting.popleft()
            started.process = number
            if self.workers.get(started.processor) is not started:
                end_worker(number, signal.SIGKILL)  # it was given up before it was there
        elif kind == ENDED:
            self._last_status[number] = status
            # Its socket may be kept open by a child of its own, so its word alone is not enough.
            for worker in list(self.workers.values()):
                if worker.process == number and not worker.channel.has_mail():
                    self._replace(worker)

    def _replace_fork_server(self) -> None:
        """The fork server has died, and its workers with it."""
        self._note_death("the process that starts workers")
        self._end_fork_server()
        for worker in self.workers.values():
            if worker.process is not None:
                end_worker(worker.process, signal.SIGKILL)
        self._starting.clear()
        self._fork_server = self._start_fork_server()
        for worker in list(self.workers.values()):
            self._hire_again(worker)

    def _end_fork_server(self) -> None:
        with suppress(KeyError):
            self._selector.unregister(self._fork_server.socket)
        self._fork_server.end()

    # --- death ------------------------------------------------------------------------------

    def _replace(self, worker: LocalWorker, misdeed: str | None = None) -> None:
        """A worker has died: what it was to do is ordered again, with the same keys.

        :param misdeed: what it did, in words, if it has to die for that
        """
        if misdeed is not None and worker.process is not None:
            end_worker(worker.process, signal.SIGKILL)
        if worker.is_idle:
            self._note_death("a worker process")
        else:
            order = worker.orders[0]
            if self._deaths.note_on(order):
                how = misdeed or self._how_it_ended(worker)
                death = self._deaths.verdict(order, how, worker.going)
                worker.orders.popleft()
                self._failed.append((worker, Reply(order.key, None, death, nan, nan)))
        if worker.is_leaving and worker.is_idle:
            self.dismiss(worker)
        else:
            self._hire_again(worker)

    def _hire_again(self, worker: LocalWorker) -> None:
        self._forget(worker)
        new = self.hire(worker.processor)
        new.is_leaving = worker.is_leaving
        for order in worker.orders:
            if self._deaths.is_last_chance(order):
                with suppress(OSError):
                    new.channel.send(SAY_WHERE)
            self.order(new, order)

    def _forget(self, worker: LocalWorker) -> None:
        with suppress(KeyError, ValueError):
            self._selector.unregister(worker.channel)
        worker.channel.close()

    def _note_death(self, who: str) -> None:
        self._deaths.note_idle(
            f"{who} died {MOST_IDLE_DEATHS} times in a row with nothing to do: perhaps there "
            "is not enough memory for so many; use fewer, on=aptmc.Processes(2), say"
        )

    def _how_it_ended(self, worker: LocalWorker) -> str:
        """In words. The report comes a moment after the worker's last sign of life."""
        until = self._clock.now() + 1.0
        with selectors.DefaultSelector() as news:
            news.register(self._fork_server.socket, selectors.EVENT_READ)
            while worker.process not in self._last_status and news.select(
                until - self._clock.now()
            ):
                self._hear_fork_server()
        status = self._last_status.get(worker.process or 0, 0)
        if status < 0:
            return f"was killed by signal {-status} ({signal.Signals(-status).name})"
        return f"ended with exit status {status}" if status else "ended"
