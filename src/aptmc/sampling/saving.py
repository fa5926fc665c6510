"""A run as a checkpoint, and back."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from aptmc.compiled import Floats
from aptmc.errors import InputError, StopReason
from aptmc.ladder import Ladder
from aptmc.pools import Layout
from aptmc.problem import Problem
from aptmc.problem.state import OWN
from aptmc.result.archive import (
    StoredBackend,
    StoredProblem,
    describe_backend,
    describe_problem,
    from_json,
    to_json,
    versions,
)
from aptmc.result.run import Run, Settings
from aptmc.session.build import build_machine, build_record
from aptmc.session.session import Overhead, Session, Usage
from aptmc.session.snapshot import (
    Arrays,
    Snapshot,
    restore_tables,
    snapshot,
    statistics_in,
    with_own_places,
)
from aptmc.store import Checkpoint, DiskStore
from aptmc.warmup import Round, Tuned, Tuner, WarmUp
from aptmc.warmup.wishes import Wishes


class Options(NamedTuple):
    """What is kept of a run."""

    keep: str = "coldest"
    thin: int = 1
    log_events: bool = True
    save_every: float = 5.0  # seconds between checkpoints
    progress: bool | None = False  # show how it goes on


def description(settings: Settings, options: Options) -> dict[str, Any]:
    """What never changes in a run."""
    return {
        "versions": versions(),
        "problem": describe_problem(settings.problem),
        "width": settings.problem.width,
        "seed": settings.seed,
        "keep": options.keep,
        "thin": options.thin,
        "log_events": options.log_events,
        "save_every": options.save_every,
    }


def contents(
    settings: Settings, session: Session, usage: Usage, warmup: WarmUp | None
) -> tuple[dict[str, Any], Arrays]:
    """Notes and arrays of a checkpoint. The record must have been emptied."""
    notes, arrays = snapshot(session)
    saved = {
        "settings": {
            "budget": settings.budget,
            "warmup": settings.warmup,
            **{
                name: to_json(getattr(settings, name))
                for name in ("ladder", "kernel", "schedule", "pools")
            },
        },
        "backend": describe_backend(settings.on),
        "epoch": session.machine.epoch,
        "session": notes,
        "usage": {
            "elapsed": usage.elapsed,
            "stopped": usage.stopped.name,
            "overhead": list(usage.overhead),
        },
        "rounds": [_round_to_json(part) for part in ([] if warmup is None else warmup.rounds)],
        "warmed_up": warmup is not None,
    }
    arrays |= {"usage/busy": usage.busy, "layout/pool": session.machine.pool}
    if usage.present is not None:
        arrays["usage/present"] = usage.present
    return saved, arrays


def tuner_contents(tuner: Tuner) -> dict[str, Any]:
    """What a warm-up that is under way was to find, and what it has learnt so far."""
    memory = {name: to_json(value) for name, value in tuner.memory().items() if name != "rounds"}
    return {
        "wishes": {name: to_json(value) for name, value in tuner.wishes._asdict().items()},
        "length": tuner.length,
        "memory": memory | {"rounds": [_round_to_json(part) for part in tuner.rounds]},
    }


def tuner_in(checkpoint: Checkpoint, problem: Problem, processors: int, **instead: Any) -> Tuner:
    """A tuner that goes on after the rounds of a stored one."""
    said = checkpoint.notes["tuner"]
    wishes = {
        name: _stored_or_own(value, instead.get(name), name)
        for name, value in said["wishes"].items()
    }
    seed = int(checkpoint.description["seed"])
    tuner = Tuner(problem, Wishes(**wishes), processors, seed, said["length"])
    memory = {
        name: _stored_or_own(value, instead.get(name), name)
        for name, value in said["memory"].items()
        if name != "rounds"
    }
    rounds = [_round_from_json(part) for part in said["memory"]["rounds"]]
    tuner.recall(memory | {"rounds": rounds})
    return tuner


def usage_in(checkpoint: Checkpoint) -> Usage:
    """How the processors were used up to a checkpoint."""
    said, arrays = checkpoint.notes["usage"], checkpoint.arrays
    return Usage(
        StopReason[said["stopped"]],
        float(said["elapsed"]),
        arrays["usage/busy"],
        None,
        arrays.get("usage/present"),
        Overhead(*said["overhead"]),
    )


def with_earlier(usage: Usage, earlier: Usage | None) -> Usage:
    """One sitting after another, taken together."""
    if earlier is None:
        return usage
    size = max(usage.busy.size, earlier.busy.size)
    present = None
    fixed = usage.present is None and earlier.present is None
    if not (fixed and usage.busy.size == earlier.busy.size):
        present = _padded(_present(usage), size) + _padded(_present(earlier), size)
    overhead = Overhead(*map(sum, zip(usage.overhead, earlier.overhead, strict=True)))
    return usage._replace(
        elapsed=usage.elapsed + earlier.elapsed,
        busy=_padded(usage.busy, size) + _padded(earlier.busy, size),
        present=present,
        overhead=overhead,
    )


def tuned_in(checkpoint: Checkpoint, **instead: Any) -> Tuned:
    """The settings of a stored run; what is given fills in what is no part of a store."""
    said = checkpoint.notes["settings"]
    return Tuned(
        **{
            name: _stored_or_own(said[name], instead.get(name), name)
            for name in ("ladder", "kernel", "schedule", "pools")
        }
    )


def layout_in(checkpoint: Checkpoint, tuned: Tuned, processors: int) -> Layout:
    """The chains as they stood, served by other processors perhaps."""
    ladder: Ladder = tuned.ladder
    machine_pool = checkpoint.arrays["layout/pool"]
    before = int(checkpoint.notes["backend"]["processors"])
    layout = tuned.pools.layout(ladder, before)
    pools = int(machine_pool.max()) + 1
    return layout._replace(pool=machine_pool, served=np.arange(processors) % pools)


def stored_run(store: DiskStore, checkpoint: Checkpoint) -> Run:
    """A run to look at: everything but what needs the problem itself."""
    said, arrays = checkpoint.notes, checkpoint.arrays
    tuned = _tuned_to_read(checkpoint)
    problem = StoredProblem(store.description["problem"], store.width)
    backend = said["backend"]
    settings = Settings(
        problem=problem,  # type: ignore[arg-type]
        budget=float(said["settings"]["budget"]),
        warmup=float(said["settings"]["warmup"]),
        ladder=tuned.ladder,
        kernel=tuned.kernel,
        schedule=tuned.schedule,
        pools=tuned.pools,
        on=StoredBackend(  # type: ignore[arg-type]
            backend["name"], backend["processors"], backend["time_unit"]
        ),
        seed=int(store.description["seed"]),
    )
    layout = layout_in(checkpoint, tuned, backend["processors"])
    plan = tuned.schedule.plan()
    machine = build_machine(
        plan, tuned.ladder, layout, problem.dimension, store.width, int(said["epoch"])
    )
    keep, thin = store.description["keep"], int(store.description["thin"])
    statistics = statistics_in(said["session"])
    info_length = OWN + len(statistics)
    record = build_record(tuned.ladder, layout, store.width, keep, 0, thin, info_length)
    if "tuner" not in said:  # draws of the warm-up are none of the posterior
        saved = with_own_places(session_snapshot(checkpoint), statistics)
        restore_tables(machine, record, saved.arrays)
    usage = usage_in(checkpoint)
    return Run(
        settings, machine, record, store, usage, arrays["tuning"],
        warmup_in(store, said), arrays.get("first_states"), statistics,
    )  # fmt: skip


def warmup_in(store: DiskStore, said: dict[str, Any]) -> WarmUp | None:
    """What is kept of the warm-up."""
    rounds = said["tuner"]["memory"]["rounds"] if "tuner" in said else said["rounds"]
    if not rounds and not said["warmed_up"]:
        return None
    rounds = [_round_from_json(part) for part in rounds]
    nothing = np.empty((0, store.width))
    draws = [store.warmup(0)]
    return WarmUp(None, nothing, rounds, draws, None, int(said["epoch"]))  # type: ignore[arg-type]


def session_snapshot(checkpoint: Checkpoint) -> Snapshot:
    """The part of a checkpoint that a session is brought back from."""
    return Snapshot(checkpoint.notes["session"], checkpoint.arrays)


def _tuned_to_read(checkpoint: Checkpoint) -> Tuned:
    """Settings to look at. A kernel or a rule of the user's own is not needed for that."""
    said = checkpoint.notes["settings"]
    kernel = said["kernel"]
    shown = kernel["foreign"] if _is_foreign(kernel) else from_json(kernel, "kernel")
    return Tuned(
        from_json(said["ladder"], "ladder"),
        shown,
        from_json(_without_foreign(said["schedule"]), "schedule"),
        from_json(said["pools"], "pools"),
    )


