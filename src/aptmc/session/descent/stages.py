"""The stages of a descent: a tolerance, and the population that reached it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from aptmc.compiled import Floats, FloatTable

# Of the last so many stages means are looked at, if there are some.
TELLING, FEWEST_TELLING = 5, 3
CHANCE = 1.5  # standard errors
TINY = 1e-300


class Stage(NamedTuple):
    """One stage, when it was over."""

    level: float
    log_mass: float  # of the share of the prior's simulations within the level
    rows: FloatTable  # states within the level
    steps: float  # local steps that were made there
    accepted: float  # and how many of them hit
    simulations: float
    seconds: float  # that they took, of all processors together
    step_size: float  # that led farthest, in standard deviations of the population

    @property
    def seconds_per_hit(self) -> float:
        """What a hit costs."""
        return self.seconds / max(self.accepted, 1.0)

    @property
    def seconds_per_step(self) -> float:
        """What a step takes one processor."""
        return self.seconds / max(self.steps, 1.0)

    @property
    def acceptance(self) -> float:
        """The share of simulations that hit: what is refused before costs none."""
        return self.accepted / max(self.simulations, 1.0)


def rows_within(stages: Sequence[Stage], level: float, value: int) -> FloatTable:
    """States within a level, of the coldest stage that was not colder than it.

    :param value: the column of the distances
    """
    width = stages[0].rows.shape[1] if stages else 0
    found = np.empty((0, width))
    for stage in stages:
        within = stage.rows[stage.rows[:, value] <= level]
        if len(within) == 0:
            continue
        if stage.level < level and len(found) > 0:
            break
        found = within
    return found


def mass_curve(stages: Sequence[Stage]) -> tuple[Floats, Floats]:
    """Tolerances, decreasing from infinity, and the log of the prior's share within each."""
    levels = [math.inf, *(stage.level for stage in stages if stage.level < math.inf)]
    masses = [0.0, *(stage.log_mass for stage in stages if stage.level < math.inf)]
    return np.array(levels), np.minimum.accumulate(np.array(masses))


def share_within(stages: Sequence[Stage], level: float) -> float:
    """The share of the prior's simulations within a level."""
    levels, masses = mass_curve(stages)
    known = levels[1:][::-1]
    if known.size == 0 or level > known[-1]:
        return 1.0
    return math.exp(float(np.interp(level, known, masses[1:][::-1])))


def step_size_at(stages: Sequence[Stage], level: float) -> float:
    """The size of steps that led farthest on the coldest stage that was not colder than a level."""
    fitting = [stage.step_size for stage in stages if stage.level >= level]
    return fitting[-1] if fitting else stages[0].step_size


def means_move_by(stages: Sequence[Stage], dimension: int) -> float:
    """How far means would still move if the tolerance went to 0, in standard deviations: at least.

    At small tolerances they move with its square, and what is left is as the last stages show it.
    Of that, what may be chance is taken off.
    """
    last = [stage for stage in stages if stage.level < math.inf][-TELLING:]
    if len(last) < FEWEST_TELLING or last[-1].level <= 0.0:
        return 0.0
    squares = np.array([(stage.level / last[-1].level) ** 2 for stage in last])
    away = squares - squares.mean()
    if not away.any():
        return 0.0
    means = np.array([stage.rows[:, :dimension].mean(axis=0) for stage in last])
    spread = last[-1].rows[:, :dimension].std(axis=0)
    moves = np.abs(away @ means) / (away @ away) / np.maximum(spread, TINY)
    # Half of the particles were copies of others when the stage began.
    error = math.sqrt(2.0 / len(last[-1].rows) / (away @ away))
    return float(max(moves.max() - CHANCE * error, 0.0))
