"""Problems whose rungs can be drawn from exactly, so that what a move leaves behind can be judged.

A density: theta ~ N(0, 2^2), likelihood N(3; theta, 1), so that at power beta the precision is
1/4 + beta. A simulator: theta ~ N(0, 5), x ~ N(theta, 1), and |x - 3| is the distance; exact draws
of theta and the distance come from rejection.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np
from numba import njit
from scipy import stats

import aptmc
from aptmc.targets import INTERPRETED
from tests.support.problems import normal_distance as simulated_distance
from tests.support.statistical import FALSE_ALARM, follows


class Model(ABC):
    """A problem, compiled and plain, and what is known of its rungs."""

    compiled: aptmc.Tempered | aptmc.Abc
    plain: aptmc.Tempered | aptmc.Abc
    ladder: aptmc.Ladder

    @abstractmethod
    def exact(self, rung: int, number: int, rng: np.random.Generator) -> np.ndarray:
        """Independent states, one row each."""

    @abstractmethod
    def in_law(self, states: np.ndarray, rung: int, rng: np.random.Generator) -> bool:
        """Whether independent states are those of a rung, with a false-alarm rate of 1e-6."""


@njit
def log_likelihood(theta):
    # A power would not be the same to the last bit in Python and in compiled code.
    away = theta[0] - 3.0
    return -0.5 * away * away


class Density(Model):
    ladder = aptmc.Ladder.powers([1.0, 0.3, 0.0])

    def __init__(self) -> None:
        prior = aptmc.Prior(theta=stats.norm(0, 2))
        self.compiled = aptmc.Tempered(log_likelihood, prior)
        self.plain = aptmc.Tempered(log_likelihood.py_func, prior)

    def target(self, rung: int):
        precision = 0.25 + self.ladder.levels[rung]
        return stats.norm(3.0 * self.ladder.levels[rung] / precision, 1.0 / math.sqrt(precision))

    def exact(self, rung: int, number: int, rng: np.random.Generator) -> np.ndarray:
        states = np.empty((number, 3))
        states[:, 0] = self.target(rung).rvs(number, random_state=rng)
        evaluate = self.plain.evaluation(INTERPRETED)
        for state in states:
            evaluate(state)
        return states

    def in_law(self, states: np.ndarray, rung: int, rng: np.random.Generator) -> bool:
        return follows(states[:, 0], self.target(rung).cdf)


class Simulator(Model):
    ladder = aptmc.Ladder.tolerances([0.5, 1.5, math.inf])

    def __init__(self) -> None:
        self.prior = aptmc.Prior(theta=stats.norm(0, math.sqrt(5)))
        self.compiled = aptmc.Abc.early(simulated_distance, self.prior)
        self.plain = aptmc.Abc.early(simulated_distance.py_func, self.prior)

    def exact(self, rung: int, number: int, rng: np.random.Generator) -> np.ndarray:
        theta = self.prior.draw(rng, 30 * number)  # within 0.5, one in 13 hits
        away = abs(theta[:, 0] + rng.standard_normal(len(theta)) - 3.0)
        hits = np.flatnonzero(away <= self.ladder.levels[rung])[:number]
        assert hits.size == number
        return np.column_stack([theta[hits], away[hits], self.prior.log_density(theta[hits])])

    def in_law(self, states: np.ndarray, rung: int, rng: np.random.Generator) -> bool:
        fresh = self.exact(rung, 4 * len(states), rng)
        # Two comparisons, so each has half the rate.
        return all(
            stats.ks_2samp(states[:, column], fresh[:, column]).pvalue > FALSE_ALARM / 2
            for column in (0, 1)
        )
