"""What a problem is made of, as short checksums: has anything changed since a run was stored?

Functions are told apart by what they do (their bytecode, constants, closures and what they use of
their modules), not by where they stand or how they are commented. Objects are told apart by their
attributes, or else by what they would be pickled as. Nothing is executed or stored but the
checksums. Where nothing can be told (an open file, a lock, a connection), the checksum says so: see
`is_uncertain`.
"""

from __future__ import annotations

import copyreg
import hashlib
import re
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache, cached_property, partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, final

import numpy as np

from aptmc.c_functions import content_of_pointer, is_of_c
from aptmc.compiled import is_compiled, source_of
from aptmc.problem.data.containers import content_of

# What a problem has beside what defines it.
INCIDENTAL = {
    "_twin", "_written", "compiled_moves", "data_groups", "notes", "parametrisation", "target",
    "written_in_jax",
}  # fmt: skip
PLAIN = (bool, int, float, complex, str, bytes, type(None))
# Another way of counting gives other checksums for the same problem.
VERSION = 2
DIGITS = 16
DEEPEST = 100
UNCERTAIN = "unknown: "
HEAP_TYPE = 1 << 9  # the mark of classes that were not written in C
PACKAGES = {"site-packages", "dist-packages"}


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
    count = _Count()
    count.add(value, 0)
    if count.unknown is not None:
        return f"{UNCERTAIN}{count.unknown}"
    return count.total.hexdigest()[:DIGITS]


def is_uncertain(sum_of_part: str) -> bool:
    """Whether a part holds something of which nobody can tell whether it is the same."""
    return sum_of_part.startswith(UNCERTAIN)


def uncertain_part(sum_of_part: str) -> str:
    """The kind of thing that made a checksum uncertain, for messages."""
    return sum_of_part.removeprefix(UNCERTAIN)


def python_version() -> str:
    """The version on which checksums of functions depend."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"


@final
class _Count:
    """A checksum that grows, and what has been counted so far."""

    def __init__(self) -> None:
        self.total = hashlib.sha256()
        self.seen: dict[int, int] = {}
        self.kept: list[Any] = []  # so that no two objects ever share an identity
        self.unknown: str | None = None  # the kind of the first that cannot be told apart

    def add(self, value: Any, depth: int) -> None:
        """Count a value, and all that it is made of."""
        value = source_of(value) if is_compiled(value) else value
        self.total.update(type(value).__qualname__.encode() + b"\0")
        if isinstance(value, PLAIN):
            self.total.update(repr(value).encode() + b"\0")
            return
        if id(value) in self.seen:
            self.total.update(f"again {self.seen[id(value)]}\0".encode())
            return
        if depth > DEEPEST:
            self.unknown = self.unknown or "things inside things without an end"
            return
        self.seen[id(value)] = len(self.seen)
        self.kept.append(value)
        if isinstance(value, np.ndarray | np.generic):
            array = np.ascontiguousarray(value)
            self.total.update(f"{array.dtype} {array.shape}\0".encode())
            if not array.dtype.hasobject:
                self.total.update(array.tobytes())
                return
            value = array.tolist()
        own = getattr(value, "identity", None) if is_dataclass(value) else None
        if isinstance(own, str) and is_uncertain(own):  # a checksum itself, of a model
            self.unknown = self.unknown or uncertain_part(own)
        parts = _parts(value)
        if parts is None:
            self.unknown = self.unknown or f"{type(value).__module__}.{type(value).__qualname__}"
            return
        self.total.update(f"{len(parts)}\0".encode())
        for part in parts:
            self.add(part, depth + 1)


def _parts(value: Any) -> list[Any] | None:
    """What something is made of, or None if that cannot be found out."""
    if isinstance(value, FunctionType):
        return _parts_of_function(value)
    if isinstance(value, CodeType):
        return [value.co_code, value.co_names, value.co_varnames, *value.co_consts]
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, ModuleType):
        return [value.__name__]
    if isinstance(value, BuiltinFunctionType | np.ufunc):
        return [getattr(value, "__module__", None), value.__name__]
    if is_of_c(value):
        return content_of_pointer(value)
    if isinstance(value, type):
        return _parts_of_class(value)
    content = content_of(value)
    if content is not None:
        return content
    if isinstance(value, Mapping):
        return [part for item in value.items() for part in item]
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    if hasattr(value, "dist") and hasattr(value, "kwds"):  # a distribution of scipy.stats
        return [value.dist.name, type(value.dist), value.args, value.kwds]
    if hasattr(value, "shapes") and hasattr(value, "freeze"):  # a family of them
        return [value.name, type(value)]
    if is_dataclass(value) and not isinstance(value, type):
        own = [getattr(value, field.name) for field in fields(value)]
        return [*own, *_own_code(type(value))]
    if isinstance(value, partial):
        return [value.func, value.args, value.keywords]
    if isinstance(getattr(value, "__wrapped__", None), FunctionType):  # one that remembers results
        return [type(value), value.__wrapped__]
    return _parts_of_object(value)


def _parts_of_function(function: FunctionType) -> list[Any]:
    cells = [] if function.__closure__ is None else function.__closure__
    closure = []
    for cell in cells:
        try:
            closure.append(cell.cell_contents)
        except ValueError:  # not filled yet
            closure.append(None)
    names = [name for name in _names(function.__code__) if name in function.__globals__]
    # A library is what its version says. What it uses of itself may be anything.
    used = [] if _is_installed(function) else [function.__globals__[name] for name in names]
    return [function.__code__, function.__defaults__, function.__kwdefaults__, closure, used]


def _names(code: CodeType) -> list[str]:
    """All global names in a function and in those that are defined inside it."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return [*code.co_names, *(name for part in inner for name in _names(part))]


