"""Backends: who computes the moves."""

from aptmc.backends.base import Backend
from aptmc.backends.cluster.dask import Dask
from aptmc.backends.cluster.futures import Futures
from aptmc.backends.cluster.ray import Ray
from aptmc.backends.in_process import InProcess
from aptmc.backends.processes.backend import Processes
from aptmc.backends.virtual.backend import VirtualTime

__all__ = ["Backend", "Dask", "Futures", "InProcess", "Processes", "Ray", "VirtualTime"]
