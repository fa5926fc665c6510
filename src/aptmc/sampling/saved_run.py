"""A run as a checkpoint, and back."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from aptmc.backends import Backend
from aptmc.errors import InputError, MoveFailed, StopReason
from aptmc.keys import Key
from aptmc.pools import Groups, Layout
from aptmc.problem import Problem
from aptmc.problem.prior_shape import prior_shapes
from aptmc.problem.prior_shape import to_notes as shapes_to_notes
from aptmc.result.archive import (
    describe_backend,
    describe_problem,
    from_json,
    to_json,
    versions,
)
from aptmc.result.prior_sketch import sketches_of, to_notes
from aptmc.sampling.own_parts import stored_or_own
from aptmc.session.descent import Reached
from aptmc.session.orders import Order
from aptmc.session.session import Overhead, Session, Usage
from aptmc.session.snapshot import Arrays, Snapshot, reached_in, snapshot
from aptmc.session.start_up import Spent
from aptmc.settings import Settings, ToFind
from aptmc.store import Checkpoint, DiskStore
from aptmc.warmup import Round, Tuner, WarmUp

# The settings that a warm-up may find.
TUNED = ("ladder", "kernel", "schedule", "pools")


def description(settings: Settings) -> dict[str, Any]:
    """What never changes in a run."""
    return {
        "versions": versions(),
        "problem": describe_problem(settings.problem)
        | {
            "prior": to_notes(sketches_of(settings.problem)),
            "prior_shapes": shapes_to_notes(prior_shapes(settings.problem)),
        },
        "width": settings.problem.width,
        "seed": settings.seed,
        "keep": settings.keep,
        "thin": settings.thin,
        "log_events": settings.log_events,
        "save_every": settings.save_every,
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
            "settling": settings.settling,
            "chosen": settings.chosen,
            "never_waits": settings.schedule.never_waits,
            **{name: to_json(getattr(settings, name)) for name in TUNED},
        },
        "backend": describe_backend(settings.on),
        "epoch": session.machine.epoch,
        "session": notes,
        "usage": {
            "elapsed": usage.elapsed,
            "stopped": usage.stopped.name,
            "overhead": list(usage.overhead),
            "start_up": [list(part) for part in usage.start_up],
            "others": usage.others,
            "repeats_itself": usage.repeats_itself,
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
        "to_find": {
            part.name: to_json(getattr(tuner.settings.to_find, part.name))
            for part in fields(ToFind)
        },
        "memory": memory | {"rounds": [_round_to_json(part) for part in tuner.rounds]},
    }


def tuner_in(checkpoint: Checkpoint, problem: Problem, on: Backend, **own: Any) -> Tuner:
    """A tuner that goes on after the rounds of a stored one.

    :param own: settings of the user's own, by name
    """
    said = checkpoint.notes["tuner"]
    if "to_find" not in said:
        raise InputError(
            "this run was stopped in a warm-up by aptmc "
            f"{checkpoint.description['versions']['aptmc']}, which this version cannot go on with: "
            "go on with that version, or begin anew"
        )
    own_to_find = {"kernel": own.get("kernel"), "deadlines": own.get("schedule")}
    asked = {
        name: stored_or_own(value, own_to_find.get(name), name)
        for name, value in said["to_find"].items()
    }
    tuner = Tuner(settings_in(checkpoint, problem, on, **own).found(to_find=ToFind(**asked)))
    memory = {
        name: stored_or_own(value, own.get(name), name)
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
        tuple(Spent(*part) for part in said.get("start_up", ())),
        others=float(said.get("others", 0.0)),
        repeats_itself=bool(said.get("repeats_itself", False)),
    )


def settings_in(checkpoint: Checkpoint, problem: Problem, on: Backend, **own: Any) -> Settings:
    """The settings of a stored run; what is given fills in what is no part of a store."""
    said, described = checkpoint.notes["settings"], checkpoint.description
    return Settings(
        problem=problem,
        on=on,
        budget=float(said["budget"]),
        warmup=float(said["warmup"]),
        settling=int(said.get("settling", 0)),
        chosen=said.get("chosen", ""),  # none in stores of the time before
        seed=int(described["seed"]),
        keep=described["keep"],
        thin=int(described["thin"]),
        log_events=described["log_events"],
        save_every=described["save_every"],
        **{name: stored_or_own(said[name], own.get(name), name) for name in TUNED},
    )


def failed_move(usage: Usage) -> Order | None:
    """The move that ended a run, complete, if one did."""
    failure = usage.failure
    return failure.order if isinstance(failure, MoveFailed) else None


def move_to_json(order: Order) -> dict[str, Any]:
    """A move, so that it can be computed again."""
    return {name: to_json(value) for name, value in order._asdict().items()}


def failed_move_in(checkpoint: Checkpoint) -> Order | None:
    """The move that ended a stored run."""
    said = checkpoint.notes.get("failed_move")
    if said is None:
        return None
    parts = {name: from_json(value, name) for name, value in said.items()}
    return Order(**parts | {"key": Key(*parts["key"]), "level": float(parts["level"])})


def layout_in(checkpoint: Checkpoint, settings: Settings, processors: int) -> Layout:
    """The chains as they stood, served by other processors perhaps."""
    machine_pool = checkpoint.arrays["layout/pool"]
    before = int(checkpoint.notes["backend"]["processors"])
    layout = settings.pools.layout(settings.ladder, before)
    if isinstance(settings.pools, Groups):  # of lanes, which are as many as there were
        return layout
    pools = int(machine_pool.max()) + 1
    return layout._replace(pool=machine_pool, served=np.arange(processors) % pools)


def warmup_in(store: DiskStore, said: dict[str, Any]) -> WarmUp | None:
    """What is kept of the warm-up."""
    rounds = said["tuner"]["memory"]["rounds"] if "tuner" in said else said["rounds"]
    if not rounds and not said["warmed_up"]:
        return None
    rounds = [_round_from_json(part) for part in rounds]
    nothing = np.empty((0, store.width))
    draws = [store.warmup(0)]
    return WarmUp(None, nothing, rounds, draws, None, int(said["epoch"]))  # type: ignore[arg-type]


def reached_so_far(said: dict[str, Any]) -> Reached | None:
    """How far down a stored run came, as far as that is known."""
    if "tuner" in said:
        return Reached.from_notes(from_json(said["tuner"]["memory"].get("reached"), "tolerance"))
    return reached_in(said["session"])


def session_snapshot(checkpoint: Checkpoint) -> Snapshot:
    """The part of a checkpoint that a session is brought back from."""
    return Snapshot(checkpoint.notes["session"], checkpoint.arrays)


def _round_to_json(part: Round) -> dict[str, Any]:
    return {name: to_json(value) for name, value in part._asdict().items()}


def _round_from_json(said: dict[str, Any]) -> Round:
    return Round(**{name: from_json(value, name) for name, value in said.items()})
