"""The annealing of a warm-up, and with which kernel it goes on."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

from aptmc.backends.base import Engine
from aptmc.clock import time_in_words
from aptmc.compiled import FloatTable
from aptmc.errors import StopReason
from aptmc.kernels.default import leaps_stay, other_than_leaps, slices_instead
from aptmc.session.build import build_session
from aptmc.session.descent import Errand
from aptmc.session.session import Session
from aptmc.settings import Settings
from aptmc.store import MemoryStore
from aptmc.warmup.annealing import Annealing, Trial, Windows, guide_for
from aptmc.warmup.found import Found
from aptmc.warmup.guess import first_kernel

# Of a warm-up, when no more windows begin, of an annealing that another kernel is tried after, and
# of all; and when what is under way is given up.
WINDOWS_BEFORE_TRIAL, WINDOWS, MOST_OF_ANNEALING = 0.5, 0.7, 0.8
# Seconds: who computes is started anew for another kernel, and that must be worth while.
SHORTEST_TRIAL = 1.0
LEAST = 1e-9  # of a budget: what is less is the rest of a sum


class Annealed(NamedTuple):
    """How it went."""

    stopped: StopReason | None = None  # if it was, on the way
    elapsed: float = 0.0
    of_budget: float = 0.0
    is_over: bool = False  # a trial after it may have been stopped
    remembered: tuple[tuple[float, FloatTable], ...] = ()  # states, by power
    seconds_per_move: float = 0.0
    knows_shapes: bool = False  # about as well as rounds learn them

    def after(self, errand: Errand, session: Session, engine: Engine) -> Annealed:
        """And one more errand."""
        usage = engine.search(session, errand)
        if usage.failure is not None:
            raise usage.failure
        stopped = None if usage.stopped is StopReason.STILL_RUNNING else usage.stopped
        return self._replace(
            stopped=stopped,
            elapsed=self.elapsed + usage.elapsed,
            of_budget=self.of_budget + usage.of_budget,
        )


def anneal(
    engine: Engine, first: Session, found: Found, settings: Settings, length: float
) -> Annealed:
    """Go from the prior to the posterior; what was learnt is told to `found`.

    :param first: who computes needs to know of a session
    :param length: of the whole warm-up
    """
    problem, on, rival = settings.problem, settings.on, found.rival
    alone = replace(settings.ladder, levels=(1.0,), idle_rungs=frozenset())
    hottest = 0.0 if problem.reference is not None else found.approach.first_levels()[-1]
    until = WINDOWS if rival is None else WINDOWS_BEFORE_TRIAL
    other = None if rival is None else other_than_leaps(problem)
    annealing = Annealing(
        problem, guide_for(found.kernel, problem, alone), settings.seed,
        first_level=hottest, processors=on.processors, by_clock=on.is_in_real_time,
        windows_until=until * length, most=MOST_OF_ANNEALING * length, has_other=other is not None,
    )  # fmt: skip
    went = Annealed().after(annealing, first, engine)
    if went.stopped is not None or not annealing.stages:
        return went._replace(is_over=went.stopped is None)
    mover: Windows = annealing
    why = ""
    is_hopeless = annealing.is_stuck and other is not None
    if rival is not None and annealing.is_complete and not is_hopeless:
        left = WINDOWS * length - went.of_budget
        trial = Trial(
            problem, rival, settings.seed, alone, annealing,
            by_clock=on.is_in_real_time, until=left,
            most=left + (MOST_OF_ANNEALING - WINDOWS) * length,
        )  # fmt: skip
        if trial.is_promising and left >= (SHORTEST_TRIAL if on.is_in_real_time else LEAST):
            kernel = first_kernel(settings, rival).frozen()
            session = build_session(settings.found(kernel=kernel), MemoryStore())
            went = went.after(trial, session, engine)
            mover, why = chosen(annealing, trial, settings)
    remembered = found.learn_from_annealing(annealing, mover, why)
    knows_shapes = mover.mixes or not mover.guide.gives_up
    if annealing.is_stuck and other is not None:
        found.change_kernel(other, remembered)
        knows_shapes = False
    return went._replace(
        is_over=True, remembered=tuple(remembered), seconds_per_move=mover.seconds_per_move,
        knows_shapes=knows_shapes,
    )  # fmt: skip


def chosen(annealing: Annealing, trial: Trial, settings: Settings) -> tuple[Windows, str]:
    """By which draws take less, and why it is that."""
    of_leaps, of_slices = (in_words(one.price, settings) for one in (annealing, trial))
    if trial.is_better:
        return trial, slices_instead(of_slices, of_leaps)
    return annealing, leaps_stay(of_leaps, of_slices)


def in_words(price: float, settings: Settings) -> str:
    """What a draw takes of the budget."""
    if not math.isfinite(price):
        return "longer than could be told"
    unit = "s" if settings.on.is_in_real_time else "units"
    return time_in_words(price, unit if settings.quota is None else settings.quota.unit)
