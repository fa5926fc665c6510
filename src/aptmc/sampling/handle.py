"""A run under way, and the handle by which one can look at it, stop it and change its workers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self, final

import numpy as np

from aptmc.backends.base import Engine
from aptmc.clock import time_of_day
from aptmc.errors import RunFailed, StopReason, StoreFailed
from aptmc.progress import SHARE_OF_TIME, Watch, choose_view
from aptmc.result.run import Run, Settings
from aptmc.sampling.saving import Options, contents, tuner_contents, with_earlier
from aptmc.sampling.status import EVERY, Status, remove_status, write_status
from aptmc.session.build import build_session
from aptmc.session.control import Control, RunningProcessors, WorkerStatus
from aptmc.session.session import Session, Usage
from aptmc.session.snapshot import frozen
from aptmc.store import DiskStore, Draws, MemoryStore, Store
from aptmc.warmup import Tuner, WarmUp


@dataclass
class Prepared:
    """A run that could begin now: with a warm-up first, if there is anything to find."""

    settings: Settings
    session: Session
    store: Store
    tuner: Tuner | None = None
    first_round: MemoryStore | None = None  # what the warm-up begins with
    options: Options = field(default_factory=Options)
    warmup: WarmUp | None = None
    budget: float | None = None  # of this sitting, if there were others before
    earlier: Usage | None = None  # what those used
    watch: Watch | None = None  # who looks on

    def run(self, control: Control) -> Run:
        """Run it, in this thread."""
        backend = self.settings.on
        budget = self.settings.budget if self.budget is None else self.budget
        last_words = "the run failed"
        try:
            self._begin_to_watch(control, budget)
            with (
                self._saved(control, budget),
                backend.open(self.session, budget, control) as engine,
            ):
                usage = _nothing_yet(self.session)
                try:
                    usage = self._warm_up(engine) or engine.run(self.session, engine.left())
                    self.session.flush()
                    self.save(usage)
                except StoreFailed as failure:
                    stopped = StopReason.FAILED
                    usage = usage._replace(stopped=stopped, failure=usage.failure or failure)
            last_words = str(usage.stopped)
        finally:
            control.end()
            if self.watch is not None:
                self.watch.view.close(last_words + self._hint())
        run = self.result(usage)
        if usage.failure is not None:
            usage.failure.run = run
            raise usage.failure
        return run

    def _begin_to_watch(self, control: Control, budget: float) -> None:
        view = choose_view(self.options.progress)
        if view is None:
            return
        self.watch = Watch(view, control, budget, self.settings.on.time_unit)
        self.watch.begin()
        control.regularly(view.period, self.watch.show, share=SHARE_OF_TIME)
        if self.tuner is not None:
            self.watch.warm_up(self.tuner)
        else:
            self.session = self.watch.follow(self.session)

    def _hint(self) -> str:
        if isinstance(self.store, DiskStore):
            return f"; to go on, aptmc.resume({str(self.store.path)!r}, problem, budget=...)"
        return ""

    @contextmanager
    def _saved(self, control: Control, budget: float) -> Iterator[None]:
        """If there is a store on disk, save the run there every few seconds."""
        if not isinstance(self.store, DiskStore):
            yield
            return
        place = self.store.path

        def save(processors: RunningProcessors) -> None:
            if not self.is_warming_up:  # which is saved after each round
                self.session.flush()
                self.save(processors.usage(), under_way=True)

        def tell(processors: RunningProcessors) -> None:
            write_status(place, self.status(processors, control, budget))

        with closing(self.store):
            self.save(_nothing_yet(self.session))
            control.regularly(self.options.save_every, save)
            control.regularly(EVERY, tell, share=SHARE_OF_TIME)
            try:
                yield
            finally:
                remove_status(place)

    def status(self, processors: RunningProcessors, control: Control, budget: float) -> Status:
        """What is going on now, for those who look at the store."""
        tuner = self.tuner if self.is_warming_up else None
        return Status(
            written=time_of_day(),
            elapsed=control.clock.now() - control.called,
            budget=budget,
            round=None if tuner is None else min(tuner.epoch + 1, tuner.count),
            rounds=0 if tuner is None else tuner.count,
            workers=processors.workers(),
        )

    def save(self, usage: Usage, *, under_way: bool = False) -> None:
        """Write a checkpoint, if the store is on disk."""
        if not isinstance(self.store, DiskStore):
            return
        total = with_earlier(usage, self.earlier)
        notes, arrays = contents(self.settings, self.session, total, self.warmup)
        if self.is_warming_up:
            assert self.tuner is not None
            notes["tuner"] = tuner_contents(self.tuner)
        if under_way:  # the session learns how long it took when it ends
            notes["session"]["elapsed"] += usage.elapsed
        self.store.save(notes, arrays, wait=not under_way)

    @property
    def is_warming_up(self) -> bool:
        """Whether settings are still being found, or were when the run was stopped."""
        return self.tuner is not None and (self.warmup is None or self.warmup.stopped is not None)

    def _warm_up(self, engine: Engine) -> Usage | None:
        """Find the settings that were not given. A usage means that the run ended there."""
        if self.tuner is None:
            return None
        try:
            assert self.first_round is not None
            warmup = self.tuner.run(engine, self.session, self.first_round, self._after_round)
        except RunFailed as failure:
            self._adopt(self.tuner.so_far())
            return Usage(StopReason.FAILED, 0.0, np.zeros(self.session.processors), failure)
        self._adopt(warmup)
        if self.watch is not None:
            self.session = self.watch.follow(self.session)
        self.save(_nothing_yet(self.session))
        if warmup.stopped is not None:
            return _nothing_yet(self.session)._replace(stopped=warmup.stopped)
        return None

    def _after_round(self, draws: list[Draws]) -> None:
        if isinstance(self.store, DiskStore):
            for mine in draws:
                self.store.append_warmup(mine, chain=0)
            self.save(_nothing_yet(self.session))

    def _adopt(self, warmup: WarmUp) -> None:
        """Make ready to sample with what a warm-up has found; none of its draws is kept here."""
        tuned, options = warmup.tuned, self.options
        self.warmup = warmup
        self.settings = self.settings._replace(
            ladder=tuned.ladder,
            kernel=tuned.kernel,
            schedule=tuned.schedule,
            pools=tuned.pools,
        )
        layout = tuned.pools.layout(tuned.ladder, self.session.processors)
        self.session = build_session(
            self.settings.problem, tuned.ladder, tuned.kernel, tuned.schedule, layout,
            options.keep, self.settings.seed, self.store, options.thin, options.log_events,
            warmup.epoch,
        )  # fmt: skip
        if not np.isnan(warmup.states).any():
            self.session.begin_from(warmup.states)

    def result(self, usage: Usage) -> Run:
        """The run as it stands."""
        session = self.session
        return Run(
            self.settings,
            session.machine,
            session.record,
            self.store,
            with_earlier(usage, self.earlier),
            session.tuning,
            self.warmup,
            session.progress.first_states,
            session.kernel.statistics,
        )

    def so_far(self, usage: Usage) -> Run:
        """A copy of the run as it stands, which does not change while the run goes on."""
        if self.tuner is not None and self.warmup is None:
            # What the warm-up has drawn so far is no part of the posterior.
            to_come = replace(self)
            to_come._adopt(self.tuner.so_far())
            nothing = np.zeros(self.session.processors)
            return to_come.result(usage._replace(elapsed=0.0, busy=nothing, present=None))
        self.session.flush()
        machine, record = frozen(self.session.machine, self.session.record)
        return Run(
            self.settings,
            machine,
            record,
            self.store.copy(),
            with_earlier(usage, self.earlier),
            self.session.tuning.copy(),
            self.warmup,
            self.session.progress.first_states,
            self.session.kernel.statistics,
        )


def _nothing_yet(session: Session) -> Usage:
    return Usage(StopReason.STILL_RUNNING, 0.0, np.zeros(session.processors))


class Inspection(NamedTuple):
    """What a look at a run under way shows."""

    run: Run  # so far
    workers: list[WorkerStatus]


@final
class RunHandle:
    """A run in the background. Use it in a `with` block, which stops the run when it is left."""

    def __init__(self, prepared: Prepared, control: Control) -> None:
        self._prepared, self._control = prepared, control
        self._run: Run | None = None
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="aptmc run", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        try:
            self._run = self._prepared.run(self._control)
        except BaseException as failure:
            self._failure = failure

    @property
    def is_running(self) -> bool:
        """Whether the run is still under way."""
        return self._thread.is_alive()

    def inspect(self) -> Inspection:
        """The run so far, and what each worker is doing. A run that has ended has no workers."""

        def look(processors: RunningProcessors) -> Inspection:
            return Inspection(self._prepared.so_far(processors.usage()), processors.workers())

        if self.is_running:
            try:
                inspection: Inspection = self._control.ask(look)
                return inspection
            except RunFailed:  # it has just ended
                pass
        return Inspection(self.wait(), [])

    def wait(self, timeout: float | None = None) -> Run:
        """The result when the run has ended; TimeoutError if it has not in so many seconds.

        A failure of the run is raised here.
        """
        self._thread.join(timeout)
        if self._thread.is_alive():
            raise TimeoutError(f"the run is still under way after {timeout} s more")
        if self._failure is not None:
            raise self._failure
        assert self._run is not None
        return self._run

    def stop(self) -> Run:
        """End the run now, and give the result so far. Moves in flight are left as they are."""
        self._control.stop(StopReason.STOPPED)
        return self.wait()

    def add_worker(self) -> int:
        """One more worker process, now; gives its number."""
        number: int = self._control.ask(lambda processors: processors.add_worker())
        return number

    def remove_worker(self) -> int:
        """One worker less: it goes when its present move is done. Gives its number."""
        number: int = self._control.ask(lambda processors: processors.remove_worker())
        return number

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._control.stop(StopReason.STOPPED)
        self._thread.join()
