"""Functions of C, as `ctypes` has them, for moves to call: machine code calls machine code.

A pointer is of use in one process only. What travels to others is the place of its library and its
name there; each process loads the library, which must be the same to the last byte.
"""

from __future__ import annotations

import ctypes
import os
from _ctypes import CFuncPtr
from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256
from typing import Any

import numba
import numpy as np

from aptmc.compiled import made_by
from aptmc.errors import InputError

# What is called: double f(const double *theta, int64_t size), and
# void g(const double *theta, double *slopes, int64_t size).
DENSITY, GRADIENT = "density", "gradient"
_ARRAY, _SIZE = ctypes.c_void_p, ctypes.c_int64
_PROTOTYPES: dict[str, tuple[Any, list[Any]]] = {
    DENSITY: (ctypes.c_double, [_ARRAY, _SIZE]),
    GRADIENT: (None, [_ARRAY, _ARRAY, _SIZE]),
}
_IN_C = {
    DENSITY: "double f(const double *theta, int64_t size)",
    GRADIENT: "void g(const double *theta, double *gradient, int64_t size)",
}


def is_of_c(function: object) -> bool:
    """Whether it is a pointer to a function, of `ctypes`."""
    return isinstance(function, CFuncPtr)


def from_c(function: Any, kind: str, name: str) -> Any:
    """A pointer as a function that moves can call; anything else as it is.

    :param kind: which of the two signatures it has
    :param name: what the user calls it
    """
    if not is_of_c(function):
        return function
    home = library_of(function)
    if home is None:
        raise InputError(
            f"{name} is a pointer that belongs to no library, so that workers cannot find it: take "
            "it from one, ctypes.CDLL(path).name, or give a function of Python or of numba"
        )
    result, arguments = _PROTOTYPES[kind]
    declared = function.argtypes
    is_other = declared is not None and len(declared) != len(arguments)
    # Until something is said of it, a result is an int.
    if is_other or (kind == DENSITY and function.restype not in (result, ctypes.c_int)):
        raise InputError(f"{name} is called as {_IN_C[kind]}, but yours was declared otherwise")
    return in_library(*home, kind, checksum_of(home[0], name))


@lru_cache(None)
def in_library(path: str, symbol: str, kind: str, content: str) -> Any:
    """A function of a library, compiled, so that moves call it; made once in each process.

    :param content: the checksum of the library
    """
    if checksum_of(path, symbol) != content:
        raise InputError(
            f"the library {path} is another one than that with which the problem was made: see to "
            "it that all processes find the same"
        )
    try:
        pointer = ctypes.CDLL(path)[symbol]
    except (OSError, AttributeError) as error:
        raise InputError(f"{symbol} of {path} cannot be loaded: {error}") from None
    pointer.restype, pointer.argtypes = _PROTOTYPES[kind]
    make, signature = (
        (_density, numba.float64(numba.float64[::1]))
        if kind == DENSITY
        else (_gradient, numba.float64[::1](numba.float64[::1]))
    )
    source = make(pointer)
    source.__name__ = source.__qualname__ = symbol
    source.__module__ = "c_library"  # nobody is to take it for a source to run in plain Python
    # It holds an address, and is therefore not kept on disk.
    compiled = numba.njit(signature, nogil=True, error_model="numpy")(source)
    return made_by(in_library, path, symbol, kind, content)(compiled)


def _density(pointer: Any) -> Callable[..., Any]:
    def density(theta: Any) -> Any:
        return pointer(theta.ctypes, theta.size)

    return density


def _gradient(pointer: Any) -> Callable[..., Any]:
    def gradient(theta: Any) -> Any:
        slopes = np.empty(theta.size)
        pointer(theta.ctypes, slopes.ctypes, theta.size)
        return slopes

    return gradient


# --- where a function is from ---------------------------------------------------------------------


def content_of_pointer(function: Any) -> list[str] | None:
    """What a function of C is told by: its name and the bytes of its library, if that is known."""
    home = library_of(function)
    if home is None:
        return None
    try:
        return [home[1], checksum_of(*home)]
    except InputError:
        return None


def library_of(function: Any) -> tuple[str, str] | None:
    """The file of the library from which a pointer was taken, and its name there."""
    held = (getattr(function, "_objects", None) or {}).values()
    library = next((one for one in held if isinstance(one, ctypes.CDLL)), None)
    symbol = getattr(function, "__name__", None)
    if library is None or not isinstance(symbol, str):
        return None
    file = _file_with(function) or library._name
    return None if not file else (os.path.abspath(file), symbol)


def checksum_of(path: str, name: str) -> str:
    """Of the bytes of a library."""
    try:
        with open(path, "rb") as library:
            return sha256(library.read()).hexdigest()
    except OSError as error:
        raise InputError(
            f"the library of {name} cannot be read ({error}): put it where all processes of the "
            "run see it"
        ) from None


class _Place(ctypes.Structure):
    """What the loader says of an address (`man dladdr`)."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("symbol", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


def _file_with(function: Any) -> str | None:
    """The file from which an address was loaded: libraries may be given without their folders."""
    found = _Place()
    try:
        if not ctypes.CDLL(None).dladdr(ctypes.cast(function, _ARRAY), ctypes.byref(found)):
            return None
    except (OSError, AttributeError, TypeError):  # a system that has no such question
        return None
    return os.fsdecode(found.file) if found.file else None
