"""How chains find their first states."""

from __future__ import annotations

import math

import numpy as np

from aptmc.chain import INFO_LENGTH, SIMULATIONS, STATUS, value_column
from aptmc.compiled import Floats, FloatTable
from aptmc.errors import InputError, MoveFailed
from aptmc.kernels import Kernel, OneHit
from aptmc.kernels.one_hit import CAP
from aptmc.keys import START, Key
from aptmc.ladder import Ladder
from aptmc.pools import Layout
from aptmc.problem import Abc, Problem
from aptmc.problem.density import DensityProblem

SCOUTS = 16
DESCENTS = 10
START_CAP = 20.0


def first_states(
    problem: Problem, ladder: Ladder, kernel: Kernel, layout: Layout, seed: int
) -> FloatTable:
    """A state for each chain that its rung allows."""
    if isinstance(problem, Abc):
        found = _Search(problem, ladder, kernel, seed).states_by_rung(int(layout.rung.min()))
        # Chains of a rung share out what was found for it.
        turns = [iter(states * layout.rung.size) for states in found]
        return np.array([next(turns[rung]) for rung in layout.rung])
    if not isinstance(problem, DensityProblem):
        raise InputError(f"no way is known to start a problem of kind {type(problem).__name__}")
    states = np.empty((layout.rung.size, problem.width))
    for chain, rung in enumerate(layout.rung.tolist()):
        key = Key(seed, chain, 0, START)
        try:
            states[chain] = problem.start(key.generator())
        except MoveFailed as failure:
            raise failure.located(rung, key) from failure.__cause__
    return states


class _Search:
    """Scouts climb down the ladder from the prior, and those who are left behind are fetched.

    At each tolerance the scouts move until half of them have come within the next one; the others
    then go on from where these are. A single scout could be lost in a place that leads nowhere. If
    all are lost, they begin again.
    """

    def __init__(self, problem: Abc, ladder: Ladder, kernel: Kernel, seed: int) -> None:
        self.problem, self.ladder, self.kernel, self.seed = problem, ladder, kernel, seed
        self.move = kernel.move(problem, compiled=problem.is_compiled)
        self.tuning = kernel.tuning(problem, ladder)
        if isinstance(kernel, OneHit):
            # A long race is of no use here, where any state within the tolerance will do.
            self.tuning[:, CAP] = np.minimum(self.tuning[:, CAP], START_CAP)
        self.value = value_column(problem.dimension)
        self.number, self.simulations = 0, 0.0
        self.smallest: list[float] = []
        self.tolerance = math.inf  # the one that the scouts try to reach
        self.missed = math.inf  # the smallest that they tried and did not reach

    def states_by_rung(self, coldest: int) -> list[list[Floats]]:
        """What the scouts held when they reached each rung."""
        effort = self.problem.start_simulations
        for descent in range(1, DESCENTS + 1):
            found = self.descend(coldest, effort * descent / DESCENTS)
            if found is not None:
                return found
        raise InputError(self.out_of_reach())

    def descend(self, coldest: int, most_simulations: float) -> list[list[Floats]] | None:
        """The same for one descent, or None if it takes too long."""
        # At first their states are not numbers, nor are their distances.
        scouts = [np.full(self.problem.width, np.nan) for _ in range(SCOUTS)]
        found: list[list[Floats]] = [[] for _ in self.ladder.levels]
        level, here = math.inf, self.ladder.rungs - 1
        for target in range(self.ladder.rungs - 1, coldest - 1, -1):
            self.tolerance = self.ladder.levels[target]
            arrived: list[Floats] = []
            while len(arrived) < SCOUTS // 2:
                if self.simulations > most_simulations:
                    if not arrived:
                        self.missed = min(self.missed, self.tolerance)
                        return None
                    break  # whoever has arrived must do
                for place, scout in enumerate(scouts):
                    if not scout[self.value] <= self.tolerance:
                        scouts[place] = self.step(level, here, scout)
                arrived = [scout for scout in scouts if scout[self.value] <= self.tolerance]
            found[target] = arrived
            scouts = [arrived[place % len(arrived)] for place in range(SCOUTS)]
            level, here = self.tolerance, target
        return found

    def step(self, level: float, rung: int, state: Floats) -> Floats:
        """One move, with a random key of its own."""
        key = Key(self.seed, 0, self.number, START)
        self.number += 1
        outcome, info = np.empty_like(state), np.empty(INFO_LENGTH)
        tuning = self.tuning[rung]
        try:
            self.move(level, tuning, state, key.generator(), outcome, info)
            failed = bool(info[STATUS])
        except MoveFailed as failure:
            raise failure.located(rung, key) from failure.__cause__
        except Exception:
            failed = True
        if failed:
            # Once more in plain Python, which says at which parameters it fails.
            try:
                plain = self.kernel.move(self.problem, compiled=False)
                plain(level, tuning, state, key.generator(), outcome, info)
                self.problem.check(outcome)
            except MoveFailed as failure:
                raise failure.located(rung, key) from failure.__cause__
            where = self.problem.describe(outcome)
            raise MoveFailed("a move failed, once,", where, rung, key)
        # A step that the prior refuses counts as one, or the search might never end.
        self.simulations += max(info[SIMULATIONS], 1.0)
        if outcome[self.value] >= 0.0:
            self.smallest = sorted({*self.smallest, float(outcome[self.value])})[:5]
        return outcome

    def out_of_reach(self) -> str:
        """What to tell the user."""
        seen = ", ".join(f"{distance:.4g}" for distance in self.smallest) or "none"
        return (
            f"no state within tolerance {self.missed:g} was found in {self.simulations:.0f} "
            f"simulations; the smallest distances seen were {seen}: use larger tolerances, more "
            "rungs between them, or a larger start_simulations"
        )
