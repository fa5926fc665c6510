"""dynesty: dynamic nested sampling."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.comparison.given import Answer, Limits, from_cube, log_likelihood
from experiments.comparison.problem import Density


def sample(density: Density, limits: Limits, seed: int) -> Answer:
    """With its defaults, until so many calls."""
    import dynesty

    with limits.pool() as pool:
        options = {} if pool is None else {"pool": pool, "queue_size": limits.workers}  # here

        def nested(most: int) -> Any:  # once, or after a pilot: here
            sampler = dynesty.DynamicNestedSampler(
                log_likelihood, from_cube, density.dimension,
                rstate=np.random.default_rng(seed), **options,
            )  # fmt: skip
            sampler.run_nested(maxcall=most, print_progress=False)
            return sampler.results

        results = nested(limits.calls(nested))  # here
    return Answer(
        results.samples, results.importance_weights(), results.logz[-1], int(np.sum(results.ncall))
    )
