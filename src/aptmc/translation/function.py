"""One function of Python as a function of C, for one kind of each argument."""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, final

from aptmc.compiled import text_of
from aptmc.translation.expressions import Expressions
from aptmc.translation.kinds import (
    NOTHING,
    Kind,
    Typed,
    Untranslatable,
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

    def __init__(self, module: Module, source: FunctionType, kinds: tuple[Kind, ...]) -> None:
        self.module, self.source = module, source
        self.tree, self.first_line = _tree_of(source)
        self.arguments = [argument.arg for argument in self.tree.args.args]
        self.given = dict(zip(self.arguments, kinds, strict=True))
        self.variables: dict[str, Kind | None] = {}
        self.result: Kind | None = None
        self.lengths: dict[str, int] = {}  # of local arrays, by name in C
        self.lines: list[str] = []
        self.extra: list[str] = []
        self.changed = False
        self.expressions = Expressions(self)
        self.statements = Statements(self)

    def run(self, name: str) -> tuple[str, Kind]:
        """The C code of the function, and the kind of its result.

        Which kind a variable has is known when all that is assigned to it is: so it is gone through
        until nothing changes.
        """
        self.variables = dict.fromkeys(_assigned(self.tree)) | dict(self.given)
        for _ in range(MOST_PASSES):
            self.changed, self.lines, self.extra, self.lengths = False, [], [], {}
            self.statements.all(self.tree.body)
            if not self.changed:
                break
        result = self.result or NOTHING
        head = ", ".join(f"{kind.name} {self.local(name)}" for name, kind in self.given.items())
        declared = [
            f"{kind.name} {self.local(variable)}{{}};"
            for variable, kind in self.variables.items()
            if variable not in self.given and kind is not None and not kind.is_array
        ]
        arrays = [f"real {name}[{length}];" for name, length in self.lengths.items()]
        # After an end that is never reached C wants a value all the same.
        last = [] if result == NOTHING else [f"return {result.name}{{}};"]
        body = "\n".join([*declared, *arrays, *self.extra, *self.lines, *last])
        return f"{result.name} {name}({head}) {{\n{textwrap.indent(body, '  ')}\n}}", result

    # --- what expressions and statements ask for -----------------------------------------------

    def local(self, name: str) -> str:
        """A variable's name in C, which no keyword there can be."""
        return f"{name}_"

    def outer(self, node: ast.Name) -> Any:
        """What a name means that is no variable of the function."""
        inside = inspect.getclosurevars(self.source)
        for names in (inside.nonlocals, self.source.__globals__, vars(builtins)):
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

    def length_of(self, array: Typed) -> int | None:
        """How long an array is, if that is known."""
        return self.lengths.get(array.code, self.module.length_of(array.code))

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
            self.write(f"{self.local(name)} = {converted(value, kind)};")
        else:
            self.write(f"{self.local(name)} = {value.code};")

    def give_back(self, node: ast.AST, value: Typed | None) -> None:
        """Return."""
        if value is None:
            self.write("return;")
            return
        kind = common(self.result, value.kind)
        if kind is None or kind.is_array:
            raise self.refusal(node, "what is returned is not always of the same kind")
        if kind != self.result:
            self.result, self.changed = kind, True
        if value.parts:
            parts = zip(value.parts, kind.of, strict=True)
            self.module.use_tuple(kind)
            given = ", ".join(converted(part, of) for part, of in parts)
            self.write(f"return {kind.name}{{{given}}};")
        else:
            self.write(f"return {converted(value, kind)};")

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


def _assigned(tree: ast.FunctionDef) -> list[str]:
    """The variables of a function, in the order in which they come up."""
    names = [
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    return list(dict.fromkeys(names))
