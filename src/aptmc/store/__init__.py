"""Stores: what is kept of a run."""

from aptmc.store.base import Draws, Rows, Store, joined, no_draws
from aptmc.store.checkpoint import Checkpoint
from aptmc.store.disk import DiskStore
from aptmc.store.lock import being_written
from aptmc.store.memory import MemoryStore

__all__ = [
    "Checkpoint", "DiskStore", "Draws", "MemoryStore", "Rows", "Store", "being_written",
    "joined", "no_draws",
]  # fmt: skip
