"""Worker processes on this machine."""

from aptmc.backends.processes.backend import Processes

__all__ = ["Processes"]
