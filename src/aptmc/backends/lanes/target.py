"""How lanes compute a problem: as machine code that draws from a lane's own generator."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, cast, final

import numba
from typing_extensions import override

from aptmc.compiled import Function, source_of
from aptmc.targets import NUMBA, Target


@final
class InLanes(Target):
    """Machine code for whatever generator it is called with."""

    is_compiled = True
    takes_source = True  # machine code draws from numpy's generators alone, and has no translation

    @override
    def like(self, model: Callable[..., Any], function: Function) -> Function:
        return NUMBA.like(model, function)

    @override
    def within(self, model: Callable[..., Any], function: Function) -> Function:
        return NUMBA.within(model, function)

    @override
    def brief(self, model: Callable[..., Any], function: Function) -> Function:
        return NUMBA.brief(model, function)

    @override
    def helper(self, function: Function) -> Function:
        return NUMBA.helper(function)

    @override
    def library(self, function: Function) -> Function:
        return cast(Function, _for_any_generator(source_of(function)))


@cache
def _for_any_generator(function: Any) -> Any:
    return numba.njit(nogil=True, error_model="numpy")(function)


IN_LANES = InLanes()
