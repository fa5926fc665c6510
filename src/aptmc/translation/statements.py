"""Statements of Python as statements of C."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING, final

from aptmc.translation.kinds import FLAG, NOTHING, WHOLE, Static, Typed, converted

if TYPE_CHECKING:
    from aptmc.translation.function import Translation


@final
class Statements:
    """The statements of one function."""

    def __init__(self, function: Translation) -> None:
        self.function = function

    def all(self, nodes: list[ast.stmt]) -> None:
        """One after the other."""
        self.function.flow.each(nodes, self._one)

    def _one(self, node: ast.stmt) -> None:
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise self.function.refusal(node, f"{type(node).__name__} has no translation")
        method(node)

    # --- one method for each kind of statement, by its name ------------------------------------

    def _pass(self, node: ast.Pass) -> None:
        pass

    def _expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):  # a docstring
            return
        found = self.function.expressions.found(node.value)
        if isinstance(found, Typed) and found.kind != NOTHING:
            self.function.write(f"(void)({found.code});")

    def _assign(self, node: ast.Assign) -> None:
        (target, value) = (node.targets[0], node.value)
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            self._one_by_one(node, target, value)
            return
        found = self.function.expressions.found(node.value)
        for target in node.targets:
            self._to(node, target, found)

    def _annassign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._to(node, node.target, self.function.expressions.found(node.value))

    def _augassign(self, node: ast.AugAssign) -> None:
        expressions = self.function.expressions
        before = expressions.found(_read(node.target))
        value = expressions.found(node.value)
        self._to(node, node.target, expressions.arithmetic(node, node.op, before, value))

    def _to(self, node: ast.stmt, target: ast.expr, found: Typed | Static) -> None:
        function = self.function
        if isinstance(target, ast.Tuple):
            self._to_each(node, target, found)
            return
        value = function.expressions.as_typed(node, found)
        if isinstance(target, ast.Name):
            function.assign(node, target.id, value)
        elif isinstance(target, ast.Subscript):
            place = function.expressions.found(_read(target))
            if isinstance(place, Static):
                raise function.refusal(node, "this is a constant, and stays as it is")
            if place.kind.is_array:
                self._to_part(node, place, value)
                return
            if not value.kind.is_number:
                raise function.refusal(node, "only a number can stand in one place")
            function.write(function.flow.set(place.code, converted(value, place.kind)))
        else:
            raise function.refusal(node, "nothing can be assigned to this")

    def _to_each(self, node: ast.stmt, target: ast.Tuple, found: Typed | Static) -> None:
        function = self.function
        value = function.expressions.as_typed(node, found)
        if len(value.kind.of) != len(target.elts) or value.kind.is_array:
            raise function.refusal(node, "the two sides have different lengths")
        if value.parts:  # each is computed before any is assigned
            parts = [function.kept(part.code, part.kind) for part in value.parts]
        else:
            whole = function.kept(value.code, value.kind)
            parts = [
                Typed(f"{whole.code}.part{place}", kind) for place, kind in enumerate(value.kind.of)
            ]
        for one, part in zip(target.elts, parts, strict=True):
            self._to(node, one, part)

    def _one_by_one(self, node: ast.stmt, target: ast.Tuple, value: ast.Tuple) -> None:
        """Several targets at once: all values are computed before any is assigned."""
        function = self.function
        if len(target.elts) != len(value.elts):
            raise function.refusal(node, "the two sides have different lengths")
        found = [function.expressions.found(part) for part in value.elts]
        kept = [
            one if isinstance(one, Static) else function.kept(one.code, one.kind) for one in found
        ]
        for place, one in zip(target.elts, kept, strict=True):
            self._to(node, place, one)

    def _to_part(self, node: ast.stmt, target: Typed, value: Typed) -> None:
        """A number, or an array, to a part of an array."""
        function = self.function
        if target.kind.shape is None:
            raise function.refusal(node, "how long this part is nobody knows")
        if value.kind.is_number:
            number = function.kept(converted(value, target.kind.of[0]), target.kind.of[0])
            function.fill(target, number.code)
        elif value.kind.is_array and value.kind.size == target.kind.size:
            function.copy(target, value)
        else:
            raise function.refusal(node, "the two sides have different lengths")

    def _if(self, node: ast.If) -> None:
        test = self.function.expressions.found(node.test)
        if isinstance(test, Static):
            self.all(node.body if test.value else node.orelse)
            return
        no = partial(self.all, node.orelse) if node.orelse else None
        self.function.flow.when(converted(test, FLAG), partial(self.all, node.body), no)

    def _while(self, node: ast.While) -> None:
        self.function.flow.allow(node, "loops")
        if node.orelse:
            raise self.function.refusal(node, "`else` after a loop has no translation")
        self.function.write("while (true) {")
        test = self.function.expressions.value(node.test)
        self.function.write(f"if (!({converted(test, FLAG)})) break;")
        self.all(node.body)
        self.function.write("}")

    def _for(self, node: ast.For) -> None:
        function = self.function
        function.flow.allow(node, "loops")
        call = node.iter
        is_range = (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id == "range"
            and not call.keywords
        )
        if not is_range or not isinstance(node.target, ast.Name) or node.orelse:
            raise function.refusal(node, "only loops over range(...) have a translation")
        assert isinstance(call, ast.Call)
        limits = [function.expressions.found(argument) for argument in call.args]
        numbers = [function.expressions.as_typed(node, limit) for limit in limits]
        if not all(number.kind.is_whole for number in numbers):
            raise function.refusal(node, "range needs whole numbers: use int(...)")
        first = numbers[0].code if len(numbers) > 1 else "0"
        last = numbers[1] if len(numbers) > 1 else numbers[0]
        stride = limits[2] if len(limits) > 2 else Static(1)
        if not isinstance(stride, Static) or stride.value == 0:
            raise function.refusal(node, "the stride of range must be a constant")
        # Python keeps what it counts by to itself: the loop may change its variable.
        counter, end = function.new_name(WHOLE), function.new_name(WHOLE)
        sign = "<" if stride.value > 0 else ">"
        function.write(f"{end} = {last.code};")
        loop = f"{counter} = {first}; {counter} {sign} {end}; {counter} += {stride.value}"
        function.write(f"for ({loop}) {{")
        function.assign(node, node.target.id, Typed(counter, WHOLE))
        self.all(node.body)
        function.write("}")

    def _break(self, node: ast.Break) -> None:
        self.function.write("break;")

    def _continue(self, node: ast.Continue) -> None:
        self.function.write("continue;")

    def _return(self, node: ast.Return) -> None:
        is_none = isinstance(node.value, ast.Constant) and node.value.value is None
        if node.value is None or is_none:
            self.function.give_back(node, None)
        else:
            self.function.give_back(node, self.function.expressions.value(node.value))


def _read(target: ast.expr) -> ast.expr:
    """The same place, to be read."""
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    return target
