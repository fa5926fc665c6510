"""aptmc without a likelihood, with a budget and nothing else."""

from __future__ import annotations

import numpy as np
from scipy import stats

import aptmc
from experiments.comparison.backends import backend_of
from experiments.comparison.given import Answer, Limits
from experiments.comparison.simulators import Simulator


def sample(given: Simulator, limits: Limits, seed: int) -> Answer:
    """It chooses the tolerance, unless it is given."""
    case = given.case  # here
    sides = zip(case.parameters, case.low, case.high, strict=True)
    prior = aptmc.Prior(**{name: stats.uniform(low, high - low) for name, low, high in sides})
    problem = aptmc.Abc(case.simulate, prior, observed=case.observed, distance=case.distance)
    fixed = given.tolerances[-1] if given.tolerances else None  # here
    ladder = aptmc.Ladder.auto(coldest=fixed)  # here
    on = backend_of(limits)
    budget = limits.evaluations / limits.workers if limits.counts else limits.seconds  # here
    run = aptmc.sample(problem, budget=budget, ladder=ladder, on=on, seed=seed, progress=False)
    draws = np.column_stack([np.concatenate(run.series(name)) for name in case.parameters])
    note = f"tolerance {run.settings.ladder.levels[0]:.3g}"  # here
    return Answer(draws, evaluations=limits.evaluations or run.simulations, note=note)
