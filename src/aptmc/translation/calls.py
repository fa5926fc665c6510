"""Calls: of known functions, of the generator's methods, and of other functions of the user's."""

from __future__ import annotations

import ast
from _ctypes import CFuncPtr
from types import FunctionType
from typing import TYPE_CHECKING, Any, final

import numpy as np

from aptmc.compiled import source_of
from aptmc.translation import names
from aptmc.translation.arrays import Arrays
from aptmc.translation.kinds import (
    FLAG,
    GENERATOR,
    NOTHING,
    REAL,
    SINGLE,
    WHOLE,
    Kind,
    Static,
    Typed,
    common,
    converted,
    reckoned,
)

if TYPE_CHECKING:
    from aptmc.translation.expressions import Expressions
    from aptmc.translation.function import Translation


PRIMITIVE = object()  # a method of the generator that is written in C by hand


@final
class Calls:
    """The calls in one function."""

    def __init__(self, function: Translation, expressions: Expressions) -> None:
        self.function, self.expressions = function, expressions
        self.arrays = Arrays(function, expressions)

    def found(self, node: ast.Call) -> Typed | Static:
        """What a call gives."""
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            raise self.function.refusal(node, "arguments with a star have no translation")
        if isinstance(node.func, ast.Attribute):
            owner = self.expressions.found(node.func.value)
            if isinstance(owner, Typed):
                if owner.kind == GENERATOR:
                    return self._drawn(node, owner, node.func.attr)
                if owner.kind.is_array:
                    return self.arrays.method(node, owner, node.func.attr)
                raise self.function.refusal(node, f".{node.func.attr}() has no translation")
        callee = self.expressions.found(node.func)
        if not isinstance(callee, Static):
            raise self.function.refusal(node, "this cannot be called")
        what = callee.value
        if what in (len,):
            return self._length(node)
        if isinstance(what, CFuncPtr):
            raise self.function.refusal(node, "a compiled function has no source to translate")
        primitive = self.function.module.primitives.get(what)
        if primitive is not None:
            return self._primitive(node, *primitive)
        made = self.arrays.made(node, what)  # first, for numpy has some of these in Python
        if made is not None:
            return made
        if isinstance(what, FunctionType) or hasattr(what, "py_func"):
            return self._other(node, source_of(what))
        if node.keywords:
            raise self.function.refusal(node, "arguments by name have no translation here")
        found = [self.expressions.found(argument) for argument in node.args]
        known = [argument.value for argument in found if isinstance(argument, Static)]
        if len(known) == len(found):
            return Static(what(*known))
        return self._known(node, what, [self.expressions.as_typed(node, one) for one in found])

    def _primitive(self, node: ast.Call, name: str, result: Kind) -> Typed:
        given = ", ".join(self.expressions.value(argument).code for argument in node.args)
        if result.name.startswith("Tuple"):
            self.function.module.use_tuple(result)
        return self.function.kept(f"{name}({given})", result)

    def _known(self, node: ast.Call, what: Any, given: list[Typed]) -> Typed:
        if not all(value.kind.is_number for value in given):
            raise self.function.refusal(node, f"{_name(what)} takes single numbers here")
        flow = self.function.flow
        real = SINGLE if all(value.kind == SINGLE for value in given) else REAL
        reals = ", ".join(converted(value, real) for value in given)
        if what in names.WHOLE_FUNCTIONS:
            return Typed(f"whole({flow.of_library(names.WHOLE_FUNCTIONS[what], reals)})", WHOLE)
        if what in names.REAL_FUNCTIONS:
            return Typed(flow.of_library(names.REAL_FUNCTIONS[what], reals), real)
        if what in names.TEST_FUNCTIONS:
            return Typed(f"flag({names.TEST_FUNCTIONS[what]}({reals}))", FLAG)
        if what in names.CASTS and len(given) == 1:
            return Typed(converted(given[0], names.CASTS[what]), names.CASTS[what])
        if what in names.ABSOLUTE and len(given) == 1:
            kind = reckoned(given[0].kind, given[0].kind)
            return Typed(f"absolute({converted(given[0], kind)})", kind)
        if what is round and len(given) == 1:
            return Typed(f"whole({flow.of_library('rint', reals)})", WHOLE)
        for known, name in ((names.MINIMUM, "smaller"), (names.MAXIMUM, "larger")):
            if what in known and len(given) > 1:
                kind = given[0].kind
                for value in given[1:]:
                    kind = common(kind, value.kind) or kind
                code = converted(given[0], kind)
                for value in given[1:]:
                    code = f"{name}({code}, {converted(value, kind)})"
                return Typed(code, kind)
        raise self.function.refusal(node, f"{_name(what)} has no translation")

    def _length(self, node: ast.Call) -> Static:
        value = self.expressions.found(node.args[0])
        if isinstance(value, Static):
            return Static(len(value.value))
        if not value.kind.shape:
            raise self.function.refusal(node, "how long this array is nobody knows")
        return Static(value.kind.shape[0])

    def _drawn(self, node: ast.Call, generator: Typed, method: str) -> Typed:
        source = self.function.module.draws.get(method)
        if source is None:
            known = ", ".join(sorted(self.function.module.draws))
            raise self.function.refusal(
                node, f"rng.{method} is not known to lanes: use one of {known}"
            )
        if source is PRIMITIVE:
            if node.args or node.keywords:
                raise self.function.refusal(node, f"rng.{method}() gives one number at a time")
            handed_on = self.function.flow.handed_on
            return self.function.kept(f"{method}({handed_on}{generator.code})", REAL)
        if method not in self.function.module.apart:
            return self._other(node, source, [generator])
        self.function.flow.allow(node, "draws with loops")
        copy = self.function.copy_of_generator(generator)
        drawn = self._other(node, source, [copy], apart=True)
        self.function.write(f"{generator.code} = {copy.code};")
        return drawn

    def _other(
        self,
        node: ast.Call,
        source: FunctionType,
        first: list[Typed] | None = None,
        *,
        apart: bool = False,
    ) -> Typed:
        """Another function of the user's or of the library: translated for these arguments."""
        given: list[Typed | Static] = [*(first or [])]
        given += [self.expressions.found(argument) for argument in node.args]
        named = {
            str(keyword.arg): self.expressions.found(keyword.value) for keyword in node.keywords
        }
        order = source.__code__.co_varnames[: source.__code__.co_argcount]
        defaults = dict(zip(order[::-1], (source.__defaults__ or ())[::-1], strict=False))
        for name in order[len(given) :]:
            if name in named:
                given.append(named.pop(name))
            elif name in defaults:
                given.append(Static(defaults[name]))
        if named or len(given) != len(order):
            raise self.function.refusal(node, f"{source.__name__} takes other arguments")
        changed = self.function.module.assigned_in(source)
        arguments = [
            one
            if isinstance(one, Static) and _is_settled(one.value) and name not in changed
            else self.expressions.as_typed(node, one)
            for name, one in zip(order, given, strict=True)
        ]
        name, result = self.function.module.translated(
            source,
            tuple(one if isinstance(one, Static) else one.kind for one in arguments),
            apart=apart,
        )
        flow = self.function.flow
        codes = [one.code for one in arguments if isinstance(one, Typed)]
        if result.is_array:
            assert result.shape is not None
            room = self.function.new_array(result.of[0], result.shape)
            self.function.write(f"{name}({flow.handed_on}{', '.join([*codes, room.code])});")
            flow.called(name)
            return room
        call = f"{name}({flow.handed_on}{', '.join(codes)})"
        if result == NOTHING:
            self.function.write(f"{call};")
            flow.called(name)
            return Typed("", NOTHING)
        kept = self.function.kept(call, result)
        flow.called(name)
        return kept


def _is_settled(value: Any) -> bool:
    """Whether a function is translated for this very value: how long arrays are, say."""
    return isinstance(value, int | np.integer | FunctionType) or hasattr(value, "py_func")


def _name(what: Any) -> str:
    if isinstance(what, np.ufunc):
        return f"numpy.{what.__name__}"
    return str(getattr(what, "__name__", what))
