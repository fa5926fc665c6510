"""A piece of C: functions that were translated, and the constants and tuples that they use."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import FunctionType
from typing import Any, final

import numpy as np

from aptmc.compiled import source_of
from aptmc.translation.function import Translation, assigned_in
from aptmc.translation.kinds import (
    Kind,
    Static,
    Typed,
    Untranslatable,
    array_of,
    converted,
    literal,
)

GIVEN_TUPLES = {"Tuple_uu"}  # that stand in C already
Given = Kind | Static  # an argument: of a kind, or known
LARGEST = float(np.finfo(np.float64).max)


@final
class Module:
    """Functions in the order in which C needs them.

    :param draws: the generator's methods by name: a function of the library that is translated, or
        `PRIMITIVE` for what is written in C by hand
    :param largest: the largest number that the machine knows; constants beyond are cut off there
    :param primitives: functions written in C by hand: their names there, and what they give
    :param apart: names of those that are long and rare, and better not copied into their callers
    :param beside: where the same functions are written for one lane, if here it is for several at
        once
    """

    def __init__(
        self, draws: Mapping[str, Any], apart: Collection[str] = (), *, largest: float = LARGEST,
        primitives: Mapping[Any, tuple[str, Kind]] | None = None, beside: Module | None = None,
    ) -> None:  # fmt: skip
        self.beside = beside
        self.primitives = dict(primitives or {})
        self.draws, self.apart, self.largest = draws, apart, largest
        self._functions: dict[tuple[Any, tuple[Given, ...]], tuple[str, Kind]] = {}
        self._variables: dict[tuple[Any, tuple[Given, ...]], dict[str, Kind | None]] = {}
        self._losing: set[str] = set()
        self._assigned: dict[FunctionType, set[str]] = {}
        self._under_way: list[Any] = []
        self._code: list[str] = []
        self._constants: dict[tuple[str, bytes], str] = {}
        self._declared: list[str] = []
        self._tuples: dict[str, Kind] = {}
        self._kept: list[Any] = []  # so that no two functions ever share an identity

    def translated(
        self, function: Any, kinds: tuple[Given, ...], *, apart: bool = False
    ) -> tuple[str, Kind]:
        """The name in C of a function for arguments of these kinds, and the kind of its result.

        An argument that is known now is no argument in C; an array that is returned is one more.
        """
        source: FunctionType = source_of(function)
        key = (source, kinds)
        if key in self._functions:
            return self._functions[key]
        if source in self._under_way:
            raise Untranslatable(f"{source.__name__} calls itself, which lanes cannot do")
        self._under_way.append(source)
        try:
            name = f"{source.__name__.strip('<>')}_{len(self._functions) + len(self._under_way)}"
            translation = Translation(self, source, kinds)
            if self.beside is None:
                code, result = translation.run(name)
                self._variables[key] = translation.variables
            else:
                _, result = self.beside.translated(function, kinds)
                code = translation.run_like(self.beside._variables[key], result, name)
                if translation.flow.loses:
                    self._losing.add(name)
            code = f"{'APART' if apart else 'DEVICE'} {code}"
        finally:
            self._under_way.pop()
        self._code.append(code)
        self._functions[key] = name, result
        return name, result

    def may_lose(self, name: str) -> bool:
        """Whether a function for several lanes at once may lose some of them."""
        return name in self._losing

    def assigned_in(self, source: FunctionType) -> set[str]:
        """The variables of a function that it assigns to."""
        if source not in self._assigned:
            self._assigned[source] = assigned_in(source)
        return self._assigned[source]

    def constant(self, values: np.ndarray) -> Typed:
        """An array that never changes."""
        if self.beside is not None:
            raise Untranslatable("lanes that are computed at once know no arrays of constants")
        array = np.ascontiguousarray(values)
        if array.dtype.kind not in "fiub" or not np.isfinite(array).all():
            raise Untranslatable(f"an array of constants must have finite numbers, got {array!r}")
        if array.dtype.kind == "f":
            largest = min(self.largest, float(np.finfo(array.dtype).max))
            array = np.clip(array, -largest, largest)
        kind = array_of(array)
        key = (kind.name, array.tobytes())
        if key not in self._constants:
            name = self._constants[key] = f"constant{len(self._constants)}"
            of = kind.of[0]
            numbers = ", ".join(converted(literal(value), of) for value in array.ravel().tolist())
            self._declared.append(
                f"CONSTANT {of.name} {name}[{max(array.size, 1)}] = {{{numbers}}};"
            )
        return Typed(self._constants[key], kind)

    def table(self, values: np.ndarray) -> Typed:
        """The same, of which single numbers are read."""
        return (self.beside or self).constant(values)

    def use_tuple(self, kind: Kind) -> None:
        """Declare what functions return that return several numbers."""
        self._tuples[kind.name] = kind

    def code(self) -> str:
        """All of it, as text."""
        tuples = [
            f"struct {kind.name} {{ "
            + " ".join(f"{part.name} part{place};" for place, part in enumerate(kind.of))
            + " };"
            for kind in self._tuples.values()
            if kind.name not in GIVEN_TUPLES
        ]
        return "\n".join([*tuples, *self._declared, *self._code]) + "\n"
