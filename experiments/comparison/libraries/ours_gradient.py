"""aptmc with a density of JAX, whose gradient it finds by itself."""

from __future__ import annotations

import numpy as np

import aptmc
from experiments.comparison.backends import backend_of
from experiments.comparison.given import Answer, Limits
from experiments.comparison.priors import prior_of
from experiments.comparison.problem import Density


def sample(density: Density, limits: Limits, seed: int) -> Answer:
    """As `ours`; a unit of work is a gradient."""
    import jax

    from experiments.comparison.jax_densities import LOG_LIKELIHOODS

    jax.config.update("jax_enable_x64", True)

    on = backend_of(limits)
    budget = limits.evaluations / limits.workers if limits.counts else limits.seconds  # here
    problem = aptmc.Tempered(LOG_LIKELIHOODS[density.name], prior_of(density.name))
    run = aptmc.sample(problem, budget=budget, on=on, seed=seed, progress=False)
    states = np.concatenate([chain.state for chain in run.chains()])
    draws = np.asarray(problem.constrain(states[:, : problem.dimension]))
    note = f"{run.settings.ladder.rungs} rungs"  # here
    return Answer(draws, evaluations=limits.evaluations or None, note=note)
