"""Sessions for tests that play the backend themselves."""

from __future__ import annotations

import numpy as np

import aptmc
from aptmc.session.build import build_session
from aptmc.store import MemoryStore
from tests.support import targets
from tests.support.settings import given

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
    pools = pools or aptmc.Shared()
    layout = pools.layout(ladder, processors)
    store = MemoryStore()
    problem = problem or PROBLEM
    kernel = kernel or aptmc.RandomWalk(1.0)
    settings = given(problem, ladder, kernel, schedule, pools=pools, keep=keep, seed=seed)
    session = build_session(settings, store, layout=layout)
    session.begin()
    return session, store


def all_draws(session, store):
    """Every chain's draws, in one list of arrays that can be compared bit for bit.

    Without who computed them and how long it took: tests that play the backend do not say.
    """
    session.flush()
    width = session.machine.states.shape[1]
    draws = [store.draws(chain, width) for chain in range(session.machine.rung.size)]
    return [
        np.column_stack([mine.state, mine.time, mine.exchanged, mine.accepted, mine.replica])
        for mine in draws
    ]


def same(first, second) -> bool:
    """Whether two lists of arrays are equal bit for bit."""
    return len(first) == len(second) and all(
        np.array_equal(one, other, equal_nan=True) for one, other in zip(first, second, strict=True)
    )
