"""The stages of a descent: a tolerance, and the population that reached it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from aptmc.compiled import Floats, FloatTable


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
