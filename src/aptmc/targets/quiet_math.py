"""`math` as compiled code knows it: what has no result gives infinity or NaN, not an error."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
from numba._helperlib import c_helpers  # type: ignore[attr-defined]


def _quiet(function: Callable[..., float], at_zero: float = math.nan) -> Callable[..., float]:
    """The same function, without errors.

    :param at_zero: what it gives at 0, where that is an error
    """

    def quiet(x: float, *others: float) -> float:
        try:
            return function(x, *others)
        except ValueError:
            return at_zero if x == 0.0 else math.nan
        except OverflowError:
            return math.inf

    return quiet


def _log1p(x: float) -> float:
    try:
        return math.log1p(x)
    except ValueError:
        return -math.inf if x == -1.0 else math.nan


def _pow(x: float, y: float) -> float:
    try:
        return math.pow(x, y)
    except (ValueError, OverflowError):  # numpy knows which infinity
        with np.errstate(all="ignore"):
            return float(np.float64(x) ** np.float64(y))


QUIET_MATH = SimpleNamespace(**vars(math))
QUIET_MATH.exp = _quiet(math.exp)
QUIET_MATH.expm1 = _quiet(math.expm1)
QUIET_MATH.log = _quiet(math.log, at_zero=-math.inf)
QUIET_MATH.log1p = _log1p
QUIET_MATH.sqrt = _quiet(math.sqrt)
QUIET_MATH.pow = _pow
# Python has one of its own, which differs in the last bits.
QUIET_MATH.lgamma = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(c_helpers["lgamma"])
