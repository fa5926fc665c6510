"""A workforce in virtual time: shifts can be tested without processes, and nobody ever waits."""

from __future__ import annotations

import math

from aptmc.backends.workers.wire import Reply
from aptmc.backends.workers.workforce import Worker
from aptmc.clock import Clock


class SetClock(Clock):
    """Shows what it is set to."""

    def __init__(self, time=0.0):
        self.time = time

    def now(self):
        return self.time


class VirtualWorkforce:
    """Computes moves here; they take as long as `seconds(order)` says.

    :param fork_server: how long it takes before workers can be started
    :param start: how long it takes, by processor, before a new worker is ready for orders
    """

    def __init__(self, clock, mover, seconds, *, fork_server=0.0, start=lambda processor: 0.0):
        self.clock, self.mover, self.seconds = clock, mover, seconds
        self.workers = {}
        self.waited = 0.0
        self.given_up = []  # keys of orders whose workers were ended
        self.joins, self.leaves, self.first = [], {}, 2  # times; by processor; of those who join
        self._fork_server = clock.now() + fork_server
        self._start = start
        self._ready = {}  # by worker

    def await_ready(self, until, control):
        self.clock.time = max(self.clock.time, min(self._fork_server, until))
        return self.clock.time >= self._fork_server

    def hire(self, processor):
        worker = self.workers[processor] = Worker(processor)
        self._ready[worker] = self.clock.now() + self._start(processor)
        return worker

    def order(self, worker, order):
        if worker.is_idle and worker.is_ready:
            worker.since = self.clock.now()
        worker.orders.append(order)

    def interrupt(self, worker):
        self.given_up.append(worker.orders[0].key)
        return self.hire(worker.processor)

    def listen(self, until):
        """Go to the next event, or to `until`; all that happens at that time is told."""
        next_event = min([until, *(self._next(worker) for worker in self.workers.values())])
        now = max(next_event, self.clock.time)  # what happened meanwhile is told at once
        self.waited += now - self.clock.time
        self.clock.time = now
        replies = []
        for worker in self.workers.values():
            if self._next(worker) > now:
                continue
            if not worker.is_ready:
                worker.is_ready, worker.since = True, now
                continue
            began, order = worker.since, worker.orders.popleft()
            worker.since = now
            replies.append((worker, Reply(order.key, self.mover.compute(order), None, began, now)))
        return replies

    def _next(self, worker):
        """When something happens to a worker next: it is ready, or its move is done."""
        if not worker.is_ready:
            return self._ready[worker]
        return worker.since + self.seconds(worker.orders[0]) if worker.orders else math.inf

    # --- a cluster that grows and shrinks -------------------------------------------------------

    def vacancies(self):
        """Those who come by now, less those who were taken in."""
        come = sum(time <= self.clock.now() for time in self.joins)
        return come - sum(worker.processor >= self.first for worker in self.workers.values())

    def crowded(self):
        return [
            worker
            for processor, worker in self.workers.items()
            if self.leaves.get(processor, math.inf) <= self.clock.now()
        ]

    def dismiss(self, worker):
        del self.workers[worker.processor]

    def check_growth(self):
        pass

    def retire(self, worker):
        pass
