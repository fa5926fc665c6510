"""A piece of advice."""

from __future__ import annotations

from typing import NamedTuple


class Advice(NamedTuple):
    """A problem in plain words, and what to do about it."""

    problem: str
    remedy: str
    serious: bool
    """Whether the draws should not be relied on before it is solved."""

    def __str__(self) -> str:
        return f"{'warning' if self.serious else 'hint'}: {self.problem}. {self.remedy}."
