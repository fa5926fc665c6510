"""UltraNest: reactive nested sampling, on one process."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from experiments.comparison.given import Answer, Limits, from_cube, log_likelihood
from experiments.comparison.problem import Density


def sample(density: Density, limits: Limits, seed: int) -> Answer:
    """With its defaults, until so many calls."""
    import ultranest

    logging.getLogger("ultranest").setLevel(logging.WARNING)  # here
    np.random.seed(seed)  # noqa: NPY002 here: it has no argument for a seed

    def nested(most: int) -> Any:  # once, or after a pilot: here
        names = list(density.parameters)  # here
        sampler = ultranest.ReactiveNestedSampler(names, log_likelihood, from_cube)
        return sampler.run(max_ncalls=most, show_status=False, viz_callback=False)

    result = nested(limits.calls(nested))  # here
    weighted = result["weighted_samples"]
    return Answer(weighted["points"], weighted["weights"], result["logz"], int(result["ncall"]))
