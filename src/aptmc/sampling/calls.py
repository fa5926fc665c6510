"""`sample` and `start`: the only place that wires the parts together."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from aptmc.backends import Backend, Processes
from aptmc.checks import whole_number
from aptmc.clock import duration
from aptmc.errors import InputError
from aptmc.exchange import Rule
from aptmc.kernels import Kernel
from aptmc.keys import check_seed, new_seed
from aptmc.ladder import AutoLadder, Ladder
from aptmc.pools import Pools, Shared
from aptmc.problem import Problem
from aptmc.processors import processors_available
from aptmc.result.run import Run, Settings
from aptmc.sampling.handle import Prepared, RunHandle
from aptmc.sampling.saving import Options, description
from aptmc.sampling.stored import prepare_to_resume
from aptmc.schedule import Anytime, Schedule
from aptmc.session.build import build_session
from aptmc.session.control import Control
from aptmc.store import DiskStore, MemoryStore, Store
from aptmc.store.disk import check_new
from aptmc.warmup import Tuned, Tuner
from aptmc.warmup.wishes import Wishes


def sample(
    problem: Problem,
    *,
    budget: float | str,
    ladder: Ladder | AutoLadder | Literal["auto"] = "auto",
    kernel: Kernel | Literal["auto"] = "auto",
    schedule: Schedule | None = None,
    pools: Pools | None = None,
    on: Backend | None = None,
    warmup: float | str = "auto",
    keep: Literal["coldest", "all"] = "coldest",
    thin: int = 1,
    log_events: bool | None = None,
    store: str | os.PathLike[str] | None = None,
    save_every: float | str = 5.0,
    progress: bool = True,
    seed: int | None = None,
) -> Run:
    """Sample a problem until the budget is spent.

    :param problem: what to sample: `Tempered`, `Power`, `Abc`
    :param budget: when to stop: seconds (or units of virtual time), or words such as "10 min"
    :param ladder: the rungs, coldest first; "auto" or `Ladder.auto(...)`: found in the warm-up
    :param kernel: how a chain moves between exchanges; "auto": the problem's own, adapted in the
        warm-up. One that is given stays as it is, unless it wants to learn, as `RandomWalk("auto")`
        does and one of your own that says how it is `adapted`: a warm-up is held for it
    :param schedule: when chains are exchanged: `Anytime` (the default, with deadlines that are
        found in the warm-up), `Synchronous`
    :param pools: which chains share processors: `Shared` (the default), `Partitioned`, `Paired`
    :param on: who computes: `Processes` (the default: one worker for each processor that this
        process may use), `InProcess`, `VirtualTime`; `Futures`, `Dask`, `Ray` on other machines
    :param warmup: the first part of the budget, in which settings are found that were not given;
        its draws are kept apart from the posterior. By default a quarter, or nothing if all is
        given
    :param keep: keep the draws of the coldest rung, or of all rungs
    :param thin: keep one draw of so many
    :param log_events: keep the log of who computed what when, for timelines and replay; by default
        in real time but not in virtual time
    :param store: a folder, "lv.zarr" say, in which the run is kept while it goes on: it survives
        whatever happens, can be opened, resumed and replayed. By default all is in memory
    :param save_every: the most that a crash can lose, in seconds or in words
    :param progress: show how the run goes on: a picture in a terminal or a notebook, a line now and
        then elsewhere
    :param seed: the same seed gives the same run; a new one is drawn if none is given

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
        problem,
        budget,
        ladder,
        kernel,
        schedule,
        pools,
        on,
        warmup,
        keep,
        thin,
        log_events,
        store,
        save_every,
        progress,
        seed,
    ).run(control)


