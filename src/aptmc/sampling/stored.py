"""Runs on disk: open them, go on with them, compute them again."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, final

import numpy as np

from aptmc.backends import Backend, InProcess, Processes, VirtualTime
from aptmc.backends.workers.backend import WorkforceBackend
from aptmc.errors import InputError, RunFailed
from aptmc.kernels import Kernel
from aptmc.problem import Problem
from aptmc.problem.base import is_problem
from aptmc.processors import processors_available
from aptmc.result.archive import differences
from aptmc.result.compare import Comparison
from aptmc.result.run import Run, Settings
from aptmc.sampling.handle import Prepared
from aptmc.sampling.saving import (
    Options,
    layout_in,
    session_snapshot,
    stored_run,
    tuned_in,
    tuner_in,
    usage_in,
    warmup_in,
)
from aptmc.schedule import Schedule
from aptmc.session.build import build_session
from aptmc.session.replay import replay as replay_events
from aptmc.session.session import Session
from aptmc.session.snapshot import restore
from aptmc.store import Checkpoint, DiskStore, MemoryStore
from aptmc.warmup import Tuned

PathLike = str | os.PathLike[str]


def open(store: PathLike, problem: Problem | None = None, *, salvage: bool = False) -> Run:
    """Open a stored run to look at, also while another process writes it.

    No code from the store is executed. Draws are read when they are asked for.

    :param problem: what was sampled, for `run.rerun`; all else works without
    :param salvage: if files are damaged, read what is sound; `run.damage` names what is left out

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
    >>> aptmc.open(store)
    <aptmc.Run: 51 draws on rung 0; the budget was spent>
    """
    disk, checkpoint = DiskStore.read(Path(store), salvage=salvage)
    run = stored_run(disk, checkpoint)
    if problem is not None:
        check_same(problem, disk, force=False)
        run.settings = run.settings._replace(problem=problem)
    return run


def check_same(problem: Problem, store: DiskStore, *, force: bool) -> None:
    """Refuse a problem other than the one that was stored."""
    if not is_problem(problem):
        raise InputError(
            f"problem must be an aptmc problem, got {problem!r}: a store holds no functions, so "
            "give the problem again that was sampled"
        )
    found = differences(problem, store.description["problem"])
    if problem.width != store.width:
        found.append(f"a state has {problem.width} numbers, had {store.width}")
    elif force:
        return
    if found:
        raise InputError(
            f"the problem is not the one that is stored in {store.path}: {'; '.join(found)}. "
            "Draws of two problems must not be mixed; if you know that it is the same, force=True"
        )


def prepare_to_resume(
    path: Path,
    problem: Problem,
    seconds: float,
    on: Backend | None,
    kernel: Kernel | None,
    schedule: Schedule | None,
    *,
    force: bool,
) -> Prepared:
    """A run that goes on where a stored one stands."""
    disk, checkpoint = DiskStore.reopen(path)
    try:
        check_same(problem, disk, force=force)
        backend = _same_backend(checkpoint) if on is None else on
        tuner, first_round = None, MemoryStore()
        if "tuner" in checkpoint.notes:
            tuner = tuner_in(
                checkpoint, problem, backend.processors, kernel=kernel, schedule=schedule
            )
            tuner.cold_draws = [disk.warmup(0)]
            tuned, session = tuner.tuned(), tuner.session(first_round)
        else:
            tuned = tuned_in(checkpoint, kernel=kernel, schedule=schedule)
            session = build(disk, checkpoint, tuned, problem, backend.processors)
            same_flight = (
                isinstance(backend, VirtualTime)
                and backend.processors == checkpoint.notes["backend"]["processors"]
                and backend.places == checkpoint.arrays.get("flight/chain", np.empty(0)).size
            )
            restore(session, session_snapshot(checkpoint), same_flight=same_flight)
        backend.check(session)
    except BaseException:
        disk.close()
        raise
    earlier, said = usage_in(checkpoint), disk.description
    settings = Settings(
        problem=problem,
        budget=earlier.elapsed + seconds,
        warmup=float(checkpoint.notes["settings"]["warmup"]),
        ladder=tuned.ladder,
        kernel=tuned.kernel,
        schedule=tuned.schedule,
        pools=tuned.pools,
        on=backend,
        seed=int(said["seed"]),
    )
    options = Options(said["keep"], int(said["thin"]), said["log_events"], said["save_every"])
    return Prepared(
        settings,
        session,
        disk,
        tuner,
        first_round,
        options,
        None if tuner is not None else warmup_in(disk, checkpoint.notes),
        budget=seconds,
        earlier=earlier,
    )


def build(
    disk: DiskStore, checkpoint: Checkpoint, tuned: Tuned, problem: Problem, processors: int
) -> Session:
    """A fresh session with the settings of a stored one."""
    layout = layout_in(checkpoint, tuned, processors)
    if processors < layout.pools:
        raise InputError(
            f"{layout.pools} pools of chains need as many processors, got {processors}: use more"
        )
    tuned.schedule.check(layout)
    said = disk.description
    return build_session(
        problem, tuned.ladder, tuned.kernel, tuned.schedule, layout, said["keep"],
        int(said["seed"]), disk, int(said["thin"]), said["log_events"],
        int(checkpoint.notes["epoch"]),
    )  # fmt: skip


def _same_backend(checkpoint: Checkpoint) -> Backend:
    said = checkpoint.notes["backend"]
    if said["is_local"]:
        return Processes(max(min(said["processors"], processors_available()), 1))
    if said["name"] == repr(InProcess()):
        return InProcess()
    raise InputError(
        f"this run was computed on {said['name']}, which the store cannot make again: give it, "
        "on=..."
    )


# --- replay -----------------------------------------------------------------------------------


@final
class Replay(NamedTuple):
    """What came of computing a run again."""

    completions: int
    draws: int  # that were compared, bit for bit
    difference: str | None  # the first, if there is any

    @property
    def is_same(self) -> bool:
        """Whether all draws are the same, bit for bit."""
        return self.difference is None

    def __str__(self) -> str:
        if self.is_same:
            return f"{self.completions} moves computed again: {self.draws} draws, all the same"
        return f"not the same: {self.difference}"


def replay(
    store: PathLike,
    problem: Problem,
    *,
    on: Backend | None = None,
    kernel: Kernel | None = None,
    schedule: Schedule | None = None,
) -> Replay:
    """Compute a stored run again, from its seed and the log of its events, and compare.

    Whatever processors there were, whatever died and was stopped and resumed: given the order of
    completions every draw is determined, bit for bit. The run begins where the warm-up ended, and
    the replay ends at the first difference.

    :param problem: what was sampled
    :param on: who computes: this process, if nothing is said, or any backend with workers,
        `aptmc.Processes(8)` say; moves that were under way at the same time are so again
    :param kernel: the kernel, if it is one of your own
    :param schedule: the schedule, if it has an exchange rule of your own

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
    >>> print(aptmc.replay(store, problem))
    100 moves computed again: 51 draws, all the same
    """
    if not isinstance(on, WorkforceBackend | InProcess | None):
        raise InputError(
            "on must be aptmc.Processes(...) or another backend with workers, or "
            f"aptmc.InProcess(), got {on!r}: times are those of the log"
        )
    disk, checkpoint = DiskStore.read(Path(store))
    check_same(problem, disk, force=False)
    if not disk.description["log_events"]:
        raise InputError(f"{disk.path} holds no log of events to replay: use log_events=True")
    tuned = tuned_in(checkpoint, kernel=kernel, schedule=schedule)
    before = int(checkpoint.notes["backend"]["processors"])
    session = build(disk, checkpoint, tuned, problem, before)
    comparison = Comparison(disk.rows())
    session = replace(session, store=comparison.append)
    arrays = checkpoint.arrays
    if "first_states" not in arrays:
        return Replay(0, 0, None)
    session.tuning[...] = arrays["tuning"]
    session.begin_from(arrays["first_states"])
    events = disk.events()
    times = [rows.draws.time[-1] for rows in disk.rows() if rows.chain.size > 0]
    until = float(max(times)) if times else 0.0
    difference = None
    try:
        if isinstance(on, WorkforceBackend):
            on.check(session)
            with on.computing(session) as computing:
                replay_events(session, events, until, computing)
        else:
            replay_events(session, events, until)
    except RunFailed as error:
        difference = str(error)
        with suppress(RunFailed):
            session.flush()  # draws may differ before the event that cannot have happened
    completions = int(session.machine.completed.sum())
    difference = comparison.difference or difference or comparison.finish()
    return Replay(completions, comparison.compared, difference)
