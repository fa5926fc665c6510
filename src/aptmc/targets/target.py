"""Targets: how a problem is computed, and what its functions are turned into for that.

There are two, plain Python and machine code by numba, with the same results bit for bit. A third
way of computing is one more class here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import CO_VARARGS
from typing import Any, cast, final

import numba
from typing_extensions import override

from aptmc.compiled import (
    Function,
    compiled_like,
    compiled_within,
    copied_like,
    is_compiled,
    source_of,
)
from aptmc.targets.own_randomness import check_randomness


class Target(ABC):
    """How a problem is computed: what its functions are turned into."""

    is_compiled = False
    takes_source = False  # of models in other languages

    @abstractmethod
    def like(self, model: Callable[..., Any], function: Function) -> Function:
        """A function that belongs to one problem, with the signature of `model`."""

    @abstractmethod
    def within(self, model: Callable[..., Any], function: Function) -> Function:
        """The same if only functions of this target call it, and nobody from Python."""

    @abstractmethod
    def brief(self, model: Callable[..., Any], function: Function) -> Function:
        """The same if it has a line or two, and is seldom called from Python."""

    @abstractmethod
    def helper(self, function: Function) -> Function:
        """A function that belongs to one problem and that only others of it call."""

    @abstractmethod
    def library(self, function: Function) -> Function:
        """A function of the library, as functions of a problem call it."""

    @final
    def of_model(self, made: Any) -> Any:
        """A function of a model in a language of its own: its machine code, or its source."""
        return made.source if self.takes_source else made.function


@final
@dataclass(frozen=True)
class Interpreted(Target):
    """Plain Python, which says where a user's function fails."""

    @override
    def like(self, model: Callable[..., Any], function: Function) -> Function:
        return function

    @override
    def within(self, model: Callable[..., Any], function: Function) -> Function:
        return function

    @override
    def brief(self, model: Callable[..., Any], function: Function) -> Function:
        return function

    @override
    def helper(self, function: Function) -> Function:
        return function

    @override
    def library(self, function: Function) -> Function:
        return source_of(function)


@final
@dataclass(frozen=True)
class Numba(Target):
    """Machine code, end to end.

    :param kept: gives a place, for a function, where its machine code is looked for, and kept
    """

    kept: Callable[[Any], Any] | None = field(default=None, compare=False)

    is_compiled = True

    @override
    def like(self, model: Callable[..., Any], function: Function) -> Function:
        return compiled_like(model, function, self.kept and self.kept(function))

    @override
    def within(self, model: Callable[..., Any], function: Function) -> Function:
        return compiled_within(model, function, self.kept and self.kept(function))

    @override
    def brief(self, model: Callable[..., Any], function: Function) -> Function:
        return copied_like(model, function, self.kept and self.kept(function))

    @override
    def helper(self, function: Function) -> Function:
        """Copied into whoever calls it: as source, if it is ours.

        So it is compiled once, and not once more with each of those that call each other. numba
        does not copy all that it can compile, so a user's function is copied as machine code.
        """
        way: dict[str, Any] = (
            {"inline": "always"} if _is_copied(function) else {"forceinline": True}
        )
        jit = numba.njit(nogil=True, error_model="numpy", **way)
        return cast(Function, jit(function))

    @override
    def library(self, function: Function) -> Function:
        return function


def _is_copied(function: Any) -> bool:
    """Whether numba copies the source: it is ours, and its arguments can be counted."""
    is_ours = function.__module__.partition(".")[0] == "aptmc"
    return is_ours and not function.__code__.co_flags & CO_VARARGS


INTERPRETED, NUMBA = Interpreted(), Numba()


def target_of(*functions: object) -> Target:
    """Machine code if a user's functions are all compiled, else plain Python."""
    if not all(map(is_compiled, functions)):
        return INTERPRETED
    check_randomness(*functions)
    return NUMBA
