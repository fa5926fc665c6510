"""A mixture of two kernels: each step is one of the first or one of the second, at random."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from aptmc.checks import whole_number
from aptmc.compiled import Floats, FloatTable
from aptmc.errors import InputError
from aptmc.kernels.base import STEPS, Kernel
from aptmc.ladder import Ladder
from aptmc.problem import Problem
from aptmc.problem.state import STATUS

# Places in the tuning after the number of steps, before those of the two kernels.
SHARE, SECOND, FIRST = 1, 2, 3


@final
@dataclass(frozen=True)
class Mixture(Kernel):
    """Each step is one of the first kernel or, with a fixed probability, one of the second.

    Exact, since the choice looks at nothing: where one kernel gets stuck the other may move.

    :param first: a kernel; what it says of steps per move does not count
    :param second: another
    :param share: the probability of a step of the second
    :param steps: how many local steps make one move

    >>> from aptmc import RandomWalk, Slice
    >>> Mixture(RandomWalk(0.5), Slice(3.0), share=0.2)
    Mixture(RandomWalk(scale=0.5), Slice(scale=3.0, stretches=1), share=0.2)
    """

    first: Kernel
    second: Kernel
    share: float = 0.5
    steps: int = 1

    def __post_init__(self) -> None:
        for kernel in (self.first, self.second):
            if not isinstance(kernel, Kernel):
                raise InputError(f"a mixture is made of two aptmc kernels, got {kernel!r}")
        if not isinstance(self.share, int | float) or not 0.0 < self.share < 1.0:
            raise InputError(f"share must be a number between 0 and 1, got {self.share!r}")
        whole_number("steps", self.steps)

    @property
    def parts(self) -> tuple[type, ...]:
        """The mixture and what it is made of."""
        return (Mixture, *self.first.parts, *self.second.parts)

    def tuning(self, problem: Problem, ladder: Ladder) -> FloatTable:
        """Steps, share and where the second begins; then all numbers of the first and second."""
        tables = [kernel.tuning(problem, ladder) for kernel in (self.first, self.second)]
        for table in tables:
            table[:, STEPS] = 1.0
        common = [float(self.steps), float(self.share), float(FIRST + tables[0].shape[1])]
        return np.column_stack([np.tile(common, (ladder.rungs, 1)), *tables])

    def body(self, problem: Problem, *, compiled: bool) -> Callable[..., None]:
        """One or the other."""
        first = self.first.move(problem, compiled=compiled)
        second = self.second.move(problem, compiled=compiled)

        def move(
            level: float,
            tuning: Floats,
            state: Floats,
            rng: np.random.Generator,
            outcome: Floats,
            info: Floats,
        ) -> None:
            place = int(tuning[SECOND])
            here = np.empty_like(state)
            step_info = np.empty_like(info)
            outcome[:] = state
            info[:] = 0.0
            for _ in range(int(tuning[STEPS])):
                here[:] = outcome
                if rng.random() < tuning[SHARE]:
                    second(level, tuning[place:], here, rng, outcome, step_info)
                else:
                    first(level, tuning[FIRST:place], here, rng, outcome, step_info)
                info += step_info
                if info[STATUS] != 0.0:
                    return

        return move

    def __repr__(self) -> str:
        options = [repr(self.first), repr(self.second), f"share={self.share:g}"]
        if self.steps > 1:
            options.append(f"steps={self.steps}")
        return f"Mixture({', '.join(options)})"
