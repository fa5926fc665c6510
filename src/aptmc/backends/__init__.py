"""Backends: who computes the moves."""

from aptmc.backends.base import Backend
from aptmc.backends.cluster.futures import Futures
from aptmc.backends.in_process import InProcess
from aptmc.backends.processes import Processes
from aptmc.backends.virtual import VirtualTime

__all__ = ["Backend", "Futures", "InProcess", "Processes", "VirtualTime"]
