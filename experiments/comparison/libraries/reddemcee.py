"""reddemcee: what became of ptemcee, an ensemble at each of several temperatures, which adapt."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.comparison.given import Answer, Limits, log_likelihood, log_prior
from experiments.comparison.problem import Density

TEMPERATURES, MOST = 10, 100_000


def sample(density: Density, limits: Limits, seed: int) -> Answer:
    """Ten temperatures, an exchange after each step; the first quarter is burn-in."""
    import reddemcee

    walkers = max(32, 4 * density.dimension)
    rng = np.random.default_rng(seed)
    start = density.draw_prior(rng, TEMPERATURES * walkers)
    start = start.reshape(TEMPERATURES, walkers, density.dimension)
    np.random.seed(seed)  # noqa: NPY002 here: it has no argument for a seed
    with limits.pool() as pool:

        def tempered(most: int) -> Any:  # once, or after a pilot: here
            sampler = reddemcee.PTSampler(
                walkers, density.dimension, log_likelihood, log_prior, ntemps=TEMPERATURES,
                pool=pool,
            )  # fmt: skip
            sampler.run_mcmc(start, nsweeps=most // (walkers * TEMPERATURES), nsteps=1)
            return sampler

        most = limits.calls(tempered)  # here
        sampler, sweeps = tempered(most), most // (walkers * TEMPERATURES)  # here
    draws = sampler.get_chain(discard=sweeps // 4, flat=True)[0]
    evidence = sampler.get_evidence_ti(discard=sweeps // 4)[0]
    return Answer(draws, log_evidence=evidence, evaluations=sweeps * walkers * TEMPERATURES)
