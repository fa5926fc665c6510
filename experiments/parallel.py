"""Independent runs on all processors. Compiled runs release the GIL, so threads are enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from aptmc.processors import processors_available

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_parallel(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """The function of each item, in order. The first is computed alone: it compiles."""
    if not items:
        return []
    first = function(items[0])
    with ThreadPoolExecutor(processors_available()) as executor:
        return [first, *executor.map(function, items[1:])]