def _without_foreign(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: _without_foreign(part) for name, part in value.items() if not _is_foreign(part)}


def _stored_or_own(said: Any, given: Any, name: str) -> Any:
    """A setting as it was stored; the parts that are the user's own, and only they, as given."""
    if given is None:
        return from_json(said, name)
    if _is_foreign(said):
        return given
    parts = said.get("of", {}) if isinstance(said, dict) else {}
    own = {part: getattr(given, part, None) for part in parts if _is_foreign(parts[part])}
    if not own or type(given).__name__ != said["made"]:
        raise InputError(
            f"this run goes on with the {name} that it began with, {_shown(said)}, got {given!r}: "
            f"leave out {name}=..., which is for one of your own"
        )
    stored = {part: from_json(parts[part], name) for part in parts if part not in own}
    return type(given)(**own, **stored)


def _is_foreign(value: Any) -> bool:
    return isinstance(value, dict) and "foreign" in value


def _shown(said: Any) -> str:
    return repr(from_json(_without_foreign(said), "setting"))


def _round_to_json(part: Round) -> dict[str, Any]:
    return {name: to_json(value) for name, value in part._asdict().items()}


def _round_from_json(said: dict[str, Any]) -> Round:
    return Round(**{name: from_json(value, name) for name, value in said.items()})


def _present(usage: Usage) -> Floats:
    if usage.present is not None:
        return usage.present
    return np.full(usage.busy.size, usage.elapsed)


def _padded(values: Floats, size: int) -> Floats:
    return np.pad(values, (0, size - values.size))
