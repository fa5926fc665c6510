"""What a problem's functions use that belongs to this process, and by which name.

Some things cannot be sent: a socket, a lock, a database. Others can and become something else on
the way, without a word: an open file becomes a text in memory, and a generator of random numbers
that workers have copies of draws the same in each. All of them are refused before workers start.
"""

from __future__ import annotations

import io
import random
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from types import FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import cloudpickle
import numpy as np

from aptmc.compiled import is_compiled

MANY = 1000  # so many things in one list are data
PLAIN = (str, bytes, int, float, complex, bool, type(None), np.ndarray, type, ModuleType)
# Whose inside is their own business: they are made to travel.
LIBRARIES = {"numpy", "scipy", "numba", "pandas", "xarray", "torch", "jax", "jaxlib"}
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
    seen: set[int] = set()
    return next((found for part in parts for found in _look(part, (), seen)), None)


def unsendable_in(*parts: object) -> Belonging | None:
    """What exactly it is that cannot be pickled, if it can be told."""
    seen: set[int] = set()
    for part in parts:
        for path, value in _everything(part, (), seen):
            is_it = path and not _travels(value)
            if is_it and all(_travels(inside) for _, inside in _inside(value)):
                return Belonging(path, f"{_kind(value)}, which belongs to this process")
    return None


def _look(value: Any, path: tuple[str, ...], seen: set[int]) -> Iterator[Belonging]:
    for names, found in _everything(value, path, seen):
        why = _why_not(found)
        if names and why is not None:
            yield Belonging(names, why)


def _why_not(value: Any) -> str | None:
    if isinstance(value, io.TextIOWrapper):
        if value in (sys.stdout, sys.stderr, sys.stdin, sys.__stdout__, sys.__stderr__):
            return None
        return "an open file, of which each worker would have a copy in memory"
    if isinstance(value, memoryview):
        return "a view of memory, which workers would have as plain bytes"
    # The system's own draws anew everywhere.
    if isinstance(value, DRAWING) and not isinstance(value, random.SystemRandom):
        if value is random.seed.__self__ or value is np.random.mtrand._rand:  # type: ignore[attr-defined]
            return None
        return f"{_kind(value)}, {SAME}"
    if isinstance(value, Iterator) and type(value).__module__ in {"builtins", "itertools"}:
        if type(value).__name__ == "generator":
            return "a generator, which cannot be sent"
        return f"{_kind(value)}, of which each worker would have a copy that counts on its own"
    return None


def _everything(
    value: Any, path: tuple[str, ...], seen: set[int]
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Whatever can be reached from here, each once, with the names that lead there."""
    if isinstance(value, PLAIN) or id(value) in seen:
        return
    seen.add(id(value))
    yield path, value
    if isinstance(value, FunctionType) and not (value.__module__ or "").startswith("aptmc."):
        path = path if path[-1:] == (value.__name__,) else (*path, value.__name__)
    for name, inside in _inside(value):
        yield from _everything(inside, (*path, name) if name else path, seen)


def _inside(value: Any) -> Iterable[tuple[str, Any]]:
    """What something holds, by name; nothing of what is not the user's or ours."""
    if is_compiled(value):
        return  # its generators are compiled code's, and it can hold no files
    if isinstance(value, FunctionType):
        yield from _used_by(value)
    elif isinstance(value, MethodType):
        yield "", value.__self__
        yield "", value.__func__
    elif isinstance(value, partial):
        yield from (("", one) for one in (value.func, *value.args, *value.keywords.values()))
    elif isinstance(value, Mapping) and len(value) <= MANY:
        yield from ((f"[{name!r}]", one) for name, one in value.items())
    elif isinstance(value, list | tuple | set | frozenset) and len(value) <= MANY:
        yield from (("", one) for one in value)
    elif type(value).__module__.partition(".")[0] not in LIBRARIES | {"builtins", "_io"}:
        attributes = getattr(value, "__dict__", {})
        ours = type(value).__module__.startswith("aptmc.")
        yield from (("" if ours else f".{name}", one) for name, one in attributes.items())
        if not ours and isinstance(type(value).__dict__.get("__call__"), FunctionType):
            yield "", type(value).__dict__["__call__"]


def _used_by(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The variables from outside that a function uses; the library's own use nothing else."""
    inner = f"{function.__name__}"
    package = function.__module__.partition(".")[0] if function.__module__ else ""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # not yet defined
            yield name, cell.cell_contents
    for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        yield f"a default value of {inner}", value
    if package == "aptmc" or package in LIBRARIES:
        return
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        # What other packages do is up to them.
        whose = getattr(value, "__module__", None)
        if isinstance(value, FunctionType) and (whose or "").partition(".")[0] != package:
            continue
        yield name, value


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
