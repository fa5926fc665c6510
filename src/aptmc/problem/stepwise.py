"""Simulators that can be left in mid-way and gone on with: a beginning, and one step after another.

All that a simulation knows stands in a few numbers, its state. So a machine that has other things
to do at a deadline leaves it there, and goes on with it afterwards (`aptmc.Lanes`). Everywhere else
the steps are made one after the other until the distance is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numba import njit

from aptmc.checks import whole_number
from aptmc.compiled import Floats, is_compiled
from aptmc.problem.base import check_function
from aptmc.problem.simulator import call_checked, number_from


@final
@dataclass(frozen=True)
class Stepwise:
    """A user's two functions, and how many numbers they keep between steps.

    :param begin: begin(theta, rng, state) writes the state with which a simulation begins; it was
        all zeros before
    :param step: step(theta, rng, state, tolerance) goes one step on; it gives a negative number as
        long as the simulation goes on, and in the end its distance
    :param size: how many numbers the state has
    """

    begin: Callable[..., Any]
    step: Callable[..., Any]
    size: int

    def __post_init__(self) -> None:
        check_function(self.begin, "begin", "theta, rng, state")
        check_function(self.step, "step", "theta, rng, state, tolerance")
        whole_number("state", self.size)

    @property
    def is_compiled(self) -> bool:
        """Whether both are numba functions."""
        return is_compiled(self.begin) and is_compiled(self.step)

    def whole(self) -> Callable[..., tuple[float, float]]:
        """A function that simulates from beginning to end: gives the distance and the steps."""
        return self._compiled() if self.is_compiled else self._plain()

    def _compiled(self) -> Callable[..., tuple[float, float]]:
        begin, step, size = self.begin, self.step, self.size

        def simulated_distance(theta: Any, rng: Any, tolerance: float) -> tuple[float, float]:
            state = np.zeros(size)
            begin(theta, rng, state)
            steps = 1.0
            distance = step(theta, rng, state, tolerance)
            while distance < 0.0:
                steps += 1.0
                distance = step(theta, rng, state, tolerance)
            return distance, steps

        return njit(nogil=True)(simulated_distance)

    def _plain(self) -> Callable[..., tuple[float, float]]:
        def simulated_distance(
            theta: Floats, rng: np.random.Generator, tolerance: float
        ) -> tuple[float, float]:
            state = np.zeros(self.size)
            call_checked("begin", self.begin, theta, rng, state)
            steps, distance = 0.0, -1.0
            while distance < 0.0:
                steps += 1.0
                found = call_checked("step", self.step, theta, rng, state, tolerance)
                distance = number_from("step", found)
            return distance, steps

        return simulated_distance
