"""One function of Python as a function of C, for one kind of each argument."""

from __future__ import annotations

import ast
import builtins
import inspect
import math
import textwrap
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, final

from aptmc.compiled import text_of
from aptmc.translation.at_once import AtOnce
from aptmc.translation.expressions import Expressions
from aptmc.translation.flow import RESULT, Flow, OneByOne
from aptmc.translation.kinds import (
    NOTHING,
    Kind,
    Static,
    Typed,
    Untranslatable,
    array,
    common,
    converted,
)
from aptmc.translation.statements import Statements

if TYPE_CHECKING:
    from aptmc.translation.module import Module

MOST_PASSES = 20


@final
class Translation:
    """The function on its way: which kinds its variables have, and what has been written of it."""

    def __init__(
        self, module: Module, source: FunctionType, given: tuple[Kind | Static, ...]
    ) -> None:
        self.module, self.source = module, source
        self.tree, self.first_line = _tree_of(source)
        self.arguments = [argument.arg for argument in self.tree.args.args]
        arguments = dict(zip(self.arguments, given, strict=True))
        self.given = {name: one for name, one in arguments.items() if isinstance(one, Kind)}
        self.known = {name: one for name, one in arguments.items() if isinstance(one, Static)}
        self.variables: dict[str, Kind | None] = {}
        self.result: Kind | None = None
        self._around: Any = None  # what names mean that are no variables
        self.lines: list[str] = []
        self.extra: list[str] = []
        self.changed = False
        self.flow: Flow = OneByOne(self) if module.beside is None else AtOnce(self)
        self.expressions = Expressions(self)
        self.statements = Statements(self)

    def run(self, name: str) -> tuple[str, Kind]:
        """The C code of the function, and the kind of its result.

        Which kind a variable has is known when all that is assigned to it is: so it is gone through
        until nothing changes.
        """
        self.variables = dict.fromkeys(_assigned(self.tree)) | dict(self.given)
        for _ in range(MOST_PASSES):
            self.changed, self.lines, self.extra = False, [], []
            self.statements.all(self.tree.body)
            if not self.changed:
                break
        return self._written(name)

    def run_like(self, variables: dict[str, Kind | None], result: Kind, name: str) -> str:
        """The same for several lanes at once, with the kinds that one lane has found."""
        self.variables, self.result = variables, result
        for kind in (*variables.values(), result):
            if kind not in (None, NOTHING):
                self.flow.allow_kind(kind)
        self.statements.all(self.tree.body)
        return self._written(name)[0]

    def _written(self, name: str) -> tuple[str, Kind]:
        result = self.result or NOTHING
        arguments = [*self.flow.arguments]
        arguments += [f"{kind.name} {self.local(name)}" for name, kind in self.given.items()]
        gives = result.name
        if result.is_array:
            arguments.append(f"{result.name} {RESULT}")
        if result.is_array or result == NOTHING:
            gives = "void"
        declared = [
            f"{kind.name} {self.local(variable)}{{}};"
            for variable, kind in self.variables.items()
            if variable not in self.given and kind is not None
        ]
        lines = [*declared, *self.extra, *self.flow.beginning(result), *self.lines]
        body = "\n".join([*lines, *self.flow.end(result)])
        head = f"{gives} {name}({', '.join(arguments)})"
        return f"{head} {{\n{textwrap.indent(body, '  ')}\n}}", result

    # --- what expressions and statements ask for -----------------------------------------------

    def local(self, name: str) -> str:
        """A variable's name in C, which no keyword there can be."""
        return f"{name}_"

    def outer(self, node: ast.Name) -> Any:
        """What a name means that is no variable of the function."""
        if self._around is None:
            self._around = inspect.getclosurevars(self.source).nonlocals
        for names in (self._around, self.source.__globals__, vars(builtins)):
            if node.id in names:
                return names[node.id]
        raise self.refusal(node, f"{node.id!r} is not defined")

    def write(self, *lines: str) -> None:
        """Add statements."""
        self.lines += lines

    def apart(self, make: Callable[[], Typed]) -> tuple[list[str], Typed]:
        """What `make` gives, and the statements that it would have written."""
        before, self.lines = self.lines, []
        try:
            value = make()
            return self.lines, value
        finally:
            self.lines = before

    def new_name(self, kind: Kind) -> str:
        """A variable of the translation's own."""
        self.flow.allow_kind(kind)
        name = f"value{len(self.extra)}"
        self.extra.append(f"{kind.name} {name}{{}};")
        return name

    def copy_of_generator(self, generator: Typed) -> Typed:
        """A generator that another function may hold by its address.

        The one that is copied can then stay in registers.
        """
        name = f"generator{len(self.extra)}"
        self.extra.append(f"Generator {name}{{}};")
        self.write(f"{name} = {generator.code};")
        return Typed(name, generator.kind)

    def kept(self, call: str, kind: Kind) -> Typed:
        """The result of a call, made now and in this order."""
        name = self.new_name(kind)
        self.write(f"{name} = {call};")
        return Typed(name, kind)

    def new_array(self, of: Kind, shape: tuple[int, ...]) -> Typed:
        """Room for a small array of the function's own."""
        name = f"array{len(self.extra)}"
        self.extra.append(f"{of.name} {name}[{max(math.prod(shape), 1)}];")
        return Typed(name, array(of, shape))

    def fill(self, target: Typed, value: str) -> None:
        """Write the same number to all places of an array."""
        change = self.flow.set(f"({target.code})[i]", value)
        self.write(f"for (int i = 0; i < {target.kind.size}; i++) {change}")

    def copy(self, target: Typed, source: Typed) -> None:
        """Write all numbers of one array to another."""
        value = converted(Typed(f"({source.code})[i]", source.kind.of[0]), target.kind.of[0])
        self.fill(target, value)

    def assign(self, node: ast.AST, name: str, value: Typed) -> None:
        """Give a variable a value, and perhaps another kind from now on."""
        kind = common(self.variables.get(name), value.kind)
        if kind is None or kind == NOTHING:
            raise self.refusal(node, f"{name!r} cannot hold both, or has no value")
        if kind != self.variables.get(name):
            if name in self.given:
                raise self.refusal(node, f"{name!r} is an argument of another kind: use a new name")
            self.variables[name], self.changed = kind, True
        if kind.is_number:
            self.write(self.flow.set(self.local(name), converted(value, kind)))
        else:
            self.flow.allow(node, "variables that are no numbers")
            self.write(f"{self.local(name)} = {value.code};")

    def give_back(self, node: ast.AST, value: Typed | None) -> None:
        """Return."""
        if value is None:
            self.flow.give_back(None, NOTHING)
            return
        kind = common(self.result, value.kind)
        if kind is None or (kind.is_array and kind.shape is None):
            raise self.refusal(node, "what is returned is not always of the same kind")
        if kind != self.result:
            self.result, self.changed = kind, True
        if kind.is_array:
            self.copy(Typed(RESULT, kind), value)
        elif value.parts:
            self.module.use_tuple(kind)
        self.flow.give_back(value, kind)

    def refusal(self, node: ast.AST, why: str) -> Untranslatable:
        """The error that names the line that stands in the way."""
        line = self.first_line + getattr(node, "lineno", 1) - 1
        file = self.source.__code__.co_filename
        shown = text_of(self.source)[0]
        place = getattr(node, "lineno", 1) - 1
        code = shown[place].strip() if place < len(shown) else ""
        return Untranslatable(
            f"{self.source.__name__} cannot be translated for this machine: {why}, in line {line} "
            f"of {file}: {code}"
        )


def _tree_of(source: FunctionType) -> tuple[ast.FunctionDef, int]:
    try:
        lines, first_line = text_of(source)
        tree = ast.parse(textwrap.dedent("".join(lines))).body[0]
    except (OSError, TypeError, SyntaxError):
        raise Untranslatable(_no_source(source)) from None
    if not isinstance(tree, ast.FunctionDef):
        raise Untranslatable(_no_source(source))
    return tree, first_line


def _no_source(source: FunctionType) -> str:
    return (
        f"the source of {source.__name__} cannot be found: define it by `def` in a file or in a "
        "cell of a notebook"
    )


def assigned_in(source: FunctionType) -> set[str]:
    """The variables of a function that it assigns to."""
    return set(_assigned(_tree_of(source)[0]))


def _assigned(tree: ast.FunctionDef) -> list[str]:
    """The variables of a function, in the order in which they come up."""
    names = [
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    return list(dict.fromkeys(names))
