"""Virtual time: a simulated machine, exact and repeatable."""

from aptmc.backends.virtual.backend import VirtualTime

__all__ = ["VirtualTime"]
