"""Compile functions of the library before anyone needs them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

from aptmc.compiled import AtFirstUse


def compile_ahead(functions: Iterable[AtFirstUse]) -> Iterator[AtFirstUse]:
    """Compile one after the other, those that others call first; gives each when it is ready.

    Each is on disk then, so whoever is interrupted has not worked in vain.
    """
    seen: set[int] = set()

    def look_at(function: AtFirstUse) -> Iterator[AtFirstUse]:
        if id(function) in seen:
            return
        seen.add(id(function))
        source = function.py_func
        for name in source.__code__.co_names:
            called = source.__globals__.get(name)
            if isinstance(called, AtFirstUse):
                yield from look_at(called)
        if not function.is_inlined:
            function.make_ready()
            yield function

    for function in functions:
        yield from look_at(function)


def all_functions() -> list[AtFirstUse]:
    """All functions of the library that are kept on disk."""
    import aptmc

    found = {}
    for info in pkgutil.walk_packages(aptmc.__path__, "aptmc."):
        if not info.name.endswith("__main__"):
            for function in _functions_in(importlib.import_module(info.name)):
                if not function.is_inlined:
                    found[id(function)] = function
    return list(found.values())


def name_of(function: AtFirstUse) -> str:
    """The name by which another process finds a function of the library."""
    return f"{function.py_func.__module__}:{function.py_func.__qualname__}"


def found_by_name(name: str) -> AtFirstUse:
    """The function of this name. A generator has another name than its source."""
    module = name.partition(":")[0]
    for function in _functions_in(importlib.import_module(module)):
        if name_of(function) == name:
            return function
    raise LookupError(f"there is no compiled function {name}")


def _functions_in(module: ModuleType) -> Iterator[AtFirstUse]:
    """Those that are defined in a module, or in a class of it."""
    holders: list[Any] = [module, *(one for one in vars(module).values() if isinstance(one, type))]
    for holder in holders:
        for held in vars(holder).values():
            function = getattr(held, "__func__", held)
            if isinstance(function, AtFirstUse) and function.py_func.__module__ == module.__name__:
                yield function
