"""A run, as the algorithm reads: prepare, warm up, sample, conclude."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from aptmc.backends.base import Engine
from aptmc.clock import time_of_day
from aptmc.coordinator.state import Settling
from aptmc.errors import RunFailed, StopReason, StoreFailed, frames_of_the_user
from aptmc.global_generators import left_alone
from aptmc.progress import SHARE_OF_TIME, Watch
from aptmc.result.run import Run
from aptmc.sampling.counted import CountedEngine
from aptmc.sampling.enough import SHORTEST, Until
from aptmc.sampling.number_of_lanes import choose_lanes
from aptmc.sampling.saved_run import (
    contents,
    description,
    failed_move,
    move_to_json,
    tuner_contents,
)
from aptmc.sampling.sittings import with_earlier
from aptmc.sampling.status import EVERY, Status, remove_status, write_status
from aptmc.session.build import build_session
from aptmc.session.control import Control, FixedProcessors, RunningProcessors
from aptmc.session.meter import Meter
from aptmc.session.session import Session, Usage
from aptmc.session.snapshot import frozen
from aptmc.session.start_up import Part, Spent
from aptmc.settings import Settings
from aptmc.store import DiskStore, Draws, MemoryStore, Store
from aptmc.store.folder import check_new
from aptmc.warmup import Tuner, WarmUp

SHARE_OF_LOOKS = 0.05  # of the coordinating process, at whether there is enough
LEAST = 1e-9  # of a budget: what is less is the rest of a sum


@left_alone()
def prepare(settings: Settings, path: Path | None, until: Until) -> Phases:
    """A run that could begin now. A store on disk is made when all else is checked."""
    if path is not None:
        check_new(path)
    tuner = Tuner(settings) if settings.to_find.needs_warmup else None
    session = build_session(settings, MemoryStore()) if tuner is None else tuner.session()
    settings.on.check(session)
    store: Store = MemoryStore()
    if path is not None:
        store = DiskStore.create(path, description(settings), settings.problem.width)
    if tuner is None:
        session = replace(session, store=store.append)
    return Phases(settings, session, store, tuner, until=until)


@dataclass
class Phases:
    """A run on its way from its settings to its result.

    :param session: of the phase that comes next, or is under way
    :param tuner: finds the settings that were not given, if there are any
    :param warmup: what it has found, once the warm-up is over
    :param sitting: the budget from this call on, if there were others before
    :param earlier: what those used
    :param until: what ends it before its budget is spent
    """

    settings: Settings
    session: Session
    store: Store
    tuner: Tuner | None = None
    warmup: WarmUp | None = None
    sitting: float | None = None
    earlier: Usage | None = None
    watch: Watch | None = None
    until: Until = field(default_factory=Until)

    @left_alone()
    def run(self, control: Control) -> Run:
        """Run it, in this thread."""
        usage = self.nothing_yet()
        with ExitStack() as stack:
            stack.callback(control.end)
            last_words = stack.enter_context(self._watched(control))
            stack.enter_context(self._saved(control))
            engine = stack.enter_context(self.settings.on.open(self.session, self.budget, control))
            engine = self.counting(engine, control)
            try:
                usage = self.warm_up(engine, control) or self.sample(engine, control)
                engine.over()
                self.session.flush()
                usage = self.judged(usage, control)
                self.save(usage)
            except StoreFailed as failure:
                usage = usage._replace(stopped=StopReason.FAILED, failure=usage.failure or failure)
            reached = self.session.reached
            far = "" if reached is None else f"; {reached}"
            last_words.append(f"{usage.stopped}{far}")
        return self.conclude(usage)

    # --- the phases ---------------------------------------------------------------------------

    def warm_up(self, engine: Engine, control: Control) -> Usage | None:
        """Find the settings that were not given. A usage means that the run ended there."""
        if self.tuner is None:
            return None
        control.start_up.moves_are = Part.WARMUP
        try:
            warmup = self.tuner.run(engine, self.session, self._after_round, self._keep)
        except RunFailed as failure:
            self._adopt(self.tuner.so_far())
            return self.nothing_yet()._replace(stopped=StopReason.FAILED, failure=failure)
        self._adopt(warmup)
        if self.watch is not None:
            self.session = self.watch.follow(self.session)
        self.save(self.nothing_yet())
        control.start_up.moves_are = Part.SAMPLING
        stopped = warmup.stopped
        if stopped is None and engine.left() <= 0.0:
            stopped = StopReason.BUDGET_SPENT
        return None if stopped is None else self.nothing_yet()._replace(stopped=stopped)

    def sample(self, engine: Engine, control: Control) -> Usage:
        """Draws count until the budget is spent, or there is enough."""
        ended = choose_lanes(self, engine, control)
        if ended is not None:
            return ended
        left = engine.left()
        if not self.until.goals:
            return engine.run(self.session, left)
        by_clock = self.settings.on.is_in_real_time
        self.until.looks_first(left, by_clock=by_clock)
        if by_clock:
            self.look_regularly(control)
            return engine.run(self.session, left)
        # In virtual time one looks at moments of that time, so that runs are repeatable.
        usage: Usage | None = None
        while True:
            elapsed = 0.0 if usage is None else usage.elapsed
            part = min(self.until.next_look - elapsed, engine.left())
            latest = engine.run(self.session, part)
            usage = with_earlier(latest, usage)
            if self.watch is not None:
                self.watch.part_is_over(latest.elapsed)
            if usage.stopped is not StopReason.BUDGET_SPENT or engine.left() <= LEAST * left:
                return usage
            if self.until.is_reached(self.so_far(usage), usage.elapsed):
                return usage._replace(stopped=StopReason.ENOUGH)

    def look_regularly(self, control: Control) -> None:
        """In real time one looks while the run goes on, at a small part of the coordinator's."""

        def look(processors: RunningProcessors) -> None:
            usage = processors.usage()
            if usage.elapsed >= self.until.next_look and self.until.is_reached(
                self.so_far(usage), usage.elapsed
            ):
                control.stop(StopReason.ENOUGH)

        control.regularly(SHORTEST, look, share=SHARE_OF_LOOKS)

    def counting(self, engine: Engine, control: Control) -> Engine:
        """The same engine, or one that counts, if there is anything to count."""
        by_time = self.settings.quota is None
        quota = self.until.quota if by_time else self.settings.quota
        if quota is None:
            return engine
        meter = Meter(quota)
        if not by_time:
            control.counted = lambda: meter.used
        seconds = self.budget if by_time else None
        searchers = self.settings.on.searchers
        return CountedEngine(engine, meter, seconds=seconds, searchers=searchers)

    def judged(self, usage: Usage, control: Control) -> Usage:
        """With what came before the first moves, and whether a spent budget was too short."""
        if not self.settings.on.is_in_real_time:
            spent: tuple[Spent, ...] = ()
        else:
            spent = control.start_up.spent()
        usage = usage._replace(
            start_up=spent, repeats_itself=control.start_up.repeats_itself or usage.repeats_itself
        )
        if self.settings.quota is not None:  # so that one knows how long it was
            total = with_earlier(usage, self.earlier).elapsed
            self.settings = self.settings.found(budget=max(total, LEAST))
        ended = (StopReason.BUDGET_SPENT, StopReason.ENOUGH)
        if usage.stopped not in ended or self.has_draws:
            return usage
        overhead = usage.overhead
        if overhead.startup == 0.0:  # of a run that was over before a phase could tell
            overhead = overhead._replace(startup=sum(part.seconds for part in spent))
        return usage._replace(stopped=StopReason.TOO_SHORT, overhead=overhead)

    @property
    def has_draws(self) -> bool:
        """Whether the coldest rung has draws that count."""
        session, machine = self.session, self.session.machine
        start = self.settings.counted_from(float(machine.settles_until[0]))
        cold = np.flatnonzero(machine.rung == 0)
        if start == 0.0 or session.progress.elapsed <= start:
            return bool((session.record.seen[cold] // self.settings.thin).any()) and start == 0.0
        draws = self.store.chains(cold.tolist(), self.settings.problem.width)
        return any((mine.time >= start).any() for mine in draws)

    def conclude(self, usage: Usage) -> Run:
        """The result, which a failure carries with it."""
        run = self.result(usage)
        failure = usage.failure
        if failure is not None:
            failure.run = run
            if failure.__cause__ is not None:
                failure.__cause__ = frames_of_the_user(failure.__cause__)
            raise failure
        return run

    # --- between the phases -------------------------------------------------------------------

    @property
    def budget(self) -> float:
        """How long this call may run, however long earlier ones did."""
        return self.settings.budget if self.sitting is None else self.sitting

    @property
    def is_warming_up(self) -> bool:
        """Whether settings are still being found, or were when the run was stopped."""
        return self.tuner is not None and (self.warmup is None or self.warmup.stopped is not None)

    def nothing_yet(self) -> Usage:
        """What a phase has used that has not begun."""
        return Usage(StopReason.STILL_RUNNING, 0.0, np.zeros(self.session.processors))

    def _keep(self, draws: list[Draws]) -> None:
        for mine in draws:
            self.store.append_warmup(mine, chain=0)
        self.save(self.nothing_yet())

    def _after_round(self, draws: list[Draws]) -> bool:
        self._keep(draws)
        return self.until.is_warm(draws, self.settings.problem.dimension)

    def _adopt(self, warmup: WarmUp) -> None:
        """Make ready to sample with what a warm-up has found; none of its draws is kept here."""
        self.warmup, self.settings = warmup, warmup.settings.frozen()
        early = self.session.progress.early
        settling = Settling(self.settings.settling, warmup.starts)
        self.session = build_session(
            self.settings, self.store, epoch=warmup.epoch, settling=settling
        )
        self.session.progress.early = early
        self.session.progress.reached = warmup.reached
        if not np.isnan(warmup.states[:, 0]).any():
            self.session.begin_from(warmup.states)

    # --- the result ---------------------------------------------------------------------------

    def result(self, usage: Usage) -> Run:
        """The run as it stands now; it shares its arrays with the session."""
        session, settings = self.session, self.settings
        total = with_earlier(usage, self.earlier)
        if settings.quota is not None:
            settings = settings.found(budget=max(total.elapsed, LEAST))
        return Run(
            settings,
            session.machine,
            session.record,
            self.store,
            total,
            session.tuning,
            self.warmup,
            session.progress.first_states,
            session.kernel.statistics,
            session.reached,
            session.draws_globally,
            failed_move(usage),
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
        copy = replace(self.session, machine=machine, record=record)
        copy = replace(copy, tuning=self.session.tuning.copy())
        return replace(self, session=copy, store=self.store.copy()).result(usage)

    # --- those who look on, and the store -----------------------------------------------------

    @contextmanager
    def _watched(self, control: Control) -> Iterator[list[str]]:
        """Show how it goes on, if that is wanted; the last of the words is shown at the end."""
        words = ["the run failed"]
        if self.watch is None:
            yield words
            return
        view = self.watch.view
        try:
            control.regularly(view.period, self.watch.show, share=SHARE_OF_TIME)
            if self.tuner is not None:
                self.watch.warm_up(self.tuner)
            else:
                self.session = self.watch.follow(self.session)
            yield words
        finally:
            view.close(words[-1] + self._hint())

    def _hint(self) -> str:
        if self.store.path is not None:
            return f"; to go on, aptmc.resume({str(self.store.path)!r}, problem, budget=...)"
        return ""

    @contextmanager
    def _saved(self, control: Control) -> Iterator[None]:
        """If there is a store on disk, save the run there every few seconds."""
        place = self.store.path
        if place is None:
            yield
            return

        def save(processors: RunningProcessors) -> None:
            if not self.is_warming_up:  # which is saved after each round
                self.session.flush()
                repeats = control.start_up.repeats_itself
                usage = processors.usage()._replace(repeats_itself=repeats)
                self.save(usage, under_way=True)
            elif not self.session.progress.has_states:
                self.save(self.nothing_yet(), under_way=True)

        def tell(processors: RunningProcessors) -> None:
            write_status(place, self.status(processors, control))

        with closing(self.store):
            self.save(self.nothing_yet())
            tell(FixedProcessors(0.0, np.zeros(1)))
            control.regularly(self.settings.save_every, save)
            control.regularly(EVERY, tell, share=SHARE_OF_TIME)
            try:
                yield
            finally:
                remove_status(place)

    def status(self, processors: RunningProcessors, control: Control) -> Status:
        """What is going on now, for those who look at the store."""
        tuner = self.tuner if self.is_warming_up else None
        return Status(
            written=time_of_day(),
            elapsed=control.elapsed,
            budget=self.budget,
            round=None if tuner is None else tuner.present,
            rounds=0 if tuner is None else tuner.count,
            workers=processors.workers(),
            doing=control.start_up.words,
        )

    def save(self, usage: Usage, *, under_way: bool = False) -> None:
        """Write a checkpoint, if the store is on disk."""
        if self.store.path is None:
            return
        total = with_earlier(usage, self.earlier)
        tuner = self.tuner if self.is_warming_up else None
        notes, arrays = contents(self.settings, self.session, total, self.warmup)
        failed = failed_move(usage)
        if failed is not None:
            notes["failed_move"] = move_to_json(failed)
        if tuner is not None:
            notes["tuner"] = tuner_contents(tuner)
        if under_way:  # the session learns how long it took when it ends
            notes["session"]["elapsed"] += usage.elapsed
        self.store.save(notes, arrays, wait=not under_way)
