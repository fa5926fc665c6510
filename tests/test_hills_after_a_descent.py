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
from aptmc.session.descent.turns import ENOUGH, Turns

LOG = logging.getLogger(__name__)
SEEDS, PARTICLES, STAGES = 40, 100, 6
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
    turns = Turns()
    for stage in range(STAGES):
        level = population.next_level(0.5, level)
        population.drop(level)
        turns.begin_stage(population)
        while not turns.are_over(population, stage):
            turn = turns.going_on() or turns.begin(population, 0, level, 0.0, stage)
            row, luck = turn.state.copy(), rng.random()
            hits = luck < HITS[int(row[PLACE])]
            if hits:
                row[DISTANCE] = level * rng.random()
                row[PLACE] = 1.0 - row[PLACE] if luck < ACROSS else row[PLACE]
            if turns.heard(turn, 1.0, row if hits else None, float(hits)):
                turns.count(turn)
                population.come_home(turn.place, turn.state, level, 1.0)
        turns.adapt()
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

    heard = Turns.heard

    def until_it_hits(self, turn, steps, row, far):
        turn.to_go = math.inf if row is None else steps
        return heard(self, turn, steps, row, far)

    monkeypatch.setattr(Turns, "heard", until_it_hits)
    off, error = away()
    assert off > max(4.0 * error, 0.1)


@pytest.mark.parametrize("share", [0.25, 1.0])
def test_hits_of_few_count_for_no_more_than_who_has_moved(share):
    turns, population = Turns(), Population(np.zeros((8, 3)), 8, 1, np.random.default_rng(1))
    turns.begin_stage(population)
    for particle in range(8):
        turn = turns.begin(population, 0, 1.0, 0.0, 0)
        turns.heard(turn, turns.steps, None, 0.5 if particle < 8 * share else 0.0)
        turns.count(turn)
    expected = -8.0 * math.log(1.0 - share) if share < 1.0 else 100.0
    assert turns.even_hits(100.0, 8.0 * turns.steps) == pytest.approx(expected)


def test_turns_are_as_long_as_it_takes_most_to_move():
    turns, rng = Turns(), np.random.default_rng(1)
    population = Population(np.zeros((1000, 3)), 1000, 1, rng)
    for _ in range(6):
        turns.begin_stage(population)
        for _ in range(population.size):
            turn = turns.begin(population, 0, 1.0, 0.0, 0)
            turns.heard(turn, turns.steps, None, float(rng.binomial(int(turns.steps), 0.05)))
            turns.count(turn)
        population.is_away[:] = False
        turns.adapt()
    assert turns.steps == pytest.approx(math.log(1.0 - ENOUGH) / math.log(0.95), rel=0.2)


def test_who_is_away_is_neither_copied_nor_left_behind_until_it_is_home():
    rows = np.column_stack([np.arange(8.0), np.arange(8.0), np.zeros(8)])
    population = Population(rows, 8, 1, np.random.default_rng(1))
    for place in (0, 7):
        population.begin(place)
    assert population.next_level(0.5, 8.0) == 3.0
    assert population.drop(3.0) == 0.5
    assert (population.rows[:, 0] == 0.0).sum() == 1
    assert population.rows[7, 0] == 7.0
    population.come_home(0, np.array([0.5, 1.0, 0.0]), 3.0, 2.0)
    assert (population.rows[:, 0] == 0.5).sum() == 2
    population.come_home(7, np.array([7.0, 7.0, 0.0]), 3.0, 2.0)
    assert population.rows[:, 1].max() <= 3.0
