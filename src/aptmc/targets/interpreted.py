"""The source of compiled functions as plain Python: the same numbers bit for bit, without a wait.

A compiled function calls others by their names. Here it is given a copy of its surroundings in
which these names mean the source of the others, and so on. What numpy and Python do otherwise than
machine code is seen to: `math` gives infinities in place of errors (`quiet_math`), and numpy's
warnings are switched off by whoever calls from outside.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from enum import EnumType, IntEnum
from functools import lru_cache
from types import CellType, CodeType, FunctionType, SimpleNamespace
from typing import Any, cast, final

import numpy as np
from numba import njit
from numba.core.registry import CPUDispatcher

from aptmc.compiled import AtFirstUse, Function, source_of
from aptmc.targets.quiet_math import QUIET_MATH
from aptmc.targets.when import FIRST, when_to_compile

# So many numbers plain Python computes in some milliseconds, and in a second or so.
A_FEW, A_GREAT_MANY = 2000, 100_000


def interpreted(function: Function, **instead: Callable[..., Any]) -> Function:
    """The Python source of a compiled function, calling that of all compiled functions.

    :param instead: by name, what the function itself calls in place of some
    """
    return cast(Function, _Translation(lambda _: False).source(source_of(function), instead))


def quietly(function: Function) -> Function:
    """The same without numpy's warnings, which compiled code does not give."""
    return np.errstate(all="ignore")(function)


def at_hand(function: Function) -> Function:
    """A plain function that waits for no compiler.

    Compiled functions of the library that it calls are loaded from disk, or interpreted if they are
    not there. Those that a user's function calls are compiled now, not when it is timed.
    """
    return cast(Function, _Translation(_can_be_called).of(function))


def from_python(function: Function, numbers: int = 1) -> Function:
    """A compiled function of the library to be called from Python, now and then.

    :param numbers: how many it is to compute; if there are a great many, the compiler is worth
        waiting for
    """
    return function if numbers > A_GREAT_MANY else _once_at_hand(function)


@lru_cache(None)
def _once_at_hand(function: Function) -> Function:
    return at_hand(function)


def from_python_once(function: Function, numbers: int) -> Function:
    """The same where it is called once, or seldom: for a few numbers it is not worth loading.

    A process that goes on asking, for run after run, has more than a few in the end.
    """
    _ASKED_FOR[function] += numbers
    are_few = _ASKED_FOR[function] <= A_FEW
    return _plainly(function) if are_few else from_python(function, numbers)


_ASKED_FOR: Counter[Callable[..., Any]] = Counter()  # so many numbers by now


@lru_cache(None)
def _plainly(function: Function) -> Function:
    return quietly(interpreted(function))


def needed_by(function: Callable[..., Any]) -> list[AtFirstUse]:
    """The compiled functions of the library that a plain one calls, and might wait for."""
    translation = _Translation(lambda _: True)
    translation.of(function)
    return translation.kept


def _can_be_called(function: AtFirstUse) -> bool:
    if when_to_compile() == FIRST:
        function.make_ready()
    return function.load()


@final
class _Translation:
    """Functions and their twins, which call each other.

    :param keeps: whether a compiled function that a plain one calls is called as it is
    """

    def __init__(self, keeps: Callable[[AtFirstUse], bool]) -> None:
        self.kept: list[AtFirstUse] = []
        self._keeps = keeps
        self._twins: dict[FunctionType, FunctionType] = {}
        self._users: set[int] = set()

    def of(self, found: Any) -> Any:
        """What a plain function calls in place of what it finds."""
        if isinstance(found, AtFirstUse):
            if not _is_ours(found.py_func):
                found.make_ready()
                return found
            # A line or two are as quick in Python as the way into compiled code.
            if not found.is_inlined and self._keeps(found):
                self.kept.append(found)
                return found
            return quietly(self.source(found.py_func))
        if not isinstance(found, FunctionType):
            return found
        if _is_ours(found):
            return self._twin(found, self.of)
        self._make_ready(found)
        return found

    def source(self, source: Any, instead: dict[str, Any] | None = None) -> FunctionType:
        """The twin of a compiled function's source."""
        return self._twin(source, self._within, instead)

    def _within(self, found: Any) -> Any:
        """What the source of a compiled function calls in place of what it finds."""
        if found is math:
            return QUIET_MATH
        if isinstance(found, EnumType) and issubclass(found, IntEnum):
            # Plain integers for compiled code, too; numpy compares them far more quickly.
            return SimpleNamespace(**{member.name: int(member) for member in found})
        if isinstance(found, AtFirstUse) or (
            isinstance(found, CPUDispatcher)
            and (_is_ours(found.py_func) or is_compiled_for_user(found))
        ):
            return self.source(found.py_func)
        return found

    def _twin(
        self,
        function: FunctionType,
        replace: Callable[[Any], Any],
        instead: dict[str, Any] | None = None,
    ) -> FunctionType:
        if function in self._twins:
            return self._twins[function]
        surroundings = dict(function.__globals__)
        cells = function.__closure__ and tuple(CellType() for _ in function.__closure__)
        twin = FunctionType(
            function.__code__, surroundings, function.__name__, function.__defaults__, cells
        )
        twin.__kwdefaults__ = function.__kwdefaults__
        self._twins[function] = twin  # before it is complete: functions may call each other
        given = instead or {}
        for name in _names(function.__code__):
            if name in given:
                surroundings[name] = given[name]
            elif name in surroundings:
                surroundings[name] = replace(surroundings[name])
        for mine, theirs in zip(cells or (), function.__closure__ or (), strict=True):
            mine.cell_contents = replace(theirs.cell_contents)
        return twin

    def _make_ready(self, function: FunctionType) -> None:
        """Compile what a function of the user's calls. It stays what it is."""
        if id(function) in self._users:
            return
        self._users.add(id(function))
        found = [function.__globals__.get(name) for name in function.__code__.co_names]
        found += [cell.cell_contents for cell in function.__closure__ or ()]
        for one in found:
            if isinstance(one, AtFirstUse):
                one.make_ready()
            elif isinstance(one, FunctionType):
                self._make_ready(one)


def compiled_for_user(function: Function, **options: Any) -> Function:
    """A plain function of the user's for compiled callers; interpreted ones call it as it is."""
    dispatcher: Any = njit(**options)(function)
    dispatcher.stands_for_source = True
    return cast(Function, dispatcher)


def is_compiled_for_user(function: Callable[..., Any]) -> bool:
    """Whether it was plain until it was given to `compiled_for_user`."""
    return getattr(function, "stands_for_source", False)


def _is_ours(function: Callable[..., Any]) -> bool:
    """Whether it belongs to the sampler, and not to a problem."""
    package, _, inside = (function.__module__ or "").partition(".")
    return package == "aptmc" and not inside.startswith("models")


def _names(code: CodeType) -> Iterator[str]:
    """What a function may look for in its surroundings, and what those inside it may."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
