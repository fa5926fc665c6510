"""The text of a function while it is written: lines, names, loops, and room for arrays."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, final

import numpy as np

# The kinds of numbers that there are, by the names of the buffers that hold them.
KINDS = ("f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "b1")

Index = int | str


class Untranslatable(Exception):
    """A program does what is not known here. The words say what that is."""


def kind_of(dtype: Any) -> str:
    """The short name of a kind of numbers."""
    try:
        kind = str(np.dtype(dtype).str[1:])
    except TypeError:
        kind = ""
    if kind not in KINDS:
        raise Untranslatable(f"numbers of type {dtype}")
    return kind


def literal(value: Any, kind: str) -> str:
    """A number as it is written."""
    if kind == "b1":
        return repr(bool(value))
    if kind[0] == "f":
        number = float(value)
        text = repr(number) if math.isfinite(number) else _NOT_FINITE.get(number, "nan")
        return text if kind == "f8" else f"f4({text})"
    text = repr(int(value))
    return text if kind == "i8" else f"{kind}({text})"


_NOT_FINITE = {math.inf: "inf", -math.inf: "(-inf)"}


def cast_name(kind: str) -> str:
    """What turns an argument, which has all bits, into a number of a kind."""
    return {"f8": "", "u4": ""}.get(kind, kind)


def plus(*terms: Index) -> Index:
    """A sum of places, of which those that are known are added now."""
    known = sum(term for term in terms if isinstance(term, int))
    others = [term for term in terms if isinstance(term, str)]
    if not others:
        return known
    text = " + ".join(others)
    if known == 0:
        return others[0] if len(others) == 1 else f"({text})"
    return f"({text} + {known})" if known > 0 else f"({text} - {-known})"


def times(factor: int, place: Index) -> Index:
    """A multiple of a place."""
    if isinstance(place, int):
        return factor * place
    if factor in (0, 1):
        return place if factor else 0
    return f"{factor} * {place}" if factor > 0 else f"({factor}) * {place}"


class Text(NamedTuple):
    """A function that was written, and the arrays that it uses."""

    lines: list[str]
    constants: dict[str, Any]  # by kind
    room: dict[str, int]  # by kind, how many numbers it needs room for


@final
class Writer:
    """Writes a function line by line.

    What was computed once is remembered as long as its name holds: to the end of the loop, or of
    the branch, in which it was computed.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = 1
        self._names = 0
        self._room = dict.fromkeys(KINDS, 0)
        self._constants: dict[str, list[Any]] = {kind: [] for kind in KINDS}
        self._lengths = dict.fromkeys(KINDS, 0)
        self._scopes: list[dict[Any, str]] = [{}]
        self.kept: list[Any] = []  # so that no two values ever share an identity

    def text(self) -> Text:
        """What was written."""
        constants = {
            kind: np.concatenate(parts) for kind, parts in self._constants.items() if parts
        }
        return Text(self._lines, constants, {k: n for k, n in self._room.items() if n > 0})

    # --- lines --------------------------------------------------------------------------------

    def put(self, line: str) -> None:
        """Write a line."""
        self._lines.append("    " * self._depth + line)

    def name(self, beginning: str) -> str:
        """A name that nothing else has."""
        self._names += 1
        return f"{beginning}_{self._names}"

    def let(self, code: str) -> str:
        """Give something a name."""
        name = self.name("t")
        self.put(f"{name} = {code}")
        return name

    @contextmanager
    def inside(self, head: str) -> Iterator[None]:
        """Lines that belong to a head, such as `if` or `while`."""
        self.put(head)
        self._depth += 1
        self._scopes.append({})
        yield
        self._scopes.pop()
        self._depth -= 1

    @contextmanager
    def loop(self, length: int) -> Iterator[Index]:
        """Lines for each place of so many; the place's name."""
        if length == 1:
            yield 0
            return
        place = self.name("i")
        self.put(f"{place} = 0")
        with self.inside(f"while {place} < {length}:"):
            yield place
            self.put(f"{place} += 1")

    @contextmanager
    def loops(self, shape: tuple[int, ...]) -> Iterator[tuple[Index, ...]]:
        """Loops inside each other, one for each axis."""
        if not shape:
            yield ()
            return
        with self.loop(shape[0]) as first, self.loops(shape[1:]) as others:
            yield (first, *others)

    def remembered(self, key: Any) -> str | None:
        """The name of what was computed before, if it holds here."""
        for scope in reversed(self._scopes):
            found: str | None = scope.get(key)
            if found is not None:
                return found
        return None

    def remember(self, key: Any, name: str) -> None:
        """Note the name of something."""
        self._scopes[-1][key] = name

    # --- room ---------------------------------------------------------------------------------

    def make_room(self, kind: str, size: int) -> int:
        """Where in the buffer of its kind there is room for some numbers."""
        start = self._room[kind]
        self._room[kind] += size
        return start

    def keep_constant(self, kind: str, numbers: Any) -> int:
        """Where among the constants of its kind some numbers are."""
        flat = np.ascontiguousarray(numbers).ravel()
        start = self._lengths[kind]
        self._constants[kind].append(flat)
        self._lengths[kind] += flat.size
        return start
