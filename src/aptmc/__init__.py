"""Anytime parallel tempering: hard posteriors inside a wall-clock budget.

Names are imported when they are first used, so that `import aptmc` is instant.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from aptmc.__about__ import __version__

if TYPE_CHECKING:
    from aptmc.backends import Dask, Futures, InProcess, Lanes, Processes, Ray, VirtualTime
    from aptmc.errors import (
        AptmcError,
        ExchangeFailed,
        InputError,
        MoveFailed,
        RunFailed,
        StopReason,
        StoreDamaged,
        StoreFailed,
        WorkerDied,
    )
    from aptmc.exchange import (
        Alternating,
        BetweenPools,
        NeighbouringRungs,
        OneRandomPair,
        RandomParity,
        Reassignment,
        Rule,
        RungParity,
    )
    from aptmc.frontends.numpyro import from_numpyro
    from aptmc.frontends.pymc import from_pymc
    from aptmc.frontends.pypesto import from_pypesto
    from aptmc.frontends.stan import from_stan
    from aptmc.kernels import (
        DifferentialEvolution,
        EllipticalSlice,
        Hmc,
        Kernel,
        Mala,
        Mixture,
        Nuts,
        OneHit,
        OwnMove,
        RandomWalk,
        ReversibleJump,
        Slice,
    )
    from aptmc.keys import Key
    from aptmc.ladder import AutoLadder, Ladder
    from aptmc.planning import Prediction, Predictions, plan
    from aptmc.pools import Paired, Partitioned, Shared
    from aptmc.problem import Abc, Power, Prior, Tempered, Variable, given, iid, nested_prior
    from aptmc.rejection_sampling import rejection
    from aptmc.result.run import Run
    from aptmc.sampling import Effective, RHat, RunHandle, open, replay, resume, sample, start
    from aptmc.schedule import Anytime, Schedule, Synchronous, Uncorrected

_HOME = {
    "backends": ("Dask", "Futures", "InProcess", "Lanes", "Processes", "Ray", "VirtualTime"),
    "errors": (
        "AptmcError",
        "ExchangeFailed",
        "InputError",
        "MoveFailed",
        "RunFailed",
        "StopReason",
        "StoreDamaged",
        "StoreFailed",
        "WorkerDied",
    ),
    "exchange": (
        "Alternating",
        "NeighbouringRungs",
        "BetweenPools",
        "OneRandomPair",
        "RandomParity",
        "Reassignment",
        "Rule",
        "RungParity",
    ),
    "frontends.numpyro": ("from_numpyro",),
    "frontends.pymc": ("from_pymc",),
    "frontends.pypesto": ("from_pypesto",),
    "frontends.stan": ("from_stan",),
    "kernels": (
        "DifferentialEvolution",
        "EllipticalSlice",
        "Hmc",
        "Kernel",
        "Mala",
        "Mixture",
        "Nuts",
        "OneHit",
        "OwnMove",
        "RandomWalk",
        "ReversibleJump",
        "Slice",
    ),
    "keys": ("Key",),
    "ladder": ("AutoLadder", "Ladder"),
    "planning": ("Prediction", "Predictions", "plan"),
    "pools": ("Paired", "Partitioned", "Shared"),
    "problem": ("Abc", "Power", "Prior", "Tempered", "Variable", "given", "iid", "nested_prior"),
    "rejection_sampling": ("rejection",),
    "result": ("Run",),
    "sampling": ("Effective", "RHat", "RunHandle", "open", "replay", "resume", "sample", "start"),
    "schedule": ("Anytime", "Schedule", "Synchronous", "Uncorrected"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "Abc",
    "Alternating",
    "Anytime",
    "AptmcError",
    "AutoLadder",
    "BetweenPools",
    "Dask",
    "DifferentialEvolution",
    "Effective",
    "EllipticalSlice",
    "ExchangeFailed",
    "Futures",
    "Hmc",
    "InProcess",
    "InputError",
    "Kernel",
    "Key",
    "Ladder",
    "Lanes",
    "Mala",
    "Mixture",
    "MoveFailed",
    "NeighbouringRungs",
    "Nuts",
    "OneHit",
    "OneRandomPair",
    "OwnMove",
    "Paired",
    "Partitioned",
    "Power",
    "Prediction",
    "Predictions",
    "Prior",
    "Processes",
    "RHat",
    "RandomParity",
    "RandomWalk",
    "Ray",
    "Reassignment",
    "ReversibleJump",
    "Rule",
    "Run",
    "RunFailed",
    "RunHandle",
    "RungParity",
    "Schedule",
    "Shared",
    "Slice",
    "StopReason",
    "StoreDamaged",
    "StoreFailed",
    "Synchronous",
    "Tempered",
    "Uncorrected",
    "Variable",
    "VirtualTime",
    "WorkerDied",
    "__version__",
    "from_numpyro",
    "from_pymc",
    "from_pypesto",
    "from_stan",
    "given",
    "iid",
    "nested_prior",
    "open",
    "plan",
    "rejection",
    "replay",
    "resume",
    "sample",
    "start",
]


_SUBMODULES = ("distance", "models", "plots")


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f"aptmc.{name}")
    if name not in _MODULE_OF:
        words = f"module 'aptmc' has no attribute {name!r}"
        # With name and object Python says which name was meant.
        raise AttributeError(words, name=name, obj=sys.modules[__name__])
    return getattr(import_module(f"aptmc.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_SUBMODULES])
