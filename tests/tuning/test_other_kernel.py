"""Where the warm-up sees that trajectories are stuck, `kernel="auto"` is another kernel."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.kernels import default
from aptmc.warmup.found import Found

DIMENSION, APART = 3, 6.0
PRIOR = aptmc.Prior(x=aptmc.iid(stats.norm(0.0, 10.0), DIMENSION))
LEFT = math.log(0.3 / 0.7)


@njit
def two_modes(theta):
    low = LEFT - 0.5 * np.sum((theta + APART) ** 2)
    high = -0.5 * np.sum((theta - APART) ** 2)
    return max(low, high) + math.log1p(math.exp(-abs(low - high)))


@njit
def slope(theta):
    log_odds = 2.0 * APART * np.sum(theta) - LEFT
    share = 1.0 / (1.0 + math.exp(min(-log_odds, 700.0)))
    return APART * (2.0 * share - 1.0) - theta


PROBLEM = aptmc.Tempered(two_modes, PRIOR, gradient=slope)


def sampled(**options):
    on = aptmc.VirtualTime(2)
    return aptmc.sample(PROBLEM, budget=20_000, seed=1, on=on, progress=False, **options)


def above(run):
    return np.concatenate([chain.state[:, 0] > 0.0 for chain in run.chains()])


@pytest.mark.validation
def test_stuck_trajectories_are_replaced_by_slices():
    run = sampled()
    assert isinstance(run.settings.kernel, aptmc.EllipticalSlice)
    assert "stayed where they began" in run.settings.chosen
    assert "kernel: EllipticalSlice, because trajectories" in str(run.summary())
    mine = above(run)
    worth = min(row.ess for row in run.summary().values())
    assert worth > 300
    assert abs(mine.mean() - 0.7) < 4.0 * math.sqrt(0.21 / worth)


@pytest.mark.validation
def test_a_kernel_that_was_asked_for_stays():
    """And is worth a tenth, which is why another one is taken."""
    run = sampled(kernel=aptmc.Nuts())
    assert isinstance(run.settings.kernel, aptmc.Nuts)
    assert "stayed" not in run.settings.chosen
    assert min(row.ess for row in run.summary().values()) < 100


@pytest.mark.validation
def test_planted_trajectories_that_only_seem_to_be_stuck(monkeypatch):
    """It is the spread of means that decides, and nothing else."""
    monkeypatch.setattr("aptmc.warmup.annealing.annealing.Annealing._alike", lambda *_: 1.0)
    monkeypatch.setattr("aptmc.warmup.annealing.trial.MOST_LACKING", 0.0)  # no slices are tried
    assert isinstance(sampled().settings.kernel, aptmc.Nuts)


@pytest.mark.parametrize(("dimension", "changes"), [(3, True), (51, False)])
def test_only_trajectories_in_few_dimensions_have_another(dimension, changes):
    prior = aptmc.Prior(x=aptmc.iid(stats.norm(), dimension))
    problem = aptmc.Tempered(two_modes, prior, gradient=slope)
    assert (default.other_than_leaps(problem) is not None) is changes


@pytest.mark.validation
def test_a_warm_up_that_goes_on_remembers_the_other_kernel():
    settings = sampled().settings
    found = Found(settings)
    found.changed = "because of this"
    later = Found(settings)
    later.recall(found.memory())
    assert later.changed == "because of this"
