"""Likelihood-free posteriors of the moving average converge to what they should.

Sampled means and standard deviations may lie 4 standard errors from the exact ones. With 30 runs
that happens by chance to one check in 2,500 (Student's t with 29 degrees of freedom). In 12 runs,
which are longer, it happens as seldom at 5 standard errors; seeds are fixed.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from aptmc.models import moving_average as model
from aptmc.models.moving_average.autocovariance_density import inverse_transform
from experiments.moving_average.convergence import (
    AUTOCOVARIANCES,
    VALUES,
    Spread,
    measure,
    reject,
    sample,
    table,
)

RUNS = 30
FEW, MOST = 12, 5.0


@cache
def sampled_values():
    return sample(VALUES, budget=5e5, runs=FEW)


def errors_off(spreads: list[Spread], exact: model.Moments) -> list[float]:
    """Standard errors by which the means and the standard deviations miss the exact ones."""
    sds = np.sqrt(exact.covariance.diagonal())
    means = [
        spread.mean.errors_from(mean) for spread, mean in zip(spreads, exact.mean, strict=True)
    ]
    return means + [spread.sd.errors_from(sd) for spread, sd in zip(spreads, sds, strict=True)]


@pytest.mark.validation(shortest=0.1)
def test_the_smallest_tolerance_gives_the_posterior_of_the_likelihood():
    coldest, warmest = sampled_values()[0], sampled_values()[-1]
    likelihood = model.moments_given_values()
    assert max(errors_off(coldest, likelihood)) < MOST
    # A wide tolerance does not, nor is it the posterior of other data.
    assert max(errors_off(warmest, likelihood)) > 10.0
    other = model.moments_given_values(values=model.SHORT * [1.0, -1.0, 1.0])
    assert max(errors_off(coldest, other)) > 10.0


@pytest.mark.validation
@pytest.mark.parametrize("rung", range(len(VALUES.tolerances)), ids=VALUES.tolerances)
def test_every_tolerance_gives_its_own_posterior(rung):
    exact = model.moments_given_values(VALUES.tolerances[rung])
    assert max(errors_off(sampled_values()[rung], exact)) < MOST


@pytest.mark.validation
def test_rejection_agrees():
    spreads = reject(VALUES, 1.2, simulations=300_000)
    assert max(errors_off(spreads, model.moments_given_values(1.2))) < 4.0
    assert max(errors_off(spreads, model.moments_given_values())) > 10.0


@pytest.mark.validation
def test_exact_posteriors_shrink_to_that_of_the_likelihood():
    exact = model.moments_given_values()
    thetas = np.random.default_rng(1).uniform([-2.0, -1.0], [2.0, 1.0], (100_000, 2))
    thetas = thetas[[model.is_identifiable(theta) for theta in thetas]][:20_000]
    weights = np.exp([model.log_likelihood(theta, model.SHORT) for theta in thetas])
    error = 1.0 / np.sqrt(len(thetas))
    assert exact.mean == pytest.approx(np.average(thetas, axis=0, weights=weights), abs=5 * error)
    distances = [
        np.abs(model.moments_given_values(tolerance).mean - exact.mean).max()
        for tolerance in (1.6, 0.8, 0.4, 0.2, 0.1)
    ]
    # Of second order: half the tolerance, a quarter of the distance.
    assert np.array(distances[2:]) == pytest.approx(np.array(distances[1:-1]) / 4, rel=0.1)


@pytest.mark.validation
def test_autocovariances_have_the_density_of_the_transform():
    theta, rng = np.array([0.5, 0.3]), np.random.default_rng(1)
    hits = sum(model.simulated_distance(theta, rng, np.inf) < 0.1 for _ in range(60_000))
    radii = np.linspace(0.0, 60.0, 601)
    angles = np.pi * np.arange(32) / 32
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    heights = inverse_transform(theta[np.newaxis], directions, radii, radii[np.newaxis])
    density = heights[0, 0] * (np.pi / 32) * 0.1 / (2.0 * np.pi**2)
    expected = 60_000 * density * np.pi * 0.1**2
    # The density is nearly flat over the disc; 5 standard errors beside 2 % for the curvature.
    assert hits == pytest.approx(expected, abs=5.0 * np.sqrt(expected) + 0.02 * expected)


@pytest.mark.validation
def test_a_table_is_made():
    text = table(measure(VALUES, scale=0.003, runs=3))
    assert text.count("\n") == 1 + 2 * (len(VALUES.tolerances) + 1)
    assert "limit: 0, likelihood" in text


@pytest.mark.validation(shortest=0.1)
def test_autocovariances_give_another_posterior_than_the_likelihood(validation_scale):
    scale = max(0.1, validation_scale)
    measured = measure(AUTOCOVARIANCES, scale=scale, runs=RUNS)
    for spreads, rejected, exact in zip(
        measured.sampled, measured.rejected, measured.exact, strict=True
    ):
        assert max(errors_off(spreads, exact)) < 4.0
        if rejected is not None:
            assert max(errors_off(rejected, exact)) < 4.0
    assert max(errors_off(measured.sampled[0], measured.limit)) < 4.0
    assert max(errors_off(measured.sampled[0], measured.likelihood)) > 8.0
