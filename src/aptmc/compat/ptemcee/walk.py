"""An ensemble on its way: sessions of the library, one after the other while moves are learnt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from threading import Thread
from typing import final

import numpy as np

from aptmc.backends import Processes, VirtualTime
from aptmc.compat.ptemcee.split_density import Walked
from aptmc.compat.ptemcee.steps import Step, Steps
from aptmc.compiled import Floats, FloatTable
from aptmc.coordinator.state import moves_done
from aptmc.errors import RunFailed, StopReason
from aptmc.global_generators import left_alone
from aptmc.kernels import Kernel
from aptmc.kernels.base import STEPS
from aptmc.kernels.seen import Seen
from aptmc.ladder import Ladder
from aptmc.pools import Shared
from aptmc.problem.chain_state import ACCEPTED
from aptmc.schedule import Anytime
from aptmc.session.build import build_session
from aptmc.session.control import Control
from aptmc.session.session import Session
from aptmc.settings import Settings
from aptmc.store import MemoryStore

# Steps after which moves are learnt anew from where walkers have been; then they stay as they are.
LEARNING = (2, 4, 8, 16, 32, 64, 128)
LEARNING_BY_WORKERS = (8, 32, 128)  # who are started anew each time
SWAPS_PER_STEP = 2  # deadlines in the time of a step: odd and even neighbours in turn
SHORTEST_DEADLINES = 0.002  # seconds
AHEAD = 256  # steps that workers may be ahead of whoever takes them
LOOK = 0.05  # seconds after which one looks how far workers have come
FOR_EVER = 1e9  # seconds


@final
class Walk:
    """Walkers from their first positions on.

    :param states: a state for each walker, coldest temperature first
    :param processors: more than one: worker processes compute, by the clock; one: this process
        does, in virtual time, in which each move takes as long as any other
    :param seconds: what a move takes, about
    """

    def __init__(
        self,
        problem: Walked,
        ladder: Ladder,
        kernel: Kernel,
        states: FloatTable,
        *,
        seed: int,
        processors: int,
        seconds: float,
    ) -> None:
        self.steps = Steps(len(states))
        self._made = 0  # steps, so far
        self._epoch = 0
        walkers = len(states) // ladder.rungs
        every = len(states) / processors / SWAPS_PER_STEP
        if processors > 1:
            every = max(every * seconds, SHORTEST_DEADLINES)
        self._in_real_time = processors > 1
        self._learning = LEARNING_BY_WORKERS if processors > 1 else LEARNING
        self._settings = Settings(
            problem=problem,
            ladder=ladder,
            kernel=kernel.at_first(_spread(states[:, : problem.dimension]), ladder.rungs),
            schedule=Anytime(every=every, jitter=0.5),
            pools=Shared(walkers),
            on=_workers(processors, len(states)) if processors > 1 else VirtualTime(1, hold=_one),
            seed=seed,
            budget=FOR_EVER,
            keep="all",
            log_events=False,
        )
        self._before = (np.zeros(ladder.rungs), np.zeros(ladder.rungs))  # of earlier sessions
        self._seen: list[FloatTable] = [states]
        self._session = self._begin(states)
        self._learn()

    @property
    def levels(self) -> Floats:
        """The inverse temperatures, which may be changed: moves from then on have the new ones."""
        return self._session.machine.level

    @property
    def swaps(self) -> tuple[Floats, Floats]:
        """By temperature: proposed swaps that it took part in, and accepted ones."""
        record = self._session.record
        proposed, accepted = (
            before + table.sum(axis=0) + table.sum(axis=1)
            for before, table in zip(self._before, (record.attempts, record.swaps), strict=True)
        )
        return proposed, accepted

    def advance(self, count: int) -> Iterator[Step]:
        """So many steps, one after the other."""
        while count > 0:
            until = next((step for step in self._learning if step > self._made), None)
            part = min(count, AHEAD if until is None else until - self._made)
            steps = self._by_workers(part) if self._in_real_time else self._here(part)
            for step in steps:
                self._made += 1
                count -= 1
                if until is not None:
                    self._seen.append(step.rows)
                yield step
            if self._made == until:
                self._learn()

    # --- who computes -------------------------------------------------------------------------

    def _here(self, count: int) -> Iterator[Step]:
        """Each a stretch of virtual time, in which every walker moves once."""
        session, on = self._session, self._settings.on
        for _ in range(count):
            while self.steps.complete == 0:
                with left_alone():
                    usage = on.run(session, float(session.machine.rung.size))
                _raise(usage.stopped, usage.failure)
            yield self.steps.take()

    def _by_workers(self, count: int) -> Iterator[Step]:
        """As workers come to them; they go on meanwhile, and stop when nobody wants more."""
        session, control = self._session, Control()
        ended: list[tuple[StopReason, BaseException | None]] = []
        if self.steps.complete < count:
            self._settings.on.check(session)

        def look(_: object) -> None:
            session.flush()
            if self.steps.complete >= wanted:
                control.stop()

        def work() -> None:
            try:
                on = self._settings.on
                with on.open(session, FOR_EVER, control) as engine:
                    usage = engine.run(session, engine.left())
                session.flush()
                ended.append((usage.stopped, usage.failure))
            except BaseException as error:
                ended.append((StopReason.FAILED, error))
            finally:
                control.end()
                with self.steps.come_in:
                    self.steps.come_in.notify_all()

        wanted = count
        control.regularly(LOOK, look)
        thread = Thread(target=work, name="aptmc walkers", daemon=True)
        if self.steps.complete < count:
            thread.start()
        try:
            for taken in range(count):
                wanted = count - taken
                with self.steps.come_in:
                    self.steps.come_in.wait_for(lambda: self.steps.complete > 0 or bool(ended))
                if self.steps.complete == 0:
                    _raise(*ended[0])
                yield self.steps.take()
        finally:
            control.stop()
            if thread.ident is not None:
                thread.join()

    # --- learning -----------------------------------------------------------------------------

    def _learn(self) -> None:
        """Go on with moves that suit what was seen since the last time."""
        settings, session = self._settings, self._session
        ladder, dimension = settings.ladder, settings.problem.dimension
        walkers = len(self._seen[0]) // ladder.rungs
        rows = np.concatenate([one.reshape(ladder.rungs, walkers, -1) for one in self._seen], 1)
        moves = moves_done(session.machine)
        totals, kernel = session.record.totals, session.kernel
        seen = Seen(
            levels=tuple(self.levels.tolist()),
            states=[table[:, :dimension] for table in rows],
            moves=moves,
            steps=moves * session.tuning[:, STEPS],
            accepted=totals[:, ACCEPTED].copy(),
            statistics={name: totals[:, place].copy() for name, place in kernel.places.items()},
        )
        adapted = kernel.adapted(seen)
        if self._made >= self._learning[-1]:
            adapted = adapted.frozen()
        self._settings = settings.found(kernel=adapted)
        machine, levels = session.machine, self.levels.copy()
        held = machine.states[machine.replica]
        self._before = self.swaps
        self._epoch += 1
        self._seen = []
        self.steps.forget()
        self._session = self._begin(held.copy())
        self._session.machine.level[:] = levels

    def _begin(self, states: FloatTable) -> Session:
        """A session whose walkers begin here, with random numbers of its own."""
        session = build_session(self._settings, MemoryStore(), epoch=self._epoch)
        session = replace(session, store=self.steps.append)
        session.begin_from(states)
        return session


def _workers(processors: int, walkers: int) -> Processes:
    """Workers that are given one proposal at a time, as ptemcee counts them, and one ahead."""
    enough = walkers >= 2 * processors + max(processors, 2)
    return Processes(processors, group=1, ahead=int(enough))


def _spread(points: FloatTable) -> Floats:
    """About how far walkers are from each other, along each axis."""
    spread = points.std(axis=0)
    return np.where(spread > 0.0, spread, 1.0)


def _one(theta: Floats, rung: int, rng: np.random.Generator) -> float:
    """What a move takes in virtual time."""
    return 1.0


def _raise(stopped: StopReason, failure: BaseException | None) -> None:
    if failure is not None:
        raise failure
    if stopped is StopReason.INTERRUPTED:
        raise KeyboardInterrupt
    if stopped is StopReason.FAILED:
        raise RunFailed(f"walkers could not go on: {stopped}")
