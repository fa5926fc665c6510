"""How chains find their first states."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import count

import numpy as np

from aptmc.compiled import Floats, FloatTable
from aptmc.errors import InputError
from aptmc.kernels import Kernel
from aptmc.kernels.base import STEPS
from aptmc.keys import START, Key
from aptmc.ladder import Ladder
from aptmc.pools import Layout
from aptmc.problem import Problem
from aptmc.problem.chain_state import value_column
from aptmc.session.orders import ComputeAll, Mover, Order, Outcome

SCOUTS = 16
DESCENTS = 10

Tell = Callable[[str, float], None]  # takes words, and the share of all states that is found


def say_nothing(words: str, share: float) -> None:
    """For a search that nobody waits for."""


def how_many(found: int, wanted: int) -> str:
    """What is said of a search without tolerances."""
    return f"first states: {found} of {wanted}"


def first_states(
    problem: Problem,
    ladder: Ladder,
    kernel: Kernel,
    layout: Layout,
    seed: int,
    compute_all: ComputeAll | None = None,
    tell: Tell = say_nothing,
) -> FloatTable:
    """A state for each chain that its rung allows.

    :param compute_all: who computes; this process, one move after the other, if nobody is named
    :param tell: is told how many have been found
    """
    compute_all = compute_all or Mover(problem, kernel, seed).compute_all
    if problem.needs_search:
        search = _Search(problem, ladder, kernel, seed, compute_all, tell)
        found = search.states_by_rung(int(layout.rung.min()))
        # Chains of a rung share out what was found for it.
        turns = [iter(states * layout.rung.size) for states in found]
        return np.array([next(turns[rung]) for rung in layout.rung])
    tuning = kernel.tuning(problem, ladder)
    nothing = np.full(problem.width, np.nan)
    states = np.empty((layout.rung.size, problem.width))
    wanting = list(enumerate(layout.rung.tolist()))
    for attempt in count():
        found_so_far = len(states) - len(wanting)
        tell(how_many(found_so_far, len(states)), found_so_far / len(states))
        orders = [
            Order(
                Key(seed, chain, attempt, START), rung, ladder.levels[rung], tuning[rung], nothing
            )
            for chain, rung in wanting
        ]
        outcomes = compute_all(orders)
        for (chain, _), outcome in zip(wanting, outcomes, strict=True):
            if outcome is not None:
                states[chain] = outcome.state
        wanting = [who for who, outcome in zip(wanting, outcomes, strict=True) if outcome is None]
        if not wanting:
            break
    return states


class _Search:
    """Scouts climb down the ladder from the prior, and those who are left behind are fetched.

    At each tolerance the scouts move until half of them have come within the next one; the others
    then go on from where these are. A single scout could be lost in a place that leads nowhere. If
    all are lost, they begin again.
    """

    def __init__(
        self,
        problem: Problem,
        ladder: Ladder,
        kernel: Kernel,
        seed: int,
        compute_all: ComputeAll,
        tell: Tell,
    ) -> None:
        self.problem, self.ladder, self.seed = problem, ladder, seed
        self.compute_all, self.tell = compute_all, tell
        self.tuning = kernel.search_tuning(problem, ladder)
        self.counted = kernel.places.get("simulations")
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
                self.tell_of(len(arrived), target, coldest)
                if self.simulations > most_simulations:
                    if not arrived:
                        self.missed = min(self.missed, self.tolerance)
                        return None
                    break  # whoever has arrived must do
                self.step(level, here, scouts)
                arrived = [scout for scout in scouts if scout[self.value] <= self.tolerance]
            found[target] = arrived
            scouts = [arrived[place % len(arrived)] for place in range(SCOUTS)]
            level, here = self.tolerance, target
        return found

    def tell_of(self, arrived: int, target: int, coldest: int) -> None:
        """Say how far the scouts have come."""
        words = f"looking for first states: {arrived} of {SCOUTS}"
        if self.tolerance < math.inf:
            words += f" within {self.tolerance:.3g}"
        done, rungs = self.ladder.rungs - 1 - target, self.ladder.rungs - coldest
        self.tell(words, (done + 2 * arrived / SCOUTS) / rungs)

    def step(self, level: float, rung: int, scouts: list[Floats]) -> None:
        """All scouts that have not yet arrived make a move, with random keys of their own."""
        away = [i for i, scout in enumerate(scouts) if not scout[self.value] <= self.tolerance]
        orders = []
        for place in away:
            key = Key(self.seed, 0, self.number, START)
            orders.append(Order(key, rung, level, self.tuning[rung], scouts[place]))
            self.number += 1
        for place, outcome in zip(away, self.compute_all(orders), strict=True):
            if outcome is None:
                self.simulations += 1.0
                continue
            scouts[place], distance = outcome.state, float(outcome.state[self.value])
            # A step that the prior refuses counts as one, or the search might never end.
            self.simulations += max(self.simulations_of(outcome, rung), 1.0)
            if distance >= 0.0:
                self.smallest = sorted({*self.smallest, distance})[:5]

    def simulations_of(self, outcome: Outcome, rung: int) -> float:
        """How many a move took; one for each step, of a kernel that does not count them."""
        counted = self.tuning[rung, STEPS] if self.counted is None else outcome.info[self.counted]
        return float(counted)

    def out_of_reach(self) -> str:
        """The message for a user whose tolerance no state came within."""
        seen = ", ".join(f"{distance:.4g}" for distance in self.smallest) or "none"
        return (
            f"no state within tolerance {self.missed:g} was found in {self.simulations:.0f} "
            f"simulations; the smallest distances seen were {seen}: use larger tolerances, more "
            "rungs between them, or a larger start_simulations"
        )
