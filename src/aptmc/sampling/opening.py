"""Stored runs: open them to look at, and see that a problem is the one that was stored."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from aptmc.arguments import named_clearly
from aptmc.errors import InputError
from aptmc.problem import Problem
from aptmc.problem.base import is_problem
from aptmc.problem.chain_state import OWN
from aptmc.result.archive import StoredBackend, StoredProblem, differences, from_json
from aptmc.result.run import Run
from aptmc.sampling.own_parts import is_foreign, without_foreign
from aptmc.sampling.saved_run import (
    failed_move_in,
    layout_in,
    reached_so_far,
    session_snapshot,
    settings_in,
    usage_in,
    warmup_in,
)
from aptmc.schedule import StoredSchedule
from aptmc.session.build import build_machine, build_record
from aptmc.session.snapshot import restore_tables, statistics_in, with_own_places
from aptmc.settings import Settings
from aptmc.store import Checkpoint, DiskStore
from aptmc.store.folder import path_from

PathLike = str | os.PathLike[str]


@named_clearly
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
    <aptmc.Run: 45 draws on rung 0; the budget was spent>
    """
    disk, checkpoint = DiskStore.read(path_from("store", store), salvage=salvage)
    run = stored_run(disk, checkpoint)
    if problem is not None:
        check_same(problem, disk, force=False)
        run.settings = replace(run.settings, problem=problem)
    return run


def check_same(problem: Problem, store: DiskStore, *, force: bool) -> None:
    """Refuse a problem other than the one that was stored."""
    if not is_problem(problem):
        raise InputError(
            f"problem must be an aptmc problem, got {problem!r}: a store holds no functions, so "
            "give the problem again that was sampled"
        )
    said = store.description["problem"]
    if said.get("reference_is_fitted", False):
        problem = problem.with_fitted_reference()
    found = differences(problem, said)
    if problem.width != store.width:
        found.append(f"a state has {problem.width} numbers, had {store.width}")
        if problem.kept_data is not None and problem.width - problem.kept_data.size == store.width:
            found[-1] += " without simulations (keep_simulated=False)"
    elif force:
        return
    if found:
        raise InputError(
            f"the problem is not the one that is stored in {store.path}: {'; '.join(found)}. "
            "Draws of two problems must not be mixed; if you know that it is the same, force=True"
        )


def stored_run(store: DiskStore, checkpoint: Checkpoint) -> Run:
    """A run to look at: everything but what needs the problem itself."""
    said, arrays = checkpoint.notes, checkpoint.arrays
    settings = _settings_to_read(store, checkpoint)
    layout = layout_in(checkpoint, settings, settings.on.processors)
    plan, dimension = settings.schedule.plan(), settings.problem.dimension
    machine = build_machine(
        plan, settings.ladder, layout, dimension, store.width, int(said["epoch"])
    )
    statistics = statistics_in(said["session"])
    record = build_record(
        settings.ladder, layout, store.width, settings.keep, 0, settings.thin, OWN + len(statistics)
    )
    if "tuner" not in said:  # draws of the warm-up are none of the posterior
        saved = with_own_places(session_snapshot(checkpoint), statistics)
        restore_tables(machine, record, saved.arrays)
    return Run(
        settings, machine, record, store, usage_in(checkpoint), arrays["tuning"],
        warmup_in(store, said), arrays.get("first_states"), statistics,
        reached_so_far(said), failed=failed_move_in(checkpoint),
    )  # fmt: skip


def _settings_to_read(store: DiskStore, checkpoint: Checkpoint) -> Settings:
    """Settings to look at. A kernel or a rule of the user's own is not needed for that."""
    backend = checkpoint.notes["backend"]
    said = dict(checkpoint.notes["settings"])
    kernel, schedule = said["kernel"], said["schedule"]
    shown = (
        StoredSchedule(schedule["foreign"], said["never_waits"])
        if is_foreign(schedule)
        else (from_json(without_foreign(schedule), "schedule"))
    )
    said |= {"kernel": None, "schedule": None}
    settings = settings_in(
        checkpoint._replace(notes={**checkpoint.notes, "settings": said}),
        StoredProblem(store.description["problem"], store.width),  # type: ignore[arg-type]
        StoredBackend(  # type: ignore[arg-type]
            backend["name"],
            backend["processors"],
            backend["time_unit"],
            backend.get("remark", ""),  # which earlier versions did not make
        ),
    )
    return settings.found(
        kernel=_kernel_to_read(kernel),
        schedule=shown,
    )


def _kernel_to_read(said: Any) -> Any:
    """The kernel without functions of the user's own; only its name, if parts are the user's own.

    Nothing is computed with it.
    """
    if is_foreign(said):
        return said["foreign"]
    try:
        return from_json(without_foreign(said), "kernel")
    except TypeError:  # a mixture of which a part is not there
        return f"{said['made']} with parts of your own"
