"""What a problem's functions can reach: variables, attributes, other functions, by their names.

Users' code is followed: what a function says by name, in itself and in all that is defined inside
it, and of users' classes and modules what some such function mentions. What libraries do is up to
them, but for what they were handed.
"""

from __future__ import annotations

import sys
import sysconfig
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache, cached_property, partial, partialmethod
from pathlib import Path
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any, final

import numpy as np

from aptmc.compiled import is_compiled

Names = tuple[str, ...]

MANY = 1000  # so many things in one list are data
PLAIN = (str, bytes, int, float, complex, bool, type(None), np.ndarray)
# Whose inside is their own business: they are made to travel.
LIBRARIES = {"numpy", "scipy", "numba", "pandas", "xarray", "torch", "jax", "jaxlib"}
PYTHONS = ("stdlib", "platstdlib")
INSTALLED = ("site-packages", "dist-packages")
WAYS_TO_SEND = ("__reduce_ex__", "__reduce__", "__getstate__")
# What Python calls without a name in the code, but not where moves are computed.
NOT_CALLED = {"__init__", "__new__", "__repr__", "__str__", "__del__", "__init_subclass__"}


@final
class Search:
    """Goes from the parts of a problem to whatever they can reach, each once."""

    def __init__(self) -> None:
        self._seen: dict[int, Any] = {}  # kept, so that nobody else is given their identities
        # A name that a function mentions may be an attribute of whatever it is handed, so classes
        # are looked at again with each name that was not known before.
        self._mentioned: set[str] = set()
        self._classes: list[tuple[Names, type, set[str]]] = []

    def all_from(self, value: Any) -> Iterator[tuple[Names, Any]]:
        """What is within reach, with the names that lead there."""
        yield from self._follow(value, ())
        pending = True
        while pending:
            pending = False
            for path, kind, asked in list(self._classes):
                new = self._mentioned - asked
                asked |= new
                pending |= bool(new)
                for name, member in _members(kind, new):
                    yield from self._follow(member, (*path, name))

    def _follow(self, value: Any, path: Names) -> Iterator[tuple[Names, Any]]:
        if isinstance(value, PLAIN) or id(value) in self._seen:
            return
        self._seen[id(value)] = value
        if isinstance(value, type):
            self._look_into(value, path)
            return
        yield path, value
        if isinstance(value, FunctionType):
            if _package(value.__globals__.get("__name__")) != "aptmc":
                path = path if path[-1:] == (value.__name__,) else (*path, value.__name__)
            if is_users(value):
                self._mentioned |= names_in(value.__code__)
        else:
            self._look_into(type(value), path)
        for name, one in inside(value):
            yield from self._follow(one, (*path, name) if name else path)

    def _look_into(self, kind: type, path: Names) -> None:
        if is_users(kind) and all(kind is not known for _, known, _ in self._classes):
            self._classes.append((path, kind, set()))
            self._mentioned |= {
                name for base in kind.__mro__ for name in vars(base) if is_operator(name)
            }


def inside(value: Any) -> Iterator[tuple[str, Any]]:
    """What something holds, by name; nothing of what is not the user's or ours."""
    if is_compiled(value) or isinstance(value, (*PLAIN, type, ModuleType)):
        return  # the generators of what is compiled are compiled code's, and it can hold no files
    if isinstance(value, FunctionType):
        yield from _used_by(value)
    elif isinstance(value, MethodType):
        yield "", value.__self__
        yield "", value.__func__
    elif isinstance(value, BuiltinFunctionType):  # a method of a generator, or of a file
        if not isinstance(value.__self__, ModuleType):
            yield "", value.__self__
    elif isinstance(value, staticmethod | classmethod):
        yield "", value.__func__
    elif isinstance(value, property | cached_property):
        yield "", value.fget if isinstance(value, property) else value.func
    elif isinstance(value, partial | partialmethod):
        yield from (("", one) for one in (value.func, *value.args, *value.keywords.values()))
    elif isinstance(value, Mapping):
        if len(value) <= MANY:
            yield from ((f"[{name!r}]", one) for name, one in value.items())
    elif isinstance(value, list | tuple | set | frozenset | deque):
        if len(value) <= MANY:
            yield from (("", one) for one in value)
    elif isinstance(getattr(value, "__wrapped__", None), FunctionType):  # with a cache, say
        yield "", value.__wrapped__
    else:
        yield from _held_by(value)


