"""Expressions of Python as expressions of C.

Python evaluates from left to right, C as it likes. So whatever draws random numbers is written into
a statement of its own before the expression that it is part of.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, final

import numpy as np

from aptmc.translation.calls import Calls
from aptmc.translation.kinds import (
    FLAG,
    REAL,
    SINGLE,
    Static,
    Typed,
    array,
    common,
    converted,
    literal,
    reckoned,
    tuple_of,
)

if TYPE_CHECKING:
    from aptmc.translation.function import Translation

ARITHMETIC: dict[type[ast.operator], tuple[str, Callable[..., Any]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("floor_divide", operator.floordiv),
    ast.Mod: ("floor_modulo", operator.mod),
    ast.Pow: ("power", operator.pow),
    ast.BitAnd: ("&", operator.and_),
    ast.BitOr: ("|", operator.or_),
    ast.BitXor: ("^", operator.xor),
    ast.LShift: ("<<", operator.lshift),
    ast.RShift: (">>", operator.rshift),
}
COMPARISONS: dict[type[ast.cmpop], tuple[str, Callable[..., bool]]] = {
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
}
BITS = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift)
NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)


@final
class Expressions:
    """The expressions of one function."""

    def __init__(self, function: Translation) -> None:
        self.function = function
        self.calls = Calls(function, self)

    def found(self, node: ast.expr) -> Typed | Static:
        """What an expression is: a constant if it can be known now."""
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise self.function.refusal(node, f"{type(node).__name__} has no translation")
        result: Typed | Static = method(node)
        return result

    def value(self, node: ast.expr) -> Typed:
        """The same as a piece of C."""
        return self.as_typed(node, self.found(node))

    def as_typed(self, node: ast.AST, found: Typed | Static) -> Typed:
        """A constant written out."""
        if isinstance(found, Typed):
            return found
        if isinstance(found.value, NUMBERS):
            return literal(found.value)  # type: ignore[arg-type]
        if isinstance(found.value, np.ndarray):
            return self.function.module.constant(found.value)
        if isinstance(found.value, list):
            raise self.function.refusal(node, "List has no translation")
        if isinstance(found.value, tuple):
            parts = tuple(self.as_typed(node, Static(part)) for part in found.value)
            return self._written_out(node, parts)
        raise self.function.refusal(node, f"{found.value!r} is no number and no array")

    def number(self, node: ast.expr) -> Typed:
        """The value of an expression that must be a number."""
        value = self.value(node)
        if not value.kind.is_number:
            raise self.function.refusal(node, f"a number is needed here, this is {value.kind.name}")
        return value

    # --- one method for each kind of expression, by its name -----------------------------------

    def _constant(self, node: ast.Constant) -> Static:
        return Static(node.value)

    def _name(self, node: ast.Name) -> Typed | Static:
        if node.id in self.function.known:
            return self.function.known[node.id]
        if node.id in self.function.variables:
            kind = self.function.variables[node.id]
            if kind is None:
                raise self.function.refusal(node, f"{node.id!r} is used before it has a value")
            return Typed(self.function.local(node.id), kind)
        return Static(self.function.outer(node))

    def _attribute(self, node: ast.Attribute) -> Typed | Static:
        owner = self.found(node.value)
        if isinstance(owner, Static):
            if isinstance(owner.value, np.ndarray) and node.attr not in ("size", "shape", "ndim"):
                raise self.function.refusal(node, f".{node.attr} of an array has no translation")
            try:
                return Static(getattr(owner.value, node.attr))
            except AttributeError:
                raise self.function.refusal(node, f"there is no {node.attr}") from None
        shape = owner.kind.shape
        if owner.kind.is_array and shape is not None and node.attr in ("size", "shape", "ndim"):
            known = {"size": math.prod(shape), "shape": shape, "ndim": len(shape)}
            return Static(known[node.attr])
        if owner.kind.is_array and node.attr in ("size", "shape"):
            raise self.function.refusal(node, "how long this array is nobody knows")
        raise self.function.refusal(node, f".{node.attr} has no translation")

    def _subscript(self, node: ast.Subscript) -> Typed | Static:
        owner = self.found(node.value)
        places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if any(isinstance(place, ast.Slice) for place in places):
            return self._part(node, owner, places)
        found = [self.found(place) for place in places]
        if isinstance(owner, Static):
            key = known_values(found)
            if key is not None:
                return Static(owner.value[key[0] if len(key) == 1 else key])
            if not isinstance(owner.value, np.ndarray | tuple | list):
                raise self.function.refusal(node, "this has no places")
            values = np.asarray(owner.value)
            if values.ndim == len(found) == 1:
                return self._of_table(node, values, found[0])
            owner = self.function.module.constant(values)
        if not owner.kind.is_array:
            raise self.function.refusal(node, "only arrays have places")
        return self._at(node, owner, found)

    def _of_table(self, node: ast.AST, values: np.ndarray, place: Typed | Static) -> Typed:
        """A number of an array that never changes."""
        flow, code = self.function.flow, self.as_typed(node, place)
        if not code.kind.is_whole:
            raise self.function.refusal(node, "a place must be a whole number: use int(...)")
        table = self.function.module.table(values)
        of = table.kind.of[0]
        flow.allow_kind(of)
        return Typed(flow.of_table(table, code.code), of)

    def _at(self, node: ast.AST, owner: Typed, found: list[Typed | Static]) -> Typed:
        """A place of an array, or a row of one with several dimensions."""
        shape = owner.kind.shape or (0,)
        if len(found) > len(shape):
            raise self.function.refusal(node, f"this array has {len(shape)} dimensions only")
        code = ""
        for axis, one in enumerate(found):
            place = self.place(node, owner, one, axis)
            code = place if not code else f"({code}) * {shape[axis]} + ({place})"
        of, rest = owner.kind.of[0], shape[len(found) :]
        if not rest:
            return Typed(f"{owner.code}[{code}]", of)
        return Typed(f"({owner.code} + ({code}) * {math.prod(rest)})", array(of, rest))

    def _part(self, node: ast.Subscript, owner: Typed | Static, places: list[ast.expr]) -> Typed:
        """A part of an array: the same numbers, from a place on."""
        if isinstance(owner, Static):
            owner = self.as_typed(node, owner)
        shape = owner.kind.shape
        if len(places) != 1 or not owner.kind.is_array or (shape and len(shape) != 1):
            raise self.function.refusal(node, "only arrays with one dimension have parts")
        part = places[0]
        assert isinstance(part, ast.Slice)
        if part.step is not None:
            raise self.function.refusal(node, "a part with gaps has no translation")
        length = None if shape is None else shape[0]
        first = Static(0) if part.lower is None else self.found(part.lower)
        last = Static(length) if part.upper is None else self.found(part.upper)
        for end in (first, last):
            known = end.value if isinstance(end, Static) else 0
            if known is not None and (not isinstance(known, int | np.integer) or known < 0):
                raise self.function.refusal(node, "the ends of a part are counted from 0 here")
        code = self.place(node, owner, first, 0)
        size = None
        if isinstance(first, Static) and isinstance(last, Static) and last.value is not None:
            size = (max(last.value - first.value, 0),)
            if length is not None and last.value > length:
                size = (max(length - first.value, 0),)
        return Typed(f"({owner.code} + {code})", array(owner.kind.of[0], size))

    def place(self, node: ast.AST, owner: Typed, found: Typed | Static, axis: int) -> str:
        """A place in an array that may be counted from its end."""
        if isinstance(found, Static) and isinstance(found.value, int | np.integer):
            if found.value >= 0:
                return str(int(found.value))
            if owner.kind.shape is None:
                raise self.function.refusal(node, "how long this array is nobody knows")
            return str(owner.kind.shape[axis] + int(found.value))
        self.function.flow.allow(node, "places that differ")
        place = self.as_typed(node, found)
        if not place.kind.is_whole:
            raise self.function.refusal(node, "a place must be a whole number: use int(...)")
        return place.code

    def _binop(self, node: ast.BinOp) -> Typed | Static:
        left, right = self.found(node.left), self.found(node.right)
        return self.arithmetic(node, node.op, left, right)

    def arithmetic(
        self, node: ast.AST, sign: ast.operator, left: Typed | Static, right: Typed | Static
    ) -> Typed | Static:
        """Two numbers put together."""
        if type(sign) not in ARITHMETIC:
            raise self.function.refusal(node, f"{type(sign).__name__} has no translation")
        name, fold = ARITHMETIC[type(sign)]
        if isinstance(left, Static) and isinstance(right, Static):
            return Static(fold(left.value, right.value))
        first, second = self.as_typed(node, left), self.as_typed(node, right)
        if not (first.kind.is_number and second.kind.is_number):
            raise self.function.refusal(node, "one can reckon with single numbers only")
        kind = reckoned(first.kind, second.kind)
        if isinstance(sign, ast.Div) and kind != SINGLE:
            kind = REAL
        if isinstance(sign, BITS):
            if first.kind == second.kind == FLAG and not isinstance(sign, ast.LShift | ast.RShift):
                return Typed(f"({first.code} {name} {second.code})", FLAG)
            if not kind.is_whole:
                raise self.function.refusal(node, f"{name} needs whole numbers")
        is_small = isinstance(right, Static) and right.value in range(65)
        if (
            isinstance(sign, ast.Pow)
            and isinstance(right, Static)
            and is_small
            and not kind.is_whole
        ):
            kind = SINGLE if first.kind == SINGLE else REAL
            return Typed(f"power({converted(first, kind)}, {int(right.value)})", kind)
        if isinstance(sign, ast.Mod | ast.FloorDiv):
            self.function.flow.allow(node, "division with a rest")
        if isinstance(sign, ast.Mod | ast.FloorDiv | ast.Pow) and kind == SINGLE:
            kind = REAL
        numbers = f"{converted(first, kind)}", f"{converted(second, kind)}"
        if name.isidentifier():
            return Typed(self.function.flow.of_library(name, ", ".join(numbers)), kind)
        return Typed(f"({numbers[0]} {name} {numbers[1]})", kind)

    def _unaryop(self, node: ast.UnaryOp) -> Typed | Static:
        operand = self.found(node.operand)
        if isinstance(node.op, ast.Not):
            if isinstance(operand, Static):
                return Static(not operand.value)
            return Typed(f"(!{operand.code})", FLAG)
        if isinstance(operand, Static):
            return Static(-operand.value if isinstance(node.op, ast.USub) else +operand.value)
        if isinstance(node.op, ast.Invert) and operand.kind.is_whole and operand.kind != FLAG:
            kind = reckoned(operand.kind, operand.kind)
            return Typed(f"(~{converted(operand, kind)})", kind)
        if isinstance(node.op, ast.USub) and operand.kind.is_number:
            kind = reckoned(operand.kind, operand.kind)
            return Typed(f"(-{converted(operand, kind)})", kind)
        raise self.function.refusal(node, f"{type(node.op).__name__} has no translation")

    def _compare(self, node: ast.Compare) -> Typed | Static:
        values = [self.found(part) for part in (node.left, *node.comparators)]
        if any(type(sign) not in COMPARISONS for sign in node.ops):
            raise self.function.refusal(node, "only numbers can be compared")
        signs = [COMPARISONS[type(sign)] for sign in node.ops]
        known = known_values(values)
        if known is not None:
            pairs = zip(signs, known, known[1:], strict=False)
            return Static(all(fold(one, other) for (_, fold), one, other in pairs))
        typed = [self.as_typed(node, value) for value in values]
        if not all(value.kind.is_number for value in typed):
            raise self.function.refusal(node, "only numbers can be compared")
        pieces = []
        for (name, _), one, other in zip(signs, typed, typed[1:], strict=False):
            kind = common(one.kind, other.kind) or REAL
            pieces.append(f"({converted(one, kind)} {name} {converted(other, kind)})")
        return Typed(pieces[0] if len(pieces) == 1 else f"({' && '.join(pieces)})", FLAG)

    def _boolop(self, node: ast.BoolOp) -> Typed | Static:
        sign = "&&" if isinstance(node.op, ast.And) else "||"
        result: Typed | Static = self.found(node.values[0])
        for part in node.values[1:]:
            if isinstance(result, Static):
                if bool(result.value) is (sign == "||"):
                    return Static(bool(result.value))
                result = self.found(part)
                continue
            statements, second = self.function.apart(partial(self.value, part))
            first = converted(result, FLAG)
            if not statements:
                result = Typed(f"({first} {sign} {converted(second, FLAG)})", FLAG)
                continue
            name = self.function.new_name(FLAG)
            self.function.write(self.function.flow.set(name, first))
            branch = (*statements, self.function.flow.set(name, converted(second, FLAG)))
            test = name if sign == "&&" else f"!{name}"
            self.function.flow.when(test, partial(self.function.write, *branch), None)
            result = Typed(name, FLAG)
        return result

    def _ifexp(self, node: ast.IfExp) -> Typed | Static:
        flow, test = self.function.flow, self.found(node.test)
        if isinstance(test, Static):
            return self.found(node.body if test.value else node.orelse)
        yes, one = self.function.apart(lambda: self.value(node.body))
        no, other = self.function.apart(lambda: self.value(node.orelse))
        kind = common(one.kind, other.kind)
        if kind is None or not kind.is_number:
            raise self.function.refusal(node, "both values must be numbers")
        if not yes and not no:
            values = converted(one, kind), converted(other, kind)
            return Typed(flow.choice(converted(test, FLAG), *values), kind)
        name = self.function.new_name(kind)
        yes.append(flow.set(name, converted(one, kind)))
        no.append(flow.set(name, converted(other, kind)))
        write = self.function.write
        flow.when(converted(test, FLAG), partial(write, *yes), partial(write, *no))
        return Typed(name, kind)

    def _tuple(self, node: ast.Tuple) -> Typed | Static:
        found = [self.found(part) for part in node.elts]
        known = known_values(found)
        if known is not None:
            return Static(known)
        return self._written_out(node, tuple(self.as_typed(node, part) for part in found))

    def _written_out(self, node: ast.AST, parts: tuple[Typed, ...]) -> Typed:
        if not all(part.kind.is_number for part in parts):
            raise self.function.refusal(node, "only numbers can be put into a tuple")
        kind = tuple_of(tuple(part.kind for part in parts))
        self.function.module.use_tuple(kind)
        return Typed(f"{kind.name}{{{', '.join(part.code for part in parts)}}}", kind, parts)

    def _list(self, node: ast.List) -> Typed | Static:
        known = known_values([self.found(part) for part in node.elts])
        if known is None:
            raise self.function.refusal(node, "a list has a translation in np.array([...]) only")
        return Static(list(known))

    def _call(self, node: ast.Call) -> Typed | Static:
        return self.calls.found(node)


def known_values(found: Sequence[Typed | Static]) -> tuple[Any, ...] | None:
    """The constants, if all are."""
    known = [one.value for one in found if isinstance(one, Static)]
    return tuple(known) if len(known) == len(found) else None
