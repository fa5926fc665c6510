"""Whole numbers: held as u in [k, k + 1), with scipy's probabilities, compiled and plain."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from aptmc.errors import InputError
from aptmc.problem.prior import log_densities, whole_numbers
from aptmc.problem.prior.families import encode
from aptmc.problem.prior.prior import Prior
from aptmc.problem.prior.whole_numbers import WHOLE_FAMILIES, WholeFamily

FROZEN = [
    stats.poisson(3),
    stats.poisson(0.01),
    stats.poisson(250.0),
    stats.poisson(3, loc=-2),
    stats.randint(0, 10),
    stats.randint(-3, 4),
    stats.randint(5, 6),
    stats.binom(10, 0.3),
    stats.binom(1000, 0.9),
    stats.binom(5, 0.0),
    stats.binom(5, 1.0),
    stats.bernoulli(0.2),
    stats.nbinom(3, 0.4),
    stats.nbinom(2.5, 0.05),
    stats.geom(0.3),
    stats.geom(1.0),
]
PLAIN = [stats.hypergeom(20, 7, 12), stats.zipf(3.0)]  # families without a compiled form
SIZE = 20_000
# One chi-squared test each; a false alarm once in a million seeds.
FALSE_ALARM = 1e-6


def names(frozen: Any) -> str:
    return f"{frozen.dist.name}{frozen.args}"


def test_every_known_family_is_tested() -> None:
    assert {frozen.dist.name for frozen in FROZEN} == set(WHOLE_FAMILIES)
    codes = {encoded.family for encoded in map(encode, FROZEN) if encoded is not None}
    assert codes == {int(code) for code in WholeFamily}


@pytest.mark.parametrize("frozen", [*FROZEN, *PLAIN], ids=names)
def test_the_density_is_scipys_probability_of_the_whole_part(frozen: Any) -> None:
    prior = Prior(k=frozen)
    assert prior.is_compiled is (frozen in FROZEN)
    with np.errstate(all="ignore"):
        lower, upper = frozen.ppf(1e-9) - 2, frozen.ppf(1 - 1e-9) + 2
    whole = np.unique(np.linspace(lower, upper, 200).round())
    for fraction in (0.0, 0.5, 1.0 - 1e-9):
        found = prior.log_density((whole + fraction)[:, None])
        with np.errstate(all="ignore"):
            expected = frozen.logpmf(whole)
        # Differences of logarithms of factorials of a thousand: three digits are lost of sixteen.
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("frozen", FROZEN, ids=names)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e300, -1e300])
def test_other_numbers_have_no_density(frozen: Any, value: float) -> None:
    assert Prior(k=frozen).log_density([value]) == -math.inf


def follows(draws: Any, frozen: Any) -> bool:
    """Whether the whole parts have scipy's probabilities (chi-squared), and the rest is uniform."""
    whole, rest = np.floor(draws), draws - np.floor(draws)
    values = np.unique(whole)
    chances = frozen.pmf(values)
    common = chances * draws.size >= 10.0
    counts = [*(np.sum(whole == value) for value in values[common])]
    expected = [*(chances[common] * draws.size)]
    rest_expected = draws.size - sum(expected)
    if rest_expected > 1e-6 * draws.size:
        counts.append(draws.size - sum(counts))
        expected.append(rest_expected)
    elif sum(counts) != draws.size:
        return False
    scaled = np.array(expected) * (sum(counts) / sum(expected))
    is_one = len(counts) < 2
    agrees = is_one or stats.chisquare(counts, scaled).pvalue > FALSE_ALARM
    return bool(agrees and stats.kstest(rest, "uniform").pvalue > FALSE_ALARM)


@pytest.mark.parametrize("frozen", [*FROZEN, *PLAIN], ids=names)
def test_draws_follow_the_distribution(frozen: Any) -> None:
    prior = Prior(k=frozen)
    draws = prior.draw(np.random.default_rng(11), SIZE)
    assert follows(draws[:, 0], frozen)
    assert np.isfinite(prior.log_density(draws)).all()
    lower, upper = prior.support
    assert (lower[0], upper[0]) == (frozen.support()[0], frozen.support()[1] + 1.0)
    assert ((draws >= lower) & (draws < upper)).all()


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (stats.poisson(3), stats.poisson(3.2)),
        (stats.randint(0, 10), stats.randint(0, 11)),
        (stats.binom(10, 0.3), stats.binom(10, 0.33)),
        (stats.nbinom(3, 0.4), stats.nbinom(3, 0.6)),
        (stats.geom(0.3), stats.geom(0.3, loc=-1)),  # trials and failures mistaken
    ],
)
def test_the_same_check_catches_wrong_draws(right: Any, wrong: Any) -> None:
    draws = Prior(k=wrong).draw(np.random.default_rng(11), SIZE)[:, 0]
    assert follows(draws, wrong)
    assert not follows(draws, right)


def test_the_same_check_catches_draws_that_are_whole() -> None:
    draws = Prior(k=stats.poisson(3)).draw(np.random.default_rng(11), SIZE)[:, 0]
    assert not follows(np.floor(draws), stats.poisson(3))


@pytest.mark.parametrize("frozen", FROZEN, ids=names)
def test_plain_python_computes_and_draws_the_same_bits(frozen: Any) -> None:
    encoded = encode(frozen)
    assert encoded is not None
    family, row = encoded
    columns = [log_densities.LOWER, log_densities.UPPER, log_densities.FIRST, log_densities.SECOND]
    numbers = [float(row[column]) for column in columns]
    ours, theirs = np.random.default_rng(8), np.random.default_rng(8)
    for _ in range(200):
        one = whole_numbers.draw_whole(ours, family, *numbers)
        other = whole_numbers.draw_whole.py_func(theirs, family, *numbers)  # type: ignore[attr-defined]
        assert one == other
        k = math.floor(one)
        form = (float(k), family, *numbers[2:])
        plain = whole_numbers.whole_form.py_func(*form)  # type: ignore[attr-defined]
        assert whole_numbers.whole_form(*form) == pytest.approx(plain, rel=1e-14)


@pytest.mark.parametrize(
    ("frozen", "message"),
    [
        (stats.poisson(-1), "not valid, got poisson"),
        (stats.binom(10, 1.5), "not valid, got binom"),
        (stats.poisson(3, loc=0.5), "loc in the distribution of 'k' must be a whole number"),
        (stats.randint(3, 3), "not valid, got randint"),
    ],
)
def test_bad_parameters_are_refused(frozen: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Prior(k=frozen)