def start(
    problem: Problem,
    *,
    budget: float | str,
    ladder: Ladder | AutoLadder | Literal["auto"] = "auto",
    kernel: Kernel | Literal["auto"] = "auto",
    schedule: Schedule | None = None,
    pools: Pools | None = None,
    on: Backend | None = None,
    warmup: float | str = "auto",
    keep: Literal["coldest", "all"] = "coldest",
    thin: int = 1,
    log_events: bool | None = None,
    store: str | os.PathLike[str] | None = None,
    save_every: float | str = 5.0,
    progress: bool = False,
    seed: int | None = None,
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
        problem,
        budget,
        ladder,
        kernel,
        schedule,
        pools,
        on,
        warmup,
        keep,
        thin,
        log_events,
        store,
        save_every,
        progress,
        seed,
    )
    return RunHandle(prepared, control)


def resume(
    store: str | os.PathLike[str],
    problem: Problem,
    *,
    budget: float | str,
    on: Backend | None = None,
    kernel: Kernel | None = None,
    schedule: Schedule | None = None,
    progress: bool = True,
    force: bool = False,
) -> Run:
    """Go on with a stored run where it stopped.

    Moves that were under way are computed again with their random keys; the time that the run was
    stopped does not count. The result holds all draws, those of before and the new ones.

    :param store: the folder
    :param problem: what was sampled: a store holds no functions
    :param budget: how long to go on
    :param on: who computes: other or fewer or more processors than before, perhaps
    :param kernel: the kernel, if it is one of your own
    :param schedule: the schedule, if it has an exchange rule of your own, which alone is taken
        from it
    :param progress: show how the run goes on
    :param force: take the problem for the same although something in it has changed

    >>> import tempfile, scipy.stats, aptmc
    >>> problem = aptmc.Tempered(
    ...     lambda theta: -0.5 * theta[0] ** 2, aptmc.Prior(x=scipy.stats.norm(0, 5))
    ... )
    >>> store, on = tempfile.mkdtemp() + "/run.zarr", aptmc.VirtualTime(1)
    >>> run = aptmc.sample(
    ...     problem,
    ...     budget=100,
    ...     ladder=aptmc.Ladder.powers(3),
    ...     kernel=aptmc.RandomWalk(1.0),
    ...     schedule=aptmc.Anytime(every=3),
    ...     on=on,
    ...     store=store,
    ...     seed=1,
    ... )
    >>> aptmc.resume(store, problem, budget=50, on=on).elapsed
    150.0
    """
    control = Control()
    _check_kind("on", on, Backend | None)
    seconds = duration(budget)
    prepared = prepare_to_resume(Path(store), problem, seconds, on, kernel, schedule, force=force)
    prepared.options = prepared.options._replace(progress=progress)
    return prepared.run(control)


def _prepare(
    problem: Problem,
    budget: float | str,
    ladder: Ladder | AutoLadder | str,
    kernel: Kernel | str,
    schedule: Schedule | None,
    pools: Pools | None,
    on: Backend | None,
    warmup: float | str,
    keep: str,
    thin: int,
    log_events: bool | None,
    store: str | os.PathLike[str] | None,
    save_every: float | str,
    progress: bool,
    seed: int | None,
) -> Prepared:
    """Refuse what cannot work, and wire up the rest."""
    _check_kind("problem", problem, Problem)
    _check_kind("pools", pools, Pools | None)
    _check_kind("on", on, Backend | None)
    wishes = _wishes(problem, ladder, kernel, schedule, pools)
    seconds = duration(budget)
    length = None if warmup == "auto" else 0.0 if warmup == 0 else duration(warmup, "warmup")
    if length is not None and length >= seconds:
        raise InputError(f"warmup must be shorter than the budget, got {warmup!r} and {budget!r}")
    if length == 0.0 and wishes.needs_warmup:
        raise InputError(
            "without a warm-up nothing can be found automatically: leave out warmup=0, or give "
            "ladder, kernel and the time between deadlines"
        )
    if keep not in ("coldest", "all"):
        raise InputError(f'keep must be "coldest" or "all", got {keep!r}')
    thin = whole_number("thin", thin)
    seed = new_seed() if seed is None else check_seed(seed)
    backend = _default_backend(wishes) if on is None else on
    if log_events is None:
        log_events = backend.logs_events or store is not None
    options = Options(keep, thin, log_events, duration(save_every, "save_every"), progress)
    path = None if store is None else Path(store)
    if path is not None:
        check_new(path)
    # What the session of the first phase is given; a store on disk is made when all is checked.
    memory = MemoryStore()

    tuner = None
    if wishes.needs_warmup:
        tuner = Tuner(problem, wishes, backend.processors, seed, length)
        tuned = tuner.tuned_at_first(seconds)
        session = tuner.session(memory)
        length = 0.0  # draws of the warm-up never get among the others
    else:
        assert isinstance(wishes.ladder, Ladder)
        assert isinstance(wishes.kernel, Kernel)
        tuned = Tuned(wishes.ladder, wishes.kernel, wishes.schedule, wishes.pools or Shared())
        layout = tuned.pools.layout(tuned.ladder, backend.processors)
        tuned.schedule.check(layout)
        session = build_session(
            problem, tuned.ladder, tuned.kernel, tuned.schedule, layout,
            keep, seed, memory, thin, log_events,
        )  # fmt: skip
    settings = Settings(
        problem=problem,
        budget=seconds,
        warmup=length or 0.0,
        ladder=tuned.ladder,
        kernel=tuned.kernel,
        schedule=tuned.schedule,
        pools=tuned.pools,
        on=backend,
        seed=seed,
    )
    backend.check(session)
    kept: Store = memory
    if path is not None:
        kept = DiskStore.create(path, description(settings, options), problem.width)
        if tuner is None:
            session = replace(session, store=kept.append)
    elif tuner is not None:
        kept = MemoryStore()
    return Prepared(settings, session, kept, tuner, memory, options)


