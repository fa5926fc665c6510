"""One run of pyABC with a budget, in its own environment; started by `benchmarks.pyabc_budgets`.

Defaults of pyABC 0.13: a population of 100, the median of the distances as the next tolerance, a
multivariate normal transition. `max_walltime` and `max_total_nr_simulations` are looked at after
each generation; the answer is the last generation that was complete when the budget was spent. Its
workers seed themselves from the system, so that no run can be repeated exactly.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import time
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyabc

from benchmarks.pyabc_cases import CASES, Case

generators: dict[int, Any] = {}  # by process: each is a copy of one that may have drawn already


def generator() -> Any:
    """Of this process."""
    if os.getpid() not in generators:
        generators[os.getpid()] = np.random.default_rng()
    return generators[os.getpid()]


def prepared(case: Case, workers: int) -> Any:
    """The run, before its start; functions that need compiling have been called once."""

    def simulate(parameters: Any) -> dict[str, Any]:
        theta = np.array([parameters[name] for name in case.parameters])
        return {"data": case.simulate(theta, generator())}

    def distance(simulated: Any, observed: Any) -> float:
        return float(case.distance(simulated["data"], observed["data"]))

    sides = zip(case.parameters, case.low, case.high, strict=True)
    prior = pyabc.Distribution(
        **{name: pyabc.RV("uniform", low, high - low) for name, low, high in sides}
    )
    options: dict[str, Any] = {}
    if case.first_tolerance is not None:
        options["eps"] = pyabc.MedianEpsilon(case.first_tolerance)
    if not case.sleeps:
        distance(simulate(prior.rvs()), {"data": np.array(case.observed)})
    sampler = pyabc.sampler.MulticoreEvalParallelSampler(n_procs=workers)
    smc = pyabc.ABCSMC(simulate, prior, distance, sampler=sampler, **options)
    smc.new("sqlite://", {"data": np.array(case.observed)})
    return smc


def give_up(*_: object) -> None:
    """When it takes far too long."""
    raise TimeoutError


def run(case: Case, workers: int, seconds: float, simulations: int, patience: float) -> Any:
    """What it had when the budget was spent, in numbers.

    :param seconds: the budget; 0: it is in simulations
    """
    smc = prepared(case, workers)
    signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, patience)
    limit: dict[str, Any] = {"max_walltime": timedelta(seconds=seconds)} if seconds else {}
    if simulations:
        limit["max_total_nr_simulations"] = simulations
    start, began = time.monotonic(), datetime.now()
    with suppress(TimeoutError):
        smc.run(**limit)
    returned = time.monotonic() - start
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    generations = []
    taken = 0
    for row in smc.history.get_all_populations().itertuples():
        taken += int(row.samples)
        moment = (row.population_end_time.to_pydatetime() - began).total_seconds()
        if row.t < 0 or (seconds and moment > seconds) or (simulations and taken > simulations):
            continue
        draws, weights = smc.history.get_distribution(m=0, t=int(row.t))
        values = case.quantities(draws[list(case.parameters)].to_numpy())
        generations.append(
            {
                "tolerance": float(row.epsilon),
                "at": moment,
                "simulations": taken,
                "means": (weights @ values / weights.sum()).tolist(),
            }
        )
    reply: dict[str, Any] = {"start": start, "returned": returned, "simulations": taken}
    reply["reached"] = [[each["tolerance"], each["at"]] for each in generations]
    if generations:
        reply |= {key: generations[-1][key] for key in ("tolerance", "means")}
        reply["used"] = generations[-1]["simulations"]
    return reply


if __name__ == "__main__":
    logging.disable(logging.INFO)
    asked = json.loads(sys.argv[1])
    name = asked.pop("case")
    del asked["seed"]
    print(json.dumps(run(CASES[name], **asked)))
