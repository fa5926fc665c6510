"""Several lanes at once, as the processor's vectors compute them: branches become masks.

In the C code that is written here a `real` is a real number of each of several lanes, and so is all
else. Lanes that are `on` take part in a statement. Both branches of an `if` are computed, each for
its own lanes, and a lane that has returned takes part no more.

What cannot be done at once, a loop say, is not done: its lanes are `lost`. Whoever calls the
function lets it be as if they had never begun, and computes them one by one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, final

from typing_extensions import override

from aptmc.translation.flow import Flow
from aptmc.translation.kinds import (
    FLAG,
    GENERATOR,
    LONG_WORD,
    NOTHING,
    REAL,
    WHOLE,
    Kind,
    Typed,
    Untranslatable,
    converted,
)

if TYPE_CHECKING:
    from aptmc.translation.function import Translation

# What vectors compute bit for bit as single numbers are; others are computed one by one.
OF_VECTORS = ("sqrt", "floor", "ceil", "rint", "trunc", "fabs")
NUMBERS = (FLAG, WHOLE, REAL, LONG_WORD)
GIVEN = "given_back"
# What is shorter, and calls nothing, is not worth asking whether any lane takes part.
SHORT, CALL = 16, re.compile(r"(?<!chosen)\(on, ")


@final
class AtOnce(Flow):
    """The flow of several lanes."""

    arguments: ClassVar[tuple[str, ...]] = ("flag on", "flag &lost")
    handed_on: ClassVar[str] = "on, lost, "

    def __init__(self, function: Translation) -> None:
        super().__init__(function)
        self._has_left = False  # whether any lane may have left the function
        self._depth = 0
        self._names = 0

    @override
    def allow(self, node: ast.AST, what: str) -> None:
        raise self.function.refusal(node, f"lanes that are computed at once know no {what}")

    @override
    def allow_kind(self, kind: Kind) -> None:
        parts = kind.of if kind.is_array or kind.of else (kind,)
        if kind != GENERATOR and not all(part in NUMBERS for part in parts):
            raise Untranslatable(f"lanes that are computed at once know no {kind.name}")

    @override
    def each(self, nodes: list[ast.stmt], write: Callable[[ast.stmt], None]) -> None:
        """What has no translation here loses the lanes that come to it.

        After lanes have left, the rest is for those that are still there, if there are any.
        """
        for place, node in enumerate(nodes):
            kept, had_left = len(self.function.lines), self._has_left
            try:
                write(node)
            except Untranslatable:
                if self._depth == 0 and not had_left:
                    raise  # all lanes would be lost
                del self.function.lines[kept:]
                self.function.write("lost = lost || on;")
                self._leave()
                self.loses = True
                return
            if isinstance(node, ast.Return):
                return
            if self._has_left and not had_left and place + 1 < len(nodes):
                self.function.write("if (any(on)) {")
                self.each(nodes[place + 1 :], write)
                self.function.write("}")
                return

    def _leave(self) -> None:
        self.function.write("on = flag(false);")
        self._has_left = True

    @override
    def when(self, test: str, yes: Callable[[], None], no: Callable[[], None] | None) -> None:
        self._names += 1
        first, second = f"yes{self._names}", f"no{self._names}"
        self.function.write("{", f"flag {first} = {test}, {second} = on && !{first};")
        self.function.write(f"on = on && {first};")
        self._branch(yes)
        self.function.write(f"{first} = on; on = {second};")
        if no is not None:
            self._branch(no)
        self.function.write(f"on = on || {first};", "}")

    def _branch(self, branch: Callable[[], None]) -> None:
        """What is long is left out if no lane takes part."""
        function = self.function
        before, function.lines = function.lines, []
        self._depth += 1
        try:
            branch()
        finally:
            lines, function.lines = function.lines, before
            self._depth -= 1
        is_short = len(lines) <= SHORT and not any(CALL.search(line) for line in lines)
        function.write(*(lines if is_short else ["if (any(on)) {", *lines, "}"]))

    @override
    def set(self, place: str, value: str) -> str:
        return f"{place} = chosen(on, {value}, {place});"

    @override
    def choice(self, test: str, one: str, other: str) -> str:
        return f"chosen({test}, {one}, {other})"

    @override
    def of_library(self, name: str, arguments: str) -> str:
        return f"{name}({'' if name in OF_VECTORS else 'on, '}{arguments})"

    @override
    def of_table(self, table: Typed, place: str) -> str:
        return f"read(on, {table.code}, {table.kind.size}, {place})"

    @override
    def called(self, name: str) -> None:
        if self.function.module.may_lose(name):
            self.function.write("on = on && !lost;")
            self.loses = self._has_left = True

    @override
    def give_back(self, value: Typed | None, kind: Kind) -> None:
        if value is not None and value.parts:
            for place, (part, of) in enumerate(zip(value.parts, kind.of, strict=True)):
                self.function.write(self.set(f"{GIVEN}.part{place}", converted(part, of)))
        elif value is not None and kind.is_number:
            self.function.write(self.set(GIVEN, converted(value, kind)))
        elif value is not None and not kind.is_array:
            for place in range(len(kind.of)):
                field = f".part{place}"
                self.function.write(self.set(GIVEN + field, value.code + field))
        self._leave()

    @override
    def end(self, result: Kind) -> list[str]:
        return [] if result.is_array or result == NOTHING else [f"return {GIVEN};"]

    @override
    def beginning(self, result: Kind) -> list[str]:
        return [] if result.is_array or result == NOTHING else [f"{result.name} {GIVEN}{{}};"]
