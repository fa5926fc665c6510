"""Small arrays whose lengths are known: making them, and their methods."""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING, Any, final

import numpy as np

from aptmc.translation import names
from aptmc.translation.kinds import REAL, Kind, Static, Typed, array, converted, kind_of_numpy

if TYPE_CHECKING:
    from aptmc.translation.expressions import Expressions
    from aptmc.translation.function import Translation


@final
class Arrays:
    """The arrays of one function."""

    def __init__(self, function: Translation, expressions: Expressions) -> None:
        self.function, self.expressions = function, expressions

    def made(self, node: ast.Call, what: Any) -> Typed | None:
        """What a function of numpy gives that makes an array; None if it is none."""
        if any(what is one for one in names.NEW_ARRAYS):
            return self._new(node, what.__name__)
        if what is np.array and len(node.args) == 1 and isinstance(node.args[0], ast.List):
            return self._of_list(node.args[0])
        if any(what is one for one in names.SAME_ARRAYS):
            given = self.expressions.found(node.args[0])
            if isinstance(given, Typed) and given.kind.is_array:
                self._check_same(node, given)
                return given
        if what is np.atleast_1d and len(node.args) == 1:
            given = self.expressions.found(node.args[0])
            if isinstance(given, Typed) and given.kind.is_array:
                return given
        return None

    def _new(self, node: ast.Call, name: str) -> Typed:
        shape = self._shape(node, node.args[0] if node.args else None)
        of = REAL
        if len(node.args) == 2:
            kind = self.expressions.found(node.args[1])
            of = (kind_of_numpy(kind.value) if isinstance(kind, Static) else None) or of
        elif len(node.args) != 1 or node.keywords:
            raise self.function.refusal(node, "an array is made of its length and its kind here")
        room = self.function.new_array(of, shape)
        if name != "empty":
            self.function.fill(room, "1" if name == "ones" else "0")
        return room

    def _shape(self, node: ast.AST, given: ast.expr | None) -> tuple[int, ...]:
        found = None if given is None else self.expressions.found(given)
        value = found.value if isinstance(found, Static) else None
        lengths = value if isinstance(value, tuple) else (value,)
        if not all(isinstance(one, int | np.integer) for one in lengths):
            raise self.function.refusal(node, "an array needs a length that never changes")
        return tuple(int(one) for one in lengths)

    def _of_list(self, node: ast.List) -> Typed:
        numbers = [self.expressions.number(part) for part in node.elts]
        room = self.function.new_array(REAL, (len(numbers),))
        for place, number in enumerate(numbers):
            self.function.write(f"{room.code}[{place}] = {converted(number, REAL)};")
        return room

    def _check_same(self, node: ast.Call, given: Typed) -> None:
        for argument in node.args[1:]:
            kind = self.expressions.found(argument)
            if not isinstance(kind, Static) or kind_of_numpy(kind.value) != given.kind.of[0]:
                raise self.function.refusal(node, "an array keeps its kind here")

    def method(self, node: ast.Call, owner: Typed, name: str) -> Typed:
        """What a method of an array gives."""
        shape, of = owner.kind.shape, owner.kind.of[0]
        if shape is None:
            raise self.function.refusal(node, "how long this array is nobody knows")
        if name == "copy" and not node.args:
            room = self.function.new_array(of, shape)
            self.function.copy(room, owner)
            return room
        if name in ("ravel", "flatten") and not node.args:
            return self._reshaped(owner, (math.prod(shape),))
        if name == "reshape":
            if len(node.args) == 1:
                return self._reshaped(owner, self._shape(node, node.args[0]))
            lengths = [self._shape(node, argument)[0] for argument in node.args]
            return self._reshaped(owner, tuple(lengths))
        raise self.function.refusal(node, f".{name}() of an array has no translation")

    def _reshaped(self, owner: Typed, shape: tuple[int, ...]) -> Typed:
        of: Kind = owner.kind.of[0]
        return Typed(owner.code, array(of, shape))
