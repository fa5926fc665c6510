"""Warming up on ladders of powers."""

from __future__ import annotations

import math
from typing import final

import numpy as np
from typing_extensions import override

from aptmc.compiled import Floats, FloatTable
from aptmc.errors import InputError
from aptmc.ladder import AutoLadder, Ladder
from aptmc.problem import Problem
from aptmc.problem.chain_state import value_column
from aptmc.warmup import power_ladders
from aptmc.warmup.approach import Approach, scale_of
from aptmc.warmup.round_draws import RoundDraws

FIRST_POWERS = (1.0, 0.25, 0.06, 0.015, 0.004, 0.001, 0.0)
FIRST_POWERS_OF_DENSITY = (1.0, 0.6, 0.35, 0.2, 0.12, 0.07, 0.04)


@final
class PowersApproach(Approach):
    """For problems with a likelihood or a density."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.column = value_column(problem.dimension)

    @override
    def first_levels(self) -> tuple[float, ...]:
        """Down to the prior; without one, to where most densities are flat enough."""
        return FIRST_POWERS_OF_DENSITY if self.problem.reference is None else FIRST_POWERS

    @override
    def ladder(self, levels: tuple[float, ...]) -> Ladder:
        return Ladder(levels, kind="powers")

    @override
    def swap_rates(self, levels: tuple[float, ...], rows: list[FloatTable]) -> Floats:
        """From the log likelihoods of all pairs of draws."""
        values = [table[:, self.column] for table in rows]
        rates = [
            power_ladders.swap_rate(values[rung], values[rung + 1], levels[rung], levels[rung + 1])
            for rung in range(len(rows) - 1)
        ]
        return np.array(rates, dtype=float)

    @override
    def respaced(self, wish: AutoLadder, drawn: RoundDraws, rates: Floats) -> tuple[float, ...]:
        """Powers between the same ends, so that neighbours swap as often as is wished."""
        fewest, most = wish.range
        levels = np.array(drawn.levels)
        return power_ladders.respaced(levels, rates, wish.swap_rate, fewest=fewest, most=most)

    @override
    def states_for(self, level: float, remembered: list[tuple[float, FloatTable]], /) -> FloatTable:
        """From the nearest level; a likelihood of zero is possible in the prior only."""
        old = np.array([other for other, _ in remembered])
        place = int(np.abs(scale_of(old) - scale_of(np.array([level]))).argmin())
        rows = remembered[place][1]
        rows = rows[rows[:, self.column] > -math.inf] if level > 0.0 else rows
        if len(rows) == 0:
            raise InputError(
                "no state of positive likelihood was seen in the warm-up: give a prior "
                "(or a start) that is nearer to where the likelihood is"
            )
        return rows
