"""A narrow hill on a wide one: a move hits far more often there, and it must not gain by that."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.session.descent.goal import DownTo
from aptmc.session.descent.population import Population
from tests.test_descent import descended

NARROW, LEVEL, NEAR = 0.02, 0.05, 0.15
SEEDS, PARTICLES = 40, 200


@njit
def wide_and_narrow(theta, rng, tolerance):
    scale = 1.0 if rng.random() < 0.5 else NARROW
    return abs(theta[0] + scale * rng.standard_normal())


HILLS = aptmc.Abc.early(wide_and_narrow, aptmc.Prior(x=stats.uniform(-10, 20)))


def share_near():
    """Of the posterior at the level, near the narrow hill: a normal, and what is uniform on it."""
    within = np.linspace(-LEVEL, LEVEL, 2001)
    each = [
        np.mean(stats.norm.cdf((NEAR - within) / scale) - stats.norm.cdf((-NEAR - within) / scale))
        for scale in (1.0, NARROW)
    ]
    return float(np.mean(each))


@pytest.fixture(autouse=True)
def many(monkeypatch):
    """As long runs have. With few, what is learnt from them while they move is off by more."""
    monkeypatch.setattr(DownTo, "size", lambda self, seconds: PARTICLES)


def off():
    """By how many standard errors populations have too many there."""
    shares = np.array(
        [
            (abs(descended(HILLS, [LEVEL, 20.0], seed).stages[-1].rows[:, 0]) < NEAR).mean()
            for seed in range(SEEDS)
        ]
    )
    return (shares.mean() - share_near()) / (shares.std(ddof=1) / math.sqrt(SEEDS))


def test_a_narrow_hill_keeps_its_weight():
    assert abs(off()) < 4.0


def test_not_if_copies_went_on_until_they_have_moved(monkeypatch):
    """The planted error: who hits late has more moves, until one leads to where moves hit soon."""

    def choose(self):
        rank = np.lexsort((self._ordered, ~self.is_copy, self._under_way))
        chosen = int(rank[0])
        self._ordered[chosen] = self._count
        self._under_way[chosen] += 1
        self._count += 1
        return chosen

    monkeypatch.setattr(Population, "choose", choose)
    assert off() > 4.0


@pytest.mark.parametrize("share", [0.25, 1.0])
def test_hits_of_few_count_for_no_more_than_who_has_moved(share):
    population = Population(np.zeros((8, 3)), 8, 1, np.random.default_rng(1))
    for particle in range(int(8 * share)):
        population.credit(particle, 0.5)
    expected = -8.0 * math.log(1.0 - share) if share < 1.0 else 100.0
    assert population.even_hits(100.0) == pytest.approx(expected)
