"""What a function's machine code depends on, as a checksum; none, where that cannot be told.

Unlike a problem's fingerprint, which asks whether a run may go on, this one must not miss anything:
whoever has the same checksum is given machine code without a further question. So it follows
functions into all that they use, and gives up at whatever is not known to be harmless: a module
that is not one of a few libraries, a class, an implementation of one's own for a function of numpy.
"""

from __future__ import annotations

import builtins
import enum
import hashlib
import sys
from collections.abc import Callable, Iterable
from importlib.metadata import version
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, final

import numba
import numpy as np
from numba.core.registry import CPUDispatcher
from numba.core.typing.templates import builtin_registry

from aptmc.compiled import OUR_NUMBERS, AtFirstUse

# Whose versions, or sources, stand for what they do: see `kept_code`.
TRUSTED = {"aptmc", "builtins", "cmath", "llvmlite", "math", "numba", "numpy", "operator"}
# Who may teach numba further functions: their versions stand for what they say.
TEACHERS = {"pytensor"}
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))


class Unknown(Exception):
    """Something of which nobody can tell what it does to the machine code."""


def content_of(function: Callable[..., Any]) -> str:
    """A checksum of a function that is to be compiled, with all that it calls; or `Unknown`."""
    content = _Content()
    content.note(*_teachers())
    content.add_function(function)
    return content.total.hexdigest()


def is_numbered_apart(function: Callable[..., Any]) -> bool:
    """Whether all that is compiled of what it calls bears numbers that no other process gives."""
    content = _Content()
    content.add_function(function)
    return all(
        compiled.fndesc.uid >= OUR_NUMBERS
        for dispatcher in content.dispatchers
        for compiled in dispatcher.overloads.values()
    )


def is_trusted(module: str | None) -> bool:
    """Whether a module belongs to a library that is known by its version."""
    return module is not None and module.partition(".")[0] in TRUSTED


def _teachers() -> list[tuple[str, str]]:
    """Libraries that have taught numba further functions, with their versions: few are known to."""
    known = [*builtin_registry.functions, *builtin_registry.attributes]
    own = (getattr(template, "_overload_func", None) for template in known)
    names = {function.__globals__.get("__name__") for function in own if function is not None}
    packages = {(name or "").partition(".")[0] for name in names if not is_trusted(name)}
    if not packages <= TEACHERS:
        raise Unknown("numba was taught further functions")
    return sorted((name, version(name)) for name in packages)


