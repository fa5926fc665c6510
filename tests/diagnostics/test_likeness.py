"""Draws that cannot be told from the prior's are found, and no others.

Both rates are stated: draws of the prior pass for others in 1 of 100 cases, and a posterior that
puts three tenths of its mass elsewhere is taken for the prior in fewer than that.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from aptmc.diagnostics.likeness import FEWEST_DRAWS, HARDLY, Sketch, difference, is_like

TRIALS = 400
PRIORS = {
    "normal": stats.norm(3, 2),
    "heavy tails": stats.cauchy(0, 1),
    "uniform": stats.uniform(-1, 2),
    "whole numbers": stats.randint(0, 6),
}


def sketch(prior, seed: int) -> Sketch:
    return Sketch.of(prior.rvs(1000, random_state=seed).astype(float))


@pytest.mark.parametrize("draws", [30, 100, 1000])
@pytest.mark.parametrize(
    "name",
    [
        "normal",
        pytest.param("heavy tails", marks=pytest.mark.validation),
        pytest.param("uniform", marks=pytest.mark.validation),
        "whole numbers",
    ],
)
def test_draws_of_the_prior_are_noticed(name, draws) -> None:
    prior = PRIORS[name]
    noticed = [
        is_like(
            prior.rvs(draws, random_state=10_000 + seed).astype(float), draws, sketch(prior, seed)
        )
        for seed in range(TRIALS)
    ]
    # 1 in 100 is missed; 13 of 400 by chance in one of 10,000 such tests.
    assert noticed.count(False) <= 13


@pytest.mark.parametrize(
    ("posterior", "elsewhere"),
    [
        (stats.norm(0.9, 1.0), 0.35),  # shifted
        (stats.norm(0.0, 0.5), 0.32),  # as wide as half the prior, in its middle
        (stats.norm(0.0, 0.05), 0.9),  # hardly moved, but sure
        (stats.norm(2.0, 0.3), 0.9),
    ],
    ids=["shifted", "narrower", "narrow", "elsewhere"],
)
def test_a_posterior_is_not_taken_for_the_prior(posterior, elsewhere) -> None:
    prior = stats.norm(0, 1)
    draws = 200
    alarms = 0
    for seed in range(TRIALS):
        rows = posterior.rvs(draws, random_state=10_000 + seed)
        alarms += is_like(rows, draws, sketch(prior, seed))
    assert alarms <= 13
    many = posterior.rvs(100_000, random_state=1)
    assert difference(many, sketch(prior, 1)) == pytest.approx(elsewhere, abs=0.06)


def test_what_is_called_hardly_different() -> None:
    """A quarter of a standard deviation away, or a fifth narrower: a tenth is elsewhere."""
    values = tuple(np.linspace(-4, 4, 2001).tolist())
    exact = Sketch(values, tuple(stats.norm.cdf(values).tolist()), 10**9)
    rng = np.random.default_rng(1)
    for mean, sd in ((0.25, 1.0), (0.0, 0.8)):
        draws = rng.normal(mean, sd, 10**6)
        assert difference(draws, exact) == pytest.approx(HARDLY, abs=0.01)
    assert is_like(rng.normal(0.2, 1.0, 10**6), 1e6, exact)
    assert not is_like(rng.normal(0.3, 1.0, 10**6), 1e6, exact)
    assert is_like(rng.normal(0.0, 0.85, 10**6), 1e6, exact)
    assert not is_like(rng.normal(0.0, 0.75, 10**6), 1e6, exact)


def test_a_comparison_of_means_alone_would_not_do() -> None:
    """The control: a narrow posterior in the middle has the prior's mean."""
    rng = np.random.default_rng(2)
    narrow = rng.normal(0.0, 0.05, 1000)
    assert abs(narrow.mean()) < 0.01
    assert not is_like(narrow, 1000.0, sketch(stats.norm(0, 1), 1))


def test_too_few_draws_say_nothing() -> None:
    prior = sketch(stats.norm(0, 1), 1)
    rows = stats.norm(0, 1).rvs(1000, random_state=2)
    assert is_like(rows, FEWEST_DRAWS, prior)
    assert not is_like(rows, FEWEST_DRAWS - 1.0, prior)
    assert not is_like(rows, float("nan"), prior)
    # The same draws, if they are worth little, could be anybody's.
    shifted = rows + 0.6
    assert is_like(shifted, 30.0, prior)
    assert not is_like(shifted, 1000.0, prior)
