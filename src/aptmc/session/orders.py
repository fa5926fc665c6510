"""Moves to be computed: what one needs to know to compute it, and who does.

An order is complete in itself. Whoever computes it, wherever and however often, gets the same
outcome, so a lost move can always be ordered again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np

from aptmc.compiled import (
    AtFirstUse,
    Floats,
    FloatTable,
    Generator,
    Integers,
    IntegerTable,
    compiled,
)
from aptmc.errors import MoveFailed
from aptmc.global_generators import Seeding
from aptmc.kernels import Kernel
from aptmc.kernels.fitted_reference import refer
from aptmc.keys import START, Dial, Key, open_streams, rewind, rewind_plainly
from aptmc.problem import Problem
from aptmc.problem.chain_state import PROCESSOR, STATUS, Move
from aptmc.session.kept_code import KEPT_ON_DISK
from aptmc.targets import INTERPRETED, NUMBA, Target, at_hand, from_python

RNG, INFO = 3, 5  # places among the arguments of a move


class Order(NamedTuple):
    """A move of a chain, or the first state of one."""

    key: Key
    rung: int
    level: float
    tuning: Floats
    state: Floats


class Outcome(NamedTuple):
    """The state that a move led to, and what its steps counted."""

    state: Floats
    info: Floats


# Computes several orders; None stands for one that was given up because it took far too long.
ComputeAll = Callable[[list[Order]], list[Outcome | None]]


def target_for(problem: Problem, kernel: Kernel) -> Target:
    """How moves are computed: as the problem is, if the kernel can be."""
    return problem.target if kernel.compiles else INTERPRETED


@final
class Mover:
    """Computes moves of one problem in this process."""

    def __init__(
        self, problem: Problem, kernel: Kernel, seed: int, *, target: Target | None = None
    ) -> None:
        """Prepare to compute: as the problem is, by default, and the kernel can be."""
        self.target = target or target_for(problem, kernel)
        if self.target == NUMBA:
            self.target = KEPT_ON_DISK
        self.problem = problem
        self.kernel = kernel
        self.info_length = kernel.info_length
        self.seed = seed
        self.streams = open_streams(seed)
        self.seeding = Seeding(seed)

    @cached_property
    def move(self) -> Callable[..., None]:
        """The move function, compiled when it is first used if the problem is."""
        move = self.kernel.move(self.problem, self.target)
        # One of the library's own is compiled when it is called: interpreted, it is of no use here.
        is_ours = self.target.is_compiled and isinstance(move, AtFirstUse)
        if is_ours:
            return move
        return at_hand(move) if self.target.is_compiled else self._plain(move)

    def _plain(self, move: Callable[..., None]) -> Callable[..., None]:
        """A move in plain Python, from whose key all generators of the process are seeded.

        If the user's function draws from them, the move says so where it is later said who has
        computed it. Where there are other threads, those of Dask say, it may have been one of them,
        and nothing is said.
        """
        seeded = self.seeding.around(at_hand(move), RNG)

        def move_plainly(*arguments: Any) -> None:
            seeded(*arguments)
            draws_globally = bool(self.seeding.needed) and threading.active_count() == 1
            arguments[INFO][PROCESSOR] = float(draws_globally)

        return move_plainly

    def compute(self, order: Order) -> Outcome:
        """The outcome of an order, or MoveFailed with all that is needed to compute it again."""
        if self._is_start(order):
            return self._start(order)
        outcome = Outcome(np.empty_like(order.state), np.empty(self.info_length))
        move = self.move
        _, chain, number, purpose = order.key
        rewind_plainly(self.streams.dial, purpose, chain, number)
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
        """Several orders, one after the other: by one call of compiled code, if there is some."""
        if len(orders) < 2 or not self.target.is_compiled or any(map(self._is_start, orders)):
            return [self.compute(order) for order in orders]
        states = np.array([order.state for order in orders])
        outcomes, infos = np.empty_like(states), np.empty((len(orders), self.info_length))
        at_work = np.zeros(1, np.int64)
        move, error = self.move, None
        try:
            done = move_all(
                move, self.streams.dial, self.streams.generator,
                np.array([order.key[1:] for order in orders], np.int64),
                np.array([order.level for order in orders]),
                np.array([order.tuning for order in orders]),
                states, outcomes, infos, at_work,
            )  # fmt: skip
        except Exception as raised:
            done, error = False, raised
        if not done:
            raise self.failure(orders[int(at_work[0])], error)
        return list(map(Outcome, outcomes, infos))

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
        return failure.located(order.rung, order.key, order)

    def _fail_again(self, order: Order) -> MoveFailed | None:
        outcome = Outcome(order.state.copy(), np.zeros(self.info_length))
        move = self._plain(self.kernel.move(self.problem, INTERPRETED))
        rng = order.key.generator()
        try:
            move(order.level, order.tuning, order.state, rng, outcome.state, outcome.info)
            self.problem.check(outcome.state)
        except MoveFailed as failure:
            return failure
        return None

    def _is_start(self, order: Order) -> bool:
        return order.key.purpose == START and not self.problem.needs_search

    def _start(self, order: Order) -> Outcome:
        nothing = np.zeros(self.info_length)
        try:
            rng = order.key.generator()
            state = self.seeding.call(rng, self.problem.start, rng)
            if self.problem.start_attempts == 1 and not self.problem.is_possible(state):
                raise self.problem.no_start(1, state)  # another try would be the same
            if self.problem.reference_is_fitted:
                from_python(refer)(self.problem.dimension, state, order.tuning)
            return Outcome(state, nothing)
        except MoveFailed as failure:
            raise failure.located(order.rung, order.key, order) from failure.__cause__


@compiled
def move_all(
    move: Move,
    dial: Dial,
    rng: Generator,
    keys: IntegerTable,
    levels: Floats,
    tuning: FloatTable,
    states: FloatTable,
    outcomes: FloatTable,
    infos: FloatTable,
    at_work: Integers,
) -> bool:
    """Compute moves, each with its own key; False if one gave what it must not.

    :param keys: chain, number and purpose of each
    :param at_work: one number: which of them is being computed
    """
    for place in range(levels.shape[0]):
        at_work[0] = place
        rewind(dial, keys[place, 2], keys[place, 0], keys[place, 1])
        info = infos[place]
        move(levels[place], tuning[place], states[place], rng, outcomes[place], info)
        if info[STATUS] != 0.0:
            return False
    return True
