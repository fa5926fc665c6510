"""How what users gave is written when it is shown to them, in short."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from aptmc.problem.data.by_part import ByPart
from aptmc.problem.data.unscaled import Unscaled
from aptmc.problem.prior.frozen import rounded


def function_name(function: Any) -> str:
    """What a function is called, as it was written.

    >>> function_name(sum), function_name(partial(sum, start=1)), function_name(lambda: 0)
    ('sum', 'partial(sum)', '<lambda>')
    """
    if isinstance(function, partial):
        return f"partial({function_name(function.func)})"
    return getattr(function, "__name__", None) or f"<{type(function).__name__}>"


def given_words(given: Mapping[str, Any]) -> str:
    """Further arguments of a call: data by their shape, functions by their names.

    >>> given_words({"observed": [1.0, 2.0], "distance": {"x": sum}})
    ", observed=(2,), distance={'x': sum}"
    """
    return "".join(f", {name}={_in_short(value)}" for name, value in given.items())


def _in_short(value: Any) -> str:
    if isinstance(value, Mapping):
        inside = (f"{name!r}: {_in_short(one)}" for name, one in value.items())
        return "{" + ", ".join(inside) + "}"
    if isinstance(value, ByPart):
        return f"by_part({_in_short(value.distances)})"
    if isinstance(value, Unscaled):
        return repr(value)
    if callable(value):
        # The library's distances know how they were written.
        return getattr(value, "written", None) or function_name(value)
    shape = getattr(value, "shape", None)
    if shape is None:
        try:
            shape = np.shape(value)
        except ValueError:  # a list of data sets of unequal lengths
            return f"<{type(value).__name__} of {len(value)}>"
    return str(tuple(shape)) if isinstance(shape, tuple) else f"<{type(value).__name__}>"


def start_words(start: Any) -> str:
    """Where chains start: numbers in short, or the function that draws them."""
    if callable(start):
        return function_name(start)
    if isinstance(start, Mapping):
        return "{" + ", ".join(f"{name!r}: {rounded(value)}" for name, value in start.items()) + "}"
    return rounded(start)
