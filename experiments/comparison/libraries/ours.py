"""aptmc, with a budget and nothing else."""

from __future__ import annotations

import numpy as np

import aptmc
from experiments.comparison.backends import backend_of
from experiments.comparison.given import Answer, Limits
from experiments.comparison.priors import prior_of
from experiments.comparison.problem import Density


def sample(density: Density, limits: Limits, seed: int) -> Answer:
    """Prior times likelihood to a power; all rungs are kept for the evidence."""
    on = backend_of(limits)
    budget = limits.evaluations / limits.workers if limits.counts else limits.seconds  # here
    problem = aptmc.Tempered(density.log_likelihood, prior_of(density.name))
    run = aptmc.sample(problem, budget=budget, on=on, keep="all", seed=seed, progress=False)
    states = np.concatenate([chain.state for chain in run.chains()])
    draws = np.asarray(problem.constrain(states[:, : problem.dimension]))
    evidence = run.log_evidence().value if run.settings.ladder.levels[-1] == 0.0 else None
    note = f"{run.settings.ladder.rungs} rungs"  # here
    return Answer(draws, log_evidence=evidence, evaluations=limits.evaluations or None, note=note)
