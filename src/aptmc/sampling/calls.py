"""The public calls that run something: `sample`, `start` and `resume`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any, Literal, ParamSpec, TypeVar

from aptmc.arguments import check_arguments, named_clearly
from aptmc.backends import Backend, Processes
from aptmc.checks import yes_or_no
from aptmc.kernels import Kernel
from aptmc.ladder import AutoLadder, Ladder
from aptmc.pools import Pools
from aptmc.problem import Problem
from aptmc.result.run import Run
from aptmc.sampling.announced import announced, compile_own, while_workers_begin
from aptmc.sampling.asking import asked_for
from aptmc.sampling.enough import Goal, until_from
from aptmc.sampling.handle import RunHandle
from aptmc.sampling.phases import prepare
from aptmc.sampling.resuming import prepare_to_resume
from aptmc.sampling.short_forms import backend_from
from aptmc.schedule import Schedule
from aptmc.store.folder import path_from

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


@named_clearly
def sample(
    problem: Problem,
    *,
    budget: float | str,
    ladder: Ladder | AutoLadder | Sequence[float] | int | Literal["auto"] = "auto",
    kernel: Kernel | str = "auto",
    schedule: Schedule | str | None = None,
    pools: Pools | str | None = None,
    on: Backend | int | str | None = None,
    warmup: float | str = "auto",
    keep: Literal["coldest", "all"] = "coldest",
    thin: int = 1,
    log_events: bool | None = None,
    store: str | os.PathLike[str] | None = None,
    save_every: float | str = 5.0,
    progress: bool | None = None,
    seed: int | None = None,
    until: Goal | str | Sequence[Goal | str] | None = None,
) -> Run:
    """Sample a problem until the budget is spent.

    :param problem: what to sample: `Tempered`, `Power`, `Abc`
    :param budget: when to stop: seconds (or units of virtual time), or words such as "10 min"; or a
        count, "10000 simulations" or "5000 moves"
    :param ladder: the rungs, coldest first, or a list of their levels; "auto" or
        `Ladder.auto(...)`: found in the warm-up
    :param kernel: how a chain moves between exchanges; "auto": the problem's own, adapted in the
        warm-up. One that is given stays as it is, unless it wants to learn, as `RandomWalk("auto")`
        does and one of your own that says how it is `adapted`: a warm-up is held for it. A name,
        "nuts" say, stands for the kernel that learns all it needs to know
    :param schedule: when chains are exchanged: `Anytime` (the default, with deadlines that are
        found in the warm-up), `Synchronous`
    :param pools: which chains share processors: `Shared` (the default), `Partitioned`, `Paired`
    :param on: who computes: `Processes` (the default: one worker for each processor that this
        process may use) or how many of them, `InProcess`, `VirtualTime`; `Futures`, `Dask`, `Ray`
        on other machines
    :param warmup: the first part of the budget, in which settings are found that were not given;
        its draws are kept apart from the posterior. By default a quarter. If all is given, it is
        the first few moves of each chain, in which the run settles, and at most a quarter;
        warmup=0 counts these, too
    :param keep: keep the draws of the coldest rung, or of all rungs
    :param thin: keep one draw of so many
    :param log_events: keep the log of who computed what when, for timelines and replay; by default
        in real time but not in virtual time
    :param store: a folder, "lv.zarr" say, in which the run is kept while it goes on: it survives
        whatever happens, can be opened, resumed and replayed. By default all is in memory
    :param save_every: the most that a crash can lose, in seconds or in words
    :param progress: show how the run goes on: a picture in a terminal or a notebook, a line now and
        then elsewhere. By default `sample` does and `start` does not
    :param seed: the same seed gives the same run; a new one is drawn if none is given
    :param until: what ends the run before its budget is spent: `Effective(400)`, "r-hat < 1.01",
        several of them, all of which are to be met, or a count

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
    asked = locals()
    if progress is not None:
        yes_or_no("progress", progress)
    backend = asked["on"] = backend_from(on)
    with announced(backend, budget, progress=progress is None or progress) as call:
        with while_workers_begin(problem, backend or Processes(), call.control):
            settings, path = asked_for(**asked, shows_progress=True)
            compile_own(settings, call.control)
        phases = call.watched(prepare(settings, path, until_from(until)))
    return phases.run(call.control)


def _called_like(
    model: Callable[Parameters, Any],
) -> Callable[[Callable[..., Result]], Callable[Parameters, Result]]:
    """Give a function the arguments of another, for type checkers, `help` and editors."""

    def decorate(function: Callable[..., Result]) -> Callable[Parameters, Result]:
        arguments = signature(model).parameters.values()
        own = signature(function)
        function.__signature__ = own.replace(parameters=list(arguments))  # type: ignore[attr-defined]
        return function

    return decorate


@_called_like(sample)
def start(*problem: Problem, **arguments: Any) -> RunHandle:
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
    check_arguments("start", signature(sample).parameters, problem, arguments, sample.__doc__ or "")
    asked = signature(sample).bind(*problem, **arguments)
    asked.apply_defaults()
    said = asked.arguments
    said["on"] = backend_from(said["on"])
    with announced(said["on"], said["budget"], progress=bool(said["progress"])) as call:
        with while_workers_begin(said["problem"], said["on"] or Processes(), call.control):
            settings, path = asked_for(**said, shows_progress=False)
            compile_own(settings, call.control)
        phases = call.watched(prepare(settings, path, until_from(said["until"])))
    return RunHandle(phases, call.control)


@named_clearly
def resume(
    store: str | os.PathLike[str],
    problem: Problem,
    *,
    budget: float | str,
    on: Backend | int | str | None = None,
    kernel: Kernel | None = None,
    schedule: Schedule | None = None,
    progress: bool = True,
    force: bool = False,
    until: Goal | str | Sequence[Goal | str] | None = None,
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
    :param until: what ends the run before that, as in `sample`; all draws count, a count does not
        begin before this call

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
    backend = backend_from(on)
    with announced(backend, budget, progress=progress) as call:
        with while_workers_begin(problem, backend, call.control):
            pass
        prepared = prepare_to_resume(
            path_from("store", store), problem, budget, backend, kernel, schedule, force=force,
            progress=progress, until=until_from(until),
        )  # fmt: skip
        compile_own(prepared.settings, call.control)
        phases = call.watched(prepared)
    return phases.run(call.control)