def _used_by(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The variables from outside that a function uses; a library's use nothing else."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # not yet defined
            yield from _through_modules(name, cell.cell_contents, function)
    for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        yield f"a default value of {function.__name__}", value
    if not _is_open(function):
        return
    yield from ((f".{name}", value) for name, value in vars(function).items())
    for name in sorted(names_in(function.__code__)):
        # What is imported inside is known as soon as somebody has imported it.
        value = function.__globals__.get(name, sys.modules.get(name))
        yield from _through_modules(name, value, function)


def _through_modules(
    name: str, value: Any, function: FunctionType, *, passed: tuple[ModuleType, ...] = ()
) -> Iterator[tuple[str, Any]]:
    """A variable; of a module of the user's, those of its variables that the function mentions."""
    if not isinstance(value, ModuleType):
        # What other libraries do is up to them.
        if not isinstance(value, FunctionType) or is_users(value) or _are_related(value, function):
            yield name, value
    elif is_users(value) and value not in passed:
        variables = vars(value)
        for inner in sorted(names_in(function.__code__) & variables.keys()):
            yield from _through_modules(inner, variables[inner], function, passed=(*passed, value))


def _are_related(one: FunctionType, other: FunctionType) -> bool:
    return _package(one.__module__) == _package(other.__module__)


def _held_by(value: Any) -> Iterator[tuple[str, Any]]:
    """What an object takes along."""
    kind = type(value)
    package = _package(kind.__module__)
    if package == "scipy":  # a distribution may have a generator of its own
        with suppress(Exception):
            yield ".random_state", value.random_state
    if package in LIBRARIES | {"builtins", "_io"}:
        return
    if package == "aptmc":
        yield from (("", one) for _, one in _attributes(value))
        return
    if isinstance(vars(kind).get("__call__"), FunctionType):
        yield "", vars(kind)["__call__"]
    if all(getattr(kind, way) is getattr(object, way) for way in WAYS_TO_SEND):
        yield from ((f".{name}", one) for name, one in _attributes(value))
    elif is_users(kind):  # which says what is sent
        with suppress(Exception):  # as will be told when it is
            yield f"an attribute of {kind.__name__}", value.__reduce_ex__(4)[1:3]


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """Those in its dictionary, and those in slots."""
    yield from getattr(value, "__dict__", {}).items()
    for base in type(value).__mro__:
        for name, slot in vars(base).items():
            if isinstance(slot, MemberDescriptorType) and name != "__weakref__":
                with suppress(AttributeError):  # it was never set
                    yield name, slot.__get__(value)


def is_operator(name: str) -> bool:
    """Whether Python calls what a class has by this name without a name in the code."""
    return name.startswith("__") and name.endswith("__") and name not in NOT_CALLED


def _members(kind: type, names: set[str]) -> Iterator[tuple[str, Any]]:
    """What a class of the user's has by these names."""
    for base in kind.__mro__:
        if is_users(base):
            for name, member in vars(base).items():
                if name in names:
                    yield f".{name}", member


def names_in(code: CodeType) -> set[str]:
    """All names that a function mentions, itself or in what is defined inside it."""
    inner = (names_in(one) for one in code.co_consts if isinstance(one, CodeType))
    return set(code.co_names).union(*inner)


def is_users(value: FunctionType | ModuleType | type) -> bool:
    """Whether something is the user's own, and neither Python's nor of an installed library."""
    name, file = _where(value)
    return name == "__main__" or not (_is_shut(name, file) or {*INSTALLED} & set(Path(file).parts))


def _is_open(function: FunctionType) -> bool:
    """Whether one looks into a function, or leaves its variables to those who wrote it."""
    return not _is_shut(*_where(function))


def _where(value: FunctionType | ModuleType | type) -> tuple[str, str]:
    """In which module something is, and in which file; in none, if it is not known."""
    if isinstance(value, FunctionType):
        return value.__globals__.get("__name__") or "", value.__code__.co_filename
    module = value if isinstance(value, ModuleType) else sys.modules.get(value.__module__)
    return getattr(module, "__name__", ""), getattr(module, "__file__", None) or ""


@cache
def _is_shut(module: str, file: str) -> bool:
    if module == "__main__":
        return False
    if _package(module) in LIBRARIES | {"aptmc"} or not file or file.startswith("<frozen "):
        return True
    path = Path(file)
    is_pythons = any(path.is_relative_to(sysconfig.get_path(name)) for name in PYTHONS)
    return is_pythons and not {*INSTALLED} & set(path.parts)


def _package(module: str | None) -> str:
    return (module or "").partition(".")[0]
