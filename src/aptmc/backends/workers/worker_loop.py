"""One run of a session on a workforce, from first states to the end of the budget."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Any, final

import numpy as np

from aptmc.backends.workers.early_moves import EarlyMoves
from aptmc.backends.workers.pick_up import PickUp
from aptmc.backends.workers.trials import ComputeTimed
from aptmc.backends.workers.wire import Reply
from aptmc.backends.workers.workforce import Worker, Workforce
from aptmc.errors import InputError, RunFailed, StopReason
from aptmc.kernels.base import STEPS
from aptmc.processors import load, wanted_by_others
from aptmc.record.record import NOBODY
from aptmc.session.control import Control, RunningProcessors, WorkerStatus
from aptmc.session.descent import Errand
from aptmc.session.session import Overhead, Session, Usage
from aptmc.session.start_up import Part, StoppedEarly
from aptmc.session.units import Units

# For moves of an earlier phase to end: a share of what is left of the budget, and seconds.
GRACE, MOST_GRACE = 0.02, 0.25


@final
class WorkerLoop(RunningProcessors):
    """One run of a session on a workforce. Times are those of the session unless said otherwise."""

    def __init__(
        self,
        session: Session,
        budget: float,
        end: float,
        control: Control,
        workforce: Workforce[Any],
        choose_units: Callable[[ComputeTimed], Units],
        idle_since: float,
        startup_before: float = 0.0,
    ) -> None:
        """Prepare to go to work.

        :param end: of the whole run, by the clock
        :param idle_since: when moves ceased to count, or the call, by the clock
        :param startup_before: what start-up took until then
        """
        self.session, self.budget, self.choose_units = session, budget, choose_units
        self.control, self.workforce = control, workforce
        self.clock = control.clock
        self.idle_since, self.startup_before = idle_since, startup_before
        self.until = end  # by the clock, whatever happens; earlier, once it is known when it begins
        self.began = self.clock.now()  # by the clock: when moves began to count
        self.offset = session.progress.elapsed - self.began  # from the clock to the session's time
        self.ahead = 0
        self.load: float | None = None  # of the machine, when moves began to count
        self.has_begun = self.is_picking_up = False
        self.heard: deque[tuple[Worker, Reply]] = deque()  # that is not yet committed
        processors = session.processors
        self.busy = np.zeros(processors)  # by processor: seconds inside completed moves
        self.arrived = np.full(processors, math.nan)  # by processor, by the clock
        self.left = np.full(processors, math.inf)

    # --- the run ------------------------------------------------------------------------------

    def run(self) -> Usage:
        """Start up, then keep all workers busy until the end; gives how they were used."""
        stopped, failure = StopReason.BUDGET_SPENT, None
        try:
            if self.start_up():
                self.begin()
            if self.has_begun:
                self.keep_busy()
            stopped = self.control.stopped or stopped
        except RunFailed as error:
            stopped, failure = StopReason.FAILED, error
        except KeyboardInterrupt:
            stopped = StopReason.INTERRUPTED
        # All exchanges up to the end have taken place, and none after it.
        self.until = min(self.clock.now(), self.until)
        if self.has_begun:
            try:
                self.session.catch_up(self.until + self.offset)
            except RunFailed as error:
                stopped, failure = StopReason.FAILED, failure or error
            self.note_under_way()
        usage = self.usage()._replace(stopped=stopped, failure=failure)
        if usage.elapsed > 0.0:
            at_work = 1.0 + float(usage.busy.sum()) / usage.elapsed  # this process, and workers
            usage = usage._replace(others=wanted_by_others(at_work, self.load))
        self.session.progress.elapsed += usage.elapsed
        return usage

    def start_up(self) -> bool:
        """Processes, first states, units of work; False if there is no time for all of it."""
        early = self.early_moves()
        if early is None:
            return False
        self.session.make_ready()
        progress = self.session.progress
        try:
            if not progress.has_states:
                early.find_states(self.session)
                self.end_earlier_moves()
            progress.quickest_start = max(progress.quickest_start, early.quickest_start)
            progress.step_length = max(progress.step_length, early.step_length)
            if progress.units is None:  # a move that is issued again is the same move
                self.control.start_up.tell(Part.TRIALS, "trying how long moves take")
                progress.units = self.choose_units(early.compute_timed)
        except StoppedEarly:
            return False
        self.session.tuning[:, STEPS] = progress.units.steps
        movers = int(self.session.machine.is_mover.sum())
        # Workers may have been added meanwhile.
        fits = (movers - 1) // len(self.workforce.workers) - 1
        self.ahead = max(min(progress.units.ahead, fits), 0)
        return True

    def early_moves(self) -> EarlyMoves | None:
        """Workers that are ready for moves which do not count, if there is time for any."""
        if not self.workforce.await_ready(self.until, self.control):
            return None
        self.end_earlier_moves()
        for processor in range(self.session.processors):
            if processor not in self.workforce.workers:
                self.workforce.hire(processor)
            self.arrived[processor] = self.clock.now()
        return EarlyMoves(self.workforce, self.control, self, self.session.processors, self.until)

    def search(self, errand: Errand) -> Usage:
        """Carry out an errand, of which nothing counts."""
        before = self.clock.now()
        stopped, failure = StopReason.STILL_RUNNING, None
        try:
            early = self.early_moves()
            if early is None:
                raise StoppedEarly
            before = self.clock.now()
            early.search(errand)
            self.session.progress.step_length = early.step_length
        except StoppedEarly:
            stopped = self.control.stopped or StopReason.BUDGET_SPENT
        except KeyboardInterrupt:
            stopped = StopReason.INTERRUPTED
        except RunFailed as error:
            stopped, failure = StopReason.FAILED, error
        elapsed = self.clock.now() - before
        return Usage(stopped, elapsed, np.zeros(self.session.processors), failure)

    def end_earlier_moves(self) -> None:
        """Free the workers of what belongs to an earlier phase.

        A worker that is about to finish is worth waiting for: in a new one, functions that compile
        when they are first called must do so again.
        """
        workers = self.workforce.workers
        now = self.clock.now()
        limit = now + min(GRACE * (self.until - now), MOST_GRACE)
        while self.clock.now() < limit and not all(one.is_idle for one in workers.values()):
            self.workforce.listen(limit)
        for worker in list(workers.values()):
            if not worker.is_idle:
                self.workforce.interrupt(worker)

    def begin(self) -> None:
        """Give every worker its first orders: from now on moves count."""
        self.is_picking_up = True
        earlier = PickUp(self.session, self.control, self.workforce)
        earlier.wait(self.until, lambda: self.control.serve(self))
        self.is_picking_up = False
        if self.control.stopped is not None:
            return
        self.has_begun = True
        self.control.start_up.over()
        self.load = load()
        self.began = self.clock.now()
        self.until = min(self.until, self.began + self.budget)
        self.offset = self.session.progress.elapsed - self.began
        self.arrived[:] = self.began
        self.workforce.waited = 0.0
        earlier.order_the_rest()
        # Whoever has replied may have died since, and been replaced.
        present = self.workforce.workers
        self.heard.extend((present[worker.processor], reply) for worker, reply in earlier.replies)
        busy = {worker.processor for worker, _ in self.heard}
        for worker in list(present.values()):
            if worker.is_leaving and worker.processor not in busy:
                self.let_go(worker)
        workers = [
            worker
            for worker in present.values()
            if not worker.is_leaving and worker.processor not in busy
        ]
        for depth in range(1 + self.ahead):
            for worker in workers:
                if len(worker.orders) <= depth:
                    self.give_work(worker, self.now())

    def keep_busy(self) -> None:
        """The loop: hear of completions, commit them, give out the next moves."""
        session, workforce = self.session, self.workforce
        while self.control.stopped is None:
            if not self.heard:
                self.heard.extend(workforce.listen(min(self.until, self.control.due)))
            for worker, reply in self.heard:
                self.note_busy(worker, reply)
            while self.heard and self.clock.now() < self.until:
                worker, reply = self.heard[0]
                if reply.failure is not None:
                    raise reply.failure
                assert reply.outcome is not None
                time = self.now()
                # A move that was picked up began, by the session's time, in an earlier phase.
                began, ended = reply.began, max(reply.ended, self.began)
                barriers = session.machine.barriers[0]
                session.complete(
                    reply.key.chain, reply.outcome, time,
                    worker.processor, began + self.offset, ended + self.offset,
                )  # fmt: skip
                self.heard.popleft()
                if session.has_used_its_share:
                    return
                if worker.is_leaving:
                    self.let_go(worker)
                elif len(worker.orders) <= self.ahead:
                    self.give_work(worker, time)
                if session.machine.barriers[0] > barriers:
                    self.give_work_to_idle(time)
            self.follow_cluster()
            if self.clock.now() >= self.control.due:
                self.note_under_way()
            self.control.serve(self)
            if self.clock.now() >= self.until:
                return

    def note_under_way(self) -> None:
        """Who is at which move, and since when, in case the session is left now."""
        chains = self.session.machine.chains
        for worker, reply in self.heard:
            # A worker that died has not said when it began.
            mine = chains[reply.key.chain]
            mine["processor"], mine["since"] = worker.processor, reply.began + self.offset
        for worker in self.workforce.workers.values():
            since = worker.since + self.offset
            for order in worker.orders:
                mine = chains[order.key.chain]
                mine["processor"], mine["since"] = worker.processor, since
                since = math.nan  # the others wait

    def follow_cluster(self) -> None:
        """Places that came are taken, by new workers; who lost its place goes after its moves."""
        if self.session.machine.completed.size > 1:
            return  # processors belong to pools: none may be left without
        for worker in self.workforce.crowded():
            if not worker.is_leaving and self.staying() > 1:
                worker.is_leaving = True
                self.let_go(worker)
        for _ in range(self.workforce.vacancies()):
            if self.has_room():
                self.take_in()

    def now(self) -> float:
        """The time now as the session counts it, from the first move of its first sitting.

        It ends with the phase. Exchanges may take so long that they fall behind: those of deadlines
        after the end would take longer still, and are none of this phase.
        """
        return min(self.clock.now(), self.until) + self.offset

    def note_busy(self, worker: Worker, reply: Reply) -> None:
        """A worker has computed a move, which may come too late to count, or may have failed."""
        seconds = min(reply.ended, self.until) - max(reply.began, self.began)
        if seconds > 0.0:  # not a number: a worker that died has not said when it began
            self.busy[worker.processor] += seconds

    def give_work(self, worker: Worker, time: float) -> None:
        """The next chain of the worker's pool goes in flight."""
        pool = int(self.session.served[worker.processor % self.session.processors])
        chain = self.session.take_next(pool, worker.processor, time)
        if chain != NOBODY:
            self.workforce.order(worker, self.session.order(chain))

    def give_work_to_idle(self, time: float) -> None:
        """After a barrier everyone takes a move again."""
        for processor in sorted(self.workforce.workers):
            worker = self.workforce.workers[processor]
            if worker.is_idle and not worker.is_leaving:
                self.give_work(worker, time)

    # --- for the world outside ----------------------------------------------------------------

    def usage(self) -> Usage:
        """How the processors were used so far."""
        now = min(self.clock.now(), self.until)
        elapsed = max(now - self.began, 0.0) if self.has_begun else 0.0
        busy = self.busy.copy()
        if self.has_begun:
            for processor, worker in self.workforce.workers.items():
                if not worker.is_idle:
                    busy[processor] += max(now - max(worker.since, self.began), 0.0)
        here_since = np.maximum(self.arrived if self.has_begun else now, self.began)
        present = np.maximum(np.minimum(self.left, now) - here_since, 0.0)
        overhead = Overhead(
            coordinator=max(elapsed - self.workforce.waited, 0.0),
            exchanges=self.session.progress.exchange_seconds,
            startup=float(self.startup_before + (now - elapsed - self.idle_since)),
        )
        return Usage(StopReason.STILL_RUNNING, elapsed, busy, None, present, overhead)

    def workers(self) -> list[WorkerStatus]:
        """What each worker is doing, and for how long."""
        now = self.clock.now()
        statuses = []
        for processor, worker in sorted(self.workforce.workers.items()):
            order = worker.orders[0] if worker.orders else None
            statuses.append(
                WorkerStatus(
                    processor,
                    worker.process,
                    order and order.key.chain,
                    order and order.rung,
                    max(now - worker.since, 0.0) if order else 0.0,
                )
            )
        return statuses

    def add_worker(self) -> int:
        """One more, unless too few chains would be left waiting."""
        machine = self.session.machine
        if machine.completed.size > 1:
            raise InputError(
                "workers can be added only where all share one queue: use pools=aptmc.Shared()"
            )
        self.workforce.check_growth()
        if not self.has_room():
            raise InputError(
                f"with {self.staying() + 1} workers none of the {int(machine.is_mover.sum())} "
                "chains would be left waiting to be exchanged: use chains_per_rung=2, say"
            )
        return self.take_in()

    def has_room(self) -> bool:
        """Whether some chains would be left waiting if there was one worker more."""
        machine = self.session.machine
        in_flight = (self.staying() + 1) * (1 + self.ahead)
        return not machine.plan.never_waits or in_flight < machine.is_mover.sum()

    def staying(self) -> int:
        """How many workers were not asked to leave."""
        return sum(not worker.is_leaving for worker in self.workforce.workers.values())

    def take_in(self) -> int:
        """One more worker, who gets work at once."""
        processor = self.busy.size
        self.busy = np.append(self.busy, 0.0)
        self.arrived = np.append(self.arrived, self.clock.now())
        self.left = np.append(self.left, math.inf)
        worker = self.workforce.hire(processor)
        if self.has_begun:
            for _ in range(1 + self.ahead):
                self.give_work(worker, self.now())
        return processor

    def remove_worker(self) -> int:
        """The last one goes as soon as its moves are done."""
        workers = self.workforce.workers
        if self.session.machine.completed.size > 1:
            raise InputError(
                "workers can be removed only where all share one queue: use pools=aptmc.Shared()"
            )
        staying = [worker for worker in workers.values() if not worker.is_leaving]
        if len(staying) == 1:
            raise InputError("the last worker cannot be removed: use stop()")
        worker = staying[-1]
        worker.is_leaving = True
        self.workforce.retire(worker)
        self.let_go(worker)
        return int(worker.processor)

    def let_go(self, worker: Worker) -> None:
        """A worker that was asked to leave does so when it has nothing left to do."""
        if worker.is_idle and not self.is_picking_up:  # when each has its moves to compute again
            self.left[worker.processor] = self.clock.now()
            self.workforce.dismiss(worker)
