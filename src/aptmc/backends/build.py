"""Build a session from a problem and its settings."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from aptmc.backends.session import Session, empty_states
from aptmc.chain import value_column
from aptmc.compiled import compiled_like, is_compiled
from aptmc.coordinator import coordinator
from aptmc.errors import InputError
from aptmc.event_log import empty_log
from aptmc.exchange import Rule
from aptmc.first_states import first_states
from aptmc.kernels import Kernel
from aptmc.ladder import Ladder
from aptmc.pools import Layout
from aptmc.problem import Problem
from aptmc.record import empty_record
from aptmc.schedule import Schedule
from aptmc.store import MemoryStore

RECORD_ROWS = 1 << 16
RECORD_NUMBERS = 1 << 22  # of all rows together: 32 MiB


def build_session(
    problem: Problem,
    ladder: Ladder,
    kernel: Kernel,
    schedule: Schedule,
    layout: Layout,
    keep: str,
    seed: int,
    store: MemoryStore,
    thin: int = 1,
    log_events: bool = True,
    epoch: int = 0,
    follows: float | None = None,
) -> Session:
    """A coordinator wired to functions, streams and a store. Its chains have no states yet.

    :param epoch: which phase of a run this is: each has random keys of its own
    :param follows: how fast deadlines follow the time of a sweep, if not as the schedule says
    """
    plan, rule = schedule.plan(), schedule.rule(ladder.kind)
    if follows is not None:
        plan = plan._replace(follows=follows)
    chains = layout.rung.size
    wanted = layout.rung == 0 if keep == "coldest" else np.ones(chains, np.bool_)
    rounds = max(plan.rounds, plan.rounds_within_pool)
    rows = min(RECORD_ROWS, RECORD_NUMBERS // problem.width) + 8 * rounds * chains
    return Session(
        seed=seed,
        problem=problem,
        kernel=kernel,
        machine=coordinator(
            plan,
            layout,
            ladder.level_array(),
            empty_states(chains, problem.width),
            value_column(problem.dimension),
            epoch,
        ),
        record=empty_record(layout.rung, ladder.rungs, problem.width, wanted, rows, thin),
        log=empty_log(RECORD_ROWS + 4 * layout.served.size if log_events else 0),
        served=layout.served,
        tuning=kernel.tuning(problem, ladder),
        choose_pairs=_compiled_rule(rule),
        choose_pairs_within=_compiled_rule(schedule.within or rule),
        log_weight=problem.log_weight(),
        find_states=partial(first_states, problem, ladder, kernel, layout, seed),
        store=store.append,
    )


def _compiled_rule(rule: Rule) -> Any:
    choose_pairs = type(rule).choose_pairs
    if is_compiled(choose_pairs):
        return choose_pairs
    try:
        return compiled_like(Rule.choose_pairs, choose_pairs)
    except Exception as error:
        raise InputError(
            f"{type(rule).__name__}.choose_pairs cannot be compiled: it must be a staticmethod of "
            "(round_number, waiting, rng, pairs) that returns the number of pairs, in Python "
            f"that numba understands, which says: {error}"
        ) from error
