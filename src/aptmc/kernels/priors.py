"""The reference as kernels use it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aptmc.compiled import Floats, Generator, compiled
from aptmc.problem import Abc, Tempered


@compiled
def draw_nothing(rng: Generator, row: Floats) -> None:
    """Stands in where there is no reference to draw from."""


def prior_functions(problem: Abc | Tempered, *, compiled: bool) -> tuple[Callable[..., Any], ...]:
    """The log prior density, and a function that draws from the prior into a row."""
    return problem.reference.functions(compiled=compiled)
