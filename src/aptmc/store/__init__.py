"""Stores: what is kept of a run."""

from aptmc.store.memory import Draws, MemoryStore, joined

__all__ = ["Draws", "MemoryStore", "joined"]
