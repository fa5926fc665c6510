"""What kinds of values there are in C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from aptmc.errors import InputError


class Untranslatable(InputError):
    """A function holds something that has no translation; the message names the line."""


@final
@dataclass(frozen=True)
class Kind:
    """The kind of a value, and its name in C.

    :param of: what a tuple or an array is made of
    :param shape: of an array, as far as it is known
    """

    name: str
    of: tuple[Kind, ...] = ()
    shape: tuple[int, ...] | None = None

    @property
    def is_number(self) -> bool:
        """Whether one can reckon with it."""
        return self in _RANK

    @property
    def is_array(self) -> bool:
        """Whether it has places."""
        return self.name.endswith("*")

    @property
    def is_whole(self) -> bool:
        """Whether it is a whole number, or a flag."""
        return self in _RANK and self not in (SINGLE, REAL)

    @property
    def size(self) -> int | None:
        """How many numbers an array has, if that is known."""
        return None if self.shape is None else math.prod(self.shape)


FLAG, WHOLE, REAL = Kind("flag"), Kind("whole"), Kind("real")
# Those of numpy that have a number of bits of their own, whatever `real` has.
INT, WORD, LONG_WORD, SINGLE = Kind("int"), Kind("word"), Kind("long_word"), Kind("float")
NOTHING = Kind("void")
GENERATOR = Kind("Generator &")
_RANK = {FLAG: 0, INT: 1, WORD: 1, LONG_WORD: 2, WHOLE: 2, SINGLE: 3, REAL: 4}
# Letters for the names of tuples.
_LETTERS = {FLAG: "b", INT: "i", WORD: "u", LONG_WORD: "l", WHOLE: "w", SINGLE: "f", REAL: "r"}
_OF_NUMPY = {
    "f8": REAL, "f4": SINGLE, "i8": WHOLE, "i4": INT, "u4": WORD, "u8": LONG_WORD, "b1": FLAG,
}  # fmt: skip


def array(of: Kind, shape: tuple[int, ...] | None = None) -> Kind:
    """An array of numbers."""
    return Kind(f"{of.name} *", (of,), shape)


REALS, WHOLES = array(REAL), array(WHOLE)


def sized(length: int) -> Kind:
    """So many real numbers."""
    return array(REAL, (length,))


def tuple_of(kinds: tuple[Kind, ...]) -> Kind:
    """The kind of a tuple; numbers in it only."""
    letters = "".join(_LETTERS[kind] for kind in kinds)
    return Kind(f"Tuple_{letters}", kinds)


def kind_of_numpy(kind: Any) -> Kind | None:
    """The kind of a number of numpy's, if it has one here."""
    try:
        return _OF_NUMPY.get(np.dtype(kind).str[1:])
    except TypeError:
        return None


def array_of(values: np.ndarray) -> Kind:
    """The kind of an array that never changes."""
    return array(kind_of_numpy(values.dtype) or WHOLE, values.shape)


def common(first: Kind | None, second: Kind) -> Kind | None:
    """The kind that holds both, or None if there is none: numba's rules."""
    if first is None or first == second:
        return second
    if first in _RANK and second in _RANK:
        return _common_number(first, second)
    if first.is_array and first.of == second.of:
        return array(first.of[0])
    both = tuple(common(one, other) for one, other in zip(first.of, second.of, strict=False))
    if first.name.startswith("Tuple") and len(first.of) == len(second.of) and None not in both:
        return tuple_of(tuple(kind for kind in both if kind is not None))
    return None


def _common_number(first: Kind, second: Kind) -> Kind:
    low, high = sorted((first, second), key=_RANK.__getitem__)
    if low == FLAG:
        return high
    if high == REAL or (high == SINGLE and low != SINGLE):
        return REAL
    if {low, high} == {LONG_WORD, WHOLE} or {low, high} == {LONG_WORD, INT}:
        return REAL
    if {low, high} == {INT, WORD}:
        return WHOLE
    return high


def reckoned(first: Kind, second: Kind) -> Kind:
    """The kind of a sum: whole numbers get all bits that there are."""
    kind = _common_number(first, second)
    if kind == WORD:
        return LONG_WORD
    return WHOLE if kind in (FLAG, INT) else kind


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
    if isinstance(value, np.generic):
        kind = kind_of_numpy(value.dtype)
        if kind in (INT, WORD, LONG_WORD, SINGLE):
            plain = literal(value.item())
            return Typed(f"{kind.name}({plain.code})", kind)
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
