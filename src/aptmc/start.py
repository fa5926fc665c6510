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

CLIMBS = 20
START_CAP = 20.0


def first_states(
    problem: Problem, ladder: Ladder, kernel: Kernel, layout: Layout, seed: int
) -> FloatTable:
    """A state for each chain that its rung allows."""
    states = np.empty((layout.rung.size, problem.width))
    for chain, rung in enumerate(layout.rung.tolist()):
        if isinstance(problem, Abc):
            states[chain] = _climb_down(problem, ladder, kernel, seed, chain, rung)
        elif isinstance(problem, DensityProblem):
            key = Key(seed, chain, 0, START)
            try:
                states[chain] = problem.start(key.generator())
            except MoveFailed as failure:
                located = MoveFailed(failure.reason, failure.parameters, rung, key)
                raise located from failure.__cause__
    return states


def _climb_down(
    problem: Abc, ladder: Ladder, kernel: Kernel, seed: int, chain: int, rung: int
) -> Floats:
    """From the prior to a rung: moves at each tolerance until the next one is reached.

    A climb that takes long is given up and begun again elsewhere, for some places lead nowhere.
    """
    search = _Search(problem, ladder, kernel, seed, chain)
    patience = problem.start_simulations / CLIMBS
    while search.simulations < problem.start_simulations:
        state = search.climb(rung, search.simulations + patience)
        if state is not None:
            return state
    raise InputError(_out_of_reach(search))


class _Search:
    """What a chain has tried so far."""

    def __init__(self, problem: Abc, ladder: Ladder, kernel: Kernel, seed: int, chain: int) -> None:
        self.problem, self.ladder, self.kernel = problem, ladder, kernel
        self.seed, self.chain = seed, chain
        self.move = kernel.move(problem, compiled=problem.is_compiled)
        self.tuning = kernel.tuning(problem, ladder)
        if isinstance(kernel, OneHit):
            # A long race is of no use here, where any state within the tolerance will do.
            self.tuning[:, CAP] = np.minimum(self.tuning[:, CAP], START_CAP)
        self.number, self.simulations = 0, 0.0
        self.missed = ladder.levels[-1]  # the tolerance that was not reached last
        self.smallest: list[float] = []

    def climb(self, rung: int, most_simulations: float) -> Floats | None:
        """A state that this rung allows, or None if it takes too long."""
        value = value_column(self.problem.dimension)
        state = np.full(self.problem.width, np.nan)
        level = math.inf
        for target in range(self.ladder.rungs - 1, rung - 1, -1):
            # At first the state is not a number, nor is its distance.
            while not state[value] <= self.ladder.levels[target]:
                if self.simulations >= most_simulations:
                    self.missed = self.ladder.levels[target]
                    return None
                state = self.step(level, target, state)
                if state[value] >= 0.0:
                    self.smallest = sorted({*self.smallest, float(state[value])})[:5]
            level = self.ladder.levels[target]
        return state

    def step(self, level: float, target: int, state: Floats) -> Floats:
        """One move, with a random key of its own."""
        key = Key(self.seed, self.chain, self.number, START)
        self.number += 1
        outcome, info = np.empty_like(state), np.empty(INFO_LENGTH)
        tuning = self.tuning[target]
        try:
            self.move(level, tuning, state, key.generator(), outcome, info)
            failed = bool(info[STATUS])
        except Exception:
            failed = True
        if failed:
            # Once more in plain Python, which says at which parameters it fails.
            try:
                plain = self.kernel.move(self.problem, compiled=False)
                plain(level, tuning, state, key.generator(), outcome, info)
                self.problem.check(outcome)
            except MoveFailed as failure:
                located = MoveFailed(failure.reason, failure.parameters, target, key)
                raise located from failure.__cause__
        self.simulations += max(info[SIMULATIONS], 1.0)
        return outcome


def _out_of_reach(search: _Search) -> str:
    seen = ", ".join(f"{distance:.4g}" for distance in search.smallest) or "none"
    return (
        f"no state within tolerance {search.missed:g} was found in {search.simulations:.0f} "
        f"simulations; the smallest distances seen were {seen}: use larger tolerances, more rungs "
        "between them, or a larger start_simulations"
    )
