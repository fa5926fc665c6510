"""Independent runs on all processors. Compiled runs release the GIL, so threads are enough."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_parallel(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """The function of each item, in order. The first is computed alone: it compiles."""
    if not items:
        return []
    first = function(items[0])
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as executor:
        return [first, *executor.map(function, items[1:])]
