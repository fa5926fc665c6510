"""UltraNest: reactive nested sampling, on one process."""

from __future__ import annotations

import logging

import numpy as np

from experiments.comparison.given import Answer, Limits, from_cube, log_likelihood
from experiments.comparison.problem import Density


def sample(density: Density, limits: Limits, seed: int) -> Answer:
    """With its defaults, until so many calls."""
    import ultranest

    logging.getLogger("ultranest").setLevel(logging.WARNING)  # here
    np.random.seed(seed)  # noqa: NPY002 here: it has no argument for a seed
    sampler = ultranest.ReactiveNestedSampler(list(density.parameters), log_likelihood, from_cube)
    most = limits.evaluations or limits.calls(log_likelihood)  # here
    result = sampler.run(max_ncalls=most, show_status=False, viz_callback=False)
    weighted = result["weighted_samples"]
    return Answer(weighted["points"], weighted["weights"], result["logz"], int(result["ncall"]))
