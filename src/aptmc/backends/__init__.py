"""Backends: who computes the moves.

Each is imported when it is first used: a worker has no need of any.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aptmc.backends.base import Backend
    from aptmc.backends.cluster.dask import Dask
    from aptmc.backends.cluster.futures import Futures
    from aptmc.backends.cluster.ray import Ray
    from aptmc.backends.in_process import InProcess
    from aptmc.backends.lanes.backend import Lanes
    from aptmc.backends.processes.backend import Processes
    from aptmc.backends.virtual.backend import VirtualTime

_HOME = {
    "Backend": "base",
    "Dask": "cluster.dask",
    "Futures": "cluster.futures",
    "InProcess": "in_process",
    "Lanes": "lanes.backend",
    "Processes": "processes.backend",
    "Ray": "cluster.ray",
    "VirtualTime": "virtual.backend",
}
__all__ = ["Backend", "Dask", "Futures", "InProcess", "Lanes", "Processes", "Ray", "VirtualTime"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'aptmc.backends' has no attribute {name!r}")
    return getattr(import_module(f"aptmc.backends.{_HOME[name]}"), name)
