"""Moves before any count: first states, and trials of how long moves take."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Any, final

from aptmc.backends.workers.patience import Patience
from aptmc.backends.workers.wire import Reply
from aptmc.backends.workers.workforce import Worker, Workforce
from aptmc.kernels.base import STEPS
from aptmc.keys import Key
from aptmc.session.control import Control, RunningProcessors
from aptmc.session.descent import Errand
from aptmc.session.first_states import how_many
from aptmc.session.orders import Order, Outcome
from aptmc.session.session import Session
from aptmc.session.start_up import Part, StoppedEarly

# The last orders of a search tell how long a step takes. What a worker computes first does not: a
# function may compile when it is called.
TELLING = 64
# Steps that take as many times as long as the way to a worker and back.
FAR_LONGER = 20.0


@final
class EarlyMoves:
    """A workforce that computes orders in parallel. Times are those of the clock."""

    def __init__(
        self,
        workforce: Workforce[Any],
        control: Control,
        processors: RunningProcessors,
        count: int,
        until: float,
    ) -> None:
        """Prepare to compute.

        :param processors: what the world outside sees meanwhile
        :param count: how many moves must be done before one can tell what takes too long
        :param until: the end of the whole run, by the clock
        """
        self._workforce, self._control, self._processors = workforce, control, processors
        self._until = until
        self._patience = Patience(count, until - control.clock.now())
        self._count_up: Callable[[int, int], None] | None = None  # is told how many are done
        self._starts = 0
        self._quickest = math.inf
        self._searched = 0  # orders of a search
        self._lengths: deque[float] = deque(maxlen=TELLING)  # of their steps
        self._latencies: deque[float] = deque(maxlen=TELLING)

    @property
    def quickest_start(self) -> float:
        """How long the quickest first state took, or 0 where that says nothing of moves.

        What a worker computes first may take longer than all that follows, if a function loads
        libraries or compiles when it is called. Of more than one for each, one is not the first.
        """
        return self._quickest if self._starts > len(self._workforce.workers) else 0.0

    @property
    def step_length(self) -> float:
        """How long a step of a search took in the mean, or 0 where that says nothing of moves."""
        if self._searched < TELLING + len(self._workforce.workers):
            return 0.0
        length = sum(self._lengths) / TELLING
        # Where the way takes long, trials say how many orders should wait at a worker.
        return length if length > FAR_LONGER * sorted(self._latencies)[TELLING // 2] else 0.0

    def tell(self, words: str, share: float) -> None:
        """Say how far one is."""
        self._control.start_up.tell(Part.STATES, words, share)

    def search(self, errand: Errand) -> None:
        """Carry out an errand, and say how far one is."""
        errand.tell = self.tell
        self.run_errand(errand)

    def find_states(self, session: Session) -> None:
        """Give the chains of a session first states, and say how far one is."""
        tell = self.tell
        if not session.problem.needs_search:  # which counts for itself
            self._count_up = lambda done, wanted: tell(how_many(done, wanted), done / wanted)
        session.begin(self.compute_all, self.run_errand, tell)
        self._count_up = None

    def compute_all(self, orders: list[Order]) -> list[Outcome | None]:
        """Compute orders in parallel. None stands for one that was given up."""
        replies = self.compute_timed(orders)
        for reply in replies:
            if reply is not None and reply.failure is not None:
                raise reply.failure
            if reply is not None:
                self._starts += 1
                self._quickest = min(self._quickest, reply.ended - reply.began)
        return [reply and reply.outcome for reply in replies]

    def run_errand(self, errand: Errand) -> None:
        """Orders that are thought of one by one. No worker ever waits for another.

        What is still under way at the end is left to whoever needs the workers next.
        """
        workforce, control = self._workforce, self._control
        began = control.clock.now()
        orders: dict[Key, Order] = {}
        while not errand.is_over:
            for worker in list(workforce.workers.values()):
                if worker.is_idle:
                    order = errand.next_order()
                    orders[order.key] = order
                    workforce.order(worker, order)
            for worker, reply in workforce.listen(self._next_look()):
                if reply.key not in orders:  # of something else, before
                    continue
                if reply.failure is not None:
                    raise reply.failure
                seconds = reply.ended - reply.began
                self._patience.heard(worker, seconds)
                elapsed = control.clock.now() - began
                order = orders.pop(reply.key)
                self._searched += 1
                self._lengths.append(seconds / float(order.tuning[STEPS]))
                self._latencies.append(reply.latency)
                errand.report(order, reply.outcome, seconds, elapsed)
            control.serve(self._processors)
            now = control.clock.now()
            if control.stopped is not None or now >= self._until:
                raise StoppedEarly
            for worker in self._too_late(now):
                order = worker.orders[0]
                self._give_up(worker)
                if order.key in orders:
                    errand.report(orders.pop(order.key), None, now - worker.since, now - began)

    def compute_timed(self, orders: list[Order]) -> list[Reply | None]:
        """The same, with the times that they took."""
        workforce, control = self._workforce, self._control
        replies: dict[int, Reply | None] = {}
        places = {order.key: place for place, order in enumerate(orders)}
        waiting = list(reversed(orders))
        while len(replies) < len(orders):
            for worker in list(workforce.workers.values()):
                if worker.is_idle and waiting:
                    workforce.order(worker, waiting.pop())
            for worker, reply in workforce.listen(self._next_look()):
                replies[places[reply.key]] = reply
                if reply.failure is None:
                    self._patience.heard(worker, reply.ended - reply.began)
            if self._count_up is not None:
                self._count_up(len(replies), len(orders))
            control.serve(self._processors)
            now = control.clock.now()
            if control.stopped is not None or now >= self._until:
                done = [(orders[place], reply.outcome) for place, reply in replies.items() if reply]
                raise StoppedEarly([one for one in done if one[1] is not None])
            for worker in self._too_late(now):
                replies[places[worker.orders[0].key]] = None
                self._give_up(worker)
        return [replies[place] for place in range(len(orders))]

    def _next_look(self) -> float:
        """When one looks up, whatever happens."""
        workers = self._workforce.workers.values()
        ends = (self._patience.ends(worker) for worker in workers if worker.orders)
        return min(self._until, self._control.due, *ends)

    def _too_late(self, now: float) -> list[Worker]:
        workers = self._workforce.workers.values()
        return [one for one in workers if one.orders and now >= self._patience.ends(one)]

    def _give_up(self, worker: Worker) -> None:
        self._patience.gave_up(worker)
        self._workforce.interrupt(worker)
