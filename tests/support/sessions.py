"""Sessions for tests that play the backend themselves."""

from __future__ import annotations

import numpy as np

import aptmc
from aptmc.backends.build import build_session
from aptmc.store import MemoryStore
from tests.support import targets

# One problem for all, so that it is compiled once.
PROBLEM = targets.problem(start=lambda rng: rng.standard_normal())


def make_session(
    schedule,
    *,
    ladder=None,
    pools=None,
    processors=1,
    seed=1,
    problem=None,
    kernel=None,
    keep="all",
):
    """A session on the two-speed normal target."""
    ladder = ladder or aptmc.Ladder.powers(4)
    layout = (pools or aptmc.Shared()).layout(ladder, processors)
    store = MemoryStore()
    problem = problem or PROBLEM
    kernel = kernel or aptmc.RandomWalk(1.0)
    session = build_session(problem, ladder, kernel, schedule, layout, keep, seed, store)
    session.begin()
    return session, store


def all_draws(session, store):
    """Every chain's draws, in one list of arrays that can be compared bit for bit."""
    session.flush()
    width = session.machine.states.shape[1]
    return [
        np.column_stack([np.asarray(column, dtype=float) for column in store.draws(chain, width)])
        for chain in range(session.machine.rung.size)
    ]


def same(first, second) -> bool:
    """Whether two lists of arrays are equal bit for bit."""
    return len(first) == len(second) and all(map(np.array_equal, first, second))
