"""The same, with its draws moved by regression."""

from __future__ import annotations

import numpy as np
from scipy import stats

import aptmc
from experiments.comparison.backends import backend_of
from experiments.comparison.given import Answer, Limits
from experiments.comparison.simulators import Simulator


def sample(given: Simulator, limits: Limits, seed: int) -> Answer:
    """It chooses the tolerance."""
    case = given.case  # here
    sides = zip(case.parameters, case.low, case.high, strict=True)
    prior = aptmc.Prior(**{name: stats.uniform(low, high - low) for name, low, high in sides})
    problem = aptmc.Abc(case.simulate, prior, observed=case.observed, distance=case.distance)
    on = backend_of(limits)
    budget = limits.evaluations / limits.workers if limits.counts else limits.seconds  # here
    run = aptmc.sample(problem, budget=budget, on=on, seed=seed, progress=False)
    adjusted = run.adjusted()
    states = np.concatenate([chain.state for chain in adjusted.chains])
    draws = np.asarray(problem.constrain(states[:, : problem.dimension]))
    note = f"tolerance {run.settings.ladder.levels[0]:.3g}"  # here
    return Answer(
        draws,
        np.concatenate(adjusted.weights),
        evaluations=limits.evaluations or run.simulations,
        note=note,
    )
