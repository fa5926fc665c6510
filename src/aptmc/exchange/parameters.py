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
from typing import Any, NamedTuple

from aptmc.compiled import (
    AtFirstUse,
    Recipe,
    compiler_words,
    first_used_like,
    is_compiled,
    source_of,
)
from aptmc.errors import InputError
from aptmc.targets import NUMBA, Numba, compiled_for_user


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
    return _named(numbers)


def bound(
    kind: type, name: str, model: Callable[..., Any], settings: Any, target: Numba = NUMBA
) -> AtFirstUse:
    """A function of a class, with these settings as its last argument if it takes them.

    It is compiled when it is first used. Until then it can be called as plain Python, see
    `aptmc.targets.interpreted`, unless its author has compiled it.

    :param model: has the arguments that compiled callers give
    :param target: knows where its machine code is kept
    """
    given = list(inspect.signature(source_of(model)).parameters)
    own = [argument for argument in given if argument != "settings"]

    def refusal(error: Exception) -> InputError:
        return InputError(
            f"{kind.__name__}.{name} cannot be compiled: it must be a staticmethod of "
            f"({', '.join(own)}), or of these and settings, in Python that numba understands, and "
            f"give what {name} of the base class does; it says: {compiler_words(error)}"
        )

    try:
        function = inspect.getattr_static(kind, name)
        if not isinstance(function, staticmethod):
            raise TypeError("it is no staticmethod")
        takes = tuple(inspect.signature(source_of(function.__func__)).parameters)
        if not len(own) <= len(takes) <= len(own) + 1:
            raise TypeError(f"it takes ({', '.join(takes)})")
        shape = Shape(len(own), is_given="settings" in given, takes=len(takes) > len(own))
    except Exception as error:
        raise refusal(error) from error
    recipe = again, (kind, name, model, type(settings)._fields, tuple(settings))
    return _bound(function.__func__, model, shape, _Exactly(settings), target, recipe, refusal)


def again(
    kind: type,
    name: str,
    model: Callable[..., Any],
    names: tuple[str, ...],
    numbers: tuple[float, ...],
    target: Numba = NUMBA,
) -> AtFirstUse:
    """The same in another process: a class made here is none that could be found there."""
    return bound(kind, name, model, _named(dict(zip(names, numbers, strict=True))), target)


def _named(numbers: dict[str, Any]) -> Any:
    kind = namedtuple("settings", numbers)  # type: ignore[misc]
    return kind(**numbers)


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


_MADE: dict[Any, AtFirstUse] = {}


def _bound(
    function: Callable[..., Any],
    model: Callable[..., Any],
    shape: Shape,
    exactly: _Exactly,
    target: Numba,
    recipe: Recipe,
    refusal: Callable[[Exception], Exception],
) -> AtFirstUse:
    known = function, model, shape, exactly, target.kept
    if known not in _MADE:
        settings = exactly.settings
        inner: Any = function if is_compiled(function) else compiled_for_user(function)
        # numba wants to know how many arguments there are.
        calls: dict[Shape, Callable[..., Any]] = {
            Shape(4, is_given=False, takes=True): lambda a, b, c, d: inner(a, b, c, d, settings),
            Shape(4, is_given=False, takes=False): lambda a, b, c, d: inner(a, b, c, d),
            Shape(4, is_given=True, takes=True): lambda a, b, c, d, _: inner(a, b, c, d, settings),
            Shape(4, is_given=True, takes=False): lambda a, b, c, d, _: inner(a, b, c, d),
            Shape(3, is_given=True, takes=True): lambda a, b, c, _: inner(a, b, c, settings),
            Shape(3, is_given=True, takes=False): lambda a, b, c, _: inner(a, b, c),
        }
        call = calls[shape]
        kept = target.kept and target.kept(call)
        # What its author has compiled is never plain; what is not kept nobody else can compile.
        is_alone = is_compiled(function) or kept is None
        _MADE[known] = first_used_like(model, call, kept, None if is_alone else recipe, refusal)
    return _MADE[known]
