"""What a problem's functions use that belongs to this process, and by which name.

Some things cannot be sent: a socket, a lock, a database. Others can and become something else on
the way, without a word: an open file becomes a text in memory, and a generator of random numbers
that workers have copies of draws the same in each. All of them are refused before workers start.
"""

from __future__ import annotations

import io
import random
import sys
from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

import cloudpickle
import numpy as np

from aptmc.backends.workers.within_reach import Search, inside
from aptmc.global_generators import by_name

DRAWING = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, random.Random)


SAME = "of which each worker would have a copy and draw the same"
OPEN_INSIDE = "open it inside the function, or use on=aptmc.InProcess()"
DRAW_FROM_RNG = "draw from the generator that the function is given, or use on=aptmc.InProcess()"


class Belonging(NamedTuple):
    """Something that must not be sent."""

    path: tuple[str, ...]  # names, from the problem's function to the variable
    why: str

    @property
    def remedy(self) -> str:
        """What to do instead."""
        return DRAW_FROM_RNG if self.why.endswith(SAME) else OPEN_INSIDE

    def __str__(self) -> str:
        *holders, name = self.path
        within = f", in {' in '.join(reversed(holders))}," if holders else ""
        return f"{name}{within} is {self.why}"


def belonging_in(*parts: object) -> Belonging | None:
    """The first thing that must not be sent, if there is any."""
    search = Search()
    for path, value in chain.from_iterable(map(search.all_from, parts)):
        why = _why_not(value)
        if path and why is not None:
            return Belonging(path, why)
    return None


def unsendable_in(*parts: object) -> Belonging | None:
    """What exactly it is that cannot be pickled, if it can be told."""
    search = Search()
    for path, value in chain.from_iterable(map(search.all_from, parts)):
        is_it = path and not _travels(value)
        if is_it and all(_travels(one) for _, one in inside(value)):
            return Belonging(path, f"{_kind(value)}, which belongs to this process")
    return None


def _why_not(value: Any) -> str | None:
    if isinstance(value, io.IOBase):
        if any(value is one for one in _streams_of_python()):
            return None
        if isinstance(value, io.StringIO | io.BytesIO):
            return "a file in memory, of which each worker would have a copy"
        return "an open file, of which each worker would have a copy in memory"
    if isinstance(value, memoryview):
        return "a view of memory, which workers would have as plain bytes"
    # The system's own draws anew everywhere.
    if _draws(value) and not isinstance(value, random.SystemRandom):
        return f"{_kind(value)}, {SAME}" if by_name(value) is None else None
    if isinstance(value, Iterator) and type(value).__module__ in {"builtins", "itertools"}:
        if type(value).__name__ == "generator":
            return "a generator, which cannot be sent"
        return f"{_kind(value)}, of which each worker would have a copy that counts on its own"
    return None


def _streams_of_python() -> list[Any]:
    """What a program writes to and reads from, whoever it is that listens."""
    names = ("stdout", "stderr", "stdin", "__stdout__", "__stderr__", "__stdin__")
    streams = [getattr(sys, name) for name in names]
    return [*streams, *(getattr(stream, "buffer", None) for stream in streams)]


def _draws(value: Any) -> bool:
    """Whether something is a generator of random numbers, torch's among them."""
    kind = type(value)
    is_torchs = kind.__name__ == "Generator" and kind.__module__.partition(".")[0] == "torch"
    return is_torchs or isinstance(value, DRAWING)


def _travels(value: Any) -> bool:
    try:
        cloudpickle.dumps(value)
    except Exception:
        return False
    return True


def _kind(value: Any) -> str:
    kind = type(value)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    name = f"{module}{kind.__qualname__}"
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"
