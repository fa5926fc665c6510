"""What known functions of Python, `math` and numpy are called in C."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from aptmc.translation.kinds import FLAG, INT, LONG_WORD, REAL, SINGLE, WHOLE, WORD, Kind

# Functions of real numbers with real values; in C they have the same names.
SAME_NAME = (
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "copysign", "cos", "cosh",
    "erf", "erfc", "exp", "expm1", "fabs", "floor", "fmod", "hypot", "lgamma", "log", "log10",
    "log1p", "log2", "nextafter", "rint", "sin", "sinh", "sqrt", "tan", "tanh",
)  # fmt: skip
OTHER_NAME = {
    "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan",
    "arctan2": "atan2", "arctanh": "atanh", "gamma": "tgamma", "pow": "pow", "power": "pow",
    "trunc": "trunc",
}  # fmt: skip
TESTS = ("isnan", "isinf", "isfinite")
# These give whole numbers in `math` and real ones in numpy.
ROUNDING = {"floor": "floor", "ceil": "ceil", "trunc": "trunc"}
CASTS: dict[Any, Kind] = {
    float: REAL, np.float64: REAL, np.float32: SINGLE, int: WHOLE, np.int64: WHOLE, np.int32: INT,
    np.uint32: WORD, np.uint64: LONG_WORD, bool: FLAG, np.bool_: FLAG,
}  # fmt: skip


def functions_of(module: Any) -> dict[Callable[..., Any], str]:
    """By function of a module, the name of the one in C."""
    names = {name: name for name in SAME_NAME} | OTHER_NAME
    return {getattr(module, name): in_c for name, in_c in names.items() if hasattr(module, name)}


REAL_FUNCTIONS = functions_of(np) | functions_of(math)
TEST_FUNCTIONS = {getattr(module, name): name for module in (math, np) for name in TESTS}
WHOLE_FUNCTIONS = {getattr(math, name): in_c for name, in_c in ROUNDING.items()}
MINIMUM: tuple[Any, ...] = (min, np.minimum)
MAXIMUM: tuple[Any, ...] = (max, np.maximum)
ABSOLUTE: tuple[Any, ...] = (abs, np.abs)
NEW_ARRAYS: tuple[Any, ...] = (np.zeros, np.empty, np.ones)
SAME_ARRAYS: tuple[Any, ...] = (np.asarray, np.ascontiguousarray)
