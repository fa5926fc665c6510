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
# Above this share of the prior's simulations a tolerance says little, and rejection is cheapest.
WIDE = 0.1


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


def still_moves_by(stages: Sequence[Stage], dimension: int) -> float:
    """How far the posterior would still move if the tolerance went to 0, at least.

    By its means, in standard deviations, or by its widths: as far as the noise of one draw is one.
    At small tolerances both move with the square of it, and what is left is as the last stages show
    it. Of that, what may be chance is taken off.
    """
    last = [stage for stage in stages if stage.level < math.inf][-TELLING:]
    if len(last) < FEWEST_TELLING or last[-1].level <= 0.0:
        return 0.0
    squares = np.array([(stage.level / last[-1].level) ** 2 for stage in last])
    away = squares - squares.mean()
    if not away.any():
        return 0.0
    parameters = [stage.rows[:, :dimension] for stage in last]
    widths = np.array([np.maximum(rows.std(axis=0), TINY) for rows in parameters])
    means = np.array([rows.mean(axis=0) for rows in parameters]) / widths[-1]
    seen = np.column_stack([means, math.sqrt(2.0) * np.log(widths)])
    moves = np.abs(away @ seen) / (away @ away)
    # From stage to stage half of the particles become copies of others, so that chance adds up.
    chance = (away @ away + (np.cumsum(away) ** 2).sum()) / len(parameters[-1])
    return float(max(moves.max() - CHANCE * math.sqrt(chance) / (away @ away), 0.0))
