"""How many simulations it takes to come down to a tolerance, beside what pyABC's defaults compute.

    python -m benchmarks.pyabc_virtual --to-tolerance

Of aptmc that is the descent with which every likelihood-free run begins, with a budget that leaves
it its usual population, until that stands within the tolerance. Of the other it is all generations
up to the first whose tolerance is at or below it. Simulations are counted, on two workers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import numpy as np
from numba import njit

import aptmc
from aptmc.backends.virtual.errands import run_errand
from aptmc.problem.chain_state import WORK
from aptmc.session.control import Control
from aptmc.session.descent import Affordable
from aptmc.session.first_states import descent_for
from aptmc.session.orders import Mover
from aptmc.session.session import Session
from benchmarks.population_monte_carlo import compiled_generations, generations
from benchmarks.pyabc_cases import Case

WORKERS = 2
MOST = 1e7  # simulations
# By case: the tolerance whose first answer is timed in the other tables, and one that is about as
# small as budgets of these tables lead to.
GOALS = {
    "sleeping": (3.0, 1.0),
    "two modes": (4.0, 0.6),
    "Lotka-Volterra": (1.0, 0.4),
    "epidemic": (3.0, 2.0),
    "g-and-k": (0.3, 0.2),
}


class Cost(NamedTuple):
    """Simulations to a tolerance, by run."""

    counts: Sequence[float]

    @property
    def median(self) -> float:
        """Of the runs."""
        return float(np.median(self.counts))

    def __str__(self) -> str:
        return f"{self.median:,.0f} ({min(self.counts):,.0f} to {max(self.counts):,.0f})"


def by_aptmc(case: Case, problem: aptmc.Abc, goal: float, seeds: Sequence[int]) -> Cost:
    """Of the descent.

    :param problem: the same case, for aptmc
    """
    ladder, kernel = aptmc.Ladder.tolerances([goal]), aptmc.OneHit(1.0)
    time = case.seconds[WORKERS] if case.sleeps else case.simulations / WORKERS
    counts = []
    for seed in seeds:
        down = Affordable(time, math.inf, math.inf, MOST, WORKERS, problem.dimension, wanted=goal)
        descent = descent_for(problem, ladder, kernel, seed, down)
        here = cast(Session, SimpleNamespace(mover=Mover(problem, kernel, seed)))
        run_errand(
            here, descent, math.inf, np.ones(WORKERS),
            lambda order, outcome: float(outcome.info[WORK]), Control(),
        )  # fmt: skip
        if descent.has_reached > goal:
            raise RuntimeError(f"{case.name}: {MOST:g} simulations did not lead to {goal:g}")
        counts.append(descent.simulations)
    return Cost(counts)


def by_populations(
    case: Case, simulate: Callable[..., Any], goal: float, seeds: Sequence[int]
) -> Cost:
    """Of the algorithm of pyABC's defaults.

    :param simulate: from parameters and a generator to a distance, and anything
    """

    @njit
    def counted(theta: Any, rng: Any) -> Any:
        return simulate(theta, rng)[0], 1.0

    hits = compiled_generations(case, counted)
    counts = []
    for seed in seeds:
        within = (one for one in generations(case, hits, MOST, seed) if one.tolerance <= goal)
        counts.append(next(within).spent)
    return Cost(counts)
