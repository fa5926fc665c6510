"""Workers of an engine: send orders, hear replies, order again what was lost.

Clocks of other machines differ from ours, so a worker only says how long a move took. A move ends
when its reply arrives here, which is the moment that the coordinator is told of anyway.
"""

from __future__ import annotations

from functools import partial
from math import inf, nan
from typing import Any, final

from typing_extensions import override

from aptmc.backends.cluster.dispatch import Dispatch, Interrupted, Lost
from aptmc.backends.cluster.mailbox import Mailbox, News
from aptmc.backends.cluster.seating import RemoteWorker, Seating
from aptmc.backends.cluster.suspects import Suspects
from aptmc.backends.cluster.task import (
    DONE,
    READY,
    UNKNOWN,
    UNUSABLE,
    Answer,
    read_answer,
)
from aptmc.backends.cluster.tickets import Ticket, Tickets, holds, place_of, remove
from aptmc.backends.workers.deaths import Deaths
from aptmc.backends.workers.wire import Reply, Wire
from aptmc.backends.workers.workforce import MOST_DEATHS, MOST_IDLE_DEATHS, Workforce
from aptmc.clock import Clock, WallClock
from aptmc.errors import InputError, RunFailed
from aptmc.problem import Problem
from aptmc.session.control import Control
from aptmc.session.orders import Order

# How long to wait for workers of the engine before one begins without them: a share of the budget.
PATIENCE = 0.1
LOOK_AGAIN = 1.0  # seconds
_CHANGED, _GONE = "changed", "gone"


