"""Backends: who computes the moves."""

from aptmc.backends.base import Backend
from aptmc.backends.in_process import InProcess
from aptmc.backends.processes import Processes
from aptmc.backends.virtual import VirtualTime

__all__ = ["Backend", "InProcess", "Processes", "VirtualTime"]
