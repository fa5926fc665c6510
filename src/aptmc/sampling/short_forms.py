"""What may be said for short: a list for a ladder, a number for processes, a name for a kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any

import numpy as np

from aptmc.backends import Backend, InProcess, Lanes, Processes
from aptmc.errors import InputError
from aptmc.exchange import Rule
from aptmc.kernels import (
    DifferentialEvolution,
    EllipticalSlice,
    Hmc,
    Kernel,
    Mala,
    Nuts,
    OneHit,
    RandomWalk,
    Slice,
)
from aptmc.ladder import AutoLadder, Ladder
from aptmc.pools import Paired, Partitioned, Pools, Shared
from aptmc.problem import Problem
from aptmc.schedule import Anytime, Schedule, Synchronous

# Those that learn all that they need to know, by their names without capitals and dashes.
KERNELS: Mapping[str, Callable[[], Kernel]] = {
    "randomwalk": lambda: RandomWalk("auto"),
    "slice": lambda: Slice("auto"),
    "onehit": lambda: OneHit("auto"),
    "differentialevolution": DifferentialEvolution,
    "ellipticalslice": EllipticalSlice,
    "mala": Mala,
    "hmc": Hmc,
    "nuts": Nuts,
}
BACKENDS: Mapping[str, Callable[[], Backend]] = {
    "processes": Processes,
    "inprocess": InProcess,
    "lanes": Lanes,
}
# What stands for an engine, which has to be named.
ENGINES = {
    "dask": "Dask(client)",
    "mpi": "Futures(MPIPoolExecutor(), workers=ranks - 1)",
    "ray": "Ray()",
    "threads": "Futures(ThreadPoolExecutor(4), workers=4)",
}
SCHEDULES: Mapping[str, Callable[[], Schedule]] = {"anytime": Anytime, "synchronous": Synchronous}
POOLS: Mapping[str, Callable[[], Pools]] = {
    "shared": Shared,
    "partitioned": Partitioned,
    "paired": Paired,
}


def ladder_from(said: Any, problem: Problem) -> Ladder | AutoLadder:
    """A list of levels is a ladder of the kind that the problem stands on, and 4 one of 4 rungs."""
    if isinstance(said, str) and said == "auto":
        return AutoLadder()
    if is_number(said) and problem.ladder_kind == "powers":
        return Ladder.powers(int(said))
    if _is_listed(said):
        make = Ladder.powers if problem.ladder_kind == "powers" else Ladder.tolerances
        return make(list(said))
    if isinstance(said, Ladder | AutoLadder):
        return said
    if callable(said):
        raise InputError(f"ladder must be an aptmc Ladder, got {said!r}: call it")
    example = "[1, 0.5, 0.1]" if problem.ladder_kind == "powers" else "[0.5, 1, 2]"
    raise InputError(
        f'ladder must be an aptmc Ladder, "auto" or a list, got {said!r}: use '
        f"ladder=aptmc.Ladder.{problem.ladder_kind}({example}), which ladder={example} stands for, "
        "or leave it out to have one found"
    )


def _is_listed(said: Any) -> bool:
    """Whether it is an ordered list of something, of whatever kind: a range, a Series."""
    return isinstance(said, Iterable) and not isinstance(said, str | bytes | Mapping | Set)


def backend_from(said: Any) -> Backend | None:
    """4 are four processes here."""
    if is_number(said):
        return Processes(int(said))
    backend: Backend | None = _named("on", said, Backend | None, BACKENDS, "aptmc.Processes(4)")
    return backend


def kernel_from(said: Any) -> Kernel:
    """A name stands for the kernel that learns all that it needs to know."""
    kernel: Kernel = _named("kernel", said, Kernel, KERNELS, "aptmc.RandomWalk(0.5)")
    return kernel


def schedule_from(said: Any) -> Schedule | None:
    """The same for a schedule."""
    schedule: Schedule | None = _named(
        "schedule", said, Schedule | None, SCHEDULES, "aptmc.Anytime()"
    )
    return schedule


def pools_from(said: Any) -> Pools | None:
    """The same for pools."""
    pools: Pools | None = _named("pools", said, Pools | None, POOLS, "aptmc.Shared(2)")
    return pools


def is_number(said: Any) -> bool:
    """Whether somebody gave a whole number; True and False are none."""
    return isinstance(said, int | np.integer) and not isinstance(said, bool)


def _named(
    argument: str, said: Any, kind: Any, known: Mapping[str, Callable[[], Any]], example: str
) -> Any:
    if isinstance(said, kind):
        return said
    if isinstance(said, str):
        plain = said.lower().replace("-", "").replace("_", "").replace(" ", "")
        if plain in known:
            return known[plain]()
    name = {"on": "Backend"}.get(argument, argument.capitalize())
    remedy = f"use {argument}={example}, say"
    if argument == "schedule" and isinstance(said, Rule):
        remedy = f"give it to one, schedule=aptmc.Anytime(exchange={said!r})"
    elif argument == "kernel" and callable(said) and not isinstance(said, type):
        remedy = "to have a function of your own make the moves, kernel=aptmc.OwnMove(function)"
    elif argument == "on" and hasattr(said, "submit"):
        remedy = "give it to one, on=aptmc.Futures(executor, workers=4)"
    elif argument == "on" and isinstance(said, str) and said.lower() in ENGINES:
        remedy = f"use on=aptmc.{ENGINES[said.lower()]}"
    elif isinstance(said, type) and issubclass(said, Backend | Kernel | Schedule | Pools):
        remedy = f"call it, {argument}=aptmc.{said.__name__}(...)"
    elif isinstance(said, str):
        remedy += f", or one of the names {', '.join(known)}"
    raise InputError(f"{argument} must be an aptmc {name}, got {said!r}: {remedy}")
