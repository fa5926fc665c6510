"""How what users gave is written when it is shown to them, in short."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from aptmc.problem.prior.frozen import rounded


def function_name(function: Any) -> str:
    """What a function is called, as it was written.

    >>> function_name(sum), function_name(partial(sum, start=1)), function_name(lambda: 0)
    ('sum', 'partial(sum)', '<lambda>')
    """
    if isinstance(function, partial):
        return f"partial({function_name(function.func)})"
    return getattr(function, "__name__", None) or f"<{type(function).__name__}>"


def start_words(start: Any) -> str:
    """Where chains start: numbers in short, or the function that draws them."""
    if callable(start):
        return function_name(start)
    if isinstance(start, Mapping):
        return "{" + ", ".join(f"{name!r}: {rounded(value)}" for name, value in start.items()) + "}"
    return rounded(start)
