"""Warming up on ladders of tolerances."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import final

import numpy as np
from typing_extensions import override

from aptmc.compiled import Floats, FloatTable
from aptmc.errors import InputError
from aptmc.ladder import AutoLadder, Ladder
from aptmc.problem import Problem
from aptmc.problem.chain_state import value_column
from aptmc.session.descent import Stage, share_within
from aptmc.warmup import tolerance_ladders
from aptmc.warmup.approach import Approach
from aptmc.warmup.possible_distances import on_possible, possible_distances
from aptmc.warmup.round_draws import RoundDraws

ROUNDS_REMEMBERED = 3

# The hottest rung is the coldest of those on which at least so many steps hit.
EASY = 0.25


def where_useful(stages: Sequence[Stage]) -> int:
    """The stage at which the ladder is to begin."""
    place = 0
    for number, stage in enumerate(stages[:-1]):
        if stage.accepted > 0.0 and stage.acceptance < EASY:
            break
        place = number
    return place


def up_to(hottest: float | None, levels: tuple[float, ...], most: int) -> tuple[float, ...]:
    """The same, up to the rung that was asked for, if one was."""
    if hottest is None or levels[-1] >= hottest:
        return levels
    return (*levels[: most - 1], hottest)


@final
class TolerancesApproach(Approach):
    """For problems with a simulator."""

    remembers = ("curves", "possible")

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.column = value_column(problem.dimension)
        self.curves: list[tuple[Floats, Floats]] = []  # by round: the mass within tolerances
        self.possible = np.empty(0)  # distances, where simulations can have few only

    @override
    def first_levels(self) -> tuple[float, ...]:
        """The prior alone: before anything is simulated, no distances are known."""
        return (math.inf,)

    @override
    def ladder(self, levels: tuple[float, ...]) -> Ladder:
        return Ladder(levels, kind="tolerances")

    @override
    def swap_rates(self, levels: tuple[float, ...], rows: list[FloatTable]) -> Floats:
        """The share of a rung's draws within the next tolerance."""
        rates = np.full(len(rows) - 1, math.nan)
        for rung, warmer in enumerate(rows[1:]):
            if len(warmer) > 0:
                within = np.count_nonzero(warmer[:, self.column] <= levels[rung])
                rates[rung] = within / len(warmer)
        return rates

    @override
    def respaced(self, wish: AutoLadder, drawn: RoundDraws, rates: Floats) -> tuple[float, ...]:
        """From the prior down to what is wanted, or can be afforded, and was drawn."""
        fewest, most = wish.range
        values = [table[:, self.column] for table in drawn.rows]
        self.curves.append(tolerance_ladders.mass_curve(np.array(drawn.levels), values))
        curve = tolerance_ladders.averaged(self.curves[-ROUNDS_REMEMBERED:])
        coldest = max(drawn.levels[0], float(curve[0].min()))
        found = tolerance_ladders.respaced(curve, coldest, wish.swap_rate, fewest=fewest, most=most)
        return up_to(wish.hottest, on_possible(found, self.possible, curve), most)

    def after_descent(
        self, wish: AutoLadder, stages: Sequence[Stage], coldest: float
    ) -> tuple[float, ...]:
        """From where simulations begin to hit now and then down to the coldest."""
        fewest, most = wish.range
        useful = [(stage.level, stage.log_mass) for stage in stages[where_useful(stages) :]]
        if wish.hottest is not None:
            hottest = max(wish.hottest, coldest)
            top = hottest, math.log(share_within(stages, hottest))
            useful = [top, *(stage[:2] for stage in stages if stage.level < hottest)]
        self.possible = possible_distances([stage.rows for stage in stages], self.column)
        levels, masses = (np.array(part) for part in zip(*useful, strict=True))
        curve = levels, np.minimum.accumulate(masses - masses[0])
        self.curves.append(curve)
        coldest = min(coldest, float(levels[0]))
        found = tolerance_ladders.respaced(curve, coldest, wish.swap_rate, fewest=fewest, most=most)
        return up_to(wish.hottest, on_possible(found, self.possible, curve), most)

    @override
    def states_for(self, level: float, remembered: list[tuple[float, FloatTable]], /) -> FloatTable:
        """Draws within the tolerance, from the coldest rung that has some."""
        for tolerance, rows in remembered:
            if tolerance >= level:
                rows = rows[rows[:, self.column] <= level]
                if len(rows) > 0:
                    return rows
        rows = np.concatenate([rows for _, rows in remembered])
        rows = rows[rows[:, self.column] <= level]
        if len(rows) == 0:
            raise InputError(
                f"no simulation came within tolerance {level:g} in the warm-up: use a longer "
                "budget, or larger tolerances"
            )
        return rows
