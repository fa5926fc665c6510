"""What rules and schedules of one's own see of their settings, and how they are compiled.

A class of the user's own has fields, and functions that numba compiles. Compiled code knows nothing
of the object; it is given its numbers, by name. They are constants of the compiled code, so code is
told apart by the class and by these numbers.
"""

from __future__ import annotations

import inspect
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numba

from aptmc.compiled import compiled_like, compiler_words, is_compiled, source_of
from aptmc.errors import InputError


def as_dataclass(kind: type, **options: Any) -> None:
    """Make a class a dataclass, and those that it is made from, unless their author has done so."""
    for one in reversed(kind.__mro__):
        if is_dataclass(one) and "__dataclass_fields__" not in vars(one):
            dataclass(frozen=True, **options)(one)


def settings_of(owner: Any, leave_out: tuple[str, ...] = ()) -> Any:
    """A named tuple of the numbers among the fields of an object."""
    numbers = {
        one.name: getattr(owner, one.name)
        for one in fields(owner)
        if one.name not in leave_out and isinstance(getattr(owner, one.name), bool | int | float)
    }
    kind = namedtuple("settings", numbers)  # type: ignore[misc]
    return kind(**numbers)


def bound(kind: type, name: str, model: Callable[..., Any], settings: Any) -> Any:
    """A function of a class, compiled, with these settings as its last argument if it takes them.

    :param model: has the arguments that compiled callers give
    """
    given = list(inspect.signature(source_of(model)).parameters)
    own = [argument for argument in given if argument != "settings"]
    try:
        function = inspect.getattr_static(kind, name)
        if not isinstance(function, staticmethod):
            raise TypeError("it is no staticmethod")
        source = source_of(function.__func__)
        takes = len(inspect.signature(source).parameters) == len(own) + 1
        shape = Shape(len(own), is_given="settings" in given, takes=takes)
        return _bound(function.__func__, model, shape, _Exactly(settings))
    except Exception as error:
        raise InputError(
            f"{kind.__name__}.{name} cannot be compiled: it must be a staticmethod of "
            f"({', '.join(own)}), or of these and settings, in Python that numba understands, and "
            f"give what {name} of the base class does; it says: {compiler_words(error)}"
        ) from error


class Shape(NamedTuple):
    """How a function is called, and what it takes."""

    arguments: int  # without settings
    is_given: bool  # callers give the settings of the library's own classes
    takes: bool  # it takes its settings


class _Exactly:
    """Settings to be told apart by: 1, 1.0 and True are equal, but compile to other code."""

    def __init__(self, settings: Any) -> None:
        self.settings = settings
        self._shown = repr(settings)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Exactly) and self._shown == other._shown

    def __hash__(self) -> int:
        return hash(self._shown)


@lru_cache(256)
def _bound(
    function: Callable[..., Any], model: Callable[..., Any], shape: Shape, exactly: _Exactly
) -> Any:
    settings = exactly.settings
    inner: Any = function if is_compiled(function) else numba.njit(function)
    # numba wants to know how many arguments there are.
    calls: dict[Shape, Callable[..., Any]] = {
        Shape(4, is_given=False, takes=True): lambda a, b, c, d: inner(a, b, c, d, settings),
        Shape(4, is_given=False, takes=False): lambda a, b, c, d: inner(a, b, c, d),
        Shape(4, is_given=True, takes=True): lambda a, b, c, d, _: inner(a, b, c, d, settings),
        Shape(4, is_given=True, takes=False): lambda a, b, c, d, _: inner(a, b, c, d),
        Shape(3, is_given=True, takes=True): lambda a, b, c, _: inner(a, b, c, settings),
        Shape(3, is_given=True, takes=False): lambda a, b, c, _: inner(a, b, c),
    }
    return compiled_like(model, calls[shape])
