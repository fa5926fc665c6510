"""What kinds of values there are in C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from aptmc.errors import InputError


class Untranslatable(InputError):
    """A function holds something that has no translation; the message names the line."""


@final
@dataclass(frozen=True)
class Kind:
    """The kind of a value, and its name in C."""

    name: str
    of: tuple[Kind, ...] = ()  # what a tuple or an array is made of

    @property
    def is_number(self) -> bool:
        """Whether one can reckon with it."""
        return self in (FLAG, WHOLE, REAL)

    @property
    def is_array(self) -> bool:
        """Whether it has places."""
        return self.name.endswith("*")


FLAG, WHOLE, REAL = Kind("bool"), Kind("whole"), Kind("real")
NOTHING = Kind("void")
GENERATOR = Kind("Generator &")
REALS, WHOLES = Kind("real *", (REAL,)), Kind("whole *", (WHOLE,))
_RANK = {FLAG: 0, WHOLE: 1, REAL: 2}


def tuple_of(kinds: tuple[Kind, ...]) -> Kind:
    """The kind of a tuple; numbers in it only."""
    letters = "".join(kind.name[0] for kind in kinds)
    return Kind(f"Tuple_{letters}", kinds)


def array_of(values: np.ndarray) -> Kind:
    """The kind of an array that never changes."""
    return REALS if values.dtype.kind == "f" else WHOLES


def common(first: Kind | None, second: Kind) -> Kind | None:
    """The kind that holds both, or None if there is none."""
    if first is None or first == second:
        return second
    if first in _RANK and second in _RANK:
        return max(first, second, key=_RANK.__getitem__)
    both = tuple(common(one, other) for one, other in zip(first.of, second.of, strict=False))
    if first.name.startswith("Tuple") and len(first.of) == len(second.of) and None not in both:
        return tuple_of(tuple(kind for kind in both if kind is not None))
    return None


class Typed(NamedTuple):
    """A piece of C that has a value."""

    code: str
    kind: Kind
    parts: tuple[Typed, ...] = ()  # of a tuple that is written out


class Static(NamedTuple):
    """What is known before anything is computed: a module, a function, a constant."""

    value: Any


def literal(value: float | bool) -> Typed:
    """A number as it is written in C."""
    if isinstance(value, bool | np.bool_):
        return Typed("true" if value else "false", FLAG)
    if isinstance(value, int | np.integer):
        return Typed(f"whole({int(value)})", WHOLE)
    number = float(value)
    if number != number:
        return Typed("real(NAN)", REAL)
    if number in (float("inf"), float("-inf")):
        return Typed("real(INFINITY)" if number > 0 else "real(-INFINITY)", REAL)
    return Typed(f"real({number!r})", REAL)


def converted(value: Typed, kind: Kind) -> str:
    """A number as another kind."""
    return value.code if value.kind == kind else f"{kind.name}({value.code})"
