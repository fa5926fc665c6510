"""How a function flows in C: what is written where it branches, assigns, calls or returns."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, final

from typing_extensions import override

from aptmc.translation.kinds import Kind, Typed, converted

if TYPE_CHECKING:
    from aptmc.translation.function import Translation

RESULT = "result"  # where an array that is returned is written to


class Flow(ABC):
    """The flow of one function."""

    arguments: ClassVar[tuple[str, ...]] = ()  # that every function has beside its own
    handed_on: ClassVar[str] = ""  # the same where one is called

    def __init__(self, function: Translation) -> None:
        self.function = function
        self.loses = False  # whether lanes may be lost in it

    @abstractmethod
    def allow(self, node: ast.AST, what: str) -> None:
        """Refuse what this flow has no room for."""

    @abstractmethod
    def allow_kind(self, kind: Kind) -> None:
        """Refuse a variable of a kind."""

    @abstractmethod
    def each(self, nodes: list[ast.stmt], write: Callable[[ast.stmt], None]) -> None:
        """Statements, one after the other."""

    @abstractmethod
    def when(self, test: str, yes: Callable[[], None], no: Callable[[], None] | None) -> None:
        """One branch or the other."""

    @abstractmethod
    def set(self, place: str, value: str) -> str:
        """A number goes to its place."""

    @abstractmethod
    def choice(self, test: str, one: str, other: str) -> str:
        """One of two values that are both there."""

    @abstractmethod
    def of_library(self, name: str, arguments: str) -> str:
        """The call of a function of the C library."""

    @abstractmethod
    def of_table(self, table: Typed, place: str) -> str:
        """A number of an array that never changes."""

    @abstractmethod
    def called(self, name: str) -> None:
        """After another function was called."""

    @abstractmethod
    def give_back(self, value: Typed | None, kind: Kind) -> None:
        """Return."""

    @abstractmethod
    def beginning(self, result: Kind) -> list[str]:
        """What a function begins with."""

    @abstractmethod
    def end(self, result: Kind) -> list[str]:
        """What a function ends with."""


@final
class OneByOne(Flow):
    """One lane: the flow of Python is that of C."""

    @override
    def allow(self, node: ast.AST, what: str) -> None:
        pass

    @override
    def allow_kind(self, kind: Kind) -> None:
        pass

    @override
    def each(self, nodes: list[ast.stmt], write: Callable[[ast.stmt], None]) -> None:
        for node in nodes:
            write(node)

    @override
    def when(self, test: str, yes: Callable[[], None], no: Callable[[], None] | None) -> None:
        self.function.write(f"if ({test}) {{")
        yes()
        if no is not None:
            self.function.write("} else {")
            no()
        self.function.write("}")

    @override
    def set(self, place: str, value: str) -> str:
        return f"{place} = {value};"

    @override
    def choice(self, test: str, one: str, other: str) -> str:
        return f"({test} ? {one} : {other})"

    @override
    def of_library(self, name: str, arguments: str) -> str:
        return f"{name}({arguments})"

    @override
    def of_table(self, table: Typed, place: str) -> str:
        return f"{table.code}[{place}]"

    @override
    def called(self, name: str) -> None:
        pass

    @override
    def give_back(self, value: Typed | None, kind: Kind) -> None:
        if value is None or kind.is_array:
            self.function.write("return;")
        elif value.parts:
            parts = zip(value.parts, kind.of, strict=True)
            given = ", ".join(converted(part, of) for part, of in parts)
            self.function.write(f"return {kind.name}{{{given}}};")
        else:
            self.function.write(f"return {converted(value, kind)};")

    @override
    def beginning(self, result: Kind) -> list[str]:
        return []

    @override
    def end(self, result: Kind) -> list[str]:
        # After an end that is never reached C wants a value all the same.
        return [] if result.is_array or result.name == "void" else [f"return {result.name}{{}};"]
