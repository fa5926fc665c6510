"""The generator of lanes: one stream for each key, and the distributions that it promises."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from scipy import stats

from aptmc.backends.lanes.generator import lane_generator, seed_words

COUNT = 20_000
ALARM = 1e-4  # of a test at fixed seeds


def drawn(draw, count=COUNT, seed=1):
    """Many draws of one kind."""
    compiled = njit(draw)

    @njit
    def many(count, seed):
        words = np.empty(4, np.uint32)
        seed_words(words, seed, 0, 0, 0)
        rng = lane_generator(words)
        values = np.empty(count)
        for i in range(count):
            values[i] = compiled(rng)
        return values

    return many(count, seed)


CONTINUOUS = [
    (lambda rng: rng.random(), stats.uniform()),
    (lambda rng: rng.standard_normal(), stats.norm()),
    (lambda rng: rng.standard_exponential(), stats.expon()),
    (lambda rng: rng.standard_gamma(2.5), stats.gamma(2.5)),
    (lambda rng: rng.standard_gamma(0.4), stats.gamma(0.4)),
    (lambda rng: rng.gamma(3.0, 2.0), stats.gamma(3.0, scale=2.0)),
]
WHOLE = [
    (lambda rng: rng.integers(3, 9), stats.randint(3, 9)),
    (lambda rng: rng.poisson(3.3), stats.poisson(3.3)),
    (lambda rng: rng.poisson(43.3), stats.poisson(43.3)),
    (lambda rng: rng.binomial(20, 0.3), stats.binom(20, 0.3)),
    (lambda rng: rng.binomial(200, 0.7), stats.binom(200, 0.7)),
]


@pytest.mark.parametrize(("draw", "law"), CONTINUOUS)
def test_continuous_numbers_have_their_law(draw, law):
    values = drawn(draw)
    assert stats.kstest(values, law.cdf).pvalue > ALARM
    off = values + 0.1 * law.std()  # the control
    assert stats.kstest(off, law.cdf).pvalue < ALARM


@pytest.mark.parametrize(("draw", "law"), WHOLE)
def test_whole_numbers_have_their_law(draw, law):
    values = drawn(draw).astype(int)
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
