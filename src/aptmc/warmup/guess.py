"""The settings with which a warm-up begins, before anything is known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np

from aptmc.compiled import Floats
from aptmc.kernels import Kernel
from aptmc.keys import WARMUP, Key
from aptmc.ladder import LEARNED
from aptmc.pools import Pools, Shared
from aptmc.problem import Problem
from aptmc.problem.reference import Reference
from aptmc.schedule import Schedule
from aptmc.settings import Settings
from aptmc.warmup.approach import Approach
from aptmc.warmup.powers import PowersApproach
from aptmc.warmup.tolerances import TolerancesApproach

ROUNDS = 10
SHARE = 0.25  # of the budget
JITTER = 0.5
# Where they get about on the coldest rung, so many chains stand there for each on another one: so
# large a part of the time is spent where draws count. Measured: docs/tuning.md.
COLDEST = 3
FEWEST_COLDEST = 2  # chains, where draws count
DEADLINES_AT_FIRST = 20.0  # in the first round
DEADLINES_OF_COUNTS = 1e-3  # seconds between them, where no time is given
APPROACHES: Mapping[str, type[Approach]] = {
    "powers": PowersApproach,
    "tolerances": TolerancesApproach,
}


def first_guess(settings: Settings) -> Settings:
    """The same settings, with a first guess of what is to be found."""
    to_find = settings.to_find
    if not to_find.needs_warmup:
        if to_find.pools and settings.ladder.reference is not None:  # a short ladder, as a rule
            return settings.found(pools=enough_chains(settings))
        return settings
    if to_find.ladder is not None:
        approach = approach_to(settings.problem)
        ladder = approach.ladder(approach.first_levels())
        if settings.to_find.reference:
            ladder = replace(ladder, reference=LEARNED)
        settings = settings.found(ladder=ladder)
    if to_find.kernel is not None:
        settings = settings.found(kernel=first_kernel(settings, to_find.kernel).frozen())
    if to_find.deadlines is not None:
        every = first_deadlines(settings)
        settings = settings.found(schedule=with_deadlines(to_find.deadlines, every, 0.0))
    if to_find.pools:
        settings = settings.found(pools=enough_chains(settings))
    return settings


def approach_to(problem: Problem) -> Approach:
    """How settings are found on the kind of ladder that a problem stands on."""
    return APPROACHES[problem.ladder_kind](problem)


def first_kernel(settings: Settings, kernel: Kernel) -> Kernel:
    """A kernel that learns, before it has seen anything."""
    return kernel.at_first(first_spread(settings), settings.ladder.rungs)


def first_spread(settings: Settings) -> Floats:
    """About the standard deviations of the parameters: those of the reference, if there is one."""
    problem = settings.problem
    if problem.reference is None:
        return np.ones(problem.dimension)
    seed, spread = _SPREADS.get(problem.reference, (None, np.empty(0)))
    if seed != settings.seed:
        spread = problem.reference.spread(Key(settings.seed, 0, 0, WARMUP).generator())
        _SPREADS[problem.reference] = (settings.seed, spread)
    return spread.copy()


# The last that was told, and for which seed: a run asks twice, and a thousand draws of a prior in
# plain Python take longer than all else that is done before it begins.
_SPREADS: WeakKeyDictionary[Reference, tuple[int, Floats]] = WeakKeyDictionary()


def first_deadlines(settings: Settings) -> float:
    """The time between deadlines in the first round: they have to begin somewhere."""
    if settings.quota is not None:  # nobody knows how long that takes
        return DEADLINES_OF_COUNTS if settings.on.is_in_real_time else 1.0
    first_round = (settings.to_find.length or SHARE * settings.budget) / 2.0**ROUNDS
    return first_round / DEADLINES_AT_FIRST


def with_deadlines(asked: Schedule, every: float, shortest: float) -> Schedule:
    """A schedule as it was asked for, with the time between deadlines that was found."""
    return asked.with_deadlines(every, jitter=JITTER, shortest=shortest)


def enough_chains(settings: Settings, *, gets_about: bool = False) -> Pools:
    """So many chains that about as many wait as are in flight, or more.

    On tolerances most of them stand on the coldest rung. Steps hit seldom there, and a descent has
    been in all modes already, so that draws come more from the rung's own steps than from above.

    :param gets_about: so they do on other ladders, if chains of the coldest rung were seen to get
        about by themselves
    """
    ladder = settings.ladder
    enough = 2 * settings.on.processors + 2
    warmer = ladder.rungs - 1
    is_mostly_cold = settings.problem.needs_search or gets_about
    if is_mostly_cold and warmer > 0 and not ladder.idle_rungs:
        each = math.ceil(enough / (warmer * (1 + COLDEST)))
        return Shared(each, coldest=COLDEST * each * warmer)
    each = math.ceil(enough / (ladder.rungs - len(ladder.idle_rungs)))
    # Of one chain nobody can say whether it agrees with others.
    is_alone = each == 1 and warmer > 0 and not ladder.idle_rungs
    return Shared(each, coldest=FEWEST_COLDEST if is_alone else None)
