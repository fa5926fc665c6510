"""Targets: how a problem is computed, and what its functions are turned into for that.

There are two, plain Python and machine code by numba, with the same results bit for bit. A third
way of computing is one more class here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast, final

import numba
from typing_extensions import override

from aptmc.compiled import Function, compiled_like, is_compiled, source_of


class Target(ABC):
    """How a problem is computed: what its functions are turned into."""

    is_compiled = False

    @abstractmethod
    def like(self, model: Callable[..., Any], function: Function) -> Function:
        """A function that belongs to one problem, with the signature of `model`."""

    @abstractmethod
    def helper(self, function: Function) -> Function:
        """A function that belongs to one problem and that only others of it call."""

    @abstractmethod
    def library(self, function: Function) -> Function:
        """A function of the library, as functions of a problem call it."""


@final
@dataclass(frozen=True)
class Interpreted(Target):
    """Plain Python, which says where a user's function fails."""

    @override
    def like(self, model: Callable[..., Any], function: Function) -> Function:
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
    def helper(self, function: Function) -> Function:
        """Compiled for whatever it is given, and copied into whoever calls it."""
        jit = numba.njit(nogil=True, error_model="numpy", forceinline=True)
        return cast(Function, jit(function))

    @override
    def library(self, function: Function) -> Function:
        return function


INTERPRETED, NUMBA = Interpreted(), Numba()


def target_of(*functions: object) -> Target:
    """Machine code if a user's functions are all compiled, else plain Python."""
    return NUMBA if all(map(is_compiled, functions)) else INTERPRETED
