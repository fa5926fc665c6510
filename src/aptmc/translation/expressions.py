"""Expressions of Python as expressions of C.

Python evaluates from left to right, C as it likes. So whatever draws random numbers is written into
a statement of its own before the expression that it is part of.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, final

import numpy as np

from aptmc.translation.calls import Calls
from aptmc.translation.kinds import (
    FLAG,
    REAL,
    WHOLE,
    Static,
    Typed,
    common,
    converted,
    literal,
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
        length = self.function.length_of(owner)
        if length is not None and node.attr in ("size", "shape"):
            return Static(length if node.attr == "size" else (length,))
        raise self.function.refusal(node, f".{node.attr} has no translation")

    def _subscript(self, node: ast.Subscript) -> Typed | Static:
        owner = self.found(node.value)
        places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if any(isinstance(place, ast.Slice) for place in places):
            raise self.function.refusal(
                node, "a part of an array has no translation: use its places"
            )
        found = [self.found(place) for place in places]
        if isinstance(owner, Static):
            key = known_values(found)
            if key is not None:
                return Static(owner.value[key[0] if len(key) == 1 else key])
            return self._constant_at(node, owner.value, found)
        if not owner.kind.is_array or len(found) != 1:
            raise self.function.refusal(node, "only arrays with one dimension have places")
        return Typed(f"{owner.code}[{self.place(node, owner, found[0])}]", owner.kind.of[0])

    def place(self, node: ast.AST, owner: Typed, found: Typed | Static) -> str:
        """A place in an array that may be counted from its end."""
        if isinstance(found, Static) and isinstance(found.value, int) and found.value < 0:
            length = self.function.length_of(owner)
            if length is None:
                raise self.function.refusal(node, "how long this array is nobody knows")
            return str(length + found.value)
        place = self.as_typed(node, found)
        if place.kind != WHOLE:
            raise self.function.refusal(node, "a place must be a whole number: use int(...)")
        return str(found.value) if isinstance(found, Static) else place.code

    def _constant_at(self, node: ast.AST, table: Any, found: list[Typed | Static]) -> Typed:
        array = np.asarray(table)
        if array.ndim != len(found) or array.dtype.kind not in "fiub":
            raise self.function.refusal(node, "only single numbers of an array can be used")
        name = self.function.module.constant(array)
        code = ""
        for length, place in zip(array.shape, found, strict=True):
            index = self.as_typed(node, place)
            if index.kind != WHOLE:
                raise self.function.refusal(node, "a place must be a whole number: use int(...)")
            code = index.code if not code else f"({code}) * {length} + ({index.code})"
        return Typed(f"{name.code}[{code}]", name.kind.of[0])

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
        kind = common(common(first.kind, second.kind), WHOLE) or WHOLE
        if isinstance(sign, ast.Div):
            kind = REAL
        if isinstance(sign, BITS):
            if first.kind == second.kind == FLAG and not isinstance(sign, ast.LShift | ast.RShift):
                return Typed(f"({first.code} {name} {second.code})", FLAG)
            if kind != WHOLE:
                raise self.function.refusal(node, f"{name} needs whole numbers")
        is_small = isinstance(right, Static) and right.value in range(65)
        if isinstance(sign, ast.Pow) and isinstance(right, Static) and kind == REAL and is_small:
            return Typed(f"power({converted(first, REAL)}, {int(right.value)})", REAL)
        numbers = f"{converted(first, kind)}", f"{converted(second, kind)}"
        if name.isidentifier():
            return Typed(f"{name}({numbers[0]}, {numbers[1]})", kind)
        return Typed(f"({numbers[0]} {name} {numbers[1]})", kind)

    def _unaryop(self, node: ast.UnaryOp) -> Typed | Static:
        operand = self.found(node.operand)
        if isinstance(node.op, ast.Not):
            if isinstance(operand, Static):
                return Static(not operand.value)
            return Typed(f"(!{operand.code})", FLAG)
        if isinstance(operand, Static):
            return Static(-operand.value if isinstance(node.op, ast.USub) else +operand.value)
        if isinstance(node.op, ast.USub) and operand.kind in (WHOLE, REAL):
            return Typed(f"(-{operand.code})", operand.kind)
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
            self.function.write(f"{name} = {first};")
            self.function.write(f"if ({name if sign == '&&' else '!' + name}) {{")
            self.function.write(*statements, f"{name} = {converted(second, FLAG)};", "}")
            result = Typed(name, FLAG)
        return result

    def _ifexp(self, node: ast.IfExp) -> Typed | Static:
        test = self.found(node.test)
        if isinstance(test, Static):
            return self.found(node.body if test.value else node.orelse)
        yes, one = self.function.apart(lambda: self.value(node.body))
        no, other = self.function.apart(lambda: self.value(node.orelse))
        kind = common(one.kind, other.kind)
        if kind is None or not kind.is_number:
            raise self.function.refusal(node, "both values must be numbers")
        if not yes and not no:
            code = f"({test.code} ? {converted(one, kind)} : {converted(other, kind)})"
            return Typed(code, kind)
        name = self.function.new_name(kind)
        self.function.write(f"if ({test.code}) {{", *yes, f"{name} = {converted(one, kind)};")
        self.function.write("} else {", *no, f"{name} = {converted(other, kind)};", "}")
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

    def _call(self, node: ast.Call) -> Typed | Static:
        return self.calls.found(node)


def known_values(found: Sequence[Typed | Static]) -> tuple[Any, ...] | None:
    """The constants, if all are."""
    known = [one.value for one in found if isinstance(one, Static)]
    return tuple(known) if len(known) == len(found) else None
