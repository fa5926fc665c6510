"""A move that is one function of the user's own."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from typing_extensions import override

from aptmc.arguments import class_named_clearly
from aptmc.compiled import Floats
from aptmc.errors import InputError, MoveFailed
from aptmc.in_words import in_words
from aptmc.kernels.base import Kernel
from aptmc.kernels.parts import Parts
from aptmc.kernels.proposing import need_density
from aptmc.problem.base import check_function


@class_named_clearly
@final
@dataclass(frozen=True)
class OwnMove(Kernel):
    """Moves by a function of one's own: a Gibbs step, a jump between models, an outside sampler.

    :param move_to: move_to(level, theta, rng) gives the parameters to go to, an array like theta,
        which may be padded with NaN but in its first place. It must leave the target of the rung as
        it is, prior * likelihood ** level for a `Tempered` problem, and take all that is random
        from rng. It is called from Python, and what it gives is evaluated once

    >>> OwnMove(lambda level, theta, rng: theta + 0.0).compiles
    False
    """

    move_to: Callable[..., Any] | None = None  # None: as a store has it, which holds no functions

    compiles = False
    suits_any_reference = False

    def __post_init__(self) -> None:
        if self.move_to is not None:
            check_function(self.move_to, "move", "level, theta, rng")

    @override
    def step(self, parts: Parts) -> Callable[..., bool]:
        """Ask for the parameters to go to, and go there."""
        need_density(parts.problem, "OwnMove")
        problem, dimension, evaluate = parts.problem, parts.dimension, parts.evaluate
        move_to = self.move_to
        if move_to is None:
            raise InputError("OwnMove needs a function: give it, OwnMove(move)")

        def step(
            level: float, tuning: Floats, here: Floats, rng: Any, there: Floats, info: Floats
        ) -> bool:
            theta = here[:dimension].copy()
            try:
                found = np.asarray(move_to(level, theta.copy(), rng), np.float64)
            except Exception as error:
                raise MoveFailed(
                    f"move raised {in_words(error)}", problem.describe(theta)
                ) from error
            if found.shape != (dimension,) or math.isnan(found[0]):
                raise MoveFailed(
                    f"move returned {found!r}, must be {dimension} numbers, the first not NaN,",
                    problem.describe(theta),
                )
            there[:dimension] = found
            evaluate(there, info)
            if there[parts.log_prior] == -math.inf:
                raise MoveFailed("move went where the prior is zero", problem.describe(found))
            return True

        return step

    def __repr__(self) -> str:
        return f"OwnMove({getattr(self.move_to, '__name__', 'function')})"