@final
class RemoteWorkforce(Workforce[RemoteWorker]):
    """Workers on the seats of an engine. Which worker sits where may change in mid-run."""

    def __init__(
        self,
        payload: bytes,
        wire: Wire,
        problem: Problem,
        dispatch: Dispatch,
        clock: Clock | None = None,
        *,
        most_losses: int = MOST_DEATHS,
    ) -> None:
        super().__init__()
        self.wire, self.problem = wire, problem
        self._dispatch = dispatch
        self._clock = clock or WallClock()
        self._mailbox = Mailbox(self._clock)
        self._tickets = Tickets(dispatch, self._mailbox, wire, payload, self._clock)
        self._deaths = Deaths(problem, most_losses)
        self._suspects = Suspects(self._deaths)
        self._failed: list[tuple[RemoteWorker, Reply]] = []  # moves that are given up
        self._seating = Seating(dispatch, self.workers)
        self._is_started = False

    # --- for whoever runs the show ----------------------------------------------------------

    @override
    def await_ready(self, until: float, control: Control) -> bool:
        """Start the engine, and wait a while for its workers."""
        if not self._is_started:
            self._is_started = True
            post = self._mailbox.post
            self._dispatch.start(partial(post, _CHANGED), partial(post, _GONE))
            self._seating.take_stock()
            limit = self._clock.now() + PATIENCE * (until - self._clock.now())
            while not self._dispatch.is_complete() and control.stopped is None:
                if self._clock.now() >= limit:
                    break  # with those that are there
                self.listen(min(limit, self._clock.now() + LOOK_AGAIN, control.due))
                control.do_duties()
        return self._clock.now() < until and control.stopped is None

    @override
    def hire(self, processor: int) -> RemoteWorker:
        worker = self.workers[processor] = RemoteWorker(processor)
        self._seat(worker)
        return worker

    @override
    def order(self, worker: RemoteWorker, order: Order) -> None:
        if worker.is_idle and worker.is_ready:
            worker.since = self._clock.now()
        worker.orders.append(order)
        if not worker.is_held:
            self._tickets.send(worker, order)

    @override
    def listen(self, until: float) -> list[tuple[RemoteWorker, Reply]]:
        before = self._clock.now()
        post = self._mailbox.wait(until)
        self.waited += self._clock.now() - before
        replies: list[tuple[RemoteWorker, Reply]] = []
        for news in post:
            if news.subject is _CHANGED:
                self._reseat()
            elif news.subject is _GONE:
                self._lose(news.what)
            else:
                self._hear(news, replies)
        replies += self._failed
        self._failed = []
        return replies

    @override
    def dismiss(self, worker: RemoteWorker) -> None:
        self._drop(worker)
        self.workers.pop(worker.processor, None)
        self._seating.take_stock()

    @override
    def interrupt(self, worker: RemoteWorker) -> RemoteWorker:
        """Give up what a worker does now. Where it cannot be ended, the next order waits for it."""
        self._drop(worker)
        worker.orders.clear()
        if worker.seat is not None and self._dispatch.interrupt(worker.seat):
            self._lose(worker.seat.home)
            self._deaths.note_life()
        return worker

    @override
    def wake(self) -> None:
        self._mailbox.wake()

    @override
    def begin_to_close(self) -> None:
        """Nothing: they belong to an engine, and need not go."""

    @override
    def close(self) -> None:
        """Withdraw what has not begun, and leave the rest."""
        self._tickets.withdraw_all()
        if self._is_started:
            self._dispatch.close()

    @override
    def check_growth(self) -> None:
        """Refuse: an engine has the workers that it has."""
        raise InputError(
            "workers of an engine cannot be added from here: those that join a cluster are given "
            "work by themselves, and an executor has as many as it was made with"
        )

    @override
    def retire(self, worker: RemoteWorker) -> None:
        """Leave its seat empty when it goes."""
        if worker.seat is not None:
            self._seating.retire(worker.seat)

    @override
    def vacancies(self) -> int:
        return len(self._seating.free)

    @override
    def crowded(self) -> list[RemoteWorker]:
        return self._seating.crowded

    # --- tasks --------------------------------------------------------------------------------

    def _hear(self, news: News, replies: list[tuple[RemoteWorker, Reply]]) -> None:
        ticket = self._tickets.under_way.get(news.subject)
        if ticket is None:
            return  # of a task that was given up, or sent again
        if isinstance(news.what, Lost):
            self._lose(ticket.seat.home)
            return
        del self._tickets.under_way[news.subject]
        if isinstance(news.what, Interrupted):
            if ticket.order is not None and not self._note_death_on(ticket):
                self._tickets.send(ticket.worker, ticket.order)
        elif isinstance(news.what, BaseException):
            raise RunFailed(
                f"the engine cannot compute moves: {type(news.what).__name__}: {news.what}; check "
                "that aptmc is installed where its workers run, in the same version"
            ) from news.what
        else:
            self._read(ticket, read_answer(news.what), news.arrived, replies)

    def _read(
        self,
        ticket: Ticket,
        answer: Answer,
        arrived: float,
        replies: list[tuple[RemoteWorker, Reply]],
    ) -> None:
        worker, order = ticket.worker, ticket.order
        if answer.kind == UNUSABLE:
            raise self._unusable(answer.rest.decode())
        if answer.kind == UNKNOWN:
            self._tickets.send(worker, order, whole=True)
            return
        worker.process = answer.process
        if not worker.is_ready:
            # To load the problem takes seconds, which are no part of the first move.
            worker.is_ready, worker.since = True, arrived
        if answer.kind == READY:
            return
        assert answer.kind == DONE
        assert order is not None
        self._deaths.note_life()
        reply = self.wire.read_reply(answer.rest)
        assert reply is not None
        assert reply.key == order.key
        duration = reply.ended - reply.began
        began = max(arrived - duration, ticket.ordered)
        latency = max(arrived - ticket.ordered - duration, 0.0)
        remove(worker.orders, order)
        worker.since = arrived
        replies.append((worker, reply._replace(began=began, ended=arrived, latency=latency)))
        if self._suspects.acquit(order):
            self._try_next()

    def _unusable(self, text: str) -> Exception:
        last = text.strip().splitlines()[-1]
        message = (
            f"workers cannot load the problem: {last}; check that what it imports can be imported "
            "there too. In the worker:\n" + text
        )
        has_worked = any(worker.is_ready for worker in self.workers.values())
        return RunFailed(message) if has_worked else InputError(message)

    # --- losses -------------------------------------------------------------------------------

    def _lose(self, home: Any) -> None:
        """A home is gone: whoever sat there gets another seat, and its orders are sent again."""
        affected = self._seating.forget(home)
        tickets = self._tickets.taken_from(home)
        if not affected and not tickets:
            return
        # Those that may have been computed: the first in line of each worker.
        suspects = [t for t in tickets if t.order is not None and t.worker.orders[0] is t.order]
        if suspects:
            for ticket in suspects:
                self._note_death_on(ticket)
        else:
            self._deaths.note_idle(
                f"workers of the engine were lost {MOST_IDLE_DEATHS} times in a row without a "
                "single move done: look into the engine's own log; perhaps there is not enough "
                "memory"
            )
        self._dispatch.abandon(home)
        for worker in affected:
            worker.is_ready, worker.since = False, inf
        self._seating.take_stock()
        for worker in affected:
            self._seat(worker)
        if len(suspects) > 1 or self._suspects:
            self._suspects.hold(tickets)
        # Those that were first in line are so again.
        again = sorted(tickets, key=lambda ticket: place_of(ticket.worker.orders, ticket.order))
        for ticket in again:
            if not ticket.worker.is_held and holds(ticket.worker.orders, ticket.order):
                self._tickets.send(ticket.worker, ticket.order)
        self._try_next()

    def _note_death_on(self, ticket: Ticket) -> bool:
        """Count a loss against a move; True if it is given up."""
        worker, order = ticket.worker, ticket.order
        assert order is not None
        if not self._deaths.note_on(order):
            return False
        death = self._deaths.verdict(order, "ended")
        remove(worker.orders, order)
        self._failed.append((worker, Reply(order.key, None, death, nan, nan)))
        self._suspects.forget_move(order)
        return True

    def _try_next(self) -> None:
        """The next that is tried alone; when all were, what was held back is sent."""
        if self._suspects:
            worker, order = self._suspects.first
            if not self._tickets.is_under_way(order):
                self._tickets.send(worker, order)
            return
        held = [worker for worker in self.workers.values() if worker.is_held]
        for worker in held:
            worker.is_held = False
        self._tickets.send_missing(held)

    def _drop(self, worker: RemoteWorker) -> None:
        self._tickets.withdraw_from(worker)
        self._suspects.forget_worker(worker)
        self._try_next()

    # --- seats --------------------------------------------------------------------------------

    def _seat(self, worker: RemoteWorker) -> None:
        """Give a worker a seat, if there is one, and have it get ready there."""
        self._seating.seat(worker)
        if worker.seat is not None:
            self._tickets.send(worker, None)

    def _reseat(self) -> None:
        """There are other seats: those come first who have none, then those who share one."""
        self._seating.take_stock()
        homeless = [worker for worker in self.workers.values() if worker.seat is None]
        for worker in homeless:
            self._seat(worker)
        self._tickets.send_missing([worker for worker in homeless if not worker.is_held])
        self._try_next()
        for worker in [one for one in self._seating.crowded if not one.is_leaving]:
            if self._seating.free:
                self._seat(worker)
