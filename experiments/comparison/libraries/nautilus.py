"""nautilus: nested importance sampling with neural networks."""

from __future__ import annotations

import numpy as np

from experiments.comparison.given import Answer, Limits, from_cube, log_likelihood
from experiments.comparison.problem import Density


def sample(density: Density, limits: Limits, seed: int) -> Answer:
    """With its defaults: it ends at 10,000 effective draws of its own counting."""
    from nautilus import Sampler

    sampler = Sampler(
        from_cube, log_likelihood, n_dim=density.dimension, pass_dict=False, seed=seed,
        pool=None if limits.counts else limits.workers,
    )  # fmt: skip
    limit = {"n_like_max": limits.evaluations} if limits.counts else {"timeout": limits.seconds}
    sampler.run(**limit)
    points, log_weights, _ = sampler.posterior()
    return Answer(points, np.exp(log_weights), sampler.log_z, int(sampler.n_like))
