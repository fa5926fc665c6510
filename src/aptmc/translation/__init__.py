"""Python functions as C: those that a machine computes for which numba has no compiler of ours.

What numba understands of scalars, small arrays and a generator is understood here, too. What is not
is refused with the line of code that stands in the way. Numbers are called `real` and `whole` in
the C code, so that the same functions can be computed with 64 bits or with 32.
"""

from aptmc.translation.calls import PRIMITIVE
from aptmc.translation.kinds import (
    GENERATOR,
    LONG_WORD,
    REAL,
    REALS,
    SINGLE,
    WHOLE,
    WORD,
    Kind,
    Static,
    Untranslatable,
    array,
    sized,
    tuple_of,
)
from aptmc.translation.module import Module

__all__ = [
    "GENERATOR",
    "LONG_WORD",
    "PRIMITIVE",
    "REAL",
    "REALS",
    "SINGLE",
    "WHOLE",
    "WORD",
    "Kind",
    "Module",
    "Static",
    "Untranslatable",
    "array",
    "sized",
    "tuple_of",
]
