"""`sample` and `start`: the only place that wires the parts together."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import numpy as np

from aptmc.backends import Backend, Processes
from aptmc.backends.control import Control
from aptmc.backends.session import Session, empty_states
from aptmc.chain import value_column
from aptmc.checks import whole_number
from aptmc.clock import duration
from aptmc.compiled import compiled_like, is_compiled
from aptmc.coordinator import coordinator
from aptmc.errors import InputError
from aptmc.event_log import empty_log
from aptmc.exchange import Rule
from aptmc.first_states import first_states
from aptmc.handle import Prepared, RunHandle
from aptmc.kernels import Kernel
from aptmc.keys import check_seed
from aptmc.ladder import Ladder
from aptmc.pools import Layout, Pools, Shared
from aptmc.problem import Problem
from aptmc.processors import processors_available
from aptmc.record import empty_record
from aptmc.result import Run, Settings
from aptmc.schedule import Schedule
from aptmc.store import MemoryStore

RECORD_ROWS = 1 << 16


def sample(
    problem: Problem,
    *,
    budget: float | str,
    ladder: Ladder,
    kernel: Kernel,
    schedule: Schedule,
    pools: Pools | None = None,
    on: Backend | None = None,
    warmup: float | str = 0,
    keep: Literal["coldest", "all"] = "coldest",
    thin: int = 1,
    log_events: bool | None = None,
    seed: int,
) -> Run:
    """Sample a problem until the budget is spent.

    :param problem: what to sample: `Tempered`, `Power`, `Abc`
    :param budget: when to stop: seconds (or units of virtual time), or words such as "10 min"
    :param ladder: the rungs, coldest first
    :param kernel: how a chain moves between exchanges
    :param schedule: when chains are exchanged: `Anytime`, `Synchronous`
    :param pools: which chains share processors: `Shared` (the default), `Partitioned`, `Paired`
    :param on: who computes: `Processes` (the default: one worker for each processor that this
        process may use), `InProcess`, `VirtualTime`
    :param warmup: draws of this first part of the budget are kept apart from the posterior
    :param keep: keep the draws of the coldest rung, or of all rungs
    :param thin: keep one draw of so many
    :param log_events: keep the log of who computed what when, for timelines and replay; by default
        in real time but not in virtual time
    :param seed: the same seed gives the same run

    >>> import numba, scipy.stats, aptmc
    >>> @numba.njit
    ... def log_likelihood(theta):
    ...     return -0.5 * (abs(theta[0]) - 8.0) ** 2  # two modes, far apart
    >>> run = aptmc.sample(
    ...     aptmc.Tempered(log_likelihood, aptmc.Prior(x=scipy.stats.uniform(-20, 40))),
    ...     budget=50_000,
    ...     ladder=aptmc.Ladder.geometric(5, hottest=0.01),
    ...     kernel=aptmc.RandomWalk(2.0),
    ...     schedule=aptmc.Anytime(every=5),
    ...     on=aptmc.VirtualTime(workers=2),
    ...     seed=1,
    ... )
    >>> print(run.stopped)
    the budget was spent
    >>> x = run.summary()["x"]
    >>> abs(x.mean) < 4 * x.mcse
    True
    """
    control = Control()
    return _prepare(
        problem, budget, ladder, kernel, schedule, pools, on, warmup, keep, thin, log_events, seed
    ).run(control)


def start(
    problem: Problem,
    *,
    budget: float | str,
    ladder: Ladder,
    kernel: Kernel,
    schedule: Schedule,
    pools: Pools | None = None,
    on: Backend | None = None,
    warmup: float | str = 0,
    keep: Literal["coldest", "all"] = "coldest",
    thin: int = 1,
    log_events: bool | None = None,
    seed: int,
) -> RunHandle:
    """Like `sample`, but in the background: gives a handle at once.

    >>> import scipy.stats, aptmc
    >>> problem = aptmc.Tempered(
    ...     lambda theta: -0.5 * theta[0] ** 2, aptmc.Prior(x=scipy.stats.norm(0, 5))
    ... )
    >>> with aptmc.start(
    ...     problem,
    ...     budget="1 h",
    ...     ladder=aptmc.Ladder.powers(4),
    ...     kernel=aptmc.RandomWalk(1.0),
    ...     schedule=aptmc.Anytime(every="1 ms"),
    ...     on=aptmc.InProcess(),
    ...     seed=1,
    ... ) as handle:
    ...     so_far = handle.inspect()
    ...     run = handle.stop()
    >>> print(run.stopped)
    stopped on request
    """
    control = Control()
    prepared = _prepare(
        problem, budget, ladder, kernel, schedule, pools, on, warmup, keep, thin, log_events, seed
    )
    return RunHandle(prepared, control)


def _prepare(
    problem: Problem,
    budget: float | str,
    ladder: Ladder,
    kernel: Kernel,
    schedule: Schedule,
    pools: Pools | None,
    on: Backend | None,
    warmup: float | str,
    keep: str,
    thin: int,
    log_events: bool | None,
    seed: int,
) -> Prepared:
    """Refuse what cannot work, and wire up the rest."""
    pools = Shared() if pools is None else pools
    for name, value, kind in (
        ("problem", problem, Problem),
        ("ladder", ladder, Ladder),
        ("kernel", kernel, Kernel),
        ("schedule", schedule, Schedule),
        ("pools", pools, Pools),
        ("on", on, Backend | None),
    ):
        _check_kind(name, value, kind)
    seconds = duration(budget)
    warmup_seconds = 0.0 if warmup == 0 else duration(warmup, "warmup")
    if warmup_seconds >= seconds:
        raise InputError(f"warmup must be shorter than the budget, got {warmup!r} and {budget!r}")
    if keep not in ("coldest", "all"):
        raise InputError(f'keep must be "coldest" or "all", got {keep!r}')
    thin = whole_number("thin", thin)
    seed = check_seed(seed)
    if ladder.kind != problem.ladder_kind:
        raise InputError(
            f"a problem of kind {type(problem).__name__} needs a ladder of {problem.ladder_kind}, "
            f"got {ladder!r}: use aptmc.Ladder.{problem.ladder_kind}"
        )
    problem.check_levels(ladder.levels)
    kernel.tuning(problem, ladder)
    backend = _default_backend(ladder, pools, schedule) if on is None else on
    layout = pools.layout(ladder, backend.processors)
    schedule.check(layout)
    for rule in (schedule.exchange, schedule.within):
        if rule is not None and rule.kind not in (None, ladder.kind):
            raise InputError(f"{type(rule).__name__}() is for ladders of {rule.kind} only")

    store = MemoryStore()
    log_events = backend.logs_events if log_events is None else log_events
    session = build_session(
        problem, ladder, kernel, schedule, layout, keep, seed, store, thin, log_events
    )
    settings = Settings(
        problem, seconds, warmup_seconds, ladder, kernel, schedule, pools, backend, seed
    )
    backend.check(session)
    return Prepared(settings, session, store)


def _default_backend(ladder: Ladder, pools: Pools, schedule: Schedule) -> Backend:
    """As many workers as there are processors and as the chains can keep busy."""
    for processors in range(processors_available(), 1, -1):
        try:
            schedule.check(pools.layout(ladder, processors))
        except InputError:
            continue
        return Processes(processors)
    return Processes(1)


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
) -> Session:
    """A coordinator wired to functions, streams and a store. Its chains have no states yet."""
    chains = layout.rung.size
    wanted = layout.rung == 0 if keep == "coldest" else np.ones(chains, np.bool_)
    rounds = max(schedule.plan().rounds, schedule.plan().rounds_within_pool)
    rows = RECORD_ROWS + 8 * rounds * chains
    return Session(
        seed=seed,
        problem=problem,
        kernel=kernel,
        machine=coordinator(
            schedule.plan(),
            layout,
            ladder.level_array(),
            empty_states(chains, problem.width),
            value_column(problem.dimension),
        ),
        record=empty_record(layout.rung, ladder.rungs, problem.width, wanted, rows, thin),
        log=empty_log(RECORD_ROWS + 4 * layout.served.size if log_events else 0),
        served=layout.served,
        tuning=kernel.tuning(problem, ladder),
        choose_pairs=_compiled_rule(schedule.exchange),
        choose_pairs_within=_compiled_rule(schedule.within or schedule.exchange),
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


def _check_kind(name: str, value: object, kind: Any) -> None:
    if not isinstance(value, kind):
        wanted = getattr(kind, "__name__", "Backend")
        raise InputError(f"{name} must be an aptmc {wanted}, got {value!r}")
