"""Compute a stored run again, and compare it bit for bit."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, final

from aptmc.backends import Backend, InProcess
from aptmc.backends.workers.backend import WorkforceBackend
from aptmc.errors import InputError, RunFailed
from aptmc.kernels import Kernel
from aptmc.problem import Problem
from aptmc.result.compare import Comparison
from aptmc.sampling.opening import PathLike, check_same
from aptmc.sampling.resuming import build
from aptmc.sampling.saved_run import settings_in
from aptmc.schedule import Schedule
from aptmc.session.event_replay import replay as replay_events
from aptmc.store import DiskStore


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
    100 moves computed again: 55 draws, all the same
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
