"""A narrow hill and a wide one: a move hits far more often on one, and it must not gain by that.

Nothing is simulated. Each of two places is half of the posterior at every tolerance, and moves
between them are reversible: as many lead one way as the other. Whatever is copied and moved, as
long as that does not ask where somebody is, half of the particles are expected in each.
"""

from __future__ import annotations

import logging
import math

import numpy as np
import pytest

from aptmc.session.descent.population import Population

LOG = logging.getLogger(__name__)
SEEDS, PARTICLES, STAGES = 20, 100, 6
TURNS = 5  # for each copy, so that not all of those in the wide place have hit
# How often a move from the wide and from the narrow place hits, and how often it leads to the other
# place: alike, since both have the same weight.
HITS, ACROSS = (0.1, 1.0), 0.08
PLACE, DISTANCE, WIDTH = 0, 1, 3
NARROW = 1.0


def narrow_share(seed):
    """Of a population whose tolerance has been halved so often."""
    rng = np.random.default_rng(seed)
    rows = np.zeros((PARTICLES, WIDTH))
    rows[:, PLACE] = np.arange(PARTICLES) % 2
    rows[:, DISTANCE] = rng.random(PARTICLES)
    population, level = Population(rows, PARTICLES, DISTANCE, rng), 1.0
    for _ in range(STAGES):
        level = population.next_level(0.5, level)
        population.drop(level)
        for _ in range(TURNS * PARTICLES // 2):
            one = population.choose()
            row, luck = population.rows[one].copy(), rng.random()
            left, hits = row.copy(), luck < HITS[int(row[PLACE])]
            if hits:
                row[DISTANCE] = level * rng.random()
                row[PLACE] = 1.0 - row[PLACE] if luck < ACROSS else row[PLACE]
            population.come_home(one, row if hits else None, level, left, 1.0)
    return (population.rows[:, PLACE] == NARROW).mean()


def away():
    """How far the mean over many populations is from one half, and its standard error."""
    shares = np.array([narrow_share(seed) for seed in range(SEEDS)])
    error = shares.std(ddof=1) / math.sqrt(SEEDS)
    LOG.info("%.4f ± %.4f", shares.mean(), error)
    return shares.mean() - 0.5, error


def test_a_narrow_hill_keeps_its_weight():
    off, error = away()
    assert abs(off) < 4.0 * error
    assert error < 0.025  # or nothing would be seen of what is below


def test_not_if_copies_went_on_until_they_have_moved(monkeypatch):
    """The planted error: who hits late has more moves, until one leads to where moves hit soon."""

    choose = Population.choose

    def unmoved_first(self):
        self.has_turn = self.is_copy.copy()
        return choose(self)

    monkeypatch.setattr(Population, "choose", unmoved_first)
    off, error = away()
    assert off > max(4.0 * error, 0.1)


@pytest.mark.parametrize("share", [0.25, 1.0])
def test_hits_of_few_count_for_no_more_than_who_has_moved(share):
    population = Population(np.zeros((8, 3)), 8, 1, np.random.default_rng(1))
    for particle in range(int(8 * share)):
        population.credit(particle, 0.5)
    expected = -8.0 * math.log(1.0 - share) if share < 1.0 else 100.0
    assert population.even_hits(100.0) == pytest.approx(expected)
