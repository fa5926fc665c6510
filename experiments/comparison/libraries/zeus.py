"""zeus: an ensemble of walkers that slice, no tempering. The first quarter is its burn-in."""

from __future__ import annotations

import logging

import numpy as np

from experiments.comparison.given import GIVEN, Answer, Limits, log_posterior
from experiments.comparison.problem import Density


def sample(density: Density, limits: Limits, seed: int) -> Answer:
    """As many walkers as emcee, a hundred steps at a time."""
    import zeus

    logging.getLogger().setLevel(logging.ERROR)  # here
    over = limits.watch()  # here
    walkers = max(32, 4 * density.dimension)
    start = density.draw_prior(np.random.default_rng(seed), walkers)
    np.random.seed(seed)  # noqa: NPY002 here: it has no argument for a seed
    with limits.pool() as pool:
        sampler = zeus.EnsembleSampler(
            walkers, density.dimension, log_posterior, pool=pool, verbose=False
        )
        while not over():  # here
            sampler.run_mcmc(start, 20, progress=False)
            start = sampler.get_last_sample()
    chain = sampler.get_chain()
    draws = chain[len(chain) // 4 :].reshape(-1, density.dimension)
    return Answer(draws, evaluations=GIVEN.evaluations if limits.counts else int(sampler.ncall))
