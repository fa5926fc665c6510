"""Where a move was when it ended whoever computed it.

Nobody can ask the dead. So before the last attempt at a move, a worker is told to say aloud where
it is going, each time before it calls a function of the user.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np

from aptmc.compiled import Floats
from aptmc.problem import Problem
from aptmc.session.orders import Mover, Order
from aptmc.targets import INTERPRETED, Target

EVALUATED_BY = ("evaluation", "simulation")


def telling_mover(mover: Mover, order: Order, tell: Callable[[Floats], None]) -> Mover:
    """Who computes an order as a mover does, bit for bit, and says where it is going.

    Compiled code says nothing. Its moves are computed in plain Python only if nobody would know
    even where they began, since that takes far longer.

    :param tell: is given coordinates
    """
    if mover.target.is_compiled and not np.isnan(order.state[0]):
        tell(order.state)
        return mover
    problem = telling(mover.problem, tell)
    return Mover(problem, mover.kernel, mover.seed, target=INTERPRETED)


def telling(problem: Problem, tell: Callable[[Floats], None]) -> Problem:
    """The same problem, which says where it is going before it calls a function of the user."""
    told = copy(problem)
    dimension = problem.dimension
    for name in EVALUATED_BY:
        make: Callable[[Target], Callable[..., Any]] | None = getattr(problem, name, None)
        if make is not None:
            setattr(told, name, _telling(make, dimension, tell))
    return told


def _telling(
    make: Callable[[Target], Callable[..., Any]], dimension: int, tell: Callable[[Floats], None]
) -> Callable[[Target], Callable[..., Any]]:
    def made(target: Target) -> Callable[..., Any]:
        function = make(target)

        def called(row: Floats, *rest: Any) -> Any:
            tell(row[:dimension])
            return function(row, *rest)

        return called

    return made
