"""How aptmc compiles: one decorator, and the types that cross the border into compiled code.

The coordinator and the virtual-time loop are compiled once and cached on disk. What belongs to one
problem (a user's density, a kernel built around it) reaches them as a function pointer with a fixed
signature, so a new problem costs the compilation of that problem only.

One trap: numba tells two compiled functions apart by name, types and a number that it counts up in
each process. Where one name stands for several functions, as `min` and `max` of an array do (both
are `min_max_impl.<locals>.impl`), code that several processes wrote to one cache can get one for
the other. `tests/test_compiled.py` sees to it that no cached function uses such names.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from types import FunctionType
from typing import Annotated, Any, TypeVar, cast, get_type_hints

import numba
import numpy as np
import numpy.typing as npt
from numba import types

Function = TypeVar("Function", bound=Callable[..., Any])

# An annotation carries its compiled type along, so that a signature is written once.
Integers = Annotated[npt.NDArray[np.int64], types.int64[::1]]
Floats = Annotated[npt.NDArray[np.float64], types.float64[::1]]
Flags = Annotated[npt.NDArray[np.bool_], types.boolean[::1]]
Words = Annotated[npt.NDArray[np.uint64], types.uint64[::1]]
HalfWords = Annotated[npt.NDArray[np.uint32], types.uint32[::1]]
IntegerTable = Annotated[npt.NDArray[np.int64], types.int64[:, ::1]]
FloatTable = Annotated[npt.NDArray[np.float64], types.float64[:, ::1]]
FloatTables = Annotated[npt.NDArray[np.float64], types.float64[:, :, ::1]]
# Arrays that a compiled function does not change, so that they may be constants of a closure.
ConstantIntegers = Annotated[npt.NDArray[np.int64], types.Array(types.int64, 1, "C", readonly=True)]
ConstantFloats = Annotated[
    npt.NDArray[np.float64], types.Array(types.float64, 1, "C", readonly=True)
]
ConstantFloatTable = Annotated[
    npt.NDArray[np.float64], types.Array(types.float64, 2, "C", readonly=True)
]
ConstantIntegerTable = Annotated[
    npt.NDArray[np.int64], types.Array(types.int64, 2, "C", readonly=True)
]
Generator = Annotated[np.random.Generator, numba.typeof(np.random.Generator(np.random.Philox(0)))]

_PLAIN = {int: types.int64, float: types.float64, bool: types.boolean, type(None): types.void}


def compiled_type(annotation: Any) -> Any:
    """The numba type of an annotation: a scalar, an array above, a function, or a named tuple."""
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    if hasattr(annotation, "__metadata__"):
        return annotation.__metadata__[0]
    if hasattr(annotation, "_fields"):
        hints = get_type_hints(annotation, include_extras=True)
        return types.NamedTuple([compiled_type(hints[f]) for f in annotation._fields], annotation)
    raise TypeError(f"no compiled type is known for the annotation {annotation!r}")


def signature_of(function: Callable[..., Any]) -> Any:
    """The numba signature that a function's annotations spell out."""
    result = get_type_hints(function, include_extras=True)["return"]
    return compiled_type(result)(*_arguments_of(function))


def _arguments_of(function: Callable[..., Any]) -> tuple[Any, ...]:
    hints = get_type_hints(function, include_extras=True)
    return tuple(compiled_type(hint) for name, hint in hints.items() if name != "return")


def pointer_to(function: Callable[..., Any]) -> Any:
    """The type of a pointer to any function with the annotations of this one."""
    return types.FunctionType(signature_of(function))


def compiled(function: Function) -> Function:
    """Compile a function of the library from its annotations, release the GIL, cache on disk."""
    jit = numba.njit(signature_of(function), cache=True, nogil=True, error_model="numpy")
    return cast(Function, jit(function))


def inlined(function: Function) -> Function:
    """Like `compiled`, and copied into compiled callers.

    For small functions of large named tuples: passing a tuple of twenty arrays costs more than what
    such a function does.
    """
    jit = numba.njit(
        signature_of(function), cache=True, nogil=True, error_model="numpy", inline="always"
    )
    return cast(Function, jit(function))


def standing_by(function: Function) -> Function:
    """Like `compiled`, for a generator function: its arguments are handed over once.

    Not to be used as a decorator. On disk, numba refers to the source of a generator by its name.
    If that name means something else by then, numba keeps the source instead, with all that it
    calls, and compiles it once more whenever it is loaded.
    """
    jit = numba.njit(_arguments_of(function), cache=True, nogil=True, error_model="numpy")
    return cast(Function, jit(function))


def compiled_like(model: Callable[..., Any], function: Function) -> Function:
    """Compile a function that belongs to one problem, with the signature of `model`."""
    jit = numba.njit(signature_of(model), nogil=True, error_model="numpy")
    return cast(Function, jit(function))


def at_speed(function: Function, *, compiled: bool) -> Function:
    """A function of the library for compiled callers, or its Python source for plain ones.

    From Python it costs several microseconds to hand a generator to compiled code: more than most
    small functions do.
    """
    return function if compiled else cast(Function, getattr(function, "py_func", function))


def interpreted(function: Function, **instead: Callable[..., Any]) -> Function:
    """The Python source of a compiled function, calling other functions in place of some."""
    source: Any = at_speed(function, compiled=False)
    surroundings = {**source.__globals__, **instead}
    return cast(Function, FunctionType(source.__code__, surroundings, source.__name__))


def compiler_words(error: Exception) -> str:
    """What numba complains of, in one line: it says much more, in colours."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    lines = [" ".join(line.split()) for line in text.splitlines()]
    words: list[str] = []
    for line in lines:
        if line.startswith(("There are", "During", "File", "- Of which", "- Resolution")) and words:
            break
        if line and not line.startswith("Failed in nopython mode"):
            words.append(line.removeprefix(">>> "))
    where = re.search(r'File "([^"]+)", line (\d+)', text)
    place = f" ({where[1]}, line {where[2]})" if where else ""
    return " ".join(words).rstrip(".:") + place


def is_compiled(function: object) -> bool:
    """Whether a user's function was compiled by numba, so that compiled code may call it."""
    return isinstance(function, numba.core.registry.CPUDispatcher)
