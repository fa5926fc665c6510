"""How far a descent goes before the rounds of a warm-up, and how many rounds follow it."""

from __future__ import annotations

import math

import numpy as np

from aptmc.session.descent import Affordable, DownTo, Goal
from aptmc.settings import Settings, ToFind

# Of the time that there is, and of a warm-up whose length is given, the most for a descent; and of
# the time, where bias is worse than noise.
DESCENT, DESCENT_OF_WARMUP, LONGEST_DESCENT = 0.4, 0.7, 0.6
# Fewer where moves are long: in a shorter round hardly a chain would move, and each has an end.
ROUNDS_AFTER_DESCENT, SWEEPS_OF_FIRST = 4, 4.0
LEAST_SWEEP = 1e-9  # so that one can divide by it


def goal_of(settings: Settings, to_find: ToFind, left: float) -> Goal:
    """Down to a ladder that is given, or as far as is affordable.

    :param left: of the budget
    """
    problem, wish, processors = settings.problem, to_find.ladder, settings.on.searchers
    most = float(problem.start_simulations)
    if wish is None:
        return DownTo(settings.ladder.levels, most, processors)
    length = to_find.length
    most_time = DESCENT * left if length is None else DESCENT_OF_WARMUP * length
    longest = LONGEST_DESCENT * left if length is None else most_time
    top = math.inf if wish.hottest is None else wish.hottest
    return Affordable(
        left, most_time, longest, most, processors, problem.dimension,
        wish.effective_draws, wish.coldest, top,
    )  # fmt: skip


def fitting_rounds(length: float, sweep: float) -> int:
    """As many as double in length and begin with some sweeps, of a warm-up of some length."""
    parts = length / (SWEEPS_OF_FIRST * max(sweep, LEAST_SWEEP))
    return int(np.clip(math.log2(parts + 1.0), 1, ROUNDS_AFTER_DESCENT))