def _parts_of_object(value: Any) -> list[Any] | None:
    """Kind, code and attributes; of others, what they would be pickled as."""
    kind = type(value)
    attributes = getattr(value, "__dict__", None)
    own_ways = {"__reduce__", "__reduce_ex__", "__getstate__"} & _defined(kind)
    slots = [] if own_ways else copyreg._slotnames(kind)  # type: ignore[attr-defined]
    if not own_ways and (attributes is not None or slots):
        # What is computed when it is first asked for is not part of what an object is.
        state = {
            name: part
            for name, part in (attributes or {}).items()
            if not isinstance(getattr(kind, name, None), cached_property)
        }
        state |= {name: getattr(value, name) for name in slots if hasattr(value, name)}
        return [kind, state]
    try:
        reduced = value.__reduce_ex__(4)
    except Exception:
        return None
    if isinstance(reduced, str):  # the name of something in its module
        return [kind.__module__, reduced]
    return [list(part) if hasattr(part, "__next__") else part for part in reduced]


def _defined(kind: type) -> set[str]:
    """What a class and its bases define, but for what every object has."""
    return {name for one in kind.__mro__ if one is not object for name in vars(one)}


def _parts_of_class(kind: type) -> list[Any]:
    return [kind.__module__, kind.__qualname__, *_own_code(kind)]


def _own_code(kind: type) -> list[Any]:
    """The methods of a user's class, and of those that it is made from."""
    found: list[Any] = []
    for one in kind.__mro__:
        if one is object or _is_installed(one):
            continue
        for name, member in vars(one).items():
            inner = getattr(member, "__func__", getattr(member, "fget", member))
            inner = getattr(inner, "func", inner)  # of a cached property
            if isinstance(inner, FunctionType) or is_compiled(inner):
                found += [name, inner]
            elif isinstance(member, (*PLAIN, np.ndarray, tuple)) and not name.startswith("__"):
                found += [name, member]
    return found


def _is_installed(thing: Any) -> bool:
    """Whether it comes with Python or with a package, whose version stands for what it does."""
    module = getattr(thing, "__module__", None)
    if module == "builtins":  # so are classes that Python runs from a text without a module
        return isinstance(thing, type) and not thing.__flags__ & HEAP_TYPE
    if module is None or module == "__main__":
        return False
    return module.partition(".")[0] in sys.stdlib_module_names or _is_in_packages(module)


@cache
def _is_in_packages(module: str) -> bool:
    place = getattr(sys.modules.get(module), "__file__", None)
    if module.partition(".")[0] == "aptmc":
        return True
    return place is not None and not PACKAGES.isdisjoint(re.split(r"[/\\]", place))
