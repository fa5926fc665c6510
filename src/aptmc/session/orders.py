"""Moves to be computed: what one needs to know to compute it, and who does.

An order is complete in itself. Whoever computes it, wherever and however often, gets the same
outcome, so a lost move can always be ordered again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple, final

import numpy as np

from aptmc.compiled import Floats, ready
from aptmc.errors import MoveFailed
from aptmc.kernels import Kernel
from aptmc.keys import START, Key, open_streams, rewind
from aptmc.problem import Problem
from aptmc.problem.density import DensityProblem
from aptmc.problem.state import INFO_LENGTH, STATUS


class Order(NamedTuple):
    """A move of a chain, or the first state of one."""

    key: Key
    rung: int
    level: float
    tuning: Floats
    state: Floats


class Outcome(NamedTuple):
    """What became of a move."""

    state: Floats
    info: Floats


# Computes several orders; None stands for one that was given up because it took far too long.
ComputeAll = Callable[[list[Order]], list[Outcome | None]]


@final
class Mover:
    """Computes moves of one problem in this process."""

    def __init__(
        self, problem: Problem, kernel: Kernel, seed: int, *, compiled: bool | None = None
    ) -> None:
        """Prepare to compute; compiled by default if the problem is."""
        self.compiled = problem.is_compiled if compiled is None else compiled
        self.problem = problem
        self.kernel = kernel
        self.seed = seed
        self.streams = open_streams(seed)

    @cached_property
    def move(self) -> Callable[..., None]:
        """The move function, compiled when it is first used if the problem is."""
        return ready(self.kernel.move(self.problem, compiled=self.compiled))

    def compute(self, order: Order) -> Outcome:
        """The outcome of an order, or MoveFailed with all that is needed to compute it again."""
        if order.key.purpose == START and isinstance(self.problem, DensityProblem):
            return self._start(order, self.problem)
        outcome = Outcome(np.empty_like(order.state), np.empty(INFO_LENGTH))
        move = self.move
        _, chain, number, purpose = order.key
        rewind(self.streams.dial, purpose, chain, number)
        try:
            move(
                order.level, order.tuning, order.state, self.streams.generator,
                outcome.state, outcome.info,
            )  # fmt: skip
        except Exception as error:
            raise self.failure(order, error)  # noqa: B904 (its cause is the user's error)
        if outcome.info[STATUS]:
            raise self.failure(order)
        return outcome

    def compute_all(self, orders: list[Order]) -> list[Outcome | None]:
        """Several orders, one after the other."""
        return [self.compute(order) for order in orders]

    def failure(self, order: Order, error: Exception | None = None) -> MoveFailed:
        """The error that explains why an order cannot be computed.

        A plain Python function has already said at which parameters it failed. If a compiled one
        did, the move is computed once more in plain Python, with its own key, to find out.
        """
        failure = error if isinstance(error, MoveFailed) else self._fail_again(order)
        if failure is None:
            reason = "a move failed, once," if error is None else f"a move raised {error!r}, once,"
            failure = MoveFailed(reason, self.problem.describe(order.state))
            failure.__cause__ = error
        return failure.located(order.rung, order.key)

    def _fail_again(self, order: Order) -> MoveFailed | None:
        outcome = Outcome(order.state.copy(), np.zeros(INFO_LENGTH))
        move = self.kernel.move(self.problem, compiled=False)
        rng = order.key.generator()
        try:
            move(order.level, order.tuning, order.state, rng, outcome.state, outcome.info)
            self.problem.check(outcome.state)
        except MoveFailed as failure:
            return failure
        return None

    def _start(self, order: Order, problem: DensityProblem) -> Outcome:
        try:
            return Outcome(problem.start(order.key.generator()), np.zeros(INFO_LENGTH))
        except MoveFailed as failure:
            raise failure.located(order.rung, order.key) from failure.__cause__
