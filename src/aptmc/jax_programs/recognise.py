"""Is a function one of JAX? Without loading JAX: who has made one has loaded it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

LIBRARIES = {"jax", "jaxlib", "numpyro", "flax", "equinox", "diffrax", "tensorflow_probability"}
DEEPEST = 4  # functions that functions call


def is_of_jax(function: object) -> bool:
    """Whether a function is compiled by JAX, or is made of what JAX offers."""
    if "jax" not in sys.modules:
        return False
    return is_jitted(function) or any(
        _is_in_jax(found) for found in _used(function, DEEPEST, set())
    )


def is_jitted(function: object) -> bool:
    """Whether the user has said `jax.jit`."""
    return type(function).__module__.partition(".")[0] in ("jax", "jaxlib") and callable(function)


def _is_in_jax(found: Any) -> bool:
    home = found.__name__ if isinstance(found, ModuleType) else getattr(found, "__module__", None)
    if is_jitted(found):
        return True
    return isinstance(home, str) and home.partition(".")[0] in LIBRARIES


def _used(function: Any, deep: int, seen: set[int]) -> Iterator[Any]:
    """What a function, and those of the user's that it calls, find by name outside themselves."""
    if isinstance(function, partial):
        function = function.func
    if isinstance(function, MethodType):
        function = function.__func__
    if not isinstance(function, FunctionType):
        if isinstance(function, type) or not callable(function):
            return
        function = type(function).__dict__.get("__call__")
        if not isinstance(function, FunctionType):
            return
    if id(function) in seen or deep == 0:
        return
    seen.add(id(function))
    names = set(_names(function.__code__))
    around = [value for name, value in function.__globals__.items() if name in names]
    for cell in function.__closure__ or ():
        try:
            around.append(cell.cell_contents)
        except ValueError:  # not yet defined
            continue
    for value in around:
        yield value
        if isinstance(value, FunctionType | MethodType | partial):
            yield from _used(value, deep - 1, seen)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)
