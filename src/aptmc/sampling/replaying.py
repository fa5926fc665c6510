"""Compute a stored run again, and compare it bit for bit."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple, final

from aptmc.arguments import named_clearly
from aptmc.backends import Backend, InProcess, Lanes
from aptmc.backends.workers.backend import WorkforceBackend
from aptmc.errors import InputError, RunFailed
from aptmc.global_generators import left_alone
from aptmc.kernels import Kernel
from aptmc.problem import Problem
from aptmc.result.compare import Comparison
from aptmc.sampling.opening import PathLike, check_same
from aptmc.sampling.resuming import build, check_compiler, check_kind_of_backend
from aptmc.sampling.saved_run import settings_in
from aptmc.sampling.short_forms import backend_from
from aptmc.schedule import Schedule
from aptmc.session.event_replay import replay as replay_events
from aptmc.store import Checkpoint, DiskStore
from aptmc.store.folder import path_from


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


@named_clearly
@left_alone()
def replay(
    store: PathLike,
    problem: Problem,
    *,
    on: Backend | int | None = None,
    kernel: Kernel | None = None,
    schedule: Schedule | None = None,
) -> Replay:
    """Compute a stored run again, from its seed and the log of its events, and compare.

    Whatever processors there were, whatever died and was stopped and resumed: given the order of
    completions every draw is determined, bit for bit. The run begins where the warm-up ended, and
    the replay ends at the first difference.

    :param problem: what was sampled
    :param on: who computes: this process, if nothing is said, or any backend with workers,
        `aptmc.Processes(8)` say; moves that were under way at the same time are so again. What
        lanes computed, lanes of the same kind compute again, which need no log
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
    100 moves computed again: 55 draws, all the same
    """
    on = backend_from(on)
    if not isinstance(on, WorkforceBackend | InProcess | Lanes | None):
        raise InputError(
            "on must be aptmc.Processes(...) or another backend with workers, or "
            f"aptmc.InProcess(), got {on!r}: times are those of the log"
        )
    disk, checkpoint = DiskStore.read(path_from("store", store))
    check_same(problem, disk, force=False)
    if isinstance(on, Lanes):
        return _lanes_again(disk, checkpoint, problem, on, kernel, schedule)
    if not disk.description["log_events"]:
        raise InputError(f"{disk.path} holds no log of events to replay: use log_events=True")
    settings = settings_in(checkpoint, problem, on or InProcess(), kernel=kernel, schedule=schedule)
    before = int(checkpoint.notes["backend"]["processors"])
    session = build(disk, checkpoint, settings, before)
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


def _lanes_again(
    disk: DiskStore,
    checkpoint: Checkpoint,
    problem: Problem,
    on: Lanes,
    kernel: Kernel | None,
    schedule: Schedule | None,
) -> Replay:
    """From first states and keys alone: ticks are the same wherever they are computed."""
    settings = settings_in(checkpoint, problem, on, kernel=kernel, schedule=schedule)
    check_kind_of_backend(settings, on, checkpoint)
    arrays = checkpoint.arrays
    if "first_states" not in arrays:
        return Replay(0, 0, None)
    comparison = Comparison(disk.rows())
    session = replace(build(disk, checkpoint, settings, on.processors), store=comparison.append)
    session.tuning[...] = arrays["tuning"]
    check_compiler(session, on, checkpoint)
    session.begin_from(arrays["first_states"])
    deadlines, kept = int(arrays["machine/passed"][0]), int(arrays["record/seen"][0])
    times = None
    if checkpoint.notes["backend"]["time_unit"] == "s":
        recorded = int(session.record.wanted.sum())
        stored = [rows.draws.time for rows in disk.rows()]
        times = [float(time) for column in stored for time in column][::recorded]
    difference = None
    try:
        on.run_again(session, deadlines, kept, times)
    except RunFailed as error:
        difference = str(error)
    difference = comparison.difference or difference or comparison.finish()
    return Replay(int(session.machine.completed.sum()), comparison.compared, difference)
