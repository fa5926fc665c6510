"""A session on its way: lanes pass deadline after deadline; somebody looks up now and then."""

from __future__ import annotations

from typing import final

import numpy as np

from aptmc.backends.lanes.device import Device
from aptmc.backends.lanes.fleet import Deadline, Voyage
from aptmc.backends.lanes.handover import Counts, clock_of, loaded, note_draws, store
from aptmc.backends.lanes.model import lane_model
from aptmc.backends.lanes.tables import Whole
from aptmc.compiled import FloatTables
from aptmc.errors import MoveFailed, RunFailed, StopReason
from aptmc.keys import DEADLINE, Key, start_of_epoch
from aptmc.session.control import Control, FixedProcessors
from aptmc.session.session import Session, Usage

SECONDS_BETWEEN_LOOKS = 0.1
MOST_NUMBERS = 1 << 24  # of draws that are held until somebody looks up


def voyage_of(session: Session) -> Voyage:
    """What a fleet must know of a session."""
    machine = session.machine
    lanes_on = np.bincount(machine.rung, minlength=machine.level.size) // 2
    groups = int(lanes_on[0]) // session.apart
    of_group = lanes_on // groups
    keeps_all = bool(session.record.wanted[-2])
    return Voyage(
        model=lane_model(session.problem, session.kernel, machine.level),
        levels=np.repeat(machine.level, of_group),
        tuning=np.repeat(session.tuning, of_group, axis=0),
        groups=groups,
        seed=session.seed,
        takes_all=machine.plan.swaps_in_flight,
        kept_lanes=int(lanes_on.sum() if keeps_all else lanes_on[0]),
        of_group=tuple(of_group.tolist()),
    )


