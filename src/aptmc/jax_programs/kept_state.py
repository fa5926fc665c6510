"""What a program keeps between two steps, as numbers that any machine can hold.

A state is an array of numbers with a fraction, perhaps of 32 bits, which hold whole numbers up to
2**24 only. So whole numbers of more bits, as keys are made of, are kept in several parts.
"""

from __future__ import annotations

from typing import NamedTuple, final

from aptmc.jax_programs.elementwise import cast
from aptmc.jax_programs.values import Number, Stored, Value, room, write
from aptmc.jax_programs.writer import Index, Writer, plus, times

BITS = 24  # of a part
_PARTS = {"u4": 2, "i4": 2, "u8": 3, "i8": 3}


class Slot(NamedTuple):
    """An array that is kept."""

    shape: tuple[int, ...]
    kind: str  # what it is in the program
    kept: str  # what it is kept as: of a constant the program has its own kind
    start: int  # its place in the state

    @property
    def places(self) -> int:
        """How many numbers of the state it takes."""
        count = 1
        for length in self.shape:
            count *= length
        return count * _PARTS.get(self.kept, 1)


@final
class KeptState:
    """Where in a state what is kept."""

    def __init__(self) -> None:
        self.size = 0

    def slot(self, value: Value, kept: str) -> Slot:
        """Room for one more."""
        kept = kept if value.kind[0] == kept[0] else value.kind
        slot = Slot(value.shape, value.kind, kept, self.size)
        self.size += slot.places
        return slot


def save(writer: Writer, slot: Slot, value: Value) -> None:
    """Write an array to the state."""
    parts, word_kind = _PARTS.get(slot.kept, 1), f"u{slot.kept[1]}"
    with writer.loops(slot.shape) as index:
        place, code = _place(slot, index, parts), value.element(index)
        if parts == 1:
            writer.put(f"state[{place}] = {cast(code, value.kind, 'f8')}")
        else:
            word = writer.let(f"{word_kind}({code})")
            for part in range(parts):
                rest = f"{word_kind}({word} >> {word_kind}({BITS * part}))" if part else word
                low = f"{word_kind}({rest} & {word_kind}({(1 << BITS) - 1}))"
                writer.put(f"state[{plus(place, part)}] = f8({low})")


def restored(writer: Writer, slot: Slot) -> Value:
    """An array from the state."""
    if not slot.shape:
        return Number((), slot.kind, writer.let(_code(writer, slot, slot.start)))
    target: Stored = room(writer, slot.shape, slot.kind)
    parts = _PARTS.get(slot.kept, 1)
    with writer.loops(slot.shape) as index:
        write(writer, target, index, _code(writer, slot, _place(slot, index, parts)))
    return target


def _code(writer: Writer, slot: Slot, place: Index) -> str:
    parts, word_kind = _PARTS.get(slot.kept, 1), f"u{slot.kept[1]}"
    if parts == 1:
        return cast(f"state[{place}]", "f8", slot.kind)
    word = f"{word_kind}(state[{place}])"
    for part in range(1, parts):
        more = f"{word_kind}({word_kind}(state[{plus(place, part)}]) << {word_kind}({BITS * part}))"
        word = writer.let(f"{word_kind}({word} | {more})")
    return cast(cast(word, word_kind, slot.kept), slot.kept, slot.kind)


def _place(slot: Slot, index: tuple[Index, ...], each: int) -> Index:
    place: Index = slot.start
    stride = each
    for length, one in zip(reversed(slot.shape), reversed(index), strict=True):
        place = plus(place, times(stride, one))
        stride *= length
    return place
