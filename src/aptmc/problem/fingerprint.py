"""What a problem is made of, as short checksums: has anything changed since a run was stored?

Functions are told apart by what they do (their bytecode, constants, closures and the functions that
they call), not by where they stand or how they are commented. Nothing is executed or stored but the
checksums.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from aptmc.compiled import is_compiled, source_of

# What a problem has beside what defines it.
INCIDENTAL = {"compiled_moves", "target"}
PLAIN = (bool, int, float, complex, str, bytes, type(None))
DIGITS = 16
DEEPEST = 20


def fingerprint(problem: object) -> dict[str, str]:
    """A checksum for each part of a problem, by name."""
    parts: dict[str, Any] = {}
    for name, value in vars(problem).items():
        if name in INCIDENTAL:
            continue
        if is_dataclass(value) and name == "simulator":
            parts |= {field.name: getattr(value, field.name) for field in fields(value)}
        else:
            parts[name.lstrip("_")] = value
    return {name: checksum(value) for name, value in parts.items()}


def checksum(value: Any) -> str:
    """A checksum of a function, an array, or what else a problem is made of."""
    total = hashlib.sha256()
    _add(total, value, set(), 0)
    return total.hexdigest()[:DIGITS]


def python_version() -> str:
    """The version on which checksums of functions depend."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def _add(total: Any, value: Any, seen: set[int], depth: int) -> None:
    """Add a value to a checksum. What is not known counts by its kind alone."""
    value = source_of(value) if is_compiled(value) else value
    total.update(type(value).__qualname__.encode())
    if isinstance(value, PLAIN):
        total.update(repr(value).encode())
        return
    if id(value) in seen or depth > DEEPEST:
        return
    seen = seen | {id(value)}
    if isinstance(value, np.ndarray | np.generic):
        array = np.ascontiguousarray(value)
        total.update(f"{array.dtype} {array.shape}".encode())
        if not array.dtype.hasobject:
            total.update(array.tobytes())
        return
    for part in _parts(value):
        _add(total, part, seen, depth + 1)


def _parts(value: Any) -> list[Any]:
    if isinstance(value, FunctionType):
        return _parts_of_function(value)
    if isinstance(value, CodeType):
        return [value.co_code, value.co_names, value.co_varnames, *value.co_consts]
    if isinstance(value, Mapping):
        return [part for item in value.items() for part in item]
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    if hasattr(value, "dist") and hasattr(value, "kwds"):  # a distribution of scipy.stats
        return [value.dist.name, value.args, value.kwds]
    if is_dataclass(value):
        return [getattr(value, field.name) for field in fields(value)]
    if isinstance(value, partial):
        return [value.func, value.args, value.keywords]
    if hasattr(value, "__func__"):  # a bound method
        return [value.__func__, vars(value.__self__) if hasattr(value.__self__, "__dict__") else ()]
    if callable(value) and isinstance(type(value).__call__, FunctionType):
        return [type(value).__call__, getattr(value, "__dict__", ())]
    return []


def _parts_of_function(function: FunctionType) -> list[Any]:
    cells = [] if function.__closure__ is None else function.__closure__
    closure = []
    for cell in cells:
        try:
            closure.append(cell.cell_contents)
        except ValueError:  # not filled yet
            closure.append(None)
    known = (FunctionType, np.ndarray, np.generic, *PLAIN)
    used = [
        function.__globals__[name]
        for name in _names(function.__code__)
        if name in function.__globals__
        and (
            isinstance(function.__globals__[name], known) or is_compiled(function.__globals__[name])
        )
    ]
    return [function.__code__, function.__defaults__, function.__kwdefaults__, closure, used]


def _names(code: CodeType) -> list[str]:
    """All global names in a function and in those that are defined inside it."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return [*code.co_names, *(name for part in inner for name in _names(part))]