@final
class _Content:
    """A checksum that grows."""

    def __init__(self) -> None:
        self.total = hashlib.sha256()
        self.seen: dict[int, int] = {}
        self.kept: list[Any] = []  # so that no two objects ever share an identity
        self.dispatchers: list[Any] = []

    def add(self, value: Any) -> None:
        """Count a value that a function uses, and all that it is made of."""
        kind = type(value)
        self.note(kind.__module__, kind.__qualname__)
        if isinstance(value, enum.Enum):
            self.note(value.name, *((one.name, repr(one.value)) for one in kind))
        elif kind in PLAIN:
            self.note(repr(value))
        elif kind is tuple or (isinstance(value, tuple) and hasattr(kind, "_fields")):
            self.add_all(value)
        elif isinstance(value, np.ndarray | np.generic):
            self.add_numbers(np.asarray(value))
        elif isinstance(value, np.dtype):
            self.note(repr(value), value.isalignedstruct)
        elif isinstance(value, ModuleType):
            self.by_name(value.__name__, value.__name__)
        elif isinstance(value, numba.types.Type) and is_trusted(kind.__module__):
            self.note(repr(value))
        elif isinstance(value, type):
            self.add_class(value)
        elif isinstance(value, np.ufunc):
            self.by_name(
                "numpy" if value is getattr(np, value.__name__, None) else None, str(value)
            )
        elif isinstance(value, BuiltinFunctionType):
            owner = value.__self__
            module = owner.__name__ if isinstance(owner, ModuleType) else None
            self.by_name(module, value.__name__)
        elif self.is_first(value):
            if isinstance(value, CPUDispatcher):
                self.add_dispatcher(value)
            elif isinstance(value, CodeType):
                self.add_code(value)
            else:  # a plain function among them: what numba takes it for is not seen in it
                module = getattr(value, "__module__", None)
                name = getattr(value, "__name__", repr(value))
                is_itself = getattr(sys.modules.get(module or ""), name, None) is value
                self.by_name(module if is_itself else None, name)

    def add_dispatcher(self, dispatcher: Any) -> None:
        """A compiled function: its source, and how it is compiled."""
        self.dispatchers.append(dispatcher)
        options = dispatcher.targetoptions
        self.note(*sorted((name, self.plain(value)) for name, value in options.items()))
        self.note(*sorted((name, repr(value)) for name, value in dispatcher.locals.items()))
        # Those of the library are compiled for what their annotations say, sooner or later.
        if not dispatcher._can_compile and not isinstance(dispatcher, AtFirstUse):
            self.note(*map(str, dispatcher.overloads))
        self.add_function(dispatcher.py_func)

    def add_function(self, function: Any) -> None:
        """A source: its code, what it closes over, and what it uses of its module."""
        self.note(function.__module__, function.__qualname__)
        self.add(function.__code__)
        self.add_all(function.__defaults__ or ())
        self.add_all((function.__kwdefaults__ or {}).values())
        self.add_all(_filled(function))
        surroundings = function.__globals__
        for name in sorted(_names(function.__code__)):
            self.note(name)
            if name in surroundings:
                self.add(surroundings[name])
            elif hasattr(builtins, name):
                self.note("builtin")

    def add_code(self, code: CodeType) -> None:
        """What the interpreter would run."""
        self.note(
            code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars,
            code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags,
            getattr(code, "co_exceptiontable", b""),
        )  # fmt: skip
        self.add_all(code.co_consts)

    def add_numbers(self, array: Any) -> None:
        """An array: compiled code may hold a copy of it, as it is laid out here."""
        if array.dtype.hasobject:
            raise Unknown("an array of objects")
        layout = array.flags
        self.note(array.dtype.descr, array.dtype.isalignedstruct, array.shape)
        self.note(layout.c_contiguous, layout.f_contiguous, layout.writeable, layout.aligned)
        self.note(array.tobytes())

    def add_class(self, kind: type) -> None:
        """A class of numbers, a named tuple, or a list of names: compiled code knows no others."""
        if issubclass(kind, enum.Enum):
            self.note(kind.__qualname__, *((one.name, repr(one.value)) for one in kind))
        elif issubclass(kind, tuple) and hasattr(kind, "_fields"):
            self.note(kind.__module__, kind.__qualname__, kind._fields)
        elif kind.__module__ != "builtins" or getattr(builtins, kind.__qualname__, None) is kind:
            self.by_name(kind.__module__, kind.__qualname__)
        else:  # made from a text without a module
            raise Unknown(f"the class {kind.__qualname__}")

    def add_all(self, values: Iterable[Any]) -> None:
        """Several, and how many."""
        values = tuple(values)
        self.note(len(values))
        for value in values:
            self.add(value)

    def by_name(self, module: str | None, name: str) -> None:
        """What is known by its name, if its library is."""
        if not is_trusted(module):
            raise Unknown(f"{name} of {module}")
        self.note(module, name)

    def plain(self, value: Any) -> str:
        """An option of the compiler."""
        if isinstance(value, set | frozenset):
            return repr(sorted(map(repr, value)))
        if not isinstance(value, PLAIN):
            raise Unknown(f"the option {value!r}")
        return repr(value)

    def is_first(self, value: Any) -> bool:
        """Whether it is met for the first time; if not, where it was met before counts."""
        if id(value) in self.seen:
            self.note("again", self.seen[id(value)])
            return False
        self.seen[id(value)] = len(self.seen)
        self.kept.append(value)
        return True

    def note(self, *words: Any) -> None:
        """Count words that are all there is to know."""
        text = repr(words).encode()
        self.total.update(len(text).to_bytes(8, "little") + text)


def _filled(function: FunctionType) -> list[Any]:
    try:
        return [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:
        raise Unknown("a variable that has no value yet") from None


def _names(code: CodeType) -> set[str]:
    """All global names in a function and in those that are defined inside it."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*map(_names, inner))
