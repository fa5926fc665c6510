"""Go on with a stored run where it stopped."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from aptmc.backends import Backend, InProcess, Processes, VirtualTime
from aptmc.clock import duration
from aptmc.coordinator.state import Settling
from aptmc.errors import InputError
from aptmc.kernels import Kernel
from aptmc.problem import Problem
from aptmc.processors import processors_available
from aptmc.sampling.opening import check_same
from aptmc.sampling.phases import Phases
from aptmc.sampling.saved_run import (
    layout_in,
    session_snapshot,
    settings_in,
    tuner_in,
    usage_in,
    warmup_in,
)
from aptmc.schedule import Schedule
from aptmc.session.build import build_session
from aptmc.session.session import Session
from aptmc.session.snapshot import restore, starts_in
from aptmc.settings import Settings
from aptmc.store import Checkpoint, DiskStore


def prepare_to_resume(
    path: Path,
    problem: Problem,
    budget: float | str,
    on: Backend | None,
    kernel: Kernel | None,
    schedule: Schedule | None,
    *,
    force: bool,
    progress: bool,
) -> Phases:
    """A run that goes on where a stored one stands."""
    seconds = duration(budget)
    store, checkpoint = DiskStore.reopen(path)
    try:
        check_same(problem, store, force=force)
        on = _same_backend(checkpoint) if on is None else on
        own, tuner = {"kernel": kernel, "schedule": schedule}, None
        if "tuner" in checkpoint.notes:
            tuner = tuner_in(checkpoint, problem, on, **own)
            tuner.cold_draws = [store.warmup(0)]
            settings, session = tuner.settings, tuner.session()
            session.progress.early.recall(checkpoint.arrays, settings.seed)
        else:
            settings = settings_in(checkpoint, problem, on, **own)
            session = build(store, checkpoint, settings, on.processors)
            same_flight = (
                isinstance(on, VirtualTime)
                and on.processors == checkpoint.notes["backend"]["processors"]
                and on.places == checkpoint.arrays.get("flight/chain", np.empty(0)).size
            )
            restore(session, session_snapshot(checkpoint), same_flight=same_flight)
        on.check(session)
    except BaseException:
        store.close()
        raise
    earlier = usage_in(checkpoint)
    return Phases(
        settings.found(budget=earlier.elapsed + seconds, progress=progress),
        session,
        store,
        tuner,
        None if tuner is not None else warmup_in(store, checkpoint.notes),
        sitting=seconds,
        earlier=earlier,
    )


def build(store: DiskStore, checkpoint: Checkpoint, settings: Settings, processors: int) -> Session:
    """A fresh session with the settings of a stored one."""
    layout = layout_in(checkpoint, settings, processors)
    if processors < layout.pools:
        raise InputError(
            f"{layout.pools} pools of chains need as many processors, got {processors}: use more"
        )
    settings.schedule.check(layout)
    epoch = int(checkpoint.notes["epoch"])
    settling = Settling(settings.settling, starts_in(checkpoint.arrays))
    return build_session(settings, store, layout=layout, epoch=epoch, settling=settling)


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
