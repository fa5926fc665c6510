"""Go on with a stored run where it stopped."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from aptmc.backends import Backend, InProcess, Lanes, Processes, VirtualTime
from aptmc.coordinator.state import Settling
from aptmc.errors import InputError
from aptmc.kernels import Kernel
from aptmc.pools import Groups
from aptmc.problem import Problem
from aptmc.processors import processors_available
from aptmc.sampling.asking import amount_of, check_quota
from aptmc.sampling.enough import Until
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
    until: Until,
) -> Phases:
    """A run that goes on where a stored one stands."""
    quota, seconds = amount_of(budget, problem)
    check_quota(until.quota, problem)
    store, checkpoint = DiskStore.reopen(path)
    try:
        check_same(problem, store, force=force)
        on = _same_backend(checkpoint) if on is None else on
        own, tuner = {"kernel": kernel, "schedule": schedule}, None
        if "tuner" in checkpoint.notes:
            tuner = tuner_in(checkpoint, problem, on, **own)
            tuner.cold_draws = [store.warmup(0)]
            settings = tuner.settings
            check_kind_of_backend(settings, on, checkpoint)
            session = tuner.session()
            session.progress.early.recall(checkpoint.arrays, settings.seed)
        else:
            settings = settings_in(checkpoint, problem, on, **own)
            check_kind_of_backend(settings, on, checkpoint)
            session = build(store, checkpoint, settings, on.processors)
            same_flight = (
                isinstance(on, VirtualTime)
                and on.processors == checkpoint.notes["backend"]["processors"]
                and on.places == checkpoint.arrays.get("flight/chain", np.empty(0)).size
            )
            restore(session, session_snapshot(checkpoint), same_flight=same_flight)
        on.check(session)
        check_compiler(session, on, checkpoint)
    except BaseException:
        store.close()
        raise
    earlier = usage_in(checkpoint)
    return Phases(
        settings.found(
            budget=earlier.elapsed + seconds, quota=quota, until=str(until), progress=progress
        ),
        session,
        store,
        tuner,
        None if tuner is not None else warmup_in(store, checkpoint.notes),
        sitting=seconds,
        earlier=earlier,
        until=until,
    )


def check_kind_of_backend(settings: Settings, on: Backend, checkpoint: Checkpoint) -> None:
    """Moves of lanes are computed again by lanes of the same kind alone, to the last bit."""
    has_lanes = isinstance(settings.pools, Groups)
    if has_lanes and on.own_pools is None:
        raise InputError(f"this run was begun by lanes, and {on!r} has none: use on=aptmc.Lanes()")
    if on.own_pools is not None and not has_lanes:
        raise InputError(f"this run was not begun by lanes, so {on!r} cannot go on with it")
    before = checkpoint.notes["backend"]["name"]
    if isinstance(on, Lanes) and before.partition(", ")[2] != repr(on).partition(", ")[2]:
        raise InputError(
            f"this run was begun by {before}, and {on!r} would compute other numbers: use lanes on "
            "the same kind of device, with the same bits"
        )


def check_compiler(session: Session, on: Backend, checkpoint: Checkpoint) -> None:
    """Nor are they the same with the code of another compiler, where that matters."""
    if isinstance(on, Lanes):
        on.check_compiler(session, checkpoint.notes["backend"].get("made_by", ""))


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
