"""Densities on lanes with nothing given: kernel and ladder are found, and means are right."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from tests.lanes.problems import lanes

SEEN = np.array([1.3, 0.2, 2.4, -0.3, 0.9])
MEAN, VARIANCE = SEEN.sum() / 5.25, 1.0 / 5.25  # with a normal prior of standard deviation 2
SPREAD, SHARE = 0.3, 0.75
MOST = 4.0  # standard errors: a false alarm comes once in 16,000 seeds


@njit
def log_two_modes(theta):
    left = math.log1p(-SHARE) - 0.5 * ((theta[0] + 3.0) / SPREAD) ** 2
    right = math.log(SHARE) - 0.5 * ((theta[0] - 3.0) / SPREAD) ** 2
    larger = max(left, right)
    return larger + math.log(math.exp(left - larger) + math.exp(right - larger))


def found(problem, ticks, **options):
    return aptmc.sample(
        problem, budget=ticks, on=lanes(240, settle=0.2), seed=1, progress=False, **options
    )


def errors_off(series, of, expected):
    """Groups are independent, so their means tell the standard error."""
    means = np.array([of(np.asarray(one)).mean() for one in series])
    return (means.mean() - expected) / (means.std(ddof=1) / math.sqrt(means.size))


@pytest.mark.validation(shortest=0.1)
def test_two_modes_of_a_density_have_their_weights():
    problem = aptmc.Tempered(log_two_modes, aptmc.Prior(x=stats.uniform(-10, 20)))
    run = found(problem, 20_000)
    assert run.settings.kernel.stages is not None
    assert run.settings.ladder.rungs > 1
    assert run.warmup_rounds
    series = run.series("x")
    assert abs(errors_off(series, lambda x: x > 0.0, SHARE)) < MOST
    assert abs(errors_off(series, lambda x: (np.abs(x) - 3.0) ** 2, SPREAD**2)) < MOST
    # The control: it would be seen if a mode had a few hundredths more.
    assert abs(errors_off(series, lambda x: x > 0.0, SHARE - 0.1)) > MOST


@pytest.mark.validation(shortest=0.1)
def test_a_model_of_numpyro_has_its_mean():
    jax, numpyro = pytest.importorskip("jax"), pytest.importorskip("numpyro")
    dist = numpyro.distributions

    def model(seen):
        mean = numpyro.sample("mean", dist.Normal(0, 2))
        scale = numpyro.sample("scale", dist.HalfNormal(1))
        numpyro.deterministic("both", mean + scale)
        numpyro.sample("seen", dist.Normal(mean, 1), obs=seen)

    with jax.enable_x64(True):
        problem = aptmc.from_numpyro(model, SEEN)
    run = found(problem, 20_000, kernel=aptmc.Nuts())
    assert run.warmup_rounds
    means, scales = (np.asarray(run.draws.posterior[name]) for name in ("mean", "scale"))
    assert abs(errors_off(means, lambda x: x, MEAN)) < MOST
    assert abs(errors_off(means, lambda x: (x - MEAN) ** 2, VARIANCE)) < MOST
    assert abs(errors_off(scales, lambda x: x, math.sqrt(2 / math.pi))) < MOST
    assert abs(errors_off(means, lambda x: x, MEAN + 0.05)) > MOST
