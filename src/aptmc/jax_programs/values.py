"""Arrays of a program, as far as they are known when its function is written.

Some stand in a buffer. Others are only known by how each of their numbers is computed, which is
done where it is needed: so operations number by number end up in one loop.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import final

from typing_extensions import override

from aptmc.jax_programs.writer import Index, Writer, literal, plus, times


def is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether numbers stand one after the other."""
    expected = contiguous(shape)
    return all(n == 1 or a == b for n, a, b in zip(shape, strides, expected, strict=True))


def contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of numbers that stand one after the other."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


class Value(ABC):
    """An array, or a single number if its shape is ()."""

    def __init__(self, shape: tuple[int, ...], kind: str) -> None:
        self.shape, self.kind = tuple(map(int, shape)), kind

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return math.prod(self.shape)

    @property
    @abstractmethod
    def is_at_hand(self) -> bool:
        """Whether to look at a number costs no more than to look it up."""

    @abstractmethod
    def element(self, index: tuple[Index, ...]) -> str:
        """The name of one of its numbers; lines that compute it are written here."""


@final
class Number(Value):
    """A single number that has a name, or all of an array that are the same."""

    def __init__(self, shape: tuple[int, ...], kind: str, code: str) -> None:
        super().__init__(shape, kind)
        self.code = code

    @property
    @override
    def is_at_hand(self) -> bool:
        return True

    @override
    def element(self, index: tuple[Index, ...]) -> str:
        return self.code


@final
class Stored(Value):
    """An array in a buffer: where it begins, and how far apart its numbers are along each axis."""

    def __init__(
        self,
        writer: Writer,
        shape: tuple[int, ...],
        kind: str,
        buffer: str,
        start: Index,
        strides: tuple[int, ...] | None = None,
        cast: str = "",
    ) -> None:
        super().__init__(shape, kind)
        self.writer, self.buffer, self.start, self.cast = writer, buffer, start, cast
        self.strides = contiguous(self.shape) if strides is None else strides

    @property
    @override
    def is_at_hand(self) -> bool:
        return True

    @override
    def element(self, index: tuple[Index, ...]) -> str:
        steps = [times(stride, one) for stride, one in zip(self.strides, index, strict=True)]
        place = plus(self.start, *steps)
        key = (self.buffer, place)
        found = self.writer.remembered(key)
        if found is None:
            code = f"{self.buffer}[{place}]"
            found = self.writer.let(f"{self.cast}({code})" if self.cast else code)
            self.writer.remember(key, found)
        return found

    def view(self, shape: tuple[int, ...], start: Index, strides: tuple[int, ...]) -> Stored:
        """Other numbers of the same buffer."""
        return Stored(self.writer, shape, self.kind, self.buffer, start, strides, self.cast)


@final
class Computed(Value):
    """An array of which one knows how to compute each number."""

    def __init__(
        self,
        writer: Writer,
        shape: tuple[int, ...],
        kind: str,
        compute: Callable[[tuple[Index, ...]], str],
        *,
        is_at_hand: bool = False,
    ) -> None:
        super().__init__(shape, kind)
        self.writer, self._compute, self._is_at_hand = writer, compute, is_at_hand
        writer.kept.append(self)

    @property
    @override
    def is_at_hand(self) -> bool:
        return self._is_at_hand

    @override
    def element(self, index: tuple[Index, ...]) -> str:
        key = (id(self), index)
        found = self.writer.remembered(key)
        if found is None:
            found = self._compute(index)
            self.writer.remember(key, found)
        return found


def constant(writer: Writer, kind: str, numbers: object) -> Value:
    """An array that is known."""
    import numpy as np

    array = np.asarray(numbers)
    if array.ndim == 0 or (array.size > 0 and np.all(array == array.flat[0])):
        return Number(array.shape, kind, literal(array.flat[0], kind))
    return Stored(writer, array.shape, kind, f"c_{kind}", writer.keep_constant(kind, array))


def room(writer: Writer, shape: tuple[int, ...], kind: str) -> Stored:
    """A new array that nobody has written to."""
    return Stored(writer, shape, kind, f"r_{kind}", writer.make_room(kind, math.prod(shape)))


def write(writer: Writer, target: Stored, index: tuple[Index, ...], code: str) -> None:
    """Write one number of an array in a buffer."""
    steps = [times(stride, one) for stride, one in zip(target.strides, index, strict=True)]
    writer.put(f"{target.buffer}[{plus(target.start, *steps)}] = {code}")


def copy(writer: Writer, target: Stored, source: Value) -> None:
    """Write all numbers of one array to another."""
    with writer.loops(target.shape) as index:
        write(writer, target, index, source.element(index))


def stored(writer: Writer, value: Value) -> Stored:
    """The same array in a buffer, where it may be already."""
    if isinstance(value, Stored):
        return value
    target = room(writer, value.shape, value.kind)
    copy(writer, target, value)
    return target


def at_hand(writer: Writer, value: Value) -> Value:
    """The same array so that its numbers can be looked at again and again."""
    if value.is_at_hand:
        return value
    if not value.shape:
        return Number((), value.kind, value.element(()))
    return stored(writer, value)
