"""`math` as compiled code knows it: what has no result gives infinity or NaN, not an error."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace


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
    except ValueError:  # a root of a negative number, or 0 to a negative power
        return math.inf if x == 0.0 else math.nan
    except OverflowError:
        is_odd = y == math.floor(y) and math.fmod(y, 2.0) != 0.0
        return -math.inf if x < 0.0 and is_odd else math.inf


def _lgamma(x: float) -> float:
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):  # zero, a negative whole number, or very large
        return math.inf


QUIET_MATH = SimpleNamespace(**vars(math))
QUIET_MATH.exp = _quiet(math.exp)
QUIET_MATH.expm1 = _quiet(math.expm1)
QUIET_MATH.log = _quiet(math.log, at_zero=-math.inf)
QUIET_MATH.log1p = _log1p
QUIET_MATH.sqrt = _quiet(math.sqrt)
QUIET_MATH.pow = _pow
QUIET_MATH.lgamma = _lgamma
