"""The generator of lanes: one stream for each key, and the distributions that it promises."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numba import njit
from scipy import stats

from aptmc.backends.lanes.generator import lane_generator, seed_words

COUNT = 20_000
ALARM = 1e-4  # of a test at fixed seeds


@njit
def one_of_each(rng, row):
    """Together, so that they are compiled together."""
    row[0] = rng.random()
    row[1] = rng.standard_normal()
    row[2] = rng.standard_exponential()
    row[3] = rng.standard_gamma(2.5)
    row[4] = rng.standard_gamma(0.4)
    row[5] = rng.gamma(3.0, 2.0)
    row[6] = rng.integers(3, 9)
    row[7] = rng.poisson(3.3)
    row[8] = rng.poisson(43.3)
    row[9] = rng.binomial(20, 0.3)
    row[10] = rng.binomial(200, 0.7)


CONTINUOUS = [
    (0, stats.uniform()),
    (1, stats.norm()),
    (2, stats.expon()),
    (3, stats.gamma(2.5)),
    (4, stats.gamma(0.4)),
    (5, stats.gamma(3.0, scale=2.0)),
]
WHOLE = [
    (6, stats.randint(3, 9)),
    (7, stats.poisson(3.3)),
    (8, stats.poisson(43.3)),
    (9, stats.binom(20, 0.3)),
    (10, stats.binom(200, 0.7)),
]


@cache
def drawn():
    """Many draws of each kind."""

    @njit
    def many(values):
        words = np.empty(4, np.uint32)
        seed_words(words, 1, 0, 0, 0)
        rng = lane_generator(words)
        for row in values:
            one_of_each(rng, row)

    values = np.empty((COUNT, len(CONTINUOUS) + len(WHOLE)))
    many(values)
    return values


@pytest.mark.parametrize(("place", "law"), CONTINUOUS)
def test_continuous_numbers_have_their_law(place, law):
    values = drawn()[:, place]
    assert stats.kstest(values, law.cdf).pvalue > ALARM
    off = values + 0.1 * law.std()  # the control
    assert stats.kstest(off, law.cdf).pvalue < ALARM


@pytest.mark.parametrize(("place", "law"), WHOLE)
def test_whole_numbers_have_their_law(place, law):
    values = drawn()[:, place].astype(int)
    edges = np.unique(law.ppf(np.linspace(0.02, 0.98, 20)))
    edges = edges[edges < law.support()[1]]

    def chance(values):
        seen = np.histogram(values, [-np.inf, *(edges + 0.5), np.inf])[0]
        share = np.diff([0.0, *law.cdf(edges), 1.0])
        return stats.chisquare(seen, COUNT * share).pvalue

    assert chance(values) > ALARM
    shifted = np.where(np.arange(COUNT) % 2 == 0, values + 1, values)
    assert chance(shifted) < ALARM  # the control


def test_every_key_has_a_stream_of_its_own():
    words, seen = np.empty(4, np.uint32), set()
    for seed in (0, 1, 1 << 40):
        for chain in (0, 1, 77):
            for number in (0, 1, 1 << 40):
                for purpose in (0, 2):
                    seed_words(words, seed, chain, number, purpose)
                    seen.add(words.tobytes())
    assert len(seen) == 54


def test_philox_is_the_one_of_its_authors():
    """The known answer for a counter and a key of ones, from the paper's own test vectors."""
    words = np.empty(4, np.uint32)
    seed_words(words, -1, 0xFFFFFFFF, -1, 0xFFFFFFFF)
    assert [hex(word) for word in words] == ["0x408f276d", "0x41c83b0e", "0xa20bc7c6", "0x6d5451fd"]
