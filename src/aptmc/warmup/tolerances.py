"""Warming up on ladders of tolerances."""

from __future__ import annotations

import math
from typing import final

import numpy as np
from typing_extensions import override

from aptmc.compiled import Floats, FloatTable
from aptmc.diagnostics import effective_sample_size
from aptmc.errors import InputError
from aptmc.kernels.seen import FEWEST_DRAWS
from aptmc.ladder import AutoLadder, Ladder
from aptmc.problem import Problem
from aptmc.problem.chain_state import value_column
from aptmc.warmup import tolerance_ladders
from aptmc.warmup.approach import Approach
from aptmc.warmup.round_draws import RoundDraws

ROUNDS_REMEMBERED = 3
# Autocorrelation makes chains that hand their states to one another look better than they are.
CAUTION = 4.0


@final
class TolerancesApproach(Approach):
    """For problems with a simulator."""

    remembers = ("curves", "yields")
    needs_last_draws = True

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.column = value_column(problem.dimension)
        self.curves: list[tuple[Floats, Floats]] = []  # by round: the mass within tolerances
        self.yields: list[tuple[float, float]] = []  # by round: its length, and a log yield

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
        coldest = self._coldest(wish, curve, drawn)
        return tolerance_ladders.respaced(curve, coldest, wish.swap_rate, fewest=fewest, most=most)

    def _coldest(self, wish: AutoLadder, curve: tuple[Floats, Floats], drawn: RoundDraws) -> float:
        reach = float(curve[0].min())  # no further than draws have been seen
        if wish.coldest is not None:
            return max(wish.coldest, reach)
        present = drawn.levels[0]
        series = [draws.state for draws in drawn.cold if len(draws.state) >= FEWEST_DRAWS]
        if not series or math.isinf(present):
            return reach
        effective = min(
            effective_sample_size([state[:, parameter] for state in series])
            for parameter in range(self.problem.dimension)
        )
        distinct = sum(len(np.unique(state[:, 0])) for state in series)
        # The cost of an effective draw grows about as the mass within the tolerance shrinks, so
        # what is the same in all rounds is the yield: effective draws per time and mass.
        rate = max(min(effective, distinct), 1.0) / CAUTION / drawn.elapsed
        log_mass = tolerance_ladders.log_mass_within(present, curve)
        self.yields.append((drawn.elapsed, math.log(rate) - log_mass))
        weights, log_yields = zip(*self.yields, strict=True)
        log_yield = float(np.average(log_yields, weights=weights))
        wanted = math.log(wish.effective_draws / max(drawn.sampling, 1e-300)) - log_yield
        return max(tolerance_ladders.tolerance_with(min(wanted, -0.1), curve), reach)

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
