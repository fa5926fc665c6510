"""What every kernel offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import final

from aptmc.compiled import FloatTable, compiled_like
from aptmc.ladder import Ladder
from aptmc.problem.base import Problem
from aptmc.problem.state import move_model

STEPS = 0  # the place in every kernel's tuning of the number of local steps that make a move


class Kernel(ABC):
    """Local moves. What belongs to a rung is data, so that a problem is compiled only once."""

    @abstractmethod
    def tuning(self, problem: Problem, ladder: Ladder) -> FloatTable:
        """One row of numbers for each rung, or an error if they do not fit.

        The first is the number of local steps that make a move, so that backends can group cheap
        moves into units that are worth sending.
        """

    @abstractmethod
    def body(self, problem: Problem, *, compiled: bool) -> Callable[..., None]:
        """A function like `aptmc.problem.state.move_model`, in Python that numba can compile.

        It must not depend on the kernel's settings but through `tuning`.
        """

    @property
    def parts(self) -> tuple[type, ...]:
        """What kind of kernel it is; more than one if it is made of others."""
        return (type(self),)

    @final
    def move(self, problem: Problem, *, compiled: bool) -> Callable[..., None]:
        """The move function for a problem; compiled once per problem and kind of kernel."""
        moves = problem.compiled_moves
        if compiled and self.parts in moves:
            return moves[self.parts]
        move = self.body(problem, compiled=compiled)
        if compiled:
            move = moves[self.parts] = compiled_like(move_model, move)
        return move
