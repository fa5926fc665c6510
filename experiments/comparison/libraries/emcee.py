"""emcee: an ensemble of walkers, no tempering. The first quarter is its burn-in."""

from __future__ import annotations

import numpy as np

from experiments.comparison.given import Answer, Limits, log_posterior
from experiments.comparison.problem import Density

MOST = 50_000  # iterations, for which it takes memory at once


def sample(density: Density, limits: Limits, seed: int) -> Answer:
    """Thirty-two walkers from the prior, or four for each parameter."""
    import emcee

    over = limits.watch()  # here
    walkers = max(32, 4 * density.dimension)
    start = density.draw_prior(np.random.default_rng(seed), walkers)
    np.random.seed(seed)  # noqa: NPY002 here: it has no argument for a seed
    with limits.pool() as pool:
        sampler = emcee.EnsembleSampler(walkers, density.dimension, log_posterior, pool=pool)
        for _ in sampler.sample(start, iterations=MOST, skip_initial_state_check=True):
            if over():  # here
                break  # here
        draws = sampler.get_chain(discard=sampler.iteration // 4, flat=True)
    used = None if limits.counts else sampler.iteration * walkers  # here
    return Answer(draws, evaluations=used)