def _wishes(
    problem: Problem,
    ladder: Ladder | AutoLadder | str,
    kernel: Kernel | str,
    schedule: Schedule | None,
    pools: Pools | None,
) -> Wishes:
    """What was given and what is to be found, if it fits together."""
    wanted_ladder = AutoLadder() if isinstance(ladder, str) and ladder == "auto" else ladder
    if not (isinstance(kernel, str) and kernel == "auto"):
        _check_kind("kernel", kernel, Kernel)
    wanted_schedule = Anytime() if schedule is None else schedule
    _check_kind("ladder", wanted_ladder, Ladder | AutoLadder)
    _check_kind("schedule", wanted_schedule, Schedule)
    wishes = Wishes(wanted_ladder, kernel, wanted_schedule, pools)  # type: ignore[arg-type]
    if isinstance(wishes.ladder, Ladder):
        if wishes.ladder.kind != problem.ladder_kind:
            raise InputError(
                f"a problem of kind {type(problem).__name__} needs a ladder of "
                f"{problem.ladder_kind}, got {ladder!r}: use aptmc.Ladder.{problem.ladder_kind}"
            )
        problem.check_levels(wishes.ladder.levels)
        if isinstance(wishes.kernel, Kernel):
            first = wishes.kernel.at_first(np.ones(problem.dimension), wishes.ladder.rungs)
            first.tuning(problem, wishes.ladder)
    for rule in (wishes.schedule.exchange, wishes.schedule.within):
        if isinstance(rule, Rule) and rule.kind not in (None, problem.ladder_kind):
            raise InputError(f"{type(rule).__name__}() is for ladders of {rule.kind} only")
    return wishes


def _default_backend(wishes: Wishes) -> Backend:
    """As many workers as there are processors and as the chains can keep busy."""
    ladder, pools = wishes.ladder, wishes.pools or Shared()
    for processors in range(processors_available(), 1, -1):
        if isinstance(ladder, Ladder) and not wishes.needs_warmup:
            try:
                wishes.schedule.check(pools.layout(ladder, processors))
            except InputError:
                continue
        return Processes(processors)
    return Processes(1)


def _check_kind(name: str, value: object, kind: Any) -> None:
    if not isinstance(value, kind):
        wanted = {"on": "Backend"}.get(name, name.capitalize())
        remedy = ""
        if name == "problem" and callable(value):
            remedy = ": use aptmc.Tempered(log_likelihood, prior), or aptmc.Abc for a simulator"
        raise InputError(f"{name} must be an aptmc {wanted}, got {value!r}{remedy}")
