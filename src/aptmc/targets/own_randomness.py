"""Does a compiled function draw from a generator that it was not given?

Inside compiled code `np.random` and `random` are generators of numba's own, one in each thread,
which no key of a move reaches: its draws could not be computed again. So whoever uses them is
refused, before anything is computed.
"""

from __future__ import annotations

import dis
import random
from collections.abc import Iterator
from types import BuiltinMethodType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from aptmc.compiled import is_compiled
from aptmc.errors import InputError

_LOADS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF"}
_ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD"}
_OWNERS = (np.random.mtrand._rand, random.seed.__self__)  # type: ignore[attr-defined]


def check_randomness(*functions: object) -> None:
    """Refuse compiled functions that draw from np.random or random."""
    for function in functions:
        found = next(_drawing(function, set()), None)
        if found is not None:
            name, drawn = found
            raise InputError(
                f"{name} is compiled and draws from {drawn}, which in compiled code is a generator "
                "of numba's own that cannot be seeded for each move: draw from the generator that "
                "is given, rng.normal(...) say, or leave out @njit"
            )


def _drawing(function: Any, seen: set[int]) -> Iterator[tuple[str, str]]:
    """The names of functions that draw, among this one and those that it calls, and from what."""
    source = function.py_func if is_compiled(function) else function
    if not isinstance(source, FunctionType) or id(source) in seen:
        return
    seen.add(id(source))
    around = _surroundings(source)
    for code in _codes(source.__code__):
        before: Any = None
        for step in dis.get_instructions(code):
            if step.opname in _LOADS:
                before = around.get(step.argval)
            elif step.opname in _ATTRIBUTES and isinstance(before, ModuleType):
                before = getattr(before, step.argval, None)
            elif step.opname not in {"CACHE", "PUSH_NULL"}:
                before = None
            if _is_shared(before):
                yield source.__name__, f"{_words(before)}"
                return
    for called in around.values():
        if is_compiled(called):
            yield from _drawing(called, seen)


def _surroundings(source: FunctionType) -> dict[str, Any]:
    """What a function finds by name outside itself."""
    names = {name for code in _codes(source.__code__) for name in code.co_names}
    found = {name: value for name, value in source.__globals__.items() if name in names}
    for name, cell in zip(source.__code__.co_freevars, source.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not yet defined
            continue
    return found


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _is_shared(value: Any) -> bool:
    """Whether it is a function of a generator that belongs to the whole process."""
    is_method = isinstance(value, BuiltinMethodType | MethodType)
    return is_method and any(value.__self__ is owner for owner in _OWNERS)


def _words(function: Any) -> str:
    module = "np.random" if function.__self__ is _OWNERS[0] else "random"
    return f"{module}.{function.__name__}"
