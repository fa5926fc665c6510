"""What is asked of a generator that belongs to the whole process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from aptmc.compiled import Words
from aptmc.global_generators.twister import Twister

WORDS = 312  # of 64 bits: the whole state of a Mersenne twister


class GlobalGenerator(ABC):
    """A generator that belongs to the whole process, or to one thread of it."""

    twister: Twister | None = None  # its memory, if it can be watched there

    @abstractmethod
    def seed(self, words: Words) -> None:
        """Begin a stream that depends on so many random words and nothing else."""

    @abstractmethod
    def is_stale(self) -> bool:
        """Whether it has to be seeded before the next move, even if nobody is known to use it."""

    @abstractmethod
    def was_used(self) -> bool:
        """Whether anybody has drawn from it, or seeded it, since we have."""

    @abstractmethod
    def state(self) -> Any:
        """All that `restore` needs."""

    @abstractmethod
    def restore(self, state: Any) -> None:
        """Go on as if nobody had seeded it."""
