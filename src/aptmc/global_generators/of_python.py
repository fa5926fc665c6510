"""Python's global generator: `random.gauss` and its like."""

from __future__ import annotations

import random
from typing import Any, final

from typing_extensions import override

from aptmc.compiled import Words
from aptmc.global_generators.generator import GlobalGenerator
from aptmc.global_generators.twister import Twister


@final
class OfPython(GlobalGenerator):
    """The hidden instance behind the functions of `random`.

    Where Python lays it out in another way than it has for decades, it is seeded as users would.
    """

    def __init__(self) -> None:
        self._instance: Any = random.seed.__self__  # type: ignore[attr-defined]
        header = object.__basicsize__
        address = id(self._instance) + header
        if type(self._instance).__basicsize__ > header + 4 * 625:
            twister = Twister(address + 4, address)
            *words, position = random.getstate()[1]
            if twister.is_at(position, words):
                self.twister = twister

    @override
    def seed(self, words: Words) -> None:
        if self.twister is None:
            random.seed(int(words[0]) << 64 | int(words[1]))
            return
        self.twister.fill(words)
        self._instance.gauss_next = None  # the second of a pair of normals

    @override
    def is_stale(self) -> bool:
        return self.twister is None or self.was_used()

    @override
    def was_used(self) -> bool:
        return self.twister is not None and not self.twister.is_as_filled()

    @override
    def state(self) -> Any:
        return random.getstate()

    @override
    def restore(self, state: Any) -> None:
        random.setstate(state)
