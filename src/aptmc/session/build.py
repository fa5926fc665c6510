"""Build a session from a problem and its settings."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from aptmc.compiled import compiled_like, is_compiled
from aptmc.coordinator.transitions import Coordinator, coordinator
from aptmc.errors import InputError
from aptmc.exchange import Rule
from aptmc.kernels import Kernel
from aptmc.ladder import Ladder
from aptmc.pools import Layout
from aptmc.problem import Problem
from aptmc.problem.state import value_column
from aptmc.record.event_log import empty_log
from aptmc.record.record import Record, empty_record
from aptmc.schedule import Plan, Schedule
from aptmc.session.first_states import first_states
from aptmc.session.session import Session, empty_states
from aptmc.store import Store

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
    store: Store,
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
    machine = build_machine(plan, ladder, layout, problem.dimension, problem.width, epoch)
    rounds = max(plan.rounds, plan.rounds_within_pool)
    rows = min(RECORD_ROWS, RECORD_NUMBERS // problem.width) + 8 * rounds * layout.rung.size
    return Session(
        seed=seed,
        problem=problem,
        kernel=kernel,
        machine=machine,
        record=build_record(ladder, layout, problem.width, keep, rows, thin, kernel.info_length),
        log=empty_log(RECORD_ROWS + 4 * layout.served.size if log_events else 0),
        served=layout.served,
        tuning=kernel.tuning(problem, ladder),
        choose_pairs=_compiled_rule(rule),
        choose_pairs_within=_compiled_rule(schedule.within or rule),
        log_weight=problem.log_weight(),
        find_states=partial(first_states, problem, ladder, kernel, layout, seed),
        store=store.append,
    )


def build_machine(
    plan: Plan, ladder: Ladder, layout: Layout, dimension: int, width: int, epoch: int
) -> Coordinator:
    """A coordinator whose chains have no states yet."""
    states = empty_states(layout.rung.size, width)
    return coordinator(plan, layout, ladder.level_array(), states, value_column(dimension), epoch)


def build_record(
    ladder: Ladder, layout: Layout, width: int, keep: str, rows: int, thin: int, info_length: int
) -> Record:
    """An empty record."""
    chains = layout.rung.size
    wanted = layout.rung == 0 if keep == "coldest" else np.ones(chains, np.bool_)
    return empty_record(layout.rung, ladder.rungs, width, wanted, rows, thin, info_length)


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
