"""How chains find their first states."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import count

import numpy as np

from aptmc.compiled import FloatTable
from aptmc.errors import InputError
from aptmc.kernels import Kernel
from aptmc.keys import START, Key
from aptmc.ladder import Ladder
from aptmc.pools import Layout
from aptmc.problem import Problem
from aptmc.problem.chain_state import value_column
from aptmc.session.descent import Descent, Goal, Tell, rows_within, say_nothing
from aptmc.session.orders import ComputeAll, Order

# Where the likelihood is zero on most of the prior, chains look for a start together; of those that
# found none by then, each begins where another does.
MOST_TRIES = 50_000


def how_many(found: int, wanted: int) -> str:
    """What is said of a search without tolerances."""
    return f"first states: {found} of {wanted}"


def first_states(
    problem: Problem,
    ladder: Ladder,
    kernel: Kernel,
    layout: Layout,
    seed: int,
    compute_all: ComputeAll,
    tell: Tell = say_nothing,
) -> FloatTable:
    """A state for each chain, of a problem of which any state will do.

    :param compute_all: who computes
    :param tell: is told how many have been found
    """
    tuning = kernel.numbers(problem, ladder)
    nothing = np.full(problem.width, np.nan)
    states = np.empty((layout.rung.size, problem.width))
    wanting = list(enumerate(layout.rung.tolist()))
    tries = 0
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
        still_wanting = []
        for (chain, rung), outcome in zip(wanting, outcomes, strict=True):
            if outcome is None:
                still_wanting.append((chain, rung))
                continue
            states[chain] = outcome.state
            if not problem.is_possible(outcome.state):
                still_wanting.append((chain, rung))
                tries += problem.start_attempts
        wanting = still_wanting
        if tries >= MOST_TRIES or not wanting:
            break
    return _shared(problem, states, [chain for chain, _ in wanting], tries)


def _shared(problem: Problem, states: FloatTable, without: Sequence[int], tries: int) -> FloatTable:
    """The states, where chains without one begin where others do."""
    have = np.setdiff1d(np.arange(len(states)), without)
    if have.size == 0:
        raise problem.no_start(tries, states[without[-1]])
    states[without] = states[have[np.arange(len(without)) % have.size]]
    return states


def descent_for(problem: Problem, ladder: Ladder, kernel: Kernel, seed: int, goal: Goal) -> Descent:
    """A descent that moves as a kernel does."""
    steps = partial(kernel.search_tuning, problem, ladder)
    return Descent(
        problem, kernel, seed, goal, steps, partial(kernel.search_anywhere, problem, ladder)
    )


def states_found(descent: Descent, ladder: Ladder, layout: Layout) -> FloatTable:
    """A state for each chain from a descent, or an error that says that it did not get so far."""
    value = value_column(descent.problem.dimension)
    states = np.empty((layout.rung.size, descent.problem.width))
    for rung in np.unique(layout.rung)[::-1].tolist():
        mine = np.flatnonzero(layout.rung == rung)
        found = rows_within(descent.stages, ladder.levels[rung], value)
        if len(found) == 0:
            raise InputError(descent.out_of_reach(ladder.levels))
        # Chains of a rung share out what was found for it.
        states[mine] = found[np.arange(mine.size) % len(found)]
    return states
