"""Watching a run: listens to its draws, and shows how it stands now and then."""

from __future__ import annotations

import math
import threading
from dataclasses import replace
from typing import final

import numpy as np

from aptmc.progress.live import LiveState, Sketch
from aptmc.progress.view import View
from aptmc.progress.words import duration_text
from aptmc.record.event_log import EventLog
from aptmc.record.record import Record
from aptmc.session.control import Control, RunningProcessors
from aptmc.session.session import Session, Usage
from aptmc.session.start_up import Part
from aptmc.warmup import Tuner

SHARE_OF_TIME = 0.01  # of the coordinating process


@final
class Watch:
    """One view of one run, through all its phases."""

    def __init__(self, view: View, control: Control, budget: float, unit: str) -> None:
        self.view = view
        self._control, self._start_up = control, control.start_up
        self._told: set[Part] = set()
        self._enough = threading.Event()
        self._ticking: threading.Thread | None = None
        self._budget, self._unit = budget, unit
        self._sketch: Sketch | None = None
        self._session: Session | None = None
        self._tuner: Tuner | None = None
        self._before = 0.0  # virtual time of the phases before

    def warm_up(self, tuner: Tuner) -> None:
        """Look at the rounds of a warm-up, which begins now."""
        self._tuner = tuner

    def follow(self, session: Session) -> Session:
        """A phase whose draws count begins: the same session, overheard."""
        if self._tuner is not None:
            self._before = sum(part.elapsed for part in self._tuner.rounds)
            self._tuner = None
        cold = frozenset(np.flatnonzero(session.machine.rung == 0).tolist())
        self._sketch = sketch = Sketch(session.problem.dimension, cold, apart=session.apart)
        keep = session.store

        def overheard(record: Record, log: EventLog) -> None:
            sketch.listen(record, self._counted_from())
            sketch.turn_the_page()
            keep(record, log)

        self._session = replace(session, store=overheard)
        return self._session

    def part_is_over(self, elapsed: float) -> None:
        """A part of the sampling has ended, in virtual time, and another begins."""
        self._before += elapsed

    def _counted_from(self) -> float:
        """When the session is settled; long ago, if it does not have to be."""
        settled = 0.0 if self._session is None else float(self._session.machine.settles_until[0])
        return settled or -math.inf

    def begin(self) -> None:
        """Show that something is going on, and listen to what that is."""
        self.view.begin(self._budget, self._unit)
        self._start_up.hear = self._hear
        if self.view.ticks:
            self._start_up.busy, self._start_up.idle = self._begin_to_tick, self._cease_to_tick

    def _hear(self, part: Part, words: str) -> None:
        self.view.tell(words, is_news=part not in self._told)
        self._told.add(part)

    def _begin_to_tick(self) -> None:
        self._enough.clear()
        self._ticking = threading.Thread(target=self._tick, name="aptmc view", daemon=True)
        self._ticking.start()

    def _tick(self) -> None:
        while not self._enough.wait(self.view.period):
            self.tell_again()

    def tell_again(self) -> None:
        """Say what has been happening for some time."""
        seconds = duration_text(self._start_up.seconds_in_part())
        self.view.tell(f"{self._start_up.words} · {seconds}", is_news=False)

    def _cease_to_tick(self) -> None:
        self._enough.set()
        if self._ticking is not None:
            self._ticking.join()

    def show(self, processors: RunningProcessors) -> None:
        """Have the view show the run as it is now."""
        # To empty the record would have the store write, which can take longer than a look.
        if self._session is not None and self._sketch is not None:
            self._sketch.listen(self._session.record, self._counted_from())
        self.view.show(self.live(processors))

    def live(self, processors: RunningProcessors) -> LiveState:
        """The few numbers that a view shows."""
        usage, session, tuner = processors.usage(), self._session, self._tuner
        common = {
            "elapsed": self._elapsed(usage),
            "budget": self._budget,
            "unit": self._unit,
            "workers": processors.workers(),
            "utilisation": _utilisation(usage),
            "doing": self._start_up.words,
            "reached": self._reached(),
        }
        if session is None or tuner is not None:
            rounds = [] if tuner is None else tuner.rounds
            return LiveState(
                draws=0,
                effective=math.nan,
                moves=0 if tuner is None else tuner.moves,
                levels=() if tuner is None else tuner.found.levels,
                swap_rates=rounds[-1].swap_rates if rounds else np.empty(0),
                round=1 if tuner is None else tuner.present,
                rounds=1 if tuner is None else tuner.count,
                **common,  # type: ignore[arg-type]
            )
        record, levels = session.record, session.machine.level
        rates = np.full(levels.size - 1, math.nan)
        met = record.met[: rates.size]
        np.divide(record.chance[: rates.size], met, out=rates, where=met > 0)
        assert self._sketch is not None
        return LiveState(
            draws=self._sketch.draws,
            effective=self._sketch.effective_draws(),
            moves=int(session.machine.completed.sum()),
            levels=tuple(levels.tolist()),
            swap_rates=rates,
            round=None,
            rounds=0,
            **common,  # type: ignore[arg-type]
        )

    def _reached(self) -> str:
        if self._tuner is not None:
            reached = self._tuner.how_far
        else:
            reached = None if self._session is None else self._session.reached
        return "" if reached is None else str(reached)

    def _elapsed(self, usage: Usage) -> float:
        if self._control.counted is not None:
            return self._control.counted()
        if self._unit == "s":
            return self._control.elapsed
        tuner = self._tuner
        before = self._before if tuner is None else sum(part.elapsed for part in tuner.rounds)
        return before + usage.elapsed


def _utilisation(usage: Usage) -> float:
    present = usage.elapsed * usage.busy.size if usage.present is None else usage.present.sum()
    return float(usage.busy.sum() / present) if present > 0.0 else math.nan