@final
class Journey:
    """The lanes of a session, from where it was left."""

    def __init__(self, session: Session, device: Device, control: Control) -> None:
        self.session, self.control = session, control
        self.voyage, machine = voyage_of(session), session.machine
        self.fleet = device.fleet(self.voyage)
        columns, ages = loaded(session, self.voyage)
        self.fleet.load(columns)
        self.fleet.catch_up(ages)
        self.counts = Counts(session, self.voyage)
        self.counts.begin(self.fleet.sums())
        self.now = clock_of(machine)  # in ticks
        self.passed = int(machine.passed[0])
        self.began = session.progress.elapsed
        self.elapsed = 0.0
        self.thin = session.record.thin
        self.due = int(self.session.machine.deadline[0]) if self.passed else self._next(self.now)

    # --- on the way -----------------------------------------------------------------------------

    def go(self, budget: float, settle: float, *, by_clock: bool) -> StopReason:
        """Go on until the budget is spent, by the clock or in ticks.

        :param settle: for so much of it nothing is recorded, if the session is a new one
        """
        settle = settle if self.began == 0.0 else 0.0
        return self._by_clock(budget, settle) if by_clock else self._by_ticks(budget, settle)

    def _by_ticks(self, budget: float, settle: float) -> StopReason:
        start = self.now
        until, settled = start + int(budget), start + settle
        clock, many = self.control.clock, 1
        while self.due <= until:
            begun = clock.now()
            plan: list[Deadline] = []
            while len(plan) < many and self.due <= until:
                plan.append(self._passing(keeps=self.due > settled))
            self._pass(plan)
            self.elapsed = float(self.now - start)
            if self._is_stopped():
                return self._stop()
            many = self._how_many(many, clock.now() - begun)
        if self.now < until:
            self.fleet.catch_up(np.full(self.voyage.lanes, until - self.now))
            self._count(0, until - self.now)
            self.now = until
        self.elapsed = float(self.now - start)
        return StopReason.BUDGET_SPENT

    def again(self, deadlines: int, kept: int, times: list[float] | None) -> None:
        """Pass as many deadlines as another run did, of which the last ones were recorded.

        :param times: at which they were recorded, if that was by a clock
        """
        unseen = deadlines - kept
        left = None if times is None else iter(times)
        for number in range(deadlines):
            deadline = self._passing(keeps=number >= unseen)
            given = [next(left)] if left is not None and deadline.is_kept else None
            self._pass([deadline], given)

    def _by_clock(self, budget: float, settle: float) -> StopReason:
        clock, many = self.control.clock, 1
        start = clock.now()
        while self.elapsed < budget:
            before = self.elapsed
            keeps = self.elapsed >= settle
            plan = [self._passing(keeps=keeps) for _ in range(many)]
            rows = self.fleet.run(plan)
            self.elapsed = clock.now() - start
            self._note(plan, rows, [self.began + self.elapsed] * len(rows))
            if self._is_stopped():
                return self._stop()
            taken = self.elapsed - before
            left = max(int((budget - self.elapsed) / (taken / many)), 1) if taken > 0.0 else many
            many = min(self._how_many(many, taken), left)
        return StopReason.BUDGET_SPENT

    def _passing(self, *, keeps: bool) -> Deadline:
        """The next deadline, which is then behind us."""
        ticks = self.due - self.now
        self.now, self.passed = self.due, self.passed + 1
        number = start_of_epoch(self.session.machine.epoch) + self.passed
        self.due = self._next(self.now)
        seen = self.session.record.by_chain["seen"]
        is_kept = False
        if keeps:
            seen[: 2 * self.voyage.kept_lanes : 2] += 1
            is_kept = int(seen[0]) % self.thin == 0
        return Deadline(ticks, number, is_kept)

    def _pass(self, plan: list[Deadline], times: list[float] | None = None) -> None:
        """Pass deadlines; times are told in ticks, unless they are given."""
        ends = np.cumsum([deadline.ticks for deadline in plan])
        ends += self.now - ends[-1]
        ticks = [float(end) for end, one in zip(ends, plan, strict=True) if one.is_kept]
        self._note(plan, self.fleet.run(plan), ticks if times is None else times)

    def _note(self, plan: list[Deadline], rows: FloatTables, times: list[float]) -> None:
        note_draws(self.session, rows, times, self.voyage.kept_lanes)
        self._count(len(plan), sum(deadline.ticks for deadline in plan))
        self._look_after_failures()

    def _count(self, deadlines: int, ticks: int) -> None:
        self.counts.add(self.fleet.sums(), deadlines, ticks)

    def _how_many(self, many: int, taken: float) -> int:
        """How many deadlines are passed before somebody looks up."""
        width = self.voyage.model.dimension + 2
        most = max(MOST_NUMBERS // (self.voyage.kept_lanes * width) * self.thin, 1)
        many = 2 * many if taken < SECONDS_BETWEEN_LOOKS else max(many // 2, 1)
        return min(many, most)

    def _next(self, now: int) -> int:
        """The tick of the next deadline: whole ticks, and at least one."""
        plan = self.session.machine.plan
        settings = plan.settings
        early_or_late = 0.0
        if settings.jitter > 0.0:
            number = start_of_epoch(self.session.machine.epoch) + self.passed
            rng = Key(self.session.seed, 1, number, DEADLINE).generator()
            early_or_late = settings.jitter * (2.0 * rng.random() - 1.0)
        ticks = max(round(settings.every * (1.0 + early_or_late)), 1)
        # Where each move takes one tick, after an even number of them the same chains would wait
        # at every deadline, and the others never.
        return now + (ticks | 1 if self.voyage.model.is_lockstep else ticks)

    # --- those who look on, and the end ---------------------------------------------------------

    def _is_stopped(self) -> bool:
        control = self.control
        if control.clock.now() >= control.due or control.is_asked:
            self.arrive()
            self.session.flush()
            busy = np.full(self.session.processors, self.elapsed)
            control.serve(FixedProcessors(self.elapsed, busy))
        return control.stopped is not None

    def _stop(self) -> StopReason:
        assert self.control.stopped is not None
        return self.control.stopped

    def _look_after_failures(self) -> None:
        broken = self.fleet.sums()[Whole.BROKEN]
        if not broken.any():
            return
        columns, places = self.fleet.read(), self.voyage.places
        lane = int(np.flatnonzero(columns.wholes[Whole.BROKEN])[0])
        dimension = self.voyage.model.dimension
        there = columns.reals[places.there : places.there + dimension, lane]
        side = int(columns.wholes[Whole.FLYING, lane])
        key = Key(
            self.session.seed, 2 * lane + side, int(columns.wholes[Whole.STARTED + side, lane])
        )
        what = "a simulation gave NaN for its distance"
        if self.voyage.model.stages is not None:
            what = f"{self.session.problem.function_name} gave NaN or infinity"
        place = lane // self.voyage.groups
        rung = int(np.searchsorted(self.voyage.starts, place, side="right")) - 1
        raise MoveFailed(f"{what} on a lane,", self.session.problem.describe(there), rung, key)

    def arrive(self) -> None:
        """Have the session describe the lanes as they are."""
        store(self.session, self.voyage, self.fleet.read(), self.now, self.passed)
        self.session.machine.run["deadline"] = self.due

    def usage(self, stopped: StopReason, failure: RunFailed | None) -> Usage:
        """What was used; the session has moved on."""
        self.session.progress.elapsed = self.began + self.elapsed
        busy = np.full(self.session.processors, self.elapsed)
        return Usage(stopped, self.elapsed, busy, failure)
