"""pyABC: sequential Monte Carlo with its defaults; the last generation within the budget.

Where a tolerance is given: all generations at it.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

import numpy as np

from experiments.comparison.given import GIVEN, Answer, Limits
from experiments.comparison.simulators import Simulator

MOST = 1000  # generations at a tolerance that is given


def sample(given: Simulator, limits: Limits, seed: int) -> Answer:
    """A population of a hundred, the median distance as the next tolerance."""
    import pandas  # here
    import pyabc

    logging.disable(logging.WARNING)  # here
    case, rng = given.case, np.random.default_rng(seed)
    np.random.seed(seed)  # noqa: NPY002 here: it has no argument for a seed

    def simulate(parameters: Any) -> dict[str, Any]:
        GIVEN.count()  # here
        return {"data": case.simulate(np.array([parameters[name] for name in names]), rng)}

    def distance(simulated: Any, observed: Any) -> float:
        return float(case.distance(simulated["data"], observed["data"]))

    names = case.parameters
    sides = zip(names, case.low, case.high, strict=True)
    prior = pyabc.Distribution(
        **{name: pyabc.RV("uniform", low, high - low) for name, low, high in sides}
    )
    first = case.first_tolerance  # half of the distances are infinite
    epsilon = None if first is None else pyabc.MedianEpsilon(first)
    if given.tolerances:  # here
        epsilon = pyabc.ListEpsilon([*given.tolerances, *given.tolerances[-1:] * MOST])  # here
    sampler = pyabc.sampler.SingleCoreSampler()
    if not limits.counts:  # here
        sampler = pyabc.sampler.MulticoreEvalParallelSampler(n_procs=limits.workers)
    smc = pyabc.ABCSMC(simulate, prior, distance, eps=epsilon, sampler=sampler)
    smc.new("sqlite://", {"data": np.array(case.observed)})
    most: dict[str, Any] = {"max_total_nr_simulations": limits.evaluations}
    if not limits.counts:  # here
        most = {"max_walltime": timedelta(seconds=limits.seconds)}
    history = smc.run(**most)
    populations = history.get_all_populations()  # here: what came too late does not count
    used = populations["samples"].cumsum()  # here
    fits = populations["t"][(used <= limits.evaluations) | (not limits.counts)].max()  # here
    draws, weights = history.get_distribution(m=0, t=int(fits))
    reached = populations.set_index("t")["epsilon"]  # here
    note = f"tolerance {float(reached[fits]):.3g}"  # here
    if given.tolerances:  # here
        alike = [t for t in range(int(fits) + 1) if reached[t] <= reached[fits]]  # here
        parts = [history.get_distribution(m=0, t=t) for t in alike]  # here
        draws = pandas.concat([points for points, _ in parts])  # here
        weights = np.concatenate([each for _, each in parts])  # here
    return Answer(draws[list(names)].to_numpy(), weights, evaluations=int(used.max()), note=note)
