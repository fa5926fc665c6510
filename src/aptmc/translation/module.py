"""A piece of C: functions that were translated, and the constants and tuples that they use."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import FunctionType
from typing import Any, final

import numpy as np

from aptmc.compiled import source_of
from aptmc.translation.function import Translation
from aptmc.translation.kinds import REALS, Kind, Typed, Untranslatable, array_of, literal

LARGEST = float(np.finfo(np.float64).max)


@final
class Module:
    """Functions in the order in which C needs them.

    :param draws: the generator's methods by name: a function of the library that is translated, or
        `PRIMITIVE` for what is written in C by hand
    :param largest: the largest number that the machine knows; constants beyond are cut off there
    :param apart: names of those that are long and rare, and better not copied into their callers
    """

    def __init__(
        self, draws: Mapping[str, Any], apart: Collection[str] = (), *, largest: float = LARGEST
    ) -> None:
        self.draws, self.apart, self.largest = draws, apart, largest
        self._functions: dict[tuple[Any, tuple[Kind, ...]], tuple[str, Kind]] = {}
        self._under_way: list[Any] = []
        self._code: list[str] = []
        self._constants: dict[tuple[str, bytes], tuple[str, int]] = {}
        self._declared: list[str] = []
        self._tuples: dict[str, Kind] = {}
        self._kept: list[Any] = []  # so that no two functions ever share an identity

    def translated(
        self, function: Any, kinds: tuple[Kind, ...], *, apart: bool = False
    ) -> tuple[str, Kind]:
        """The name in C of a function for arguments of these kinds, and the kind of its result."""
        source: FunctionType = source_of(function)
        key = (source, kinds)
        if key in self._functions:
            return self._functions[key]
        if source in self._under_way:
            raise Untranslatable(f"{source.__name__} calls itself, which lanes cannot do")
        self._under_way.append(source)
        try:
            name = f"{source.__name__.strip('<>')}_{len(self._functions) + len(self._under_way)}"
            code, result = Translation(self, source, kinds).run(name)
            code = f"{'APART' if apart else 'DEVICE'} {code}"
        finally:
            self._under_way.pop()
        self._code.append(code)
        self._functions[key] = name, result
        return name, result

    def constant(self, values: np.ndarray) -> Typed:
        """An array that never changes."""
        array = np.ascontiguousarray(values)
        if not np.isfinite(array).all():
            raise Untranslatable(f"an array of constants must have finite numbers, got {array!r}")
        if array.dtype.kind == "f":
            array = np.clip(array, -self.largest, self.largest)
        kind = array_of(array)
        key = (kind.name, array.astype(np.float64 if kind == REALS else np.int64).tobytes())
        if key not in self._constants:
            name = f"constant{len(self._constants)}"
            self._constants[key] = name, array.size
            numbers = ", ".join(literal(value).code for value in array.ravel().tolist())
            self._declared.append(
                f"CONSTANT {kind.of[0].name} {name}[{array.size}] = {{{numbers}}};"
            )
        name, _ = self._constants[key]
        return Typed(name, kind)

    def length_of(self, name: str) -> int | None:
        """How long a constant array is."""
        return next((length for one, length in self._constants.values() if one == name), None)

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
        ]
        return "\n".join([*tuples, *self._declared, *self._code]) + "\n"
